//! Header values that mirror JSON strings: plain text, or base64 in markers.

use mcp_proto::json::{Str, TooShort};

use crate::fields::{BASE64_PREFIX, BASE64_SUFFIX};

/// Writes a string as the value of a header field, and returns the value.
///
/// A string that a field cannot hold is written in base64 between markers. Such a string has a character outside of
/// printable ASCII and tabs, begins or ends with a blank, or has both markers itself. See the specification of
/// 2026-07-28, section "Value Encoding" of the Streamable HTTP transport.
///
/// # Errors
///
/// Returns the length of the value if `target` is too short.
pub fn encode_value<'t>(text: Str<'_>, target: &'t mut [u8]) -> Result<&'t str, TooShort> {
    // A text without escapes is faster to read as `str`.
    if text.as_str().map_or_else(|| is_plain(text.chars()), |text| is_plain(text.chars())) {
        return text.copy_to(target);
    }
    let length = text.chars().map(char::len_utf8).fold(0, usize::saturating_add);
    let encoded = length.div_ceil(3).saturating_mul(4);
    let needed = encoded.saturating_add(BASE64_PREFIX.len()).saturating_add(BASE64_SUFFIX.len());
    let target = target.get_mut(..needed).ok_or(TooShort { needed })?;
    let mut spare = target.iter_mut();
    let mut put = |byte: u8| {
        if let Some(place) = spare.next() {
            *place = byte;
        }
    };
    BASE64_PREFIX.bytes().for_each(&mut put);
    let mut group = Group::default();
    for character in text.chars() {
        for byte in character.encode_utf8(&mut [0; 4]).bytes() {
            group.push(byte, &mut put);
        }
    }
    group.finish(&mut put);
    BASE64_SUFFIX.bytes().for_each(&mut put);
    core::str::from_utf8(target).map_err(|_| TooShort { needed })
}

/// Returns whether a field can hold the text as it is.
fn is_plain(text: impl Iterator<Item = char>) -> bool {
    let is_blank = |character| matches!(character, Some(' ' | '\t'));
    let is_printable = |character| matches!(character, ' '..='~' | '\t');
    let mut ends = [None; 2];
    let mut tail = Tail::default();
    let mut prefix = BASE64_PREFIX.chars();
    let mut has_prefix = true;
    for character in text {
        if !is_printable(character) {
            return false;
        }
        has_prefix &= prefix.next().is_none_or(|expected| expected == character);
        tail.push(character);
        ends = [ends[0].or(Some(character)), Some(character)];
    }
    let looks_encoded = has_prefix && prefix.next().is_none() && tail.is_suffix();
    !(ends.into_iter().any(is_blank) || looks_encoded)
}

/// The last two characters of a text.
#[derive(Default)]
struct Tail([char; 2]);

impl Tail {
    fn push(&mut self, character: char) {
        let [_, last] = self.0;
        self.0 = [last, character];
    }

    fn is_suffix(&self) -> bool {
        self.0.into_iter().eq(BASE64_SUFFIX.chars())
    }
}

/// Up to three bytes that become four letters.
#[derive(Default)]
struct Group {
    bits: u32,
    count: u8,
}

impl Group {
    fn push(&mut self, byte: u8, put: &mut dyn FnMut(u8)) {
        self.bits = self.bits << 8 | u32::from(byte);
        self.count = self.count.wrapping_add(1);
        if self.count == 3 {
            self.letters(4, put);
            *self = Group::default();
        }
    }

    /// Writes the last, incomplete group with its padding.
    fn finish(self, put: &mut dyn FnMut(u8)) {
        let missing = 3u8.wrapping_sub(self.count);
        if self.count == 0 {
            return;
        }
        let padded = Group { bits: self.bits << missing.wrapping_mul(8), count: 3 };
        padded.letters(self.count.wrapping_add(1), put);
        (0..missing).for_each(|_| put(b'='));
    }

    /// Writes the first `count` of the four letters of a complete group.
    fn letters(&self, count: u8, put: &mut dyn FnMut(u8)) {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for shift in [18, 12, 6, 0].into_iter().take(count.into()) {
            let index = usize::try_from(self.bits >> shift & 0x3F).unwrap_or_default();
            put(ALPHABET.get(index).copied().unwrap_or(b'='));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_proto::json::Json;

    fn encoded<'t>(json: &str, target: &'t mut [u8]) -> Result<&'t str, TooShort> {
        let json = Json::parse(json.as_bytes()).expect("valid JSON");
        encode_value(json.string().expect("a string"), target)
    }

    #[test]
    fn value_is_plain_where_a_field_can_hold_it() {
        for (json, expected) in [
            (r#""echo""#, "echo"),
            (r#""a b\tc""#, "a b\tc"),
            (r#""file:\/\/\/x?y=1""#, "file:///x?y=1"),
            (r#""""#, ""),
            (r#""=?base64?YQ==""#, "=?base64?YQ=="),
            (r#""YQ==?=""#, "YQ==?="),
            (r#""=?BASE64?YQ==?=""#, "=?BASE64?YQ==?="),
            (r#""=?base64?YQ==?=""#, "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
            (r#"" a""#, "=?base64?IGE=?="),
            (r#""a\t""#, "=?base64?YQk=?="),
            (r#""ä""#, "=?base64?w6Q=?="),
            (r#""a\nb""#, "=?base64?YQpi?="),
            (r#""\u007f""#, "=?base64?fw==?="),
            (r#""Grüße 😀""#, "=?base64?R3LDvMOfZSDwn5iA?="),
        ] {
            assert_eq!(encoded(json, &mut [0; 64]), Ok(expected), "{json}");
        }
    }

    #[test]
    fn too_short_target_returns_the_length_needed() {
        assert_eq!(encoded(r#""echo""#, &mut [0; 3]), Err(TooShort { needed: 4 }));
        assert_eq!(encoded(r#""ä""#, &mut [0; 14]), Err(TooShort { needed: 15 }));
        assert_eq!(encoded(r#""ä""#, &mut [0; 15]), Ok("=?base64?w6Q=?="));
    }
}
