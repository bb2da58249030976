//! SpareCapacity room that is filled from the front, piece by piece: one look at the writer for several pieces, words instead of bytes,
//! and no calls. Of a text that is a constant only stores are left. A piece that does not fit, or is not of the usual kind,
//! ends it: whoever has begun takes the way for everything.

use crate::buffer::copy;

/// The longest text that is copied before it is known whether something in it has to be escaped.
const SHORT: usize = 32;

/// What is free behind the pieces so far.
pub(crate) struct SpareCapacity<'f> {
    bytes: &'f mut [u8],
    /// Where it ends, in all of the room.
    limit: usize,
}

impl<'f> SpareCapacity<'f> {
    #[inline(always)]
    pub(super) fn new(bytes: &'f mut [u8], limit: usize) -> SpareCapacity<'f> {
        SpareCapacity { bytes, limit }
    }

    /// Where the pieces end, in all of the room.
    #[inline(always)]
    pub(crate) fn end(self) -> usize {
        self.limit.wrapping_sub(self.bytes.len())
    }

    #[inline(always)]
    fn cut(self, length: usize) -> Option<(&'f mut [u8], SpareCapacity<'f>)> {
        let (place, bytes) = self.bytes.split_at_mut_checked(length)?;
        Some((place, SpareCapacity { bytes, ..self }))
    }

    #[inline(always)]
    fn behind(self, length: usize) -> Option<SpareCapacity<'f>> {
        Some(SpareCapacity { bytes: self.bytes.get_mut(length..)?, ..self })
    }

    #[inline(always)]
    pub(super) fn byte(self, byte: u8) -> Option<SpareCapacity<'f>> {
        *self.bytes.first_mut()? = byte;
        self.behind(1)
    }

    /// Bytes as they are.
    #[inline(always)]
    pub(crate) fn token(self, token: &str) -> Option<SpareCapacity<'f>> {
        self.bytes(token.as_bytes())
    }

    /// Bytes as they are.
    #[inline(always)]
    pub(crate) fn bytes(self, bytes: &[u8]) -> Option<SpareCapacity<'f>> {
        let (place, free) = self.cut(bytes.len())?;
        if bytes.len() > 16 {
            copy(place, bytes);
        } else if !copy_ends::<8>(place, bytes) && !copy_ends::<4>(place, bytes) {
            copy_few(place, bytes);
        }
        Some(free)
    }

    /// A comma, or nothing.
    #[inline(always)]
    pub(super) fn comma(self, is_due: bool) -> Option<SpareCapacity<'f>> {
        *self.bytes.first_mut()? = b',';
        self.behind(is_due.into())
    }

    /// The inside of a string: a short text in which nothing has to be escaped.
    #[inline(always)]
    pub(crate) fn plain(self, text: &str) -> Option<SpareCapacity<'f>> {
        let text = text.as_bytes();
        let (place, free) = self.cut(text.len())?;
        let found = if let (Some(first), Some(last)) = (text.first_chunk::<16>(), text.last_chunk::<16>()) {
            if text.len() > SHORT {
                return None;
            }
            copy_ends::<16>(place, text);
            // Not one after the other: the usual text has nothing to find.
            u64::from(has_stop(first) | has_stop(last))
        } else if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            copy_ends::<8>(place, text);
            escapes(u64::from_le_bytes(*first)) | escapes(u64::from_le_bytes(*last))
        } else if let (Some(first), Some(last)) = (text.first_chunk::<4>(), text.last_chunk::<4>()) {
            copy_ends::<4>(place, text);
            escapes(two_words(first, last))
        } else if let (Some(first), Some(middle), Some(last)) =
            (text.first(), text.get(text.len() / 2), text.last())
        {
            copy_few(place, text);
            escapes(u64::from_le_bytes([*first, *middle, *last, b' ', b' ', b' ', b' ', b' ']))
        } else {
            0
        };
        (found == 0).then_some(free)
    }

    /// A short text of JSON, in which there is nothing that could end a line.
    #[inline(always)]
    pub(crate) fn json(self, json: &[u8]) -> Option<SpareCapacity<'f>> {
        let (place, free) = self.cut(json.len())?;
        let found = if let Some(word) = json.first_chunk::<8>() {
            copy_ends::<8>(place, json);
            if json.len() > 8 {
                return None;
            }
            controls(u64::from_le_bytes(*word))
        } else if let (Some(first), Some(last)) = (json.first_chunk::<4>(), json.last_chunk::<4>()) {
            copy_ends::<4>(place, json);
            controls(two_words(first, last))
        } else if let (Some(first), Some(middle), Some(last)) =
            (json.first(), json.get(json.len() / 2), json.last())
        {
            copy_few(place, json);
            controls(u64::from_le_bytes([*first, *middle, *last, b' ', b' ', b' ', b' ', b' ']))
        } else {
            0
        };
        (found == 0).then_some(free)
    }

    /// A number that is not negative, of at most sixteen digits.
    #[inline(always)]
    pub(crate) fn number(self, value: u64) -> Option<SpareCapacity<'f>> {
        // Most are small: half the work.
        if let Some((digits, length)) = four_digits(value) {
            *self.bytes.first_chunk_mut::<4>()? = digits;
            return self.behind(length);
        }
        let Some((digits, length)) = eight_digits(value) else { return self.long_number(value) };
        *self.bytes.first_chunk_mut::<8>()? = digits;
        self.behind(length)
    }

    #[inline(never)]
    fn long_number(self, value: u64) -> Option<SpareCapacity<'f>> {
        let (first, length) = eight_digits(value / EIGHT_DIGITS)?;
        *self.bytes.first_chunk_mut::<8>()? = first;
        let free = self.behind(length)?;
        let last = digit_word(value % EIGHT_DIGITS) | ZEROS;
        *free.bytes.first_chunk_mut::<8>()? = last.to_le_bytes();
        free.behind(8)
    }
}

