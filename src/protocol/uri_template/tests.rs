//! Tests of URI templates.

use super::*;
use crate::json::Json;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Returns the values of the variables `names` in `uri`. Returns `None` if the template does not match.
fn values(template: &str, uri: &str, names: &[&str]) -> Option<Vec<String>> {
    find(template, Chars::new(uri), "")?;
    Some(names.iter().map(|name| value_of(template, uri, name).unwrap().raw().to_string()).collect())
}

#[test]
fn template_matches_uris() {
    type Case = (&'static str, &'static [&'static str], &'static str, Option<&'static [&'static str]>);
    let cases: &[Case] = &[
        // A template without variables.
        ("a:b", &[], "a:b", Some(&[])),
        ("a:b", &[], "a:bc", None),
        ("a:b", &[], "a:", None),
        ("", &[], "", Some(&[])),
        ("", &[], "a", None),
        // One variable: at the end, in the middle, at the start, empty.
        ("note:{id}", &["id"], "note:7", Some(&["7"])),
        ("note:{id}", &["id"], "note:", Some(&[""])),
        ("note:{id}", &["id"], "Note:7", None),
        ("a/{x}/b", &["x"], "a/1/b", Some(&["1"])),
        ("a/{x}/b", &["x"], "a//b", Some(&[""])),
        ("a/{x}/b", &["x"], "a/1/c", None),
        ("a/{x}/b", &["x"], "a/1/b/b", None),
        ("{x}", &["x"], "", Some(&[""])),
        ("{x}", &["x"], "aZ09-._~", Some(&["aZ09-._~"])),
        // Characters that the value of a `{name}` cannot contain, and then percent-encoded characters.
        ("a/{x}", &["x"], "a/1/2", None),
        ("a/{x}", &["x"], "a/1?q", None),
        ("a/{x}", &["x"], "a/\u{e9}", None),
        ("a/{x}", &["x"], "a/1 2", None),
        ("a/{x}", &["x"], "a/%4", None),
        ("a/{x}", &["x"], "a/%4g", None),
        ("a/{x}", &["x"], "a/%", None),
        ("a/{x}", &["x"], "a/%2F%c3%A9", Some(&["%2F%c3%A9"])),
        // A literal never matches inside a percent-encoded character.
        ("{x}41", &["x"], "%4141", Some(&["%41"])),
        ("{x}41", &["x"], "%41", None),
        // Several variables: all but the last are as short as possible.
        ("{x}-{y}", &["x", "y"], "1-2", Some(&["1", "2"])),
        ("{x}-{y}", &["x", "y"], "1-2-3", Some(&["1", "2-3"])),
        ("{x}-{y}", &["x", "y"], "-", Some(&["", ""])),
        ("{x}-{y}", &["x", "y"], "12", None),
        ("{x}{y}", &["x", "y"], "12", Some(&["", "12"])),
        ("{x}ab{y}b", &["x", "y"], "aabab", Some(&["a", "a"])),
        ("{x}ab{y}ab", &["x", "y"], "ababab", Some(&["", "ab"])),
        ("{x}/{y}.txt", &["x", "y"], "a.txt/b.txt.txt", Some(&["a.txt", "b.txt"])),
        ("{x}a/{y}", &["x", "y"], "aaa/b", Some(&["aa", "b"])),
        // Literals beyond ASCII.
        ("caf\u{e9}/{x}", &["x"], "caf\u{e9}/1", Some(&["1"])),
        ("caf\u{e9}/{x}", &["x"], "cafe/1", None),
        // Characters that `encodeURIComponent` of JavaScript leaves unencoded.
        ("a/{x}", &["x"], "a/it's%20(1)!*", Some(&["it's%20(1)!*"])),
        ("a({x})", &["x"], "a(b)", Some(&["b"])),
        // Values with reserved characters.
        ("file:///{+path}", &["path"], "file:///a/b?c#d", Some(&["a/b?c#d"])),
        ("file:///{+path}", &["path"], "file:///", Some(&[""])),
        ("file:///{+path}", &["path"], "file:///a b", None),
        ("file:///{+path}.md", &["path"], "file:///a.md/b.md", Some(&["a.md/b"])),
        ("{host}/{+path}", &["host", "path"], "h/a/b", Some(&["h", "a/b"])),
        ("{+x}/{+y}", &["x", "y"], "1/2/3", Some(&["1", "2/3"])),
    ];
    for (template, names, uri, expected) in cases {
        assert!(is_valid(template), "{template}");
        let expected =
            expected.map(|values| values.iter().map(|value| (*value).into()).collect::<Vec<String>>());
        assert_eq!(values(template, uri, names), expected, "{template} of {uri}");
    }
}

