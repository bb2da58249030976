//! Searches inside strings, one machine word at a time.
#![allow(clippy::as_conversions, reason = "bytes widen to words, and bit counts of a word fit everywhere")]

use crate::buffer::find;

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

/// Sets the high bit of each byte that ends a run: a quote, a backslash, a control character and, with `ASCII`, every
/// byte from 0x80 on.
///
/// Only the lowest set bit is reliable, because a borrow can set higher ones.
fn stops<const ASCII: bool>(word: Word) -> Word {
    // XOR with 2 moves the quote right behind the control characters.
    let quote_or_control = (word ^ repeat(0x02)).wrapping_sub(repeat(0x21));
    let backslash = (word ^ repeat(b'\\')).wrapping_sub(LOW);
    let found = quote_or_control | backslash;
    (if ASCII { found | word } else { found & !word }) & HIGH
}

fn is_stop<const ASCII: bool>(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || (ASCII && byte >= 0x80)
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
    text_run_of::<true>(bytes)
}

/// Returns how many bytes at the start are neither a quote, a backslash nor a control character.
#[inline]
pub(super) fn text_run(bytes: &[u8]) -> usize {
    text_run_of::<false>(bytes)
}

/// Looks at the first word in place, because most strings are short.
#[inline]
fn text_run_of<const ASCII: bool>(bytes: &[u8]) -> usize {
    match bytes.split_first_chunk::<BYTES>() {
        Some((word, tail)) => match stops::<ASCII>(Word::from_le_bytes(*word)) {
            0 => BYTES.wrapping_add(long_run::<ASCII>(tail)),
            found => before_first(found),
        },
        None => word_run::<ASCII>(bytes),
    }
}

#[inline(never)]
fn long_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    for (index, word) in bytes.as_chunks().0.iter().take(MEDIUM).enumerate() {
        let found = stops::<ASCII>(Word::from_le_bytes(*word));
        if found != 0 {
            return index.wrapping_mul(BYTES).wrapping_add(before_first(found));
        }
    }
    longest_run::<ASCII>(bytes)
}

/// Returns the length of a run that is longer than the medium one, or ends in the last bytes.
#[inline(never)]
fn longest_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    let start = if VECTORS { block_run::<ASCII>(bytes) } else { 0 };
    start.wrapping_add(word_run::<ASCII>(bytes.get(start..).unwrap_or_default()))
}

fn word_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    run(bytes, stops::<ASCII>, is_stop::<ASCII>)
}

const BLOCK: usize = 64;
/// How many words of a run are looked at before blocks pay.
const MEDIUM: usize = 4;
/// Whether the compiler turns a fold over a block into vector instructions.
const VECTORS: bool = cfg!(any(target_feature = "sse2", target_feature = "neon", target_feature = "simd128"));

/// Returns the length of the whole blocks at the start that have no stop.
fn block_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    let (blocks, _) = bytes.as_chunks();
    let whole = blocks.iter().position(block_has_stop::<ASCII>).unwrap_or(blocks.len());
    whole.wrapping_mul(BLOCK)
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

/// Returns how many bytes at the start of a word are digits.
pub(crate) fn digits(word: u64) -> usize {
    word.to_le_bytes().iter().take_while(|byte| byte.is_ascii_digit()).count()
}

/// Returns whether `bytes` contain `byte`. Two overlapping words cover most texts.
#[inline]
pub(crate) fn has(byte: u8, bytes: &[u8]) -> bool {
    match (bytes.first_chunk(), bytes.last_chunk()) {
        (Some(first), Some(last)) if bytes.len() <= 2 * BYTES => {
            let found = |word: &[u8; BYTES]| equal_to(byte, Word::from_le_bytes(*word));
            found(first) | found(last) != 0
        }
        (None, _) => bytes.contains(&byte),
        _ => find(byte, bytes).is_some(),
    }
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
