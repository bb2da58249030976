//! Tests of the member index, and of texts in pieces, which give the same results as the whole text.

use crate::json::value::Json;
use crate::json::{Member, MemberIndex, OpenSpan, ScanError, Scanner, Span};
use std::string::String;
use std::vec::Vec;

const MEMBERS: [Member; 6] =
    [Member::Jsonrpc, Member::Id, Member::Method, Member::Params, Member::Result, Member::Error];

type Outcome = ([Option<OpenSpan>; 6], bool, usize, Result<(), ScanError>, usize);

/// Returns the results of a scanner for a text in these pieces.
fn outcome<'t>(limit: u8, pieces: impl Iterator<Item = &'t [u8]>) -> Outcome {
    let mut scanner = Scanner::new(limit);
    pieces.for_each(|piece| scanner.feed(piece));
    let open = MEMBERS.map(|member| scanner.member(member));
    (open, scanner.has_integer_id(), scanner.position(), scanner.finish(), scanner.position())
}

#[track_caller]
fn assert_same_bytewise(text: &[u8], limit: u8) {
    let shown = String::from_utf8_lossy(text);
    assert_eq!(outcome(limit, [text].into_iter()), outcome(limit, text.chunks(1)), "{shown}");
}

const OF_ALL: &str = concat!(
    r#"{"jsonrpc":"2.0","id":-12.5e+3,"method" : "tools/call","par\u0061ms":{"a":[],"b":{},"n":{"name":"12345678","#,
    r#""a long name, é":["é\n\ud83d\ude00", 0, 12345678,123456789, true,false ,null],"i":10}}, "#,
    r#""error":[ ],"result":[{"x":1.5,"y":-0},{"x":"0123456789abcdef"}],"r":"x"} "#
);

#[test]
fn text_cut_anywhere_scans_like_single_bytes() {
    let bytes = OF_ALL.as_bytes();
    for at in 0..=bytes.len() {
        let (before, behind) = bytes.split_at(at);
        assert_same_bytewise(before, 128);
        let whole = outcome(128, [bytes].into_iter());
        assert_eq!(outcome(128, [before, behind].into_iter()), whole, "cut at {at}");
        let [_, tail @ ..] = behind else { break };
        assert_same_bytewise(&[before, tail].concat(), 128);
        for byte in b"\"\\{}[],: 0e.-tx\n\x1F\x80" {
            assert_same_bytewise(&[before, &[*byte], tail].concat(), 128);
            assert_same_bytewise(&[before, &[*byte], behind].concat(), 3);
        }
    }
}

