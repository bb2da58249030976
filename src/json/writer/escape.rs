//! Escape sequences for string content.
#![allow(clippy::as_conversions, reason = "a byte widens to `usize`")]

/// Returns the letter after the backslash in an escape. `byte` is a quote, a backslash or a control character. The
/// letter is `u` if four hexadecimal digits follow.
#[inline]
pub(super) const fn escape_letter(byte: u8) -> u8 {
    match (byte, b"btnufr".split_at_checked((byte as usize).wrapping_sub(0x08))) {
        (b'"' | b'\\', _) => byte,
        // The letters of the bytes from 0x08 on.
        (_, Some((_, [letter, ..]))) => *letter,
        _ => b'u',
    }
}

/// Returns the number of bytes that a byte of a string takes in JSON text.
pub(crate) const fn escape_length(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | ..b' ' if escape_letter(byte) == b'u' => 6,
        b'"' | b'\\' | ..b' ' => 2,
        _ => 1,
    }
}

/// Returns the four hexadecimal digits for the escape of a control character.
pub(super) const fn hex_code(byte: u8) -> [u8; 4] {
    let low = byte & 0x0F;
    let low = if low < 10 { b'0' | low } else { low.wrapping_sub(10).wrapping_add(b'a') };
    [b'0', b'0', b'0' | (byte >> 4 & 1), low]
}
