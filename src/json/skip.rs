//! Skips tokens and values of text that the scanner has accepted, without validation or recursion.
//!
//! For any other text, the results are meaningless, but no function panics.

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

/// Returns the length of a string's text; `bytes` start after the opening quote. Without a closing quote, returns the
/// length of `bytes`.
// This function is not inlined, so that its callers stay small enough to be inlined.
#[inline(never)]
pub(super) fn text_length(bytes: &[u8]) -> usize {
    let run = text_run(bytes);
    if bytes.get(run) == Some(&b'"') { run } else { text_length_from(bytes, run) }
}

/// Returns the length of a string's text, like [`text_length`]. The first `at` bytes contain no quote and no escape.
#[inline(never)]
fn text_length_from(bytes: &[u8], mut at: usize) -> usize {
    loop {
        at = match bytes.get(at) {
            Some(b'"') => return at,
            Some(b'\\') => at.wrapping_add(2),
            Some(_) => at.wrapping_add(1),
            None => return bytes.len(),
        };
        at = at.wrapping_add(text_run(bytes.get(at..).unwrap_or_default()));
    }
}

/// Returns the length of the value at the start of `bytes`.
#[inline]
pub(super) fn value_length(bytes: &[u8]) -> usize {
    match bytes {
        [b'"', text @ ..] => text_length(text).wrapping_add(2).min(bytes.len()),
        _ => other_length(bytes),
    }
}

/// Returns the length of the value at the start of `bytes`. The value must not be a string.
#[inline(never)]
fn other_length(bytes: &[u8]) -> usize {
    let (mut rest, mut depth) = (bytes, 0usize);
    while let [byte, tail @ ..] = rest {
        // The OR maps brackets to braces, because they differ only in this bit.
        match byte | 0x20 {
            b'"' => {
                rest = split(tail, text_length(tail).wrapping_add(1)).1;
                continue;
            }
            b'{' => depth = depth.wrapping_add(1),
            b'}' if depth > 1 => depth = depth.wrapping_sub(1),
            b'}' if depth == 1 => return bytes.len().wrapping_sub(tail.len()),
            _ if depth == 0 && (matches!(byte, b',' | b':' | b'}' | b']') || is_space(*byte)) => break,
            _ => {}
        }
        rest = tail;
    }
    bytes.len().wrapping_sub(rest.len())
}

/// Splits `bytes` at `length`, or at the end if they are shorter.
#[inline]
pub(super) fn split(bytes: &[u8], length: usize) -> (&[u8], &[u8]) {
    bytes.split_at_checked(length).unwrap_or((bytes, &[]))
}

/// Returns the bytes after `prefix`, or `None` if `bytes` do not start with it. The method `strip_prefix` of slices
/// would link panic code into small builds.
#[inline]
pub(super) fn after_prefix<'b>(bytes: &'b [u8], prefix: &[u8]) -> Option<&'b [u8]> {
    let (head, tail) = bytes.split_at_checked(prefix.len())?;
    (head == prefix).then_some(tail)
}
