//! Tests of `Json`.

use super::*;
use std::string::{String, ToString};
use std::vec::Vec;

fn json(text: &str) -> Json<'_> {
    Json::parse(text.as_bytes()).unwrap()
}

#[test]
fn view_excludes_surrounding_white_space() {
    let view = json(" \n{ \"a\" : [ 1 , \"]\" ] , \"b\" : null } ");
    assert_eq!(view.raw(), "{ \"a\" : [ 1 , \"]\" ] , \"b\" : null }");
    assert_eq!(view.get("a").unwrap().raw(), "[ 1 , \"]\" ]");
    assert_eq!(view.get("b").unwrap().bytes(), b"null");
    assert_eq!(view.to_string(), view.raw());
    assert_eq!(std::format!("{view:?}"), view.raw());
    assert!(Json::parse(b"[1").is_err());
}

#[test]
fn debug_output_of_a_long_text_is_shortened() {
    let text = std::format!("\"{}\"", "ä".repeat(1 << 20));
    let shown = std::format!("\"{}… ({} bytes)", "ä".repeat(499), text.len());
    assert_eq!(std::format!("{:?}", json(&text)), shown);
    let whole = std::format!("\"{}\"", "ä".repeat(499));
    assert_eq!(std::format!("{:?}", json(&whole)), whole);
    let long = json(&text).string().unwrap();
    assert_eq!(std::format!("{long:?}"), std::format!("\"{}… ({} bytes)\"", "ä".repeat(500), text.len() - 2));
}

#[test]
fn first_byte_decides_the_kind() {
    for (text, kind) in [
        ("null", Kind::Null),
        ("true", Kind::Bool),
        ("false", Kind::Bool),
        ("-1", Kind::Number),
        ("0", Kind::Number),
        ("\"null\"", Kind::String),
        ("[]", Kind::Array),
        ("{}", Kind::Object),
    ] {
        assert_eq!(json(text).kind(), kind);
        assert_eq!(json(text).is_null(), kind == Kind::Null);
        assert_eq!(json(text).boolean().is_some(), kind == Kind::Bool);
        assert_eq!(json(text).number().is_some(), kind == Kind::Number);
        assert_eq!(json(text).string().is_some(), kind == Kind::String);
    }
}

#[test]
fn integers_are_exact_or_none() {
    for (text, signed, unsigned, is_integer) in [
        ("0", Some(0), Some(0), true),
        ("-0", Some(0), Some(0), true),
        ("-7", Some(-7), None, true),
        ("9223372036854775807", Some(i64::MAX), Some(i64::MAX as u64), true),
        ("9223372036854775808", None, Some(1 << 63), true),
        ("-9223372036854775808", Some(i64::MIN), None, true),
        ("-9223372036854775809", None, None, true),
        ("18446744073709551615", None, Some(u64::MAX), true),
        ("18446744073709551616", None, None, true),
        ("1.0", None, None, false),
        ("1e2", None, None, false),
        ("\"1\"", None, None, false),
        ("null", None, None, false),
    ] {
        let view = json(text);
        assert_eq!((view.integer(), view.unsigned(), view.is_integer_text()), (signed, unsigned, is_integer));
    }
    assert_eq!(json("1.50").number(), Some("1.50"));
}

