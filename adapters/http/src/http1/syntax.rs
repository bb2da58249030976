//! Character classes and lists of HTTP.

/// Whether the byte belongs to a token (RFC 9110, section 5.6.2).
pub(super) fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Whether a field value may contain the byte (RFC 9110, section 5.5).
pub(super) fn is_value(byte: u8) -> bool {
    byte == b'\t' || (byte >= b' ' && byte != 0x7F)
}

/// Whether the byte is optional white space (RFC 9110, section 5.6.3).
pub(super) fn is_white_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// Whether a host and its port may contain the byte (RFC 3986, section 3.2). User information is not allowed.
pub(super) fn is_host(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=[]:".contains(&byte)
}

/// Splits off the bytes at the front for which the predicate holds.
pub(super) fn split_run(bytes: &[u8], is_member: fn(u8) -> bool) -> (&[u8], &[u8]) {
    let length = bytes.iter().position(|byte| !is_member(*byte)).unwrap_or(bytes.len());
    bytes.split_at_checked(length).unwrap_or((bytes, &[]))
}

/// Returns the bytes without white space at both ends.
pub(super) fn trim(bytes: &[u8]) -> &[u8] {
    trim_end(split_run(bytes, is_white_space).1)
}

/// Returns the bytes without white space at their end.
pub(super) fn trim_end(mut bytes: &[u8]) -> &[u8] {
    while let Some((last, rest)) = bytes.split_last().filter(|(last, _)| is_white_space(**last)) {
        _ = last;
        bytes = rest;
    }
    bytes
}

/// Returns the elements of a comma-separated list (RFC 9110, section 5.6.1). Empty elements are left out.
pub(super) fn list(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    value.split(|byte| *byte == b',').map(trim).filter(|element| !element.is_empty())
}

/// Returns the value of a decimal number without a sign. Larger numbers saturate.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let value = |number: u64, digit: &u8| {
        number.saturating_mul(10).saturating_add(u64::from(digit.saturating_sub(b'0')))
    };
    Some(digits.iter().fold(0, value))
}
