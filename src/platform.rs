//! Code that depends on the target or the compiler: division, byte moves, and hints for the layout of code.
//!
//! [`divide`], [`copy`] and [`move_down`] have several implementations with the same results. Every target compiles
//! all implementations, and the tests compare the results.
#![allow(
    clippy::as_conversions,
    reason = "a remainder is less than its 32-bit divisor, and a word has 32 bits"
)]

use core::cell::Cell;

/// Whether the target is bare metal. Code size then matters more than speed.
pub(crate) const BARE_METAL: bool = cfg!(target_os = "none");

/// Whether a bare-metal processor reads an unaligned word with one instruction.
///
/// The value is true for 32-bit ARM processors with atomic operations, which `cfg` can detect. The Cortex-M3 and the
/// Cortex-M4 have these operations, but the Cortex-M0 does not. The value is also true for a Cortex-M23, although this
/// processor reads only aligned words.
pub(crate) const UNALIGNED_WORDS: bool =
    BARE_METAL && cfg!(all(target_arch = "arm", target_has_atomic = "32"));

/// Whether a bare-metal processor divides 32 bits with one instruction.
///
/// The value is true for the ARM processors of [`UNALIGNED_WORDS`]. The value is also true for 32-bit RISC-V, although
/// cores without the extension M cannot divide.
const DIVIDES_WORDS: bool = UNALIGNED_WORDS || BARE_METAL && cfg!(target_arch = "riscv32");

/// Marks a branch as rare: the compiler places its code away from the frequent code. Does nothing at run time.
///
/// The function replaces `core::hint::cold_path`, which the oldest supported compiler does not have.
#[cold]
pub(crate) const fn cold_path() {}

/// Returns the quotient and the remainder of `value` divided by `by`. Both are zero if `by` is zero.
pub(crate) const fn divide(value: u64, by: u32) -> (u64, u32) {
    if by == 0 {
        return (0, 0);
    }
    match (BARE_METAL, DIVIDES_WORDS && value >> 32 == 0) {
        (false, _) => divide_by_instruction(value, by),
        (true, true) => divide_word(value as u32, by),
        (true, false) => divide_by_bits(value, by),
    }
}

const fn divide_by_instruction(value: u64, by: u32) -> (u64, u32) {
    match (value.checked_div(by as u64), value.checked_rem(by as u64)) {
        (Some(quotient), Some(remainder)) => (quotient, remainder as u32),
        _ => (0, 0),
    }
}

const fn divide_word(value: u32, by: u32) -> (u64, u32) {
    match (value.checked_div(by), value.checked_rem(by)) {
        (Some(quotient), Some(remainder)) => (quotient as u64, remainder),
        _ => (0, 0),
    }
}

/// Divides bit by bit. `by` must not be zero. The compiler's library function for a 64-bit division occupies more flash
/// memory on small processors.
const fn divide_by_bits(value: u64, by: u32) -> (u64, u32) {
    let (mut quotient, mut remainder, mut bits) = (value, 0u32, u64::BITS);
    if quotient >> 32 == 0 {
        // The upper half is zero, so the loop skips it.
        (quotient, bits) = (quotient << 32, u32::BITS);
    }
    while bits > 0 {
        // A remainder of more than 32 bits is larger than `by`.
        let overflows = remainder >> 31 != 0;
        remainder = remainder << 1 | (quotient >> 63) as u32;
        quotient <<= 1;
        if overflows || remainder >= by {
            remainder = remainder.wrapping_sub(by);
            quotient |= 1;
        }
        bits = bits.wrapping_sub(1);
    }
    (quotient, remainder)
}

/// Splits a number into its low and high half. Unlike a `u64`, a field of two halves needs no padding.
pub(crate) const fn to_halves(number: u64) -> [u32; 2] {
    [number as u32, (number >> 32) as u32]
}

/// Joins the halves of a number.
pub(crate) const fn from_halves([low, high]: [u32; 2]) -> u64 {
    (high as u64) << 32 | low as u64
}

/// Copies `source` to the front of `target`, up to the shorter length.
///
/// `copy_from_slice` would link a panic for different lengths, even if the lengths are always equal.
#[inline]
pub(crate) fn copy(target: &mut [u8], source: &[u8]) {
    match (BARE_METAL, UNALIGNED_WORDS) {
        (false, _) => copy_by_ends(target, source),
        (true, true) => copy_by_words(target, source),
        (true, false) => copy_by_bytes(target, source),
    }
}

/// Copies with [`copy_few`], or in a loop if `copy_few` cannot copy.
#[inline]
fn copy_by_ends(target: &mut [u8], source: &[u8]) {
    if !copy_few(target, source) {
        copy_by_bytes(target, source);
    }
}

/// Copies up to 32 bytes without a call of `memcpy`. Copies nothing and returns `false` if `source` is empty, longer
/// than 32 bytes, or longer than `target`.
#[inline]
pub(crate) fn copy_few(target: &mut [u8], source: &[u8]) -> bool {
    if source.len() > 32 {
        return false;
    }
    let is_copied = copy_ends::<16>(target, source).is_some()
        || copy_ends::<8>(target, source).is_some()
        || copy_ends::<4>(target, source).is_some()
        || copy_ends::<2>(target, source).is_some();
    if let (false, [place, ..], [byte]) = (is_copied, target, source) {
        *place = *byte;
        return true;
    }
    is_copied
}