/// The first number that has more.
const EIGHT_DIGITS: u64 = 100_000_000;

/// The same as [`eight_digits`] for a number below ten thousand, in half a word.
#[inline(always)]
fn four_digits(value: u64) -> Option<([u8; 4], usize)> {
    let value = u32::try_from(value).ok().filter(|value| *value < 10_000)?;
    let hundreds = value.wrapping_mul(10_486) >> 20;
    let quarters = hundreds | value.wrapping_sub(hundreds.wrapping_mul(100)) << 16;
    let tens = (quarters.wrapping_mul(103) >> 10) & 0x000F_000F;
    let digits = tens | quarters.wrapping_sub(tens.wrapping_mul(10)) << 8;
    let zeros = (digits | 1 << 24).trailing_zeros() >> 3;
    let text = (digits | 0x3030_3030).wrapping_shr(zeros.wrapping_mul(8));
    Some((text.to_le_bytes(), 4usize.wrapping_sub(usize::try_from(zeros).unwrap_or_default())))
}

/// The digits of a number below a hundred million, the rest after them, and how many there are.
#[inline(always)]
fn eight_digits(value: u64) -> Option<([u8; 8], usize)> {
    if value >= EIGHT_DIGITS {
        return None;
    }
    let digits = digit_word(value);
    // Zeros before the first digit are left out, except for the last one.
    let zeros = (digits | 1 << 56).trailing_zeros() >> 3;
    let text = (digits | ZEROS).wrapping_shr(zeros.wrapping_mul(8));
    Some((text.to_le_bytes(), 8usize.wrapping_sub(usize::try_from(zeros).unwrap_or_default())))
}

/// Eight digits, all of them at once, each in a byte of one word.
#[inline(always)]
fn digit_word(value: u64) -> u64 {
    // Four digits in each half, then two in each quarter, then one in each byte: the first digit lowest. Each division is a
    // multiplication that is exact for so few digits, and never carries into the next part.
    let (high, low) = (value / 10_000, value % 10_000);
    let halves = high | low << 32;
    let hundreds = (halves.wrapping_mul(10_486) >> 20) & 0x0000_007F_0000_007F;
    let quarters = hundreds | halves.wrapping_sub(hundreds.wrapping_mul(100)) << 16;
    let tens = (quarters.wrapping_mul(103) >> 10) & 0x000F_000F_000F_000F;
    tens | quarters.wrapping_sub(tens.wrapping_mul(10)) << 8
}

/// Copies the first and the last so many bytes, which may overlap. `false`: there are not so many.
#[inline(always)]
fn copy_ends<const N: usize>(place: &mut [u8], bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else { return false };
    if let Some(place) = place.first_chunk_mut() {
        *place = *first;
    }
    if let Some(place) = place.last_chunk_mut() {
        *place = *last;
    }
    true
}

/// Copies less than four bytes.
#[inline(always)]
fn copy_few(place: &mut [u8], bytes: &[u8]) {
    match (place, bytes) {
        ([a, b, c], [from_a, from_b, from_c]) => (*a, *b, *c) = (*from_a, *from_b, *from_c),
        ([a, b], [from_a, from_b]) => (*a, *b) = (*from_a, *from_b),
        ([a], [from_a]) => *a = *from_a,
        _ => {}
    }
}

