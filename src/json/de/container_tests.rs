//! Tests objects and strings with and without white space between tokens.

use super::*;
use serde::Deserialize;
use serde::de::MapAccess;
use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Returns the text with a space before each opening quote, and before each punctuation character outside of strings.
fn spaced(text: &str) -> String {
    let (mut spaced, mut inside, mut escaped) = (String::new(), false, false);
    for letter in text.chars() {
        if !inside && r#"{}[]:,""#.contains(letter) {
            spaced.push(' ');
        }
        inside ^= letter == '"' && !escaped;
        escaped = letter == '\\' && !escaped;
        spaced.push(letter);
    }
    spaced
}

/// Asserts that white space does not change the result of decoding. Returns the result.
#[track_caller]
fn decode_spaced<T: for<'a> Deserialize<'a> + PartialEq + core::fmt::Debug>(text: &str) -> Result<T, String> {
    let decoded =
        |text: &str| decode_in_place::<T>(&mut text.as_bytes().to_vec()).map_err(|error| error.to_string());
    let expected = decoded(&spaced(text));
    assert_eq!(decoded(text), expected, "{text}");
    // No string of the texts in this file has a colon, or ends with a comma.
    let spread = text.replace(",\"", ", \"").replace(":", ": ");
    assert_eq!(decoded(&spread), expected, "{spread}");
    expected
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Names {
    a: u8,
    bc: u8,
    def: u8,
    ghij: u8,
    klmno: u8,
    pqrstuv: u8,
    wxyzabcd: u8,
    efghijklm: u8,
    nopqrstuvwxyzab: u8,
    cdefghijklmnopqr: u8,
    stuvwxyzabcdefghi: u8,
    jklmnopqrstuvwxyzabcdefgh: u8,
}

const NAMES: [&str; 12] = [
    "a",
    "bc",
    "def",
    "ghij",
    "klmno",
    "pqrstuv",
    "wxyzabcd",
    "efghijklm",
    "nopqrstuvwxyzab",
    "cdefghijklmnopqr",
    "stuvwxyzabcdefghi",
    "jklmnopqrstuvwxyzabcdefgh",
];

#[test]
fn names_of_all_lengths_are_compared_whole() {
    let member = |name: &&str| format!("\"{name}\":7");
    let members: Vec<String> = NAMES.iter().map(member).collect();
    let all = decode_spaced::<Names>(&format!("{{{}}}", members.join(","))).unwrap();
    assert_eq!((all.a, all.jklmnopqrstuvwxyzabcdefgh), (7, 7));
    for (index, name) in NAMES.iter().enumerate() {
        // Tests the name after the preceding members, and alone.
        for before in [&members[..index], &[]] {
            let text = |name: &str| {
                let members = [before, &[member(&name)]].concat();
                format!("{{{}}}", members.join(","))
            };
            assert!(decode_spaced::<Names>(&text(name)).is_ok());
            for at in 0..name.len() {
                let other = [&name[..at], "?", &name[at + 1..]].concat();
                let error = decode_spaced::<Names>(&text(&other)).unwrap_err();
                assert!(error.starts_with("unknown field"), "{other}: {error}");
            }
            assert!(decode_spaced::<Names>(&text(&format!("{name}x"))).is_err());
            assert!(decode_spaced::<Names>(&text(&name[1..])).is_err());
            let escaped = format!("\\u{:04x}{}", name.as_bytes()[0], &name[1..]);
            assert_eq!(decode_spaced::<Names>(&text(&escaped)), decode_spaced(&text(name)));
        }
    }
}

#[test]
fn malformed_objects_are_rejected() {
    for text in [
        r#"{"a":1,}"#,
        r#"{,"a":1}"#,
        r#"{"a":1"bc":2}"#,
        r#"{"a":1,,"bc":2}"#,
        r#"{"a":1, , "bc":2}"#,
        r#"{"a" 1}"#,
        r#"{"a":}"#,
        r#"{"a":1]"#,
        r#"{"a":1}}"#,
        r#"{"a":1"#,
        r#"{"a":"#,
        r#"{"a"#,
    ] {
        for text in [text.to_string(), spaced(text), format!("[{text}]")] {
            assert!(decode_in_place::<Names>(&mut text.as_bytes().to_vec()).is_err(), "{text}");
            assert!(decode_in_place::<[Names; 1]>(&mut text.into_bytes()).is_err());
        }
    }
}

#[derive(Debug, PartialEq, Deserialize)]
struct Texts {
    text: String,
    letter: char,
}

#[test]
fn strings_of_all_lengths_are_decoded() {
    let read = |inside: &str| decode_spaced::<Texts>(&format!(r#"{{"text":"{inside}","letter":"é"}}"#));
    for length in 0..80 {
        let plain = "x".repeat(length);
        assert_eq!(read(&plain).unwrap().text, plain);
        for (escaped, decoded) in
            [("\\n", "\n"), ("\\\\", "\\"), ("ü", "ü"), ("\\u00fc", "ü"), ("\\\"", "\"")]
        {
            for at in [0, length / 2, length] {
                let (before, after) = plain.split_at(at);
                let text = read(&[before, escaped, after].concat()).unwrap();
                assert_eq!(text, Texts { text: [before, decoded, after].concat(), letter: 'é' });
            }
        }
    }
    for wrong in ["7", "null", "true"] {
        let error = decode_spaced::<Texts>(&format!(r#"{{"text":{wrong},"letter":"x"}}"#)).unwrap_err();
        assert!(error.starts_with("`text`: expected a string, found"), "{error}");
    }
    // Invalid UTF-8.
    for text in [&b"{\"text\":\"\xff\",\"letter\":\"x\"}"[..], b"{\"text\":\"x\xc3\",\"letter\":\"x\"}"] {
        assert!(decode_in_place::<Texts>(&mut text.to_vec()).is_err());
    }
}

/// Reads at most `TAKEN` members of an object. Then asserts that `MORE` further requests return `None`.
#[derive(Debug, PartialEq)]
struct Some<const TAKEN: usize, const MORE: usize>(usize);

impl<'de, const TAKEN: usize, const MORE: usize> Deserialize<'de> for Some<TAKEN, MORE> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Taking<const TAKEN: usize, const MORE: usize>;
        impl<'de, const TAKEN: usize, const MORE: usize> Visitor<'de> for Taking<TAKEN, MORE> {
            type Value = Some<TAKEN, MORE>;

            fn expecting(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                out.write_str("members")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut taken = 0;
                while taken < TAKEN && members.next_entry::<String, u8>()?.is_some() {
                    taken += 1;
                }
                for _ in 0..MORE {
                    assert_eq!(members.next_key::<String>()?, None);
                }
                Ok(Some(taken))
            }
        }
        deserializer.deserialize_struct("Some", &["a", "b"], Taking)
    }
}

#[test]
fn unread_members_are_rejected() {
    // Requests after the end consume nothing of the surrounding array.
    let asked = decode_spaced::<(Some<9, 3>, Some<0, 3>, u8)>(r#"[{"a":1,"b":2},{},7]"#);
    assert_eq!(asked, Ok((Some(2), Some(0), 7)));
    let inside = decode_spaced::<BTreeMap<String, Some<9, 1>>>(r#"{"x":{"a":1}}"#);
    assert_eq!(inside, Ok(BTreeMap::from([("x".to_string(), Some(1))])));
    // Unread members are an error.
    let left = decode_spaced::<Vec<Some<1, 0>>>(r#"[{"a":1},{"a":1,"b":2}]"#);
    assert_eq!(left, Err("`[1]`: more elements than expected".to_string()));
    assert_eq!(
        decode_spaced::<Vec<Some<1, 0>>>(r#"[{"a":1},{"b":1},{}]"#),
        Ok(Vec::from([Some(1), Some(1), Some(0)]))
    );
}

#[test]
fn names_with_escapes_are_decoded() {
    #[derive(Debug, Default, PartialEq, Deserialize)]
    #[serde(default, deny_unknown_fields)]
    struct Escaped {
        #[serde(rename = "k\\n")]
        short: u8,
        #[serde(rename = "\\\\abcdefghi")]
        long: u8,
    }
    let escaped = |short, long| Ok(Escaped { short, long });
    assert_eq!(decode_spaced::<Escaped>(r#"{"k\\n":7,"\\\\abcdefghi":8}"#), escaped(7, 8));
    assert!(decode_spaced::<Escaped>(r#"{"k\n":7}"#).unwrap_err().starts_with("unknown field"));
    assert!(decode_spaced::<Escaped>(r#"{"k\\n":7,"\\abcdefghi":8}"#).is_err());
}

/// A value, or `None` if decoding fails.
#[derive(Debug, PartialEq)]
struct Perhaps<T>(core::option::Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Perhaps<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Perhaps(T::deserialize(deserializer).ok()))
    }
}

#[test]
fn decoding_continues_after_a_missing_member() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Two {
        a: u8,
        b: u8,
    }
    let found = decode_spaced::<Vec<Perhaps<Two>>>(r#"[{"a":1,"b":2},{"a":1},{}]"#);
    assert_eq!(
        found,
        Ok(Vec::from([
            Perhaps(core::option::Option::Some(Two { a: 1, b: 2 })),
            Perhaps(None),
            Perhaps(None)
        ]))
    );
}
