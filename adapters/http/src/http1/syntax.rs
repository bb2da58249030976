//! Character classes and lists of HTTP.

use crate::bytes::split_run;

/// Returns whether the byte belongs to a token (RFC 9110, section 5.6.2).
pub(crate) fn is_token(byte: u8) -> bool {
    matches!(byte, b'!' | b'#'..=b'\'' | b'*' | b'+' | b'-' | b'.' | b'0'..=b'9' | b'A'..=b'Z' | b'^'..=b'z' | b'|' | b'~')
}

/// Returns whether a field value may contain the byte (RFC 9110, section 5.5).
pub(super) fn is_value(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7F)
}

/// Returns whether the byte is optional white space (RFC 9110, section 5.6.3).
pub(super) fn is_white_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Returns whether a host and its port may contain the byte (RFC 3986, section 3.2). User information is not allowed.
pub(super) fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=[]:".contains(&byte)
}

/// Returns the bytes without white space at both ends.
pub(super) fn trim(bytes: &[u8]) -> &[u8] {
    trim_end(split_run(bytes, is_white_space).1)
}

/// Returns the bytes without white space at their end.
pub(super) fn trim_end(mut bytes: &[u8]) -> &[u8] {
    while let Some((b' ' | b'\t', rest)) = bytes.split_last() {
        bytes = rest;
    }
    bytes
}

/// Returns the elements of a comma-separated list (RFC 9110, section 5.6.1). Empty elements are left out.
pub(super) fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(trim).filter(|element| !element.is_empty())
}

/// Returns the value of a decimal number. A number beyond `u64` saturates. Returns `None` if there is no byte, or if a
/// byte is not a digit.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = |number: u64, digit: &u8| {
        number.saturating_mul(10).saturating_add(u64::from(digit.saturating_sub(b'0')))
    };
    Some(digits.iter().fold(0, value))
}
