//! Tests of batches: the elements of an array as lines.

use super::super::line_decoder::InputSink;
use super::*;
use crate::buffer::Buffer;
use crate::framing::outbound_message::StreamId;
use crate::json::Member;
use std::string::String;
use std::vec::Vec;

/// Returns the messages of `input`. Batch elements are indented.
fn messages(input: &str) -> Vec<String> {
    let mut buffer = [0; 100];
    let mut decoder = LineDecoder::new(Buffer::from(&mut buffer[..]), 128, 8);
    decoder.space()[..input.len()].copy_from_slice(input.as_bytes());
    decoder.filled(input.len(), StreamId::NONE);
    decoder.eof();
    let (mut out, mut indent) = (Vec::new(), "");
    while let Some(found) = decoder.line() {
        let text = String::from_utf8_lossy(decoder.bytes()).into_owned();
        let id = decoder.scanner().span(Member::Id);
        assert!(id.is_missing() || &text[id.range()] == "7", "spans start at the element: {text}");
        let is_message = found == LineKind::Message;
        if is_message && text.starts_with('[') && decoder.open_batch() {
            indent = "  ";
            continue;
        }
        out.push(if is_message { std::format!("{indent}{text}") } else { String::from("broken") });
        let before = decoder.stream();
        decoder.release_element();
        assert_eq!(decoder.stream(), before);
        if decoder.line.is_none() {
            indent = "";
        }
    }
    out
}

#[test]
fn batch_yields_its_elements_and_ends_at_its_line() {
    let cases: &[(&str, &[&str])] = &[
        ("[1]\n{}\n", &["  1", "{}"]),
        ("[1,2]\n[3]\n{}\n", &["  1", "  2", "  3", "{}"]),
        ("[ {\"id\":7} ,\t\"a,b]\" , null ] \r\n{}", &["  {\"id\":7}", "  \"a,b]\"", "  null", "{}"]),
        ("[{\"a\":[1,2],\"id\":7},{}]\n{\"id\":7}", &["  {\"a\":[1,2],\"id\":7}", "  {}", "{\"id\":7}"]),
        // The decoder does not split a nested batch.
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
