//! Skips tokens and values of scanned text, without validation and recursion.
//!
//! Other text gives meaningless results, but no panic.

use super::search::text_run;

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Returns the bytes after leading white space.
#[inline]
pub(super) fn after_space(mut rest: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\n' | b'\r', tail @ ..] = rest {
        rest = tail;
    }
    rest
}

/// Returns the bytes after the leading digits. Reads single bytes, because most numbers are shorter than a word.
#[inline]
pub(super) fn after_digits(mut rest: &[u8]) -> &[u8] {
    while let [b'0'..=b'9', tail @ ..] = rest {
        rest = tail;
    }
    rest
}

/// Removes leading and trailing white space.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let mut rest = after_space(text);
    while let [head @ .., last] = rest
        && is_space(*last)
    {
        rest = head;
    }
    rest
}

/// Splits a string at its closing quote; `bytes` start after the opening quote. Returns the text before and the bytes
/// after the closing quote.
#[inline]
pub(super) fn split_text(bytes: &[u8]) -> (&[u8], &[u8]) {
    let mut rest = bytes;
    loop {
        let Some(tail) = rest.get(text_run(rest)..) else { return (bytes, &[]) };
        rest = match tail {
            [] => return (bytes, tail),
            [b'"', behind @ ..] => return (split(bytes, bytes.len().wrapping_sub(tail.len())).0, behind),
            [b'\\', _, tail @ ..] => tail,
            [_, tail @ ..] => tail,
        };
    }
}

/// Returns the length of the value at the start of `bytes`.
#[inline]
pub(super) fn value_length(bytes: &[u8]) -> usize {
    let rest = match bytes {
        [b'"', tail @ ..] => split_text(tail).1,
        [b'{' | b'[', tail @ ..] => container_tail(tail),
        _ => {
            let end = |byte: &u8| matches!(byte, b',' | b':' | b'}' | b']') || is_space(*byte);
            return bytes.iter().position(end).unwrap_or(bytes.len());
        }
    };
    bytes.len().wrapping_sub(rest.len())
}

/// Returns the bytes after a container; `bytes` follow its opening bracket.
fn container_tail(bytes: &[u8]) -> &[u8] {
    let (mut rest, mut depth) = (bytes, 1usize);
    while let [byte, tail @ ..] = rest {
        rest = if *byte == b'"' { split_text(tail).1 } else { tail };
        // The OR maps brackets to braces, because they differ only in this bit.
        match byte | 0x20 {
            b'{' => depth = depth.wrapping_add(1),
            b'}' => depth = depth.wrapping_sub(1),
            _ => continue,
        }
        if depth == 0 {
            break;
        }
    }
    rest
}

/// Returns the position and the length of the next value in `bytes`. Returns `None` at the end of a container.
pub(crate) fn next_value(bytes: &[u8]) -> Option<(usize, usize)> {
    let rest = after_space(bytes);
    let length = value_length(rest);
    (length > 0).then_some((bytes.len().saturating_sub(rest.len()), length))
}

/// Splits `bytes` at `length`, or at the end if they are shorter.
#[inline]
pub(super) fn split(bytes: &[u8], length: usize) -> (&[u8], &[u8]) {
    bytes.split_at_checked(length).unwrap_or((bytes, &[]))
}

/// Returns the bytes after `prefix`, or `None` if `bytes` do not start with it. The slice methods of
/// `core` would link panic code into small builds.
#[inline]
pub(super) fn after_prefix<'b>(bytes: &'b [u8], prefix: &[u8]) -> Option<&'b [u8]> {
    let (head, tail) = bytes.split_at_checked(prefix.len())?;
    (head == prefix).then_some(tail)
}