#[test]
fn names_like_members_scan_like_single_bytes() {
    for name in ["jsonrpc", "id", "method", "params", "result", "error", "idx", "i", "errors", "methods", ""]
    {
        for end in ["\"", "\" ", "x\"", "\\u0064\"", ""] {
            for value in [r#":"2.0","#, r#":"2.1","#, r#" :"2.0" ,"#, r#":{"id":1},"#, r#":"2.0"}"#, "", ":"]
            {
                for limit in [0, 1, 2] {
                    let text = std::format!("{{\"{name}{end}{value}\"id\":7,\"{name}\":1}}");
                    assert_same_bytewise(text.as_bytes(), limit);
                    assert_same_bytewise(std::format!("{{\"x\":1,{}", &text[1..]).as_bytes(), limit);
                    assert_same_bytewise(std::format!("[{text}]").as_bytes(), limit);
                    for piece in [7, 8, 9, 16, 17, 18] {
                        let pieces = outcome(limit, text.as_bytes().chunks(piece));
                        assert_eq!(pieces, outcome(limit, text.as_bytes().chunks(1)), "{text} by {piece}");
                    }
                }
            }
        }
    }
}

#[test]
fn nested_text_scans_like_single_bytes() {
    for depth in 0..130usize {
        for pattern in [&["[", "]"][..], &["{\"a\":", "}"], &["[0,{\"name\":", "},true]"]] {
            let text = [pattern[0].repeat(depth), OF_ALL.into(), pattern[1].repeat(depth)].concat();
            for limit in [0, 1, 2, 5, 63, 64, 65, 66, 128] {
                assert_same_bytewise(text.as_bytes(), limit);
            }
            assert_same_bytewise([&text[..], "]"].concat().as_bytes(), 128);
            assert_same_bytewise(&text.as_bytes()[..text.len() - 1], 128);
        }
    }
}

#[test]
fn tokens_of_every_length_scan_like_single_bytes() {
    for length in 0..80 {
        for text in [
            std::format!("[\"{}\",1]", "x".repeat(length)),
            std::format!("{{\"{}\":\"{}\"}}", "n".repeat(length), "x".repeat(length)),
            std::format!("[{}]", "1".repeat(length)),
            std::format!("{{\"id\":-{}.{}e{}}}", "1".repeat(length), "0".repeat(length), "7".repeat(length)),
        ] {
            for end in 0..=text.len() {
                assert_same_bytewise(&text.as_bytes()[..end], 128);
                for odd in ["\\n", "é", "\x01", "\"", " "] {
                    assert_same_bytewise([&text[..end], odd, &text[end..]].concat().as_bytes(), 128);
                }
            }
        }
    }
}

#[test]
fn adjacent_escapes_scan_like_single_bytes() {
    let pieces = [
        "\\n",
        "\\\"",
        "\\u00e4",
        "\\uD83D\\uDe00",
        "é",
        "\u{1F600}",
        "plain",
        "x",
        " a longer run of text ",
    ];
    for first in pieces {
        for second in pieces {
            for third in pieces {
                let text = std::format!("[\"{first}{second}{third}{first}\",\"{second}\"]");
                for end in 1..=text.len() {
                    let (before, behind) = text.as_bytes().split_at(end);
                    assert_same_bytewise(before, 1);
                    assert_eq!(
                        outcome(1, [before, behind].into_iter()),
                        outcome(1, text.as_bytes().chunks(1)),
                        "{text}"
                    );
                }
            }
        }
    }
    for wrong in
        ["\\x", "\\u00g0", "\\ud83d", "\\udc00", "\\ud83d\\u0041", "\\u12", "\\\n", "\\é", "\x1F", "\\u00 0"]
    {
        for before in 0..12 {
            let text = std::format!("[\"\\n{}{wrong}{}\",1]", "x".repeat(before), "y".repeat(12));
            assert_same_bytewise(text.as_bytes(), 1);
        }
    }
}

#[test]
fn members_of_params_and_result_are_indexed() {
    let known = |text: &str, of: Member| {
        let mut scanner = Scanner::new(32);
        scanner.feed(text.as_bytes());
        assert!(scanner.finish().is_ok(), "{text}");
        let mut found = [Span::MISSING; 3];
        scanner.inner(of)?.find(text.as_bytes(), &["name", "arguments", ""], found.each_mut());
        Some(found.map(|value| text.get(value.range()).map(String::from)))
    };
    let some = |text: &str| Some(String::from(text));
    for (text, of, expected) in [
        (
            r#"{"params":{"name":1,"arguments":{"name":2}},"id":7}"#,
            Member::Params,
            [some("1"), some("{\"name\":2}"), None],
        ),
        (
            r#"{"result":{"" : [ ] , "name" :"a" },"id":7}"#,
            Member::Result,
            [some("\"a\""), None, some("[ ]")],
        ),
        (
            r#"{"params":{"name":1,"name":{}},"params":7,"result":{"name":3}}"#,
            Member::Result,
            [some("3"), None, None],
        ),
        (
            r#"{"params":{"name":1},"params":{"name":"1234567890"}}"#,
            Member::Params,
            [some("\"1234567890\""), None, None],
        ),
        (
            r#"{"params":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"name":[1,2]}}"#,
            Member::Params,
            [some("[1,2]"), None, None],
        ),
        (
            r#"{"params":{"name":1,"arguments":{"\n":1}}}"#,
            Member::Params,
            [some("1"), some(r#"{"\n":1}"#), None],
        ),
        (r#"{"params":{"name":1},"p\u0061rams":{"name":2}}"#, Member::Params, [some("2"), None, None]),
        (r#"{"params":{"é":1,"name":2}}"#, Member::Params, [some("2"), None, None]),
        (
            r#"{"params":{"name":"\n","arguments":"\u00e4"}}"#,
            Member::Params,
            [some(r#""\n""#), some(r#""\u00e4""#), None],
        ),
    ] {
        assert_eq!(known(text, of), Some(expected), "{text}");
    }
    for (text, of) in [
        (r#"{"params":{"name":1},"id":7}"#, Member::Result),
        (r#"{"params":{"name":1},"params":7}"#, Member::Params),
        (r#"{"params":{"name":1},"params":[{"name":1}]}"#, Member::Params),
        (r#"{"params":{"n\u0061me":1}}"#, Member::Params),
        (r#"{"params":{"name":1,"\n":2}}"#, Member::Params),
        (r#"{"params":{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"name":[1,2]}}"#, Member::Params),
        (r#"{"error":{"name":1},"id":7}"#, Member::Error),
        (r#"[{"params":{"name":1}}]"#, Member::Params),
    ] {
        assert_eq!(known(text, of), None, "{text}");
    }
    let text = r#"{"id":1,"params":{"name":1,"arguments":{}}}"#;
    let mut scanner = Scanner::new(32);
    for cut in 0..=text.len() {
        scanner.reset();
        let (before, behind) = text.as_bytes().split_at(cut);
        scanner.feed(before);
        scanner.feed(behind);
        let inner = scanner.inner(Member::Params).unwrap();
        let mut found = [Span::MISSING; 2];
        inner.find(text.as_bytes(), &["name", "arguments"], found.each_mut());
        assert_eq!(found.map(|span| &text[span.range()]), ["1", "{}"], "cut at {cut}");
    }
}

/// Messages that clients and servers send, and similar texts.
const MESSAGES: [&str; 7] = [
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":{"text":"0123456789abcdef"}}}"#,
    r#"{"method":"tools/call","params":{"name":"a\nb","arguments":{"a":1}},"jsonrpc":"2.0","id":12345678}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":{"content":[{"type":"text","text":"0123456789abcdef"}],"isError":false}}"#,
    r#"{"result":{"content":[{"type":"text","text":"a\"b"}]},"jsonrpc":"2.0","id":1}"#,
    r#"{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "a", "arguments": {"text": "b"}}}"#,
    r#"{"id":1.5e3,"id":-7,"id":"8","error":{"code":-32600,"message":"m"},"params":{"name":"","name":1}}"#,
    r#"{"jsonrpc":"2.0","id":12 ,"method":"ä/b","method":"0123456789abcdef0123456789abcdef","params":{},"params":[1]}"#,
];

#[test]
fn removal_of_a_string_part_adjusts_all_results() {
    let text = r#"{"params":{"data":"0123456789","at":7},"result":{"x":["y"]},"id":1"#;
    let whole = text.len().wrapping_sub(10);
    for fed in [29, 30, 37, 38, 47, 58, text.len()] {
        let mut scanner = Scanner::new(128);
        scanner.feed(&text.as_bytes()[..fed]);
        scanner.remove(Span { start: 19, end: 29 });
        scanner.feed(&text.as_bytes()[fed..]);
        scanner.feed(b"}");
        let short = text.replace("0123456789", "") + "}";
        let mut expected = Scanner::new(128);
        expected.feed(short.as_bytes());
        assert_eq!(scanner.finish(), expected.finish(), "{fed}");
        assert_eq!(scanner.position(), whole.wrapping_add(1));
        for member in [Member::Params, Member::Result] {
            // Compare the indexes only if both scanners have one.
            if let (Some(index), Some(other)) = (scanner.inner(member), expected.inner(member)) {
                let members = |index: &MemberIndex| index.members(short.as_bytes()).collect::<Vec<_>>();
                assert_eq!(members(index), members(other), "{fed}");
            }
        }
    }
}

#[test]
fn common_messages_scan_like_single_bytes() {
    for text in MESSAGES {
        let bytes = text.as_bytes();
        for limit in 0..7 {
            assert_same_bytewise(bytes, limit);
        }
        for at in 0..=bytes.len() {
            let (before, behind) = bytes.split_at(at);
            assert_same_bytewise(before, 128);
            assert_eq!(
                outcome(128, [before, behind].into_iter()),
                outcome(128, bytes.chunks(1)),
                "cut at {at}"
            );
            for odd in ["", " ", "\n", "\"", "\\", "x", "0", ",", "}", "]", "\u{1F}", "ä"] {
                let odd = odd.as_bytes();
                let other = [before, odd, behind].concat();
                let instead = [before, odd, behind.get(1..).unwrap_or_default()].concat();
                for limit in [1, 3, 128] {
                    assert_same_bytewise(&other, limit);
                    assert_same_bytewise(&instead, limit);
                }
            }
        }
    }
}

#[test]
fn index_equals_a_walk_over_the_members() {
    for text in MESSAGES {
        for of in [Member::Params, Member::Result] {
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                for odd in ["", " ", "\n "] {
                    let text = [&text[..at], odd, &text[at..]].concat();
                    let mut scanner = Scanner::new(128);
                    scanner.feed(text.as_bytes());
                    let Some(known) = scanner.finish().ok().and_then(|()| scanner.inner(of)) else {
                        continue;
                    };
                    let object = scanner.span(of).bytes(text.as_bytes());
                    let walked = Json::exact(object).members().map(|(name, value)| (name.raw(), value.raw()));
                    let known = known.members(text.as_bytes()).map(|(name, value)| {
                        (String::from_utf8_lossy(name).into_owned(), String::from(&text[value.range()]))
                    });
                    let walked: Vec<_> = walked.map(|(n, v)| (String::from(n), String::from(v))).collect();
                    assert_eq!(known.collect::<Vec<_>>(), walked, "{text}");
                }
            }
        }
    }
}