/// Copies only the first `N` and the last `N` bytes of `source`, and returns both parts. The parts may overlap. Copies
/// nothing and returns `None` if `source` is shorter than `N` or longer than `target`.
#[inline]
pub(crate) fn copy_ends<const N: usize>(target: &mut [u8], source: &[u8]) -> Option<[[u8; N]; 2]> {
    let ((first, _), (_, last)) = (source.split_first_chunk()?, source.split_last_chunk()?);
    let target = target.get_mut(..source.len())?;
    *target.split_first_chunk_mut()?.0 = *first;
    *target.split_last_chunk_mut()?.1 = *last;
    Some([*first, *last])
}

/// Copies in a loop, which optimizing compilers turn into `memcpy`.
#[inline]
fn copy_by_bytes(target: &mut [u8], source: &[u8]) {
    for (to, from) in target.iter_mut().zip(source) {
        *to = *from;
    }
}

fn copy_by_words(target: &mut [u8], source: &[u8]) {
    let words = target.len().min(source.len()) & !3;
    let (Some((words, target)), Some((from, source))) =
        (target.split_at_mut_checked(words), source.split_at_checked(words))
    else {
        return;
    };
    for (word, from) in words.as_chunks_mut::<4>().0.iter_mut().zip(from.as_chunks().0) {
        *word = *from;
    }
    copy_by_bytes(target, source);
}

/// Moves the bytes after the first `by` bytes to the front.
pub(crate) fn shift(bytes: &mut [u8], by: usize) {
    move_down(bytes, by, 0, usize::MAX);
}

/// Moves up to `length` bytes from offset `from` down to offset `to`. No effect if `to` is greater than `from`, or
/// `from` is past the end.
pub(crate) fn move_down(bytes: &mut [u8], from: usize, to: usize, length: usize) {
    let end = from.saturating_add(length).min(bytes.len());
    // This check lets the compiler prove that the call of `copy_within` is in bounds, so that no panic is linked.
    if to <= from && from <= end {
        if BARE_METAL { move_by_bytes(bytes, from, end, to) } else { bytes.copy_within(from..end, to) }
    }
}

/// Moves in a loop, because `copy_within` links more code on bare metal.
fn move_by_bytes(bytes: &mut [u8], from: usize, end: usize, to: usize) {
    let bytes = Cell::from_mut(bytes).as_slice_of_cells();
    let (Some(target), Some(source)) = (bytes.get(to..), bytes.get(from..end)) else { return };
    for (to, from) in target.iter().zip(source) {
        to.set(from.get());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn divisions_return_equal_results() {
        for value in [0, 1, 9, 10, 99, 12_345, u64::from(u32::MAX), u64::MAX / 3, u64::MAX] {
            for by in [1, 2, 3, 10, 255, 1 << 31, u32::MAX] {
                let expected = (value / u64::from(by), (value % u64::from(by)) as u32);
                for divide in [divide, divide_by_instruction, divide_by_bits] {
                    assert_eq!(divide(value, by), expected, "{value} {by}");
                }
                let word = value as u32;
                assert_eq!(divide_word(word, by), divide_by_bits(u64::from(word), by), "{word} {by}");
            }
        }
        assert_eq!(divide(7, 0), (0, 0));
        assert_eq!(divide_word(7, 0), (0, 0));
    }

    #[test]
    fn copy_stops_at_the_shorter_length() {
        for (size, length) in [(0, 3), (3, 0), (5, 3), (3, 5), (9, 9), (16, 16), (23, 17), (17, 23)] {
            let source: Vec<u8> = (1..=length).collect();
            let expected: Vec<u8> = (0..size).map(|at| source.get(at).copied().unwrap_or(0)).collect();
            for copy in [copy, copy_by_bytes, copy_by_ends, copy_by_words] {
                let mut target = std::vec![0; size];
                copy(&mut target, &source);
                assert_eq!(target, expected, "{size} {length}");
            }
        }
    }

    #[test]
    fn move_down_stops_at_the_end_of_the_buffer() {
        let moved = |from: usize, to, length| {
            let (mut bytes, mut by_bytes) = (*b"0123456789", *b"0123456789");
            move_down(&mut bytes, from, to, length);
            move_by_bytes(&mut by_bytes, from, from.saturating_add(length).min(10), to);
            assert_eq!(bytes, by_bytes, "{from} {to} {length}");
            bytes
        };
        assert_eq!(&moved(2, 0, 3), b"2343456789");
        assert_eq!(&moved(8, 1, 100), b"0893456789");
        assert_eq!(&moved(3, 2, usize::MAX), b"0134567899", "overlapping ranges");
        for (from, to, length) in [(4, 4, 9), (10, 0, 1), (11, 0, 1), (3, 0, 0)] {
            assert_eq!(&moved(from, to, length), b"0123456789", "{from} {to} {length}");
        }
        let mut bytes = *b"0123456789";
        shift(&mut bytes, 7);
        assert_eq!(&bytes, b"7893456789");
    }
}
