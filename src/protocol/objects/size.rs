//! Sizes of JSON texts, for the checks of buffer sizes at compile time.

use crate::json::writer::escape::escape_length;

/// Returns the length of a text as a JSON string, with its quotes and escapes.
pub(crate) const fn string(text: &str) -> usize {
    let (mut length, mut rest) = (2usize, text.as_bytes());
    while let [byte, tail @ ..] = rest {
        length = length.saturating_add(escape_length(*byte));
        rest = tail;
    }
    length
}

/// Returns the length of a member with a raw value, including its comma. Returns 0 if there is no value.
pub(crate) const fn raw(key: &str, value: Option<&str>) -> usize {
    match value {
        Some(value) => value.len().saturating_add(key.len()).saturating_add(4),
        None => 0,
    }
}

/// Returns the length of a string member, including its comma. Returns 0 if there is no text.
pub(crate) const fn text(key: &str, text: Option<&str>) -> usize {
    match text {
        Some(text) => string(text).saturating_add(raw(key, Some(""))),
        None => 0,
    }
}
