//! Reads containers of a JSON text that is valid, but incomplete.
//!
//! Each function takes the text from a position in the container to the last byte that has arrived.

use super::skip::{after_space, text_length, value_length};
use super::value::next_item;

/// Returns the text after the opening brace of an object. Returns `None` for any other value.
pub(crate) fn object_text(value: &[u8]) -> Option<&[u8]> {
    match after_space(value) {
        [b'{', text @ ..] => Some(text),
        _ => None,
    }
}

/// Returns the text that starts with the value of an object's first member with this name. Compares the names as
/// written. Returns `None` if no such member has arrived.
pub(crate) fn first_member<'t>(object: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let mut rest = object_text(object)?;
    loop {
        match next_entry(rest)? {
            PartialEntry::Member { name: found, value } if found == name => return Some(value),
            PartialEntry::Member { value, .. } => rest = after_value(value)?,
            PartialEntry::End(_) => return None,
        }
    }
}

/// The next entry of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartialEntry<'t> {
    /// The end of the object, with the text after the closing brace.
    End(&'t [u8]),
    /// A member. The name may have escapes. `value` is the text from the start of the member's value on.
    Member { name: &'t [u8], value: &'t [u8] },
}

/// Returns the next entry of an object. Returns `None` if neither the closing brace nor the start of the next member's
/// value has arrived.
pub(crate) fn next_entry(text: &[u8]) -> Option<PartialEntry<'_>> {
    let (first, tail) = next_element_start(text)?.split_first()?;
    if *first == b'}' {
        return Some(PartialEntry::End(tail));
    }
    let (length, is_complete) = string_length(tail);
    let name = tail.get(..length).filter(|_| is_complete)?;
    let colon = after_space(tail.get(length.wrapping_add(1)..)?);
    let value = after_space(colon.get(1..)?);
    (!value.is_empty()).then_some(PartialEntry::Member { name, value })
}

/// Returns the text that starts with the next element of a container, or with the closing bracket if no element
/// follows. Returns `None` if neither has arrived.
pub(crate) fn next_element_start(text: &[u8]) -> Option<&[u8]> {
    Some(next_item(text)).filter(|rest| !rest.is_empty())
}

/// Returns the text after a value. Returns `None` if no byte follows the value, because the value may be incomplete.
pub(crate) fn after_value(value: &[u8]) -> Option<&[u8]> {
    let (value, tail) = value.split_at_checked(value_length(value))?;
    (!value.is_empty() && !tail.is_empty()).then_some(tail)
}

/// Returns the length of a string up to its closing quote, and whether the quote has arrived. The text starts after the
/// opening quote.
pub(crate) fn string_length(text: &[u8]) -> (usize, bool) {
    let length = text_length(text);
    (length, length < text.len())
}
