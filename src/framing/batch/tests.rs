use super::super::{Content, InputSink};
use super::*;
use crate::buffer::Buffer;
use crate::framing::outbound_message::StreamId;
use std::string::String;
use std::vec::Vec;

/// Every message of `input`; what was found in a batch is indented.
fn messages(input: &str) -> Vec<String> {
    let mut buffer = [0; 100];
    let mut line = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    line.space()[..input.len()].copy_from_slice(input.as_bytes());
    line.filled(input.len(), StreamId::NONE);
    line.eof();
    let (mut out, mut indent) = (Vec::new(), "");
    while let Some(found) = line.line() {
        let text = String::from_utf8_lossy(line.bytes()).into_owned();
        let id = line.envelope().id.map(|id| &text[id.range()]);
        assert!(id.is_none_or(|id| id == "7"), "the places of members are those in the element: {text}");
        let is_message = matches!(found.content, Content::Message);
        if is_message && text.starts_with('[') && line.open_batch() {
            indent = "  ";
            continue;
        }
        out.push(if is_message { std::format!("{indent}{text}") } else { String::from("broken") });
        let before = line.stream();
        line.release_element();
        assert_eq!(line.stream(), before);
        if line.line.is_none() {
            indent = "";
        }
    }
    out
}

#[test]
fn a_batch_is_taken_apart_and_the_next_line_is_not_of_it() {
    let cases: &[(&str, &[&str])] = &[
        ("[1]\n{}\n", &["  1", "{}"]),
        ("[1,2]\n[3]\n{}\n", &["  1", "  2", "  3", "{}"]),
        ("[ {\"id\":7} ,\t\"a,b]\" , null ] \r\n{}", &["  {\"id\":7}", "  \"a,b]\"", "  null", "{}"]),
        ("[{\"a\":[1,2],\"id\":7},{}]\n{\"id\":7}", &["  {\"a\":[1,2],\"id\":7}", "  {}", "{\"id\":7}"]),
        // One in a batch is not taken apart.
        ("[[1,2],[],[3]]\n4", &["  [1,2]", "  []", "  [3]", "4"]),
        ("[[1,2]]\n4", &["  [1,2]", "4"]),
        ("[]\n[ ]\n1\n", &["[]", "[ ]", "1"]),
        ("[1,2]", &["  1", "  2"]),
        ("[1,,2]\n[3\n4,5\n6\n", &["broken", "broken", "broken", "6"]),
    ];
    for (input, expected) in cases {
        assert_eq!(messages(input), *expected, "{input}");
    }
}
