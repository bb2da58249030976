//! Tests of `Str`.

use super::*;
use std::string::{String, ToString};
use std::vec::Vec;

/// Pairs of raw text and decoded text.
const TEXTS: &[(&str, &str)] = &[
    ("", ""),
    ("plain", "plain"),
    ("\\n", "\n"),
    ("tools\\/list", "tools/list"),
    ("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\u{8}\u{c}\n\r\t"),
    ("\\u0061\\u00E9\\u20ac", "aé€"),
    ("\\ud83d\\ude00", "😀"),
    ("a long run of text before \\ud83d\\uDE00 and after", "a long run of text before 😀 and after"),
    ("\\u0000", "\0"),
    ("ä😀\\\\ä", "ä😀\\ä"),
];

fn text(raw: &str) -> Str<'_> {
    Str::trusted(raw.as_bytes())
}

#[test]
fn all_decoders_return_the_same_text() {
    for &(raw, decoded) in TEXTS {
        let str = text(raw);
        assert_eq!(str.chars().collect::<String>(), decoded);
        assert_eq!(str.to_string(), decoded);
        assert_eq!(str.len(), decoded.len());
        assert_eq!(str.is_empty(), decoded.is_empty());
        assert_eq!(str.raw(), raw);
        assert_eq!(str.as_str(), (!raw.contains('\\')).then_some(raw));
        let mut bytes = raw.as_bytes().to_vec();
        let (length, consumed) = decode_in_place(&mut bytes);
        assert_eq!((&bytes[..length], consumed), (decoded.as_bytes(), raw.len()));
        let mut quoted = [raw.as_bytes(), b"\", \"\\n"].concat();
        assert_eq!(decode_in_place(&mut quoted), (length, consumed));
        assert_eq!(quoted, [&bytes, b"\", \"\\n".as_slice()].concat());
    }
}

#[test]
fn texts_are_compared_decoded() {
    for &(raw, decoded) in TEXTS {
        assert_eq!(text(raw), decoded);
        assert_eq!(decoded, text(raw));
        assert_eq!(text(raw), *decoded);
        assert_ne!(text(raw), "something else");
        assert_ne!(text(raw), (decoded.to_string() + "!").as_str());
        for &(other, other_decoded) in TEXTS {
            assert_eq!(text(raw) == text(other), decoded == other_decoded, "{raw} {other}");
        }
    }
    assert_eq!(text("\\u0061b"), text("a\\u0062"));
    assert_ne!(text("\\u0061b"), text("\\u0061"));
}

#[test]
fn copy_needs_space_for_the_decoded_text() {
    let mut room = [0; 4];
    assert_eq!(text("\\ud83d\\ude00").copy_to(&mut room), Ok("😀"));
    assert_eq!(text("\\u0061\\u0062").copy_to(&mut room), Ok("ab"));
    assert_eq!(text("").copy_to(&mut []), Ok(""));
    assert_eq!(text("ab\\ncd").copy_to(&mut room), Err(TooShort { needed: 5 }));
    assert_eq!(text("abcdefgh").copy_to(&mut room).unwrap_err().to_string(), "the text has 8 bytes");
}

#[test]
fn debug_shows_the_raw_text() {
    assert_eq!(std::format!("{:?}", text("a\\n")), "\"a\\n\"");
}

#[test]
fn unscanned_text_does_not_panic() {
    let alphabet: Vec<&[u8]> =
        std::vec![b"\\", b"u", b"d8", b"00", b"dc", b"x", b"\"", b"\n", b"\xff", b"\xe2\x82", b"n"];
    let mut state = 1u32;
    for _ in 0..20_000 {
        let mut raw = Vec::new();
        for _ in 0..8 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            raw.extend_from_slice(alphabet[(state >> 16) as usize % alphabet.len()]);
        }
        let str = Str::trusted(&raw);
        let _ = (str.chars().count(), str.to_string(), str.len(), str == "x", str == str);
        let mut bytes = raw.clone();
        let (length, consumed) = decode_in_place(&mut bytes);
        assert!(length <= consumed && consumed <= raw.len());
    }
}

#[test]
fn equality_ignores_escapes_at_every_length() {
    for (raw, decoded) in [
        ("", ""),
        ("name", "name"),
        (r"\u006eame", "name"),
        (r"tex\u0074", "text"),
        (r"a\\b", "a\\b"),
        (r"a\tb", "a\tb"),
        (r"\ud83d\ude00", "\u{1F600}"),
        (r"\u20ac", "€"),
        ("€", "€"),
    ] {
        let text = Str::trusted(raw.as_bytes());
        assert!(text == decoded, "{raw}");
        for other in ["name", "nam", "names", "", "a\\b", "a\tb", r"a\tb", r"a\\b", "n", "€", r"\u20ac", raw]
        {
            assert_eq!(text == other, decoded == other, "{raw} and {other}");
        }
    }
}
