//! Tests of the JSON writer.

use super::*;
use std::string::{String, ToString};
#[cfg(feature = "alloc")]
use std::vec::Vec;

/// Returns the output of `body` with enough space. Checks that counting gives the same length.
fn written(body: impl Fn(&mut Writer<'_>)) -> String {
    let mut room = [0xEE; 4096];
    let mut writer = Writer::new(BufferMut::Lent(&mut room), 7, 4096);
    body(&mut writer);
    assert!(!writer.overflowed());
    let text = String::from_utf8(writer.written().to_vec()).unwrap();
    let mut measure = Writer::measure();
    body(&mut measure);
    assert_eq!(measure.len(), text.len(), "{text}");
    assert_eq!(
        (writer.len(), writer.end(), writer.is_empty()),
        (text.len(), text.len() + 7, text.is_empty())
    );
    text
}

fn everything(writer: &mut Writer<'_>) {
    writer.begin_object();
    writer.field_string("text", "a\"\\\n\r\t\u{8}\u{c}\u{1}\u{1f}\u{7f}é😀/");
    writer.key("numbers");
    writer.begin_array();
    writer.integer(0);
    writer.integer(i64::MIN);
    writer.unsigned(u64::MAX);
    writer.decimal(Decimal::new(-25, -1));
    writer.end_array();
    writer.field_boolean("yes", true);
    writer.field_boolean("no", false);
    writer.key("nothing");
    writer.null();
    writer.key("empty");
    writer.begin_array();
    writer.begin_object();
    writer.end_object();
    writer.begin_array();
    writer.end_array();
    writer.string("");
    writer.end_array();
    writer.field_integer("n\n", 7);
    writer.end_object();
}

#[test]
fn commas_and_escapes_are_automatic() {
    assert_eq!(
        written(everything),
        concat!(
            r#"{"text":"a\"\\\n\r\t\b\f\u0001\u001f"#,
            "\u{7f}é😀/\",",
            r#""numbers":[0,-9223372036854775808,18446744073709551615,-2.5],"yes":true,"no":false,"nothing":null,"#,
            r#""empty":[{},[],""],"n\n":7}"#
        )
    );
}

#[test]
fn display_is_escaped() {
    assert_eq!(written(|writer| writer.display(&format_args!("{}\n\"{}\"", 1, 'x'))), r#""1\n\"x\"""#);
    assert_eq!(written(|writer| writer.display(&("a\"", -7, '\n', "é"))), r#""a\"-7\né""#);
}

#[test]
fn foreign_value_has_no_line_break() {
    let text = "{\r\n\t\"a\" : [1,\n2],\"b\\n\":\"\\u000a\"}\n";
    let json = Json::parse(text.as_bytes()).unwrap();
    let one_line = "{  \t\"a\" : [1, 2],\"b\\n\":\"\\u000a\"}";
    assert_eq!(written(|writer| writer.json(json)), one_line);
    assert_eq!(written(|writer| writer.raw(text).unwrap()), one_line);
    assert_eq!(written(|writer| writer.json_bytes(text.trim_end().as_bytes())), one_line);
    let name = json.members().nth(1).unwrap().0;
    assert_eq!(written(|writer| writer.text(name)), "\"b\\n\"");
}

#[test]
fn raw_text_that_is_no_value_is_rejected() {
    for text in ["", "[1,", "1,2", "]", "{}}", "\"\n\"", "\u{feff}1"] {
        assert_eq!(
            written(|writer| {
                writer.begin_array();
                writer.null();
                assert!(writer.raw(text).is_err());
                writer.end_array();
            }),
            "[null]"
        );
    }
}

#[test]
fn token_gets_no_comma() {
    let lines = written(|writer| {
        writer.token("{\"jsonrpc\":\"2.0\"");
        writer.key("id");
        writer.integer(1);
        writer.token("}\n");
        writer.begin_array();
        writer.end_array();
    });
    assert_eq!(lines, "{\"jsonrpc\":\"2.0\",\"id\":1}\n[]");
}

#[test]
fn output_ends_at_the_limit_or_the_buffer_end() {
    let whole = written(everything);
    for limit in 0..=whole.len() {
        for (room, limit) in [(limit, usize::MAX), (whole.len() + 10, limit)] {
            let mut bytes = std::vec![0xEE; room];
            let mut writer = Writer::new(BufferMut::Lent(&mut bytes), 0, limit);
            everything(&mut writer);
            let fits = limit.min(room) >= whole.len();
            assert_eq!(writer.overflowed(), !fits);
            assert!(whole.as_bytes().starts_with(writer.written()));
            let end = writer.end();
            assert_eq!(writer.finish(), fits.then_some(end));
            assert!(end <= limit && bytes.iter().skip(limit).all(|byte| *byte == 0xEE));
        }
    }
    let mut bytes = [0; 4];
    let mut writer = Writer::new(BufferMut::Lent(&mut bytes), 10, 20);
    writer.null();
    assert!(writer.overflowed() && writer.written().is_empty());
}

#[test]
fn rollback_clears_the_overflow() {
    let mut bytes = [0; 8];
    let mut writer = Writer::new(BufferMut::Lent(&mut bytes), 0, 8);
    writer.begin_array();
    writer.integer(1);
    let mark = writer.mark();
    writer.string("too long for it");
    writer.end_array();
    assert!(writer.overflowed());
    writer.rollback(mark);
    assert!(!writer.overflowed());
    writer.integer(2);
    writer.end_array();
    assert_eq!(writer.written(), b"[1,2]");
}

#[test]
fn rollback_leaves_no_comma() {
    let text = written(|writer| {
        writer.begin_array();
        let mark = writer.mark();
        writer.integer(1);
        writer.rollback(mark);
        writer.integer(2);
        writer.end_array();
    });
    assert_eq!(text, "[2]");
}

#[cfg(feature = "alloc")]
#[test]
fn grown_buffer_grows_to_its_limit() {
    let whole = written(everything);
    for limit in [0, 10, whole.len() - 1, whole.len(), 10_000] {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(BufferMut::Grown { bytes: &mut bytes, limit }, 0, usize::MAX);
        everything(&mut writer);
        assert_eq!(writer.overflowed(), limit < whole.len());
        assert!(whole.as_bytes().starts_with(writer.written()));
    }
}

/// Writes `[1, …, 3]` with `body` as a checked element. Returns whether the element was valid, and the array.
fn checked(body: impl Fn(&mut Writer<'_>)) -> (bool, String) {
    let mut room = [0; 256];
    let mut writer = Writer::new(BufferMut::Lent(&mut room), 0, 256);
    writer.begin_array();
    writer.integer(1);
    let result = writer.value_checked(&mut |writer: &mut Writer<'_>| body(writer));
    writer.integer(3);
    writer.end_array();
    (result.is_ok(), String::from_utf8(writer.written().to_vec()).unwrap())
}

#[test]
fn invalid_checked_value_is_discarded() {
    for (body, value) in [
        ((|writer| writer.integer(2)) as fn(&mut Writer<'_>), Some("2")),
        (|writer| everything(writer), Some(written(everything).as_str())),
        (|_| (), None),
        (|writer| writer.begin_array(), None),
        (|writer| writer.end_array(), None),
        (|writer| writer.key("a"), None),
        (
            |writer| {
                writer.integer(2);
                writer.integer(2);
            },
            None,
        ),
        (
            |writer| {
                writer.end_array();
                writer.begin_array();
            },
            None,
        ),
        (
            |writer| {
                writer.begin_object();
                writer.null();
                writer.end_object();
            },
            None,
        ),
    ] {
        let (ok, text) = checked(body);
        match value {
            Some(value) => assert_eq!((ok, text), (true, std::format!("[1,{value},3]"))),
            None => assert_eq!((ok, text.as_str()), (false, "[1,3]")),
        }
    }
}

#[test]
fn caller_cannot_roll_back_earlier_output() {
    let mut room = [0; 64];
    let mut writer = Writer::new(BufferMut::Lent(&mut room), 0, 64);
    let early = writer.mark();
    writer.begin_array();
    writer.integer(1);
    let result = writer.value_checked(&mut |writer: &mut Writer<'_>| {
        writer.integer(2);
        writer.rollback(early);
    });
    writer.end_array();
    assert_eq!((result, writer.written()), (Ok(()), &b"[1,2]"[..]));
    // An overflow is no error here, because the latched overflow already prevents sending.
    assert_eq!(writer.value_checked(&mut |writer: &mut Writer<'_>| writer.string(&"x".repeat(100))), Ok(()));
    assert!(writer.overflowed());
}

#[test]
fn escape_own_copies_earlier_output() {
    let mut room = [0; 256];
    let mut writer = Writer::new(BufferMut::Lent(&mut room), 3, 256);
    writer.begin_object();
    writer.key("a");
    let from = writer.len();
    writer.raw("{\"b\":\t\"c\\n\\\"é\",\"long\":\"a text of more than eight bytes\"}").unwrap();
    let to = writer.len();
    writer.key("text");
    writer.token("\"");
    writer.escape_own(from, to);
    writer.token("\"");
    writer.end_object();
    let text: serde_json::Value = serde_json::from_slice(writer.written()).unwrap();
    let mirrored: serde_json::Value = serde_json::from_str(text["text"].as_str().unwrap()).unwrap();
    assert_eq!(mirrored, text["a"]);
    // `escape_own` also respects the limit.
    for limit in 20..60 {
        let mut room = [0xEE; 60];
        let mut writer = Writer::new(BufferMut::Lent(&mut room), 0, limit);
        writer.string("\"\"\"\"");
        let to = writer.len();
        writer.escape_own(0, to);
        assert_eq!(writer.overflowed(), limit < 10 + 20);
        assert!(writer.end() <= limit);
    }
    // A counting writer assumes the longest result.
    let mut writer = Writer::measure();
    writer.string("abc");
    writer.escape_own(0, 5);
    assert_eq!(writer.len(), 15);
}

#[test]
fn random_strings_round_trip() {
    let mut state = 3u32;
    for _ in 0..3000 {
        let text: String = (0..40)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                let code = state >> 12;
                let code = if state & 0x100 == 0 { code % 0x110000 } else { code % 0x60 };
                char::from_u32(code).unwrap_or('"')
            })
            .collect();
        let json = written(|writer| writer.string(&text));
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        assert_eq!(json.len(), serde_json::to_string(&text).unwrap().len());
        assert_eq!(written(|writer| writer.display(&text)), json);
        assert_eq!(Json::parse(json.as_bytes()).unwrap().string().unwrap().to_string(), text);
    }
}

#[test]
fn mark_of_another_writer_is_ignored() {
    let mut far = Writer::measure();
    far.string("further than the other one");
    let mark = far.mark();
    assert_eq!(
        written(|writer| {
            writer.begin_array();
            writer.rollback(mark);
            writer.end_array();
        }),
        "[]"
    );
}

#[test]
fn binary_content_is_written_whole_or_not_at_all() {
    let bytes: [u8; 5] = [0, 0xFF, 0x10, 0x80, 7];
    let text = written(|out| {
        out.begin_array();
        for length in 0..=bytes.len() {
            out.base64(&bytes[..length]);
        }
        out.end_array();
    });
    assert_eq!(text, r#"["","AA==","AP8=","AP8Q","AP8QgA==","AP8QgAc="]"#);
    let mut room = [0xEE; 16];
    for limit in 0..10 {
        let mut out = Writer::new(BufferMut::Lent(&mut room), 0, limit);
        out.base64(&bytes);
        assert!(out.overflowed(), "{limit}");
    }
    assert_eq!(room[10..], [0xEE; 6]);
    let mut out = Writer::new(BufferMut::Lent(&mut room), 0, 10);
    out.base64(&bytes);
    assert_eq!((out.overflowed(), out.written()), (false, &b"\"AP8QgAc=\""[..]));
}