#[test]
fn last_of_duplicate_names_counts() {
    let view = json(r#"{"a":1,"b":{"a":2},"\u0061":3,"":4,"b\n":5}"#);
    assert_eq!(view.get("a").unwrap().integer(), Some(3));
    assert_eq!(view.get("").unwrap().integer(), Some(4));
    assert_eq!(view.get("b\n").unwrap().integer(), Some(5));
    assert!(view.get("c").is_none());
    let [a, none, b] = view.pick(["a", "none", "b"]);
    assert_eq!((a.unwrap().raw(), none.is_none(), b.unwrap().raw()), ("3", true, "{\"a\":2}"));
    assert!(json("[1]").get("a").is_none());
    assert!(json("{}").pick(["a"])[0].is_none());
}

#[test]
fn elements_and_members_keep_their_order() {
    let view = json(r#"[1,"a,]",[2,[3]],{"x":"}"},null,-1.5e3]"#);
    let raws: Vec<&str> = view.elements().map(Json::raw).collect();
    assert_eq!(raws, ["1", "\"a,]\"", "[2,[3]]", "{\"x\":\"}\"}", "null", "-1.5e3"]);
    assert_eq!(view.index(2).unwrap().index(1).unwrap().raw(), "[3]");
    assert!(view.index(6).is_none());
    assert_eq!(json("[]").elements().count() + json("[ ]").elements().count(), 0);
    let view = json(r#"{ "a" : 1 , "b\"" :[ ] , "c":{} }"#);
    let members: Vec<_> = view.members().map(|(name, value)| (name.raw(), value.raw())).collect();
    assert_eq!(members, [("a", "1"), ("b\\\"", "[ ]"), ("c", "{}")]);
    assert_eq!(json("{}").members().count() + json("3").members().count(), 0);
}

#[test]
fn skipping_does_not_recurse() {
    let mut deep = std::string::String::new();
    deep.push_str(&"[".repeat(100_000));
    deep.push_str(&"]".repeat(100_000));
    // The nesting exceeds the depth limit, which applies only to scans.
    let view = Json::trusted(deep.as_bytes());
    assert_eq!(view.elements().count(), 1);
    assert_eq!(view.index(0).unwrap().bytes().len(), 199_998);
}

#[test]
fn unscanned_text_does_not_panic() {
    let alphabet = br#"{}[]":,\u1tn "#;
    let mut state = 7u32;
    for _ in 0..50_000 {
        let text: Vec<u8> = (0..12)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                alphabet[(state >> 16) as usize % alphabet.len()]
            })
            .collect();
        let view = Json::trusted(&text);
        assert!(view.elements().count() + view.members().count() <= 24);
        let _ = (view.get("u"), view.integer(), view.unsigned(), view.string().map(Str::len), view.raw());
    }
}

#[test]
fn members_of_every_length_are_skipped() {
    for length in 0..40 {
        for filler in ["x", "\\\"", "\\\\", "é", "]"] {
            let text = filler.repeat(length);
            let whole = std::format!(
                r#"{{"{text}":"{text}","b":{{"{text}":["{text}",{{"}}{text}":"{text}"}}, "{text}"],"c":{{}}}} , "d":1}}"#
            );
            let view = json(&whole);
            let values: Vec<&str> = view.members().map(|(_, value)| value.raw()).collect();
            let inside =
                std::format!(r#"{{"{text}":["{text}",{{"}}{text}":"{text}"}}, "{text}"],"c":{{}}}}"#);
            assert_eq!(values, [&std::format!("\"{text}\"")[..], &inside, "1"]);
            assert_eq!(view.get("d").unwrap().integer(), Some(1));
        }
    }
}

#[test]
fn find_spans_returns_the_spans_of_the_values() {
    let text = r#" {"a" : 1, "b":{"a":2} ,"a":[3 ] , "\u0063" :"x"}"#;
    let object = json(text);
    let start = text.len() - object.bytes().len();
    let mut found = [Span::MISSING; 4];
    object.find_spans(start, &["a", "b", "c", "d"], &mut found);
    assert_eq!(
        found.map(|span| text.get(span.range()).unwrap_or_default()),
        ["[3 ]", r#"{"a":2}"#, r#""x""#, ""]
    );
}

#[test]
fn next_element_finds_each_element() {
    for (text, elements) in [
        ("[]", &[][..]),
        (" [ ] ", &[]),
        ("[1]", &["1"]),
        (" [ 1 , [2 ,3] ,\"],\" ] ", &["1", "[2 ,3]", "\"],\""]),
    ] {
        let mut at = text.find('[').unwrap() + 1;
        let found = core::iter::from_fn(|| {
            let element = next_element(text.as_bytes(), at)?;
            at = element.end;
            Some(&text[element.range()])
        });
        assert_eq!(found.collect::<Vec<_>>(), elements, "{text}");
    }
    assert_eq!(next_element(b"[1]", 9), None);
}

#[test]
fn magnitude_accepts_digits_only() {
    for length in 0..=30 {
        for digit in '0'..='9' {
            let digits: String = core::iter::repeat_n(digit, length).collect();
            assert_eq!(magnitude(digits.as_bytes()), digits.parse().ok(), "{digits}");
            for (at, wrong) in (0..length).zip("/:+- .eE\"x\u{7f}".chars().cycle()) {
                let mut digits = digits.clone();
                digits.replace_range(at..at + 1, &wrong.to_string());
                assert_eq!(magnitude(digits.as_bytes()), None, "{digits}");
            }
        }
    }
    for id in [u64::MAX, u64::MAX - 1, 10u64.pow(19), 10u64.pow(19) - 1, 0, 1] {
        assert_eq!(magnitude(id.to_string().as_bytes()), Some(id));
        // 2^64 + `id` overflows.
        let more = u128::from(u64::MAX) + 1 + u128::from(id);
        assert_eq!(magnitude(more.to_string().as_bytes()), None);
    }
}
