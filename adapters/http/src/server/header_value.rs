//! Comparison of a header field with a value of the body.

use mcp_proto::Decimal;
use mcp_proto::json::{Json, Kind, Str};

use crate::fields::{BASE64_PREFIX, BASE64_SUFFIX};

/// Returns whether a header field has the value of a string in the body. The field may be encoded in base64.
pub(super) fn equals_string(field: &[u8], value: Json<'_>) -> bool {
    // Fast path: both have the same bytes, without escapes and without base64.
    let is_plain = |byte: &u8| matches!(byte, b'\t' | b' '..=b'[' | b']'..=b'~');
    if inner_bytes(value) == field
        && field.iter().all(is_plain)
        && !field.starts_with(BASE64_PREFIX.as_bytes())
    {
        return true;
    }
    if !field.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        return false;
    }
    let Some(value) = value.string() else { return false };
    let wrapped = field
        .strip_prefix(BASE64_PREFIX.as_bytes())
        .and_then(|rest| rest.strip_suffix(BASE64_SUFFIX.as_bytes()));
    match wrapped {
        Some(base64) => is_base64(base64) && equals_bytes(decode(base64), value),
        None => equals_bytes(field.iter().copied(), value),
    }
}

/// Returns whether a header field has the value of a string, a number or a boolean in the body.
pub(super) fn equals_json(field: &[u8], value: Json<'_>) -> bool {
    match value.kind() {
        Kind::String => equals_string(field, value),
        Kind::Bool => field == value.bytes(),
        Kind::Number => {
            let number = |json: Json<'_>| json.number().and_then(Decimal::parse);
            let field = Json::parse(field).ok().and_then(number);
            field.is_some() && field == number(value)
        }
        _ => false,
    }
}

/// Returns the bytes between the quotes of a string, or no bytes for any other value.
pub(super) fn inner_bytes<'a>(string: Json<'a>) -> &'a [u8] {
    match string.bytes() {
        [b'"', inner @ .., b'"'] => inner,
        _ => &[],
    }
}

fn equals_bytes(mut bytes: impl Iterator<Item = u8>, value: Str<'_>) -> bool {
    let is_prefix = value
        .chars()
        .all(|char| char.encode_utf8(&mut [0; 4]).bytes().all(|byte| bytes.next() == Some(byte)));
    is_prefix && bytes.next().is_none()
}

/// Returns the six bits of a base64 letter, or `None` for any other byte.
fn bits_of(letter: u8) -> Option<u8> {
    Some(match letter {
        b'A'..=b'Z' => letter.wrapping_sub(b'A'),
        b'a'..=b'z' => letter.wrapping_sub(b'a').wrapping_add(26),
        b'0'..=b'9' => letter.wrapping_sub(b'0').wrapping_add(52),
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

/// Returns whether a text is base64 with complete padding and zeros in the spare bits. See RFC 4648, section 4.
fn is_base64(text: &[u8]) -> bool {
    let letters = text.strip_suffix(b"==").or_else(|| text.strip_suffix(b"=")).unwrap_or(text);
    let spare_bits = match text.len().wrapping_sub(letters.len()) {
        0 => 0,
        1 => 3,
        _ => 15,
    };
    let last = letters.last().copied().and_then(bits_of).unwrap_or(0);
    text.len().is_multiple_of(4)
        && letters.iter().all(|letter| bits_of(*letter).is_some())
        && last & spare_bits == 0
}

/// Decodes a text for which [`is_base64`] returns `true`.
fn decode(text: &[u8]) -> impl Iterator<Item = u8> {
    text.chunks(4).flat_map(|group| {
        let mut bits = 0u32;
        for letter in group {
            bits = bits << 6 | u32::from(bits_of(*letter).unwrap_or(0));
        }
        let padding = group.iter().filter(|letter| **letter == b'=').count();
        let [_, a, b, c] = bits.to_be_bytes();
        [a, b, c].into_iter().take(3usize.saturating_sub(padding))
    })
}
