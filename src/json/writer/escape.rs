//! Escapes of string content.

/// Returns the escape of a quote, a backslash or a control character, and its length.
pub(super) const fn escape_of(byte: u8) -> ([u8; 6], usize) {
    let letter = match byte {
        b'"' | b'\\' => byte,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0C => b'f',
        _ => {
            let low = byte & 0x0F;
            let low = if low < 10 { b'0' | low } else { low.wrapping_sub(10).wrapping_add(b'a') };
            return ([b'\\', b'u', b'0', b'0', b'0' | (byte >> 4 & 1), low], 6);
        }
    };
    ([b'\\', letter, 0, 0, 0, 0], 2)
}
