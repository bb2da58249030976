//! Tests of the scanner: valid and invalid texts, errors, envelope members.

use super::*;
use std::format;
use std::string::String;
use std::vec::Vec;

/// The shape of a valid text, and the spans of its members.
type Outcome = (Shape, [Span; 6]);

fn in_pieces(text: &[u8], limit: u8, size: usize) -> Result<Outcome, ScanError> {
    let mut scanner = Scanner::new(limit);
    text.chunks(size.max(1)).for_each(|piece| scanner.feed(piece));
    scanner.finish().map(|()| (scanner.shape(), *scanner.table()))
}

/// Returns the result for the whole text. Checks that pieces of several sizes give the same result.
fn check(text: &[u8], limit: u8) -> Result<Outcome, ScanError> {
    let whole = in_pieces(text, limit, text.len());
    for size in [1, 2, 3, 5, 8, 13] {
        assert_eq!(in_pieces(text, limit, size), whole, "{} by {size}", String::from_utf8_lossy(text));
    }
    whole
}

fn error(text: &[u8]) -> (ScanErrorKind, usize) {
    let error = check(text, DEPTH_LIMIT).unwrap_err();
    (error.kind, error.at)
}

#[test]
fn values_of_every_kind_are_valid() {
    for text in [
        "0",
        "-0",
        "12",
        "-3.25",
        "1e5",
        "1E-5",
        "0.0e+00",
        "true",
        "false",
        "null",
        "\"\"",
        "[]",
        "{}",
        " [ ] ",
        "\t{\r\n}\n",
        "[1,2]",
        "[[],{}]",
        "{\"\":0}",
        "{\"a\":[1,{\"b\":null}],\"c\":\"d\"}",
        "\"\\ud83d\\ude00\"",
        "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\"",
        "\"\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}\"",
        "[1 , 2]",
        "[{\"a\":[1]},{\"a\":[1]}]",
        "[{\"a\":1},\"b\",{\"a\":1}, \"b\"]",
        "{\"a\" : 1 , \"b\" :2}",
        "[0,-1,0.5]",
        "[ true , false,null ]",
    ] {
        assert!(check(text.as_bytes(), DEPTH_LIMIT).is_ok(), "{text}");
    }
}

