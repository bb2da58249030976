//! Tests of message kinds, ids and error codes.

use super::*;
use crate::json::{DEPTH_LIMIT, Json, Scanner, Span};
use std::format;
use std::string::String;

/// Classifies a valid text.
fn classify(text: &str) -> (Class, Scanner) {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    scanner.feed(text.as_bytes());
    scanner.finish().unwrap();
    (Class::new(text.as_bytes(), &scanner, false), scanner)
}

fn span_text(text: &str, span: Span) -> &str {
    text.get(span.range()).unwrap_or_default()
}

/// The classification table: the text of a message and its kind.
#[test]
fn message_kind_depends_on_members() {
    use MessageKind::{Batch, Invalid, Notification, Request, Response};
    let cases: &[(&str, MessageKind)] = &[
        (r#"{"jsonrpc":"2.0","id":1,"method":"m"}"#, Request),
        (r#"{"params":{},"method":"m","id":"","jsonrpc":"2.0"}"#, Request),
        (r#"{"jsonrpc":"2.0","id":0,"method":"m"}"#, Request),
        (r#"{"jsonrpc":"2.0","id":123456789012345678901234567890,"method":"m"}"#, Request),
        (r#"{"jsonrpc":"2.0","\u0069d":-7,"method":"m"}"#, Request),
        (r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#, Request),
        (r#"{"jsonrpc":"2.\u0030","method":"m"}"#, Notification),
        (r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, Response),
        (r#"{"jsonrpc":"2.0","id":1,"error":{}}"#, Response),
        (r#"{"jsonrpc":"2.0","id":1,"error":{},"result":{}}"#, Response),
        (r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, Response),
        (r#"{"jsonrpc":"2.0","error":{}}"#, Response),
        (r#"{"jsonrpc":"2.0","result":{}}"#, Invalid),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, Invalid),
        (r#"{"jsonrpc":"2.0","id":1.0,"method":"m"}"#, Invalid),
        (r#"{"jsonrpc":"2.0","id":1e0,"method":"m"}"#, Invalid),
        (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, Invalid),
        (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, Invalid),
        (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Invalid),
        (r#"{"jsonrpc":"2.0","id":1}"#, Invalid),
        (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, Invalid),
        (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, Invalid),
        (r#"{"id":1,"method":"m"}"#, Invalid),
        (r#"{}"#, Invalid),
        (r#""text""#, Invalid),
        (r#"[]"#, Batch),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"m"}]"#, Batch),
    ];
    for (text, kind) in cases {
        assert_eq!(Message::parse(text.as_bytes()).unwrap().kind(), *kind, "{text}");
    }
}

#[test]
fn error_codes_match_specifications() {
    use code::*;
    let of_json_rpc = [PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR];
    assert_eq!(of_json_rpc, [-32700, -32600, -32601, -32602, -32603]);
    assert_eq!([USER_REJECTED, RESOURCE_NOT_FOUND, URL_ELICITATION_REQUIRED], [-1, -32002, -32042]);
    let of_2026 = [HEADER_MISMATCH, MISSING_CLIENT_CAPABILITY, UNSUPPORTED_PROTOCOL_VERSION];
    assert_eq!(of_2026, [-32020, -32021, -32022]);
}

#[test]
fn message_returns_members_of_any_type() {
    let text = br#"{"jsonrpc":"2.0","id":1.5,"method":2,"params":[3],"result":4,"error":"5"}"#;
    let message = Message::parse(text).unwrap();
    let members = [message.id(), message.method(), message.params(), message.result(), message.error()];
    assert_eq!(
        members.map(|member| member.map(Json::raw)),
        [Some("1.5"), Some("2"), Some("[3]"), Some("4"), Some("\"5\"")]
    );
    let message = Message::parse(b"{}").unwrap();
    let members = [message.id(), message.method(), message.params(), message.result(), message.error()];
    assert!(members.iter().all(Option::is_none));
}

#[test]
fn response_has_one_outcome() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"result":7}"#, "result 7"),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":1}}"#, "error {\"code\":1}"),
        (r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#, "malformed"),
        (r#"{"jsonrpc":"2.0","id":1,"result":7,"error":{}}"#, "malformed"),
    ];
    for (text, expected) in cases {
        let (class, scanner) = classify(text);
        let expected_class = if expected == "malformed" { Class::MalformedResponse } else { Class::Response };
        assert_eq!(class, expected_class, "{text}");
        let found = match Outcome::new(text.as_bytes(), &scanner) {
            Outcome::Result(result) => format!("result {}", &text[result.range()]),
            Outcome::Error(error) => format!("error {}", &text[error.range()]),
            Outcome::Malformed => String::from("malformed"),
        };
        assert_eq!(found, expected, "{text}");
    }
}

#[test]
fn null_params_are_missing() {
    let cases = [("null", ""), ("{}", "{}"), ("[]", "[]")];
    for (params, expected) in cases {
        let text = format!(r#"{{"jsonrpc":"2.0","method":"m","params":{params}}}"#);
        let (Class::Notification, scanner) = classify(&text) else { panic!("{text}") };
        assert_eq!(span_text(&text, scanner.params(text.as_bytes())), expected);
    }
}

#[test]
fn only_possible_requests_are_answerable() {
    let cases: &[(&str, bool, &str)] = &[
        (r#"{"id":1,"method":"m"}"#, true, "1"),
        (r#"{"method":"m"}"#, false, ""),
        (r#"{"id":"x","result":{}}"#, false, "\"x\""),
        (r#"{"jsonrpc":"2.0","id":1}"#, true, "1"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, true, ""),
        (r#"{"jsonrpc":"2.0","method":1}"#, true, ""),
        (r#"{"jsonrpc":"2.0","result":1}"#, false, ""),
        (r#"[1]"#, true, ""),
    ];
    for (text, expected, expected_id) in cases {
        let (class, scanner) = classify(text);
        let is_answerable = match class {
            Class::Invalid(_) => true,
            Class::Unanswerable(_) => false,
            other => panic!("{text}: {other:?}"),
        };
        assert_eq!(is_answerable, *expected, "{text}");
        assert_eq!(span_text(text, scanner.valid_id(text.as_bytes())), *expected_id, "{text}");
    }
}

/// The scanner has an index only for an object with few members and without escapes in the names. Any other object is
/// searched.
#[test]
fn picked_params_equal_those_of_a_search() {
    let many: String = (0..12).map(|number| format!(r#""{number}":{number},"#)).collect();
    for members in ["", r#""a":1,"b":{"a":2},"#, r#""\u0061":3,"#, r#""a":4,"a":5,"#, &many] {
        for params in [format!(r#"{{{members}"c":null}}"#), String::from("[1]"), String::from("null")] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
            let message = Message::parse(text.as_bytes()).unwrap();
            let names = ["a", "b", "c", "7"];
            let expected = message.params().unwrap().pick(names).map(|found| found.map(Json::raw));
            assert_eq!(message.pick_params(names).map(|found| found.map(Json::raw)), expected, "{text}");
        }
    }
    let without = Message::parse(br#"{"jsonrpc":"2.0","id":1,"method":"m"}"#).unwrap();
    assert!(without.pick_params(["a"]).iter().all(Option::is_none));
}
