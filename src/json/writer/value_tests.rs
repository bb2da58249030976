//! Tests of single values: strings, numbers and short JSON.

use super::*;
use crate::buffer::BufferMut;
use std::string::String;
use std::vec;

/// Returns the output of a writer with a buffer of this length, and whether the output overflowed.
fn written(room: usize, body: &dyn Fn(&mut Writer<'_>)) -> (String, bool) {
    let mut bytes = vec![0xEE; room];
    let mut out = Writer::new(BufferMut::Lent(&mut bytes), 0, room);
    body(&mut out);
    (String::from_utf8(out.written().to_vec()).unwrap(), out.overflowed())
}

/// Tests a buffer with spare capacity, an exact buffer, and a buffer that is one byte too short.
fn check(body: &dyn Fn(&mut Writer<'_>), expected: &str) {
    for more in [0, 1, 2, 3, 8, 100] {
        assert_eq!(written(expected.len() + more, body), (String::from(expected), false));
    }
    assert!(expected.is_empty() || written(expected.len() - 1, body).1, "{expected}");
}

#[test]
fn byte_at_any_position_of_a_string_is_written() {
    for length in 0..40 {
        let plain = "x".repeat(length);
        check(&|out| out.string(&plain), &std::format!("\"{plain}\""));
        check(&|out| out.token(&plain), &plain);
        for at in 0..length {
            for byte in ["\"", "\\", "\n", "\u{0}", "\u{1f}", " ", "!", "#", "\u{7f}", "é"] {
                let text = std::format!("{}{byte}{}", &plain[..at], &plain[at + 1..]);
                let quoted = serde_json::to_string(&text).unwrap();
                check(&|out| out.string(&text), &quoted);
                check(&|out| out.display(&text.as_str()), &quoted);
                let member = std::format!("{{\"a\":1,{quoted}:{quoted}}}");
                let body = |out: &mut Writer<'_>| {
                    out.begin_object();
                    out.field_integer("a", 1);
                    out.field_string(&text, &text);
                    out.end_object();
                };
                check(&body, &member);
            }
        }
    }
}

#[test]
fn numbers_of_all_lengths_are_written() {
    for power in 0..19 {
        let bound = 10u64.pow(power);
        for value in [bound - 1, bound, bound + 1, bound * 9 - 1] {
            check(&|out| out.unsigned(value), &std::format!("{value}"));
            let value = value as i64;
            let body = |out: &mut Writer<'_>| {
                out.begin_array();
                out.integer(value);
                out.integer(-value);
                out.json_bytes(std::format!("{value}").as_bytes());
                out.end_array();
            };
            check(&body, &std::format!("[{value},{},{value}]", -value));
        }
    }
}

#[test]
fn short_json_has_no_line_break() {
    check(&|out| out.json_bytes(b"[1,\n2]"), "[1, 2]");
    check(&|out| out.json_bytes(b"[\r]"), "[ ]");
    check(&|out| out.json_bytes(b"{\t}"), "{\t}");
}