#[test]
fn growing_the_last_value_equals_exhaustive_search() {
    // Exhaustive search over all value boundaries, for comparison.
    fn matches_any(template: &[u8], uri: &str) -> bool {
        match split(template) {
            None => uri.is_empty(),
            Some((Piece::Literal(text), rest)) => {
                uri.strip_prefix(text_of(text)).is_some_and(|uri| matches_any(rest, uri))
            }
            Some((Piece::Variable { reserved, .. }, rest)) => {
                let mut end = Position { rest: Chars::new(uri), at: 0 };
                loop {
                    if matches_any(rest, &uri[end.at..]) {
                        return true;
                    }
                    if !end.take_value_char(reserved) {
                        return false;
                    }
                }
            }
        }
    }
    let mut seed = 7u32;
    let mut random = move |below: u32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 16) % below
    };
    let (mut matched, parts) = (0, ["a", "b", "/", "%41", "41", "-"]);
    for _ in 0..200_000 {
        let (mut template, mut uri, mut reserved) = (String::new(), String::new(), false);
        for _ in 0..random(6) {
            match random(8) {
                part @ 0..6 => template += parts[part as usize],
                6 if !reserved => template += "{x}",
                _ => {
                    reserved = true;
                    template += "{+y}";
                }
            }
        }
        for _ in 0..random(7) {
            uri += parts[random(6) as usize];
        }
        assert!(is_valid(&template));
        let found = find(&template, Chars::new(&uri), "").is_some();
        assert_eq!(found, matches_any(template.as_bytes(), &uri), "{template} of {uri}");
        matched += usize::from(found);
    }
    assert!(matched > 10_000, "{matched}");
}

#[test]
fn braces_must_enclose_names() {
    for template in ["", "a", "{a}", "{a_1.b%41}", "x{a}y{b}z", "{+a}", "{a}{+b}{+c}"] {
        assert!(is_valid(template), "{template}");
    }
    for template in
        ["{", "}", "{}", "{+}", "a{b", "a}b", "{{a}}", "{a{b}}", "{a,b}", "{?a}", "{a*}", "{a:3}", "{+a}{b}"]
    {
        assert!(!is_valid(template), "{template}");
    }
}

#[test]
fn json_escapes_are_decoded_before_matching() {
    let uri = Json::parse(br#""note:\/\/\u0061\u00e9""#).unwrap().string().unwrap();
    assert!(find("note://{id}\u{e9}", uri.chars(), "").is_some());
    assert!(find("note://b", uri.chars(), "").is_none());
}

#[test]
fn variable_is_percent_decoded_on_access() {
    let cases = [
        ("plain", "plain", Some("plain")),
        ("", "", Some("")),
        ("a%20b%2fc", "a b/c", None),
        ("%C3%A9%E2%82%AC%F0%9F%98%80", "\u{e9}\u{20ac}\u{1F600}", None),
        ("%ff%C3x%E2%82", "\u{FFFD}\u{FFFD}x\u{FFFD}", None),
    ];
    for (raw, shown, plain) in cases {
        let value = Variable { text: raw };
        assert_eq!((value.to_string().as_str(), value.as_str()), (shown, plain), "{raw}");
        let is_text = !shown.contains('\u{FFFD}');
        assert_eq!(value == shown, is_text, "{raw}");
        let mut room = [0; 32];
        assert_eq!(value.copy_to(&mut room), Ok(if is_text { shown } else { "" }), "{raw}");
        let needed = value.bytes().count();
        if needed > 0 {
            assert_eq!(value.copy_to(&mut room[..needed - 1]), Err(TooShort { needed }));
        }
        assert_eq!(format!("{value:?}"), format!("{raw:?}"));
    }
}
