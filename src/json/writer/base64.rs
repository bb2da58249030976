//! Base64 encoder that writes binary content directly into the output.
//!
//! The crate has its own encoder, which needs no heap and no indexed table. This encoder cannot panic, not even for an
//! impossible length.

use super::Writer;
use crate::platform::divide;

impl Writer<'_> {
    /// Writes bytes as a base64 string, with padding.
    pub fn base64(&mut self, bytes: &[u8]) {
        self.open_string();
        self.base64_inside(bytes);
        self.push_byte(b'"');
    }

    /// Writes bytes in base64 into an open string, with padding.
    pub(crate) fn base64_inside(&mut self, bytes: &[u8]) {
        let length = length(bytes.len());
        if let Some(spare) = self.reserve(length) {
            encode(spare, bytes);
            self.advance(length);
        }
    }
}

/// Returns the length of `bytes` bytes in base64, with padding.
fn length(bytes: usize) -> usize {
    let (groups, rest) = divide(bytes.try_into().unwrap_or(u64::MAX), 3);
    let groups = groups.saturating_add(u64::from(rest > 0));
    groups.saturating_mul(4).try_into().unwrap_or(usize::MAX)
}

/// Encodes `source` in base64 with padding, as far as `target` has space. See RFC 4648, section 4.
fn encode(target: &mut [u8], source: &[u8]) {
    // No `zip`, because `zip` computes the number of groups, which needs a division.
    let mut groups = source.chunks(3);
    for [first, second, third, fourth] in target.as_chunks_mut().0 {
        let (a, b, c, length) = match groups.next() {
            Some([a, b, c]) => (*a, *b, *c, 3),
            Some([a, b]) => (*a, *b, 0, 2),
            Some([a]) => (*a, 0, 0, 1),
            _ => return,
        };
        *first = letter(a >> 2);
        *second = letter(a << 4 | b >> 4);
        *third = if length > 1 { letter(b << 2 | c >> 6) } else { b'=' };
        *fourth = if length > 2 { letter(c) } else { b'=' };
    }
}

/// Returns the base64 letter for the low six bits.
fn letter(bits: u8) -> u8 {
    let bits = bits & 0x3F;
    let base = match bits {
        0..=25 => b'A',
        26..=51 => b'a'.wrapping_sub(26),
        52..=61 => b'0'.wrapping_sub(52),
        62 => b'+'.wrapping_sub(62),
        _ => b'/'.wrapping_sub(63),
    };
    base.wrapping_add(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec;
    use std::vec::Vec;

    #[test]
    fn rfc_vectors_are_encoded() {
        let cases = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ];
        for (text, expected) in cases {
            let mut target = vec![0; length(text.len())];
            encode(&mut target, text.as_bytes());
            assert_eq!(core::str::from_utf8(&target), Ok(expected), "{text}");
        }
    }

    #[test]
    fn every_letter_encodes_its_bits() {
        let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let letters: Vec<u8> = (0..64).map(letter).collect();
        assert_eq!(letters, alphabet);
    }
}
