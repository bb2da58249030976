//! Walking over text that was scanned before: no checks, no recursion, and still no panic if it was not.

use super::swar::{FAST, text_bytes, text_run};

pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// What follows the white space.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(super) fn after_space(mut rest: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\n' | b'\r', tail @ ..] = rest {
        rest = tail;
    }
    rest
}

/// Without the white space around it.
pub(super) fn trimmed(text: &[u8]) -> &[u8] {
    let mut rest = after_space(text);
    while let [head @ .., last] = rest
        && is_space(*last)
    {
        rest = head;
    }
    rest
}

/// How long a string's text is, given what follows its opening quote.
#[inline]
pub(super) fn text_length(bytes: &[u8]) -> usize {
    // Most texts end in their first words, and have no escapes: no call for these.
    if FAST {
        let mut rest = bytes;
        for _ in 0..2 {
            let Some((word, tail)) = rest.split_first_chunk() else { break };
            let length = text_bytes(u64::from_le_bytes(*word));
            if rest.get(length) == Some(&b'"') {
                return bytes.len().wrapping_sub(rest.len()).wrapping_add(length);
            }
            if length < 8 {
                break;
            }
            rest = tail;
        }
    }
    long_text_length(bytes)
}

#[cfg_attr(not(target_os = "none"), inline(never))]
fn long_text_length(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    loop {
        rest = rest.get(text_run(rest)..).unwrap_or_default();
        rest = match rest {
            [] | [b'"', ..] => return bytes.len().wrapping_sub(rest.len()),
            [b'\\', _, tail @ ..] => tail,
            [_, tail @ ..] => tail,
        };
    }
}

/// How long the value is that `bytes` begin with.
#[inline]
pub(super) fn value_length(bytes: &[u8]) -> usize {
    let rest = match bytes {
        [b'"', tail @ ..] => string_tail(tail),
        [b'{' | b'[', tail @ ..] => container_tail(tail),
        _ => {
            let end = |byte: &u8| matches!(byte, b',' | b':' | b'}' | b']') || is_space(*byte);
            return bytes.iter().position(end).unwrap_or(bytes.len());
        }
    };
    bytes.len().wrapping_sub(rest.len())
}

/// What follows a container, given what follows its opening bracket.
fn container_tail(bytes: &[u8]) -> &[u8] {
    let (mut rest, mut depth) = (bytes, 1usize);
    while let [byte, tail @ ..] = rest {
        // Between two strings there is mostly one byte.
        if FAST && let [b',' | b':', b'"', text @ ..] = rest {
            rest = string_tail(text);
            continue;
        }
        rest = if *byte == b'"' { string_tail(tail) } else { tail };
        // A bracket and a brace differ in this bit.
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

/// Where in `bytes` the next value starts, and how long it is; `None` where a container ends.
pub(crate) fn next_value(bytes: &[u8]) -> Option<(usize, usize)> {
    let rest = after_space(bytes);
    let length = value_length(rest);
    (length > 0).then_some((bytes.len().saturating_sub(rest.len()), length))
}

/// What follows a string, given what follows its opening quote.
#[inline]
pub(super) fn string_tail(bytes: &[u8]) -> &[u8] {
    bytes.get(text_length(bytes).wrapping_add(1)..).unwrap_or_default()
}

/// Splits `bytes` at `length`, at the end if they are shorter.
#[inline(always)]
pub(super) fn split(bytes: &[u8], length: usize) -> (&[u8], &[u8]) {
    bytes.split_at_checked(length).unwrap_or((bytes, &[]))
}

/// What follows `prefix`, if that is what `bytes` begin with. The ways of `core` to do this and the next can panic as
/// far as a small build can tell.
#[inline]
pub(super) fn after_prefix<'b>(bytes: &'b [u8], prefix: &[u8]) -> Option<&'b [u8]> {
    let (head, tail) = bytes.split_at_checked(prefix.len())?;
    (head == prefix).then_some(tail)
}