#[test]
fn errors_have_kind_and_position() {
    use ScanErrorKind::{Control, Empty, Incomplete, Surrogate, Syntax, Utf8};
    let cases: &[(&[u8], ScanErrorKind, usize)] = &[
        (b"", Empty, 0),
        (b"  \n", Empty, 3),
        (b"[", Incomplete, 1),
        (b"[1", Incomplete, 2),
        (b"[1 ", Incomplete, 3),
        (b"[1,", Incomplete, 3),
        (b"{\"a\":", Incomplete, 5),
        (b"[]]", Syntax, 2),
        (b"[}", Syntax, 1),
        (b"{]", Syntax, 1),
        (b"[1}", Syntax, 2),
        (b"{\"a\":1]", Syntax, 6),
        (b"[1,]", Syntax, 3),
        (b"[,1]", Syntax, 1),
        (b"[1 2]", Syntax, 3),
        (b"{\"a\":1,}", Syntax, 7),
        (b"{\"a\"}", Syntax, 4),
        (b"{\"a\":}", Syntax, 5),
        (b"{\"a\"1}", Syntax, 4),
        (b"{a:1}", Syntax, 1),
        (b"{1:1}", Syntax, 1),
        (b"{,}", Syntax, 1),
        (b"1,2", Syntax, 1),
        (b"1 2", Syntax, 2),
        (b"01", Syntax, 1),
        (b"-01", Syntax, 2),
        (b"[-]", Syntax, 2),
        (b"[-,1]", Syntax, 2),
        (b"[1.]", Syntax, 3),
        (b"[1e]", Syntax, 3),
        (b"{\"a\":1e-}", Syntax, 8),
        (b"[{\"a\":1},\"b\":1]", Syntax, 12),
        (b"-", Incomplete, 1),
        (b"-a", Syntax, 1),
        (b"+1", Syntax, 0),
        (b".5", Syntax, 0),
        (b"1.", Incomplete, 2),
        (b"1.e1", Syntax, 2),
        (b"1e", Incomplete, 2),
        (b"1e+", Incomplete, 3),
        (b"1e+x", Syntax, 3),
        (b"[1.5.2]", Syntax, 4),
        (b"tru", Incomplete, 3),
        (b"trux", Syntax, 3),
        (b"truex", Syntax, 4),
        (b"nul]", Syntax, 3),
        (b"True", Syntax, 0),
        (b"\"", Incomplete, 1),
        (b"\"\\", Incomplete, 2),
        (b"\"\\x\"", Syntax, 2),
        (b"\"\\u12g4\"", Syntax, 5),
        (b"\"\\U0041\"", Syntax, 2),
        (b"\"a\nb\"", Control, 2),
        (b"\"a\x00\"", Control, 2),
        (b"\"a\x1f\"", Control, 2),
        (b"\x0b1", Syntax, 0),
        (b"\xef\xbb\xbf1", Syntax, 0),
        (b"\"\\ud800\"", Surrogate, 7),
        (b"\"\\ud800\\n\"", Surrogate, 8),
        (b"\"\\ud800\\u0041\"", Surrogate, 12),
        (b"\"\\ud800\\ud800\"", Surrogate, 12),
        (b"\"\\udc00\"", Surrogate, 6),
        (b"\"\x80\"", Utf8, 1),
        (b"\"\xc0\x80\"", Utf8, 1),
        (b"\"\xc1\xbf\"", Utf8, 1),
        (b"\"\xc3\"", Utf8, 1),
        (b"\"\xe0\x9f\xbf\"", Utf8, 1),
        (b"\"\xed\xa0\x80\"", Utf8, 1),
        (b"\"\xf0\x8f\xbf\xbf\"", Utf8, 1),
        (b"\"\xf4\x90\x80\x80\"", Utf8, 1),
        (b"\"\xf5\x80\x80\x80\"", Utf8, 1),
        (b"\"ab\xe2\x82x\"", Utf8, 3),
        (b"\"ab\xe2\x82", Incomplete, 5),
        (b"[\xff]", Syntax, 1),
    ];
    for &(text, kind, at) in cases {
        assert_eq!(error(text), (kind, at), "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn invalid_text_keeps_only_a_reliable_id() {
    let cases: &[(&[u8], &[u8])] = &[
        (br#"{"id":1,"method":"ping","x":}"#, b"1"),
        (br#"{"id":"a","method":""#, br#""a""#),
        (b"{\"id\":1,\"result\":\"\xff\"}", b"1"),
        (br#"{"method":"m","id":12,"#, b"12"),
        (br#"{"result":1,"id":"x" "#, br#""x""#),
        (br#"{"method":"m","id":12"#, b""),
        (br#"{"method":"m","id":12x}"#, b""),
        (br#"{"method":"m","id":"a"#, b""),
        (br#"{"error":{},"id":"x""#, b""),
        (br#"{"id":1,"x":}"#, b""),
        (br#"{"id":1,"method":"m","id":}"#, b""),
        (br#"{"params":{},"id":12 "#, b""),
    ];
    for &(text, id) in cases {
        let mut scanner = Scanner::new(8);
        scanner.feed(text);
        scanner.finish().unwrap_err();
        scanner.drop_unreliable_id();
        assert_eq!(scanner.span(Member::Id).bytes(text), id, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn error_prints_kind_and_position() {
    let message = |text: &[u8]| format!("{}", check(text, 2).unwrap_err());
    assert_eq!(message(b"[1,]"), "unexpected character at byte 3");
    assert_eq!(message(b"[[[]]]"), "nested too deeply at byte 2");
    assert_eq!(message(b"\"\xff\""), "invalid UTF-8 at byte 1");
}

#[test]
fn error_persists_until_reset() {
    let mut scanner = Scanner::new(8);
    scanner.feed(b"[x");
    scanner.feed(b"1]");
    let first = scanner.finish();
    assert_eq!(first, Err(ScanError { kind: ScanErrorKind::Syntax, at: 1 }));
    scanner.feed(b"[]");
    assert_eq!(scanner.finish(), first);
    scanner.reset();
    scanner.feed(b"[]");
    assert!(scanner.finish().is_ok());
}

#[test]
fn depth_limit_is_exact() {
    for limit in [0u8, 1, 2, 63, 64, 65, 127, 128] {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let nested = |depth: usize| format!("{}0{}", open.repeat(depth), close.repeat(depth));
            assert!(check(nested(limit.into()).as_bytes(), limit).is_ok(), "{limit}");
            let error = check(nested(usize::from(limit) + 1).as_bytes(), limit).unwrap_err();
            assert_eq!(error.kind, ScanErrorKind::TooDeep);
            assert_eq!(error.at, usize::from(limit) * open.len());
        }
    }
    assert!(check("[".repeat(129).as_bytes(), u8::MAX).is_err(), "more than 128 counts as 128");
}

#[test]
fn wrong_bracket_is_found_at_every_depth() {
    // Tests one bracket of the wrong kind at each level in turn.
    let open: String = (0..128).map(|level| if level % 3 == 0 { "[" } else { "{\"a\":" }).collect();
    let close: Vec<char> = (0..128).rev().map(|level| if level % 3 == 0 { ']' } else { '}' }).collect();
    let text = |close: &[char]| format!("{open}0{}", close.iter().collect::<String>());
    assert!(check(text(&close).as_bytes(), 128).is_ok());
    for wrong in 0..128 {
        let mut close = close.clone();
        close[wrong] = if close[wrong] == ']' { '}' } else { ']' };
        let error = in_pieces(text(&close).as_bytes(), 128, 4096).unwrap_err();
        assert_eq!((error.kind, error.at), (ScanErrorKind::Syntax, open.len() + 1 + wrong));
    }
}

#[test]
fn members_are_found_beyond_depth_limit() {
    let text = br#"{"params":{"a":[[["]}\"",{"b":-1.5e3}]],true]},"id":"late","x":[[[1]]]}"#;
    for limit in 1..4 {
        let mut scanner = Scanner::new(limit);
        text.chunks(3).for_each(|piece| scanner.feed(piece));
        assert_eq!(scanner.finish().unwrap_err().kind, ScanErrorKind::TooDeep);
        let id = scanner.member(Member::Id).unwrap();
        assert_eq!(&text[id.start..id.end.unwrap()], b"\"late\"");
        let params = scanner.member(Member::Params).unwrap();
        assert_eq!(text[params.end.unwrap() - 1], b'}');
    }
}

#[test]
fn errors_are_found_beyond_depth_limit() {
    use ScanErrorKind::{Control, Incomplete, Surrogate, Syntax, TooDeep, Utf8};
    for (text, kind) in [
        (&b"[[[[1]]]]"[..], TooDeep),
        (b"[[[[1]]", Incomplete),
        (b"[[[[1]]]", Incomplete),
        (b"[[[[1]]],\"", Incomplete),
        (b"[[[[1]]]]x", Syntax),
        (b"[[[[@]]]]", Syntax),
        (b"[[[[\"\xff\"]]]]", Utf8),
        (b"[[[[\"\x01\"]]]]", Control),
        (b"[[[[\"\\udc00\"]]]]", Surrogate),
        (b"[[[[1]]],]", Syntax),
    ] {
        assert_eq!(check(text, 2).unwrap_err().kind, kind, "{}", String::from_utf8_lossy(text));
    }
}

#[test]
fn hundred_thousand_brackets_are_only_counted() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}"), ("[{\"\":", "}]")] {
        let text = format!("{}0{}", open.repeat(100_000), close.repeat(100_000));
        let error = in_pieces(text.as_bytes(), 128, 4096).unwrap_err();
        assert_eq!(error.kind, ScanErrorKind::TooDeep);
    }
}

#[test]
fn shape_describes_the_outermost_value() {
    for (text, shape) in
        [("{}", Shape::Object), (" [1]", Shape::Array), ("\"{\"", Shape::Other), ("7", Shape::Other)]
    {
        assert_eq!(check(text.as_bytes(), 1).unwrap().0, shape);
    }
}

fn spanned(text: &str, member: Member) -> Option<&str> {
    let (_, spans) = check(text.as_bytes(), DEPTH_LIMIT).unwrap();
    text.get(spans[member as usize].range())
}

#[test]
fn members_are_found_in_any_order_and_spelling() {
    for (text, id) in [
        ("{\"id\":7}", Some("7")),
        ("{\"id\":7 }", Some("7")),
        (" { \"id\" : -1.5e3 , \"x\":1}", Some("-1.5e3")),
        ("{\"x\":{\"id\":1},\"id\":\"a\\\"}\"}", Some("\"a\\\"}\"")),
        ("{\"id\":{\"id\":[1, 2]}}", Some("{\"id\":[1, 2]}")),
        ("{\"id\":{\"a\":1,\"id\":\"x\"},\"b\":true}", Some("{\"a\":1,\"id\":\"x\"}")),
        ("{\"id\":1,\"id\":null}", Some("null")),
        ("{\"id\":1,\"\\u0069d\":2}", Some("2")),
        ("{\"\\u0069\\u0064\":2}", Some("2")),
        ("{\"id\":1,\"ID\":2,\"i\":3,\"idd\":4,\"id \":5}", Some("1")),
        ("{\"id\\u0000\":1}", None),
        ("{\"\\u0000id\":1}", None),
        ("{\"id\\n\":1,\"i\\u00e4\":2,\"\u{e4}\":3}", None),
        ("{\"x\":\"id\",\"y\":[\"id\",1]}", None),
        ("[{\"id\":1}]", None),
        ("[\"id\",1]", None),
        ("{}", None),
    ] {
        assert_eq!(spanned(text, Member::Id), id, "{text}");
    }
    let text = r#"{"jsonrpc":"2.0","method":"a","params":[1],"result":{},"error":null,"id":1}"#;
    assert_eq!(spanned(text, Member::Jsonrpc), Some("\"2.0\""));
    assert_eq!(spanned(text, Member::Method), Some("\"a\""));
    assert_eq!(spanned(text, Member::Params), Some("[1]"));
    assert_eq!(spanned(text, Member::Result), Some("{}"));
    assert_eq!(spanned(text, Member::Error), Some("null"));
}

#[test]
fn open_member_is_visible() {
    let mut scanner = Scanner::new(8);
    scanner.feed(b"{\"method\":\"x\",\"id\": \"ab");
    assert_eq!(scanner.member(Member::Id), Some(OpenSpan { start: 20, end: None }));
    assert_eq!(scanner.member(Member::Method), Some(OpenSpan { start: 10, end: Some(13) }));
    assert_eq!(scanner.member(Member::Params), None);
    scanner.feed(b"c\"");
    assert_eq!(scanner.member(Member::Id), Some(OpenSpan { start: 20, end: Some(25) }));
    assert_eq!(scanner.position(), 25);
    // A number is open until a byte follows that is not part of the number.
    let mut scanner = Scanner::new(8);
    scanner.feed(b"{\"id\":12");
    assert_eq!(scanner.member(Member::Id), Some(OpenSpan { start: 6, end: None }));
    scanner.feed(b"3 ");
    assert_eq!(scanner.member(Member::Id), Some(OpenSpan { start: 6, end: Some(9) }));
}

#[test]
fn member_is_seen_even_if_its_value_is_invalid() {
    for (text, start) in [("{\"method\":]", 10), ("{\"id\":1,\"method\": \u{18}", 18), ("{\"method\":}", 10)]
    {
        let mut scanner = Scanner::new(8);
        scanner.feed(text.as_bytes());
        assert!(scanner.finish().is_err());
        assert_eq!(scanner.member(Member::Method), Some(OpenSpan { start, end: None }), "{text}");
    }
}

#[test]
fn scanner_is_small() {
    assert!(size_of::<Scanner>() <= 168 + size_of::<MemberIndex>());
}
