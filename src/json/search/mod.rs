//! Searches inside strings, one machine word at a time.
#![allow(clippy::as_conversions, reason = "bytes widen to words, and bit counts of a word fit everywhere")]

use crate::platform::find;

/// The word of the target: 32 bits on small boards.
type Word = usize;
const BYTES: usize = size_of::<Word>();
/// The lowest and the highest bit of each byte.
const LOW: Word = Word::MAX / 0xFF;
const HIGH: Word = LOW << 7;

/// The same byte in each byte of a word.
const fn repeat(byte: u8) -> Word {
    LOW.wrapping_mul(byte as Word)
}

/// The number of bytes before the lowest high bit that is set; all bytes of the word if none is.
fn before_first(high_bits: Word) -> usize {
    (high_bits.trailing_zeros() >> 3) as usize
}

/// Sets the high bit of each byte that ends a run: a quote, a backslash, a control character, and those whose high bit
/// is set in `beyond`.
///
/// Only the lowest set bit is reliable, because a borrow can set higher ones.
#[inline]
fn stops(word: Word, beyond: Word) -> Word {
    // XOR with 2 moves the quote right behind the control characters.
    let quote_or_control = (word ^ repeat(0x02)).wrapping_sub(repeat(0x21));
    let backslash = (word ^ repeat(b'\\')).wrapping_sub(LOW);
    ((quote_or_control | backslash) & !word | word & beyond) & HIGH
}

fn is_stop(byte: u8, beyond: Word) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || byte & beyond as u8 != 0
}

/// Sets the high bit of each byte that equals `byte`. Only the lowest set bit is reliable.
fn equal_to(byte: u8, word: Word) -> Word {
    let other = word ^ repeat(byte);
    other.wrapping_sub(LOW) & !other & HIGH
}

/// Returns the length of the run at the start of `bytes`.
///
/// `stops` marks, in the high bit, the first byte of a word that ends the run; `is_stop` decides it for one byte.
#[inline]
fn run(bytes: &[u8], stops: impl Fn(Word) -> Word, is_stop: impl Fn(u8) -> bool) -> usize {
    let mut rest = bytes;
    while let Some((word, tail)) = rest.split_first_chunk::<BYTES>() {
        let found = stops(Word::from_le_bytes(*word));
        if found != 0 {
            return bytes.len().wrapping_sub(rest.len()).wrapping_add(before_first(found));
        }
        rest = tail;
    }
    let last = rest.iter().position(|byte| is_stop(*byte)).unwrap_or(rest.len());
    bytes.len().wrapping_sub(rest.len()).wrapping_add(last)
}

/// Returns how many bytes at the start are printable ASCII other than quote and backslash.
#[inline]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    text_run_before(HIGH, bytes)
}

/// Returns how many bytes at the start are neither a quote, a backslash nor a control character.
#[inline]
pub(super) fn text_run(bytes: &[u8]) -> usize {
    text_run_before(0, bytes)
}

/// Takes the kernel for the target. Most strings are short: hosts look at the first word in place.
#[inline]
fn text_run_before(beyond: Word, bytes: &[u8]) -> usize {
    match bytes.split_first_chunk() {
        Some((word, tail)) if VECTORS => match stops(Word::from_le_bytes(*word), beyond) {
            0 if beyond == 0 => BYTES.wrapping_add(block_run::<false>(tail)),
            0 => BYTES.wrapping_add(block_run::<true>(tail)),
            found => before_first(found),
        },
        _ => word_run(bytes, beyond),
    }
}

/// The kernel for targets without vectors: words only.
#[inline(never)]
fn word_run(bytes: &[u8], beyond: Word) -> usize {
    run(bytes, |word| stops(word, beyond), |byte| is_stop(byte, beyond))
}

/// Whether the compiler turns a fold over a block into vector instructions.
const VECTORS: bool = cfg!(any(target_feature = "sse2", target_feature = "neon", target_feature = "simd128"));
const BLOCK: usize = 64;
/// How many words of a run are looked at before blocks pay.
const MEDIUM: usize = 4;

/// The kernel for targets with vectors: some words, then blocks.
#[inline(never)]
fn block_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    let beyond = if ASCII { HIGH } else { 0 };
    for (index, word) in bytes.as_chunks().0.iter().take(MEDIUM).enumerate() {
        let found = stops(Word::from_le_bytes(*word), beyond);
        if found != 0 {
            return index.wrapping_mul(BYTES).wrapping_add(before_first(found));
        }
    }
    let (blocks, _) = bytes.as_chunks();
    let whole = blocks.iter().position(block_has_stop::<ASCII>).unwrap_or(blocks.len());
    let start = whole.wrapping_mul(BLOCK);
    start.wrapping_add(word_run(bytes.get(start..).unwrap_or_default(), beyond))
}

/// Decides it in one fold without an early exit, which the compiler can vectorize.
fn block_has_stop<const ASCII: bool>(block: &[u8; BLOCK]) -> bool {
    let mut found = 0;
    for &byte in block {
        // As a signed number, a byte that is not ASCII is below a space, too.
        let outside = if ASCII { (byte as i8) < 0x20 } else { byte < 0x20 };
        found |= u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(outside);
    }
    found != 0
}

/// Returns the position of the first line break.
pub(super) fn find_break(bytes: &[u8]) -> Option<usize> {
    if VECTORS {
        memchr::memchr2(b'\n', b'\r', bytes)
    } else {
        bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))
    }
}

/// Returns whether `bytes` contain `byte`.
#[inline]
pub(crate) fn has(byte: u8, bytes: &[u8]) -> bool {
    find(byte, bytes).is_some()
}

/// Returns whether there is a backslash.
#[inline]
pub(super) fn has_backslash(bytes: &[u8]) -> bool {
    has(b'\\', bytes)
}

/// Returns the position of the first such byte, or the length if there is none.
pub(crate) fn find_by_words(byte: u8, bytes: &[u8]) -> usize {
    run(bytes, |word| equal_to(byte, word), |other| other == byte)
}

#[cfg(test)]
mod tests;