#[inline(always)]
fn two_words(first: &[u8; 4], last: &[u8; 4]) -> u64 {
    u64::from(u32::from_le_bytes(*first)) << 32 | u64::from(u32::from_le_bytes(*last))
}

const LOW: u64 = u64::from_le_bytes([0x01; 8]);
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// The high bit of each byte of `word` that has to be escaped: a quote, a backslash or a control character. Every bit is
/// right, so that all of them can be used.
#[inline(always)]
pub(super) fn escapes(word: u64) -> u64 {
    let low = word & !HIGH;
    // With this bit turned over, a quote comes right behind the control characters. A byte gets its high bit if it is more.
    let more = (low ^ LOW.wrapping_mul(0x02)).wrapping_add(LOW.wrapping_mul(0x80 - 0x21));
    // Zero, for a backslash, is what does not get its high bit.
    let other = (low ^ LOW.wrapping_mul(0x5C)).wrapping_add(LOW.wrapping_mul(0x7F));
    !(more & other | word) & HIGH
}

/// Not zero if a byte of the word is a control character.
#[inline(always)]
fn controls(word: u64) -> u64 {
    word.wrapping_sub(LOW.wrapping_mul(0x20)) & !word & HIGH
}

/// Whether something in a block has to be escaped. Written as one fold without an early exit, which the compiler turns into
/// vector code.
#[inline(always)]
pub(super) fn has_stop<const N: usize>(block: &[u8; N]) -> bool {
    let mut found = 0u8;
    for &byte in block {
        // With this bit turned over, a quote comes right behind the control characters.
        found |= u8::from(byte ^ 0x02 < 0x21) | u8::from(byte == b'\\');
    }
    found != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_stop(byte: u8) -> bool {
        matches!(byte, 0..=0x1F | b'"' | b'\\')
    }

    #[test]
    fn every_byte_that_has_to_be_escaped_is_found_and_no_other() {
        for filler in [0x00, 0x01, b'!', b'"', b'#', b'[', b'\\', b']', 0x7F, 0x80, 0xFF] {
            for at in 0..8 {
                for byte in 0..=255 {
                    let mut word = [filler; 8];
                    word[at] = byte;
                    let expected = word.map(|byte| if is_stop(byte) { 0x80 } else { 0 });
                    assert_eq!(escapes(u64::from_le_bytes(word)).to_le_bytes(), expected);
                    assert_eq!(has_stop(&word), word.into_iter().any(is_stop));
                    let has_control = word.into_iter().any(|byte| byte < 0x20);
                    assert_eq!(controls(u64::from_le_bytes(word)) != 0, has_control, "{word:?}");
                }
            }
        }
    }

    #[test]
    fn numbers_of_up_to_eight_digits() {
        let check = |value: u64| {
            let expected = std::format!("{value}");
            let (digits, length) = eight_digits(value).unwrap();
            assert_eq!(&digits[..length], expected.as_bytes());
            let short = four_digits(value);
            assert_eq!(short.is_some(), expected.len() <= 4);
            assert!(short.is_none_or(|(digits, length)| &digits[..length] == expected.as_bytes()));
        };
        // Each half on its own has all its digits, and what is between is far enough apart.
        (0..10_000).for_each(|half| {
            check(half);
            check(half * 10_000 + 9_999);
            check(half * 10_000);
        });
        (0..100_000_000).step_by(9_973).for_each(check);
        check(99_999_999);
        assert_eq!(eight_digits(100_000_000), None);
        assert_eq!(eight_digits(u64::MAX), None);
        assert_eq!((four_digits(1 << 32), four_digits(u64::MAX)), (None, None));
    }

    #[test]
    fn numbers_that_are_longer() {
        let written = |value: u64, room: usize| {
            let mut bytes = [b'.'; 24];
            let free = SpareCapacity::new(&mut bytes[..room], room);
            let end = free.number(value)?.end();
            Some(std::string::String::from_utf8_lossy(&bytes[..end]).into_owned())
        };
        let powers = (8..16).map(|zeros| 10u64.pow(zeros));
        let around = powers.flat_map(|power| [power - 1, power, power + 1, power * 9 + 70, power / 7 * 3]);
        for value in around.chain([0, 7, 1_234_567_890_123_456, 9_999_999_999_999_999, 1_000_000_010_000_000])
        {
            assert_eq!(written(value, 24), Some(std::format!("{value}")));
            // Whatever is written, nothing is behind the room.
            let length = std::format!("{value}").len();
            (0..length).for_each(|room| assert_eq!(written(value, room), None, "{value} in {room}"));
        }
        for value in [10_000_000_000_000_000, u64::MAX] {
            assert_eq!(written(value, 24), None);
        }
    }
}
