//! Searches inside strings: by byte, machine word or block, as suits the target.
#![allow(clippy::as_conversions, reason = "bytes widen to words, and a bit count fits in every type")]

use crate::platform::{BARE_METAL, UNALIGNED_WORDS, copy_ends};

/// The machine word of the target: 32 bits on small boards.
type Word = usize;
const BYTES: usize = size_of::<Word>();
/// A word with the lowest bit of each byte set. In `HIGH`, the highest bit of each byte is set.
const LOW: Word = Word::MAX / 0xFF;
const HIGH: Word = LOW << 7;

/// A word with the lowest bit of each 32 bits set.
const PAIR: Word = Word::MAX / u32::MAX as Word;

/// Returns a word with `byte` in each byte.
const fn repeat(byte: u8) -> Word {
    LOW.wrapping_mul(byte as Word)
}

/// Returns the number of bytes before the first set high bit. Without a set bit, returns the length of a word.
fn before_first(high_bits: Word) -> usize {
    (high_bits.trailing_zeros() >> 3) as usize
}

/// Returns a word with the high bit set in each byte that ends a run. A quote, a backslash or a control character
/// ends a run. If `beyond` is `HIGH`, bytes that are not ASCII also end the run.
///
/// Only the lowest set bit is reliable, because a borrow can set higher bits.
#[inline]
fn stops(word: Word, beyond: Word) -> Word {
    // XOR with 2 moves the quote next to the control characters.
    let quote_or_control = (word ^ repeat(0x02)).wrapping_sub(repeat(0x21));
    let backslash = (word ^ repeat(b'\\')).wrapping_sub(LOW);
    ((quote_or_control | backslash) & !word | word & beyond) & HIGH
}

#[inline]
fn is_stop(byte: u8, beyond: Word) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || byte & beyond as u8 != 0
}

/// Returns a word with the high bit set in each byte that equals `byte`. Only the lowest set bit is reliable.
fn equal_to(byte: u8, word: Word) -> Word {
    let other = word ^ repeat(byte);
    other.wrapping_sub(LOW) & !other & HIGH
}

/// Returns a word that holds `bytes`, followed by zeros. The slice must be shorter than a word.
#[inline]
fn short_word(bytes: &[u8]) -> Word {
    if let (Some(low), Some(high)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // The two halves may overlap, because their common bytes are equal.
        let shift = bytes.len().wrapping_sub(4).wrapping_mul(8) as u32;
        return u32::from_le_bytes(*low) as Word | (u32::from_le_bytes(*high) as Word).wrapping_shl(shift);
    }
    bytes.iter().rev().fold(0, |word, byte| word << 8 | *byte as Word)
}

/// Returns the length of the run at the start of `bytes`.
///
/// In a word, `stops` sets the high bit of the first byte that ends the run.
#[inline]
fn run(bytes: &[u8], stops: impl Fn(Word) -> Word) -> usize {
    let mut rest = bytes;
    while let Some((word, tail)) = rest.split_first_chunk() {
        let found = stops(Word::from_le_bytes(*word));
        if found != 0 {
            return bytes.len().wrapping_sub(rest.len()).wrapping_add(before_first(found));
        }
        rest = tail;
    }
    end_of_run(bytes, stops)
}

/// Returns the length of the run. The caller must have found no stop in the complete words at the start.
#[inline]
fn end_of_run(bytes: &[u8], stops: impl Fn(Word) -> Word) -> usize {
    match bytes.last_chunk() {
        // This word may overlap the word before it.
        Some(word) => {
            let start = bytes.len().wrapping_sub(BYTES);
            start.wrapping_add(before_first(stops(Word::from_le_bytes(*word))))
        }
        None => before_first(stops(short_word(bytes))).min(bytes.len()),
    }
}

/// Returns the length of the run of ASCII bytes at the start. A quote, a backslash or a byte below 0x20 ends the run.
#[inline]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    text_run_before(HIGH, bytes)
}

/// Returns the length of the run at the start without quotes, backslashes and control characters.
#[inline]
pub(super) fn text_run(bytes: &[u8]) -> usize {
    text_run_before(0, bytes)
}

/// Copies a short `source` to the start of `target`. Returns `false` if `source` is empty, longer than two words,
/// longer than `target`, or not a [`text_run`] as a whole; `target` may then have changed. The function is faster than
/// a loop only with [`VECTORS`].
#[inline]
pub(super) fn copy_short(target: &mut [u8], source: &[u8]) -> bool {
    if source.len() > BYTES.wrapping_mul(2) {
        return false;
    }
    let Some(target) = target.get_mut(..source.len()) else { return false };
    // The two words contain all bytes of the source.
    let (first, last) = if let Some([first, last]) = copy_ends(target, source) {
        (Word::from_le_bytes(first), Word::from_le_bytes(last))
    } else if let Some([first, last]) = copy_ends(target, source) {
        twice(u32::from_le_bytes(first) as Word | (u32::from_le_bytes(last) as Word).wrapping_shl(32))
    } else if let Some([first, last]) = copy_ends(target, source) {
        twice(
            (u16::from_le_bytes(first) as Word | (u16::from_le_bytes(last) as Word) << 16).wrapping_mul(PAIR),
        )
    } else if let ([place], [byte]) = (target, source) {
        *place = *byte;
        twice(repeat(*byte))
    } else {
        return false;
    };
    stops(first, 0) | stops(last, 0) == 0
}

const fn twice(word: Word) -> (Word, Word) {
    (word, word)
}

/// Returns the length of the run, with the implementation for the target. Checks the first word inline on targets
/// with vectors, because most strings are short.
#[inline]
fn text_run_before(beyond: Word, bytes: &[u8]) -> usize {
    if !WORDS {
        return byte_run(bytes, beyond);
    }
    match bytes.split_first_chunk() {
        Some((word, tail)) if VECTORS => match stops(Word::from_le_bytes(*word), beyond) {
            0 if beyond == 0 => BYTES.wrapping_add(block_run::<false>(tail)),
            0 => BYTES.wrapping_add(block_run::<true>(tail)),
            found => before_first(found),
        },
        _ => word_run(bytes, beyond),
    }
}

/// Whether the target reads an unaligned word with one instruction. On bare metal, processors with atomic operations
/// count as such targets. A Cortex-M0 has no atomic operations.
const WORDS: bool = cfg!(any(not(target_os = "none"), target_has_atomic = "32"));

/// Returns the length of the run, byte by byte, for targets that need several instructions to read an unaligned
/// word.
#[inline(never)]
fn byte_run(bytes: &[u8], beyond: Word) -> usize {
    bytes.iter().position(|byte| is_stop(*byte, beyond)).unwrap_or(bytes.len())
}

/// Returns the length of the run, word by word: for targets without vectors, for texts shorter than a word, and
/// after the blocks without a stop.
#[inline(never)]
fn word_run(bytes: &[u8], beyond: Word) -> usize {
    run(bytes, |word| stops(word, beyond))
}

/// Whether the compiler turns a fold over a block into vector instructions.
pub(super) const VECTORS: bool =
    cfg!(any(target_feature = "sse2", target_feature = "neon", target_feature = "simd128"));
const BLOCK: usize = 64;
/// The number of words that are checked one by one before blocks, because blocks are slower for short runs.
const MEDIUM: usize = 4;

/// Returns the length of the run, first by words and then by blocks, for targets with vectors.
#[inline(never)]
fn block_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    let beyond = if ASCII { HIGH } else { 0 };
    for start in (0..MEDIUM).map(|index| index.wrapping_mul(BYTES)) {
        let Some(word) = bytes.get(start..).and_then(|rest| rest.first_chunk()) else {
            return end_of_run(bytes, |word| stops(word, beyond));
        };
        let found = stops(Word::from_le_bytes(*word), beyond);
        if found != 0 {
            return start.wrapping_add(before_first(found));
        }
    }
    let (blocks, _) = bytes.as_chunks();
    let whole = blocks.iter().position(block_has_stop::<ASCII>).unwrap_or(blocks.len());
    let start = whole.wrapping_mul(BLOCK);
    start.wrapping_add(word_run(bytes.get(start..).unwrap_or_default(), beyond))
}

/// Returns whether a block contains a stop. The loop has no early exit, so that the compiler can vectorize the loop.
fn block_has_stop<const ASCII: bool>(block: &[u8; BLOCK]) -> bool {
    let mut found = 0;
    for &byte in block {
        // As a signed number, a byte that is not ASCII is also less than a space.
        let outside = if ASCII { (byte as i8) < 0x20 } else { byte < 0x20 };
        found |= u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(outside);
    }
    found != 0
}

/// Returns the position of the first line break: LF or CR.
pub(super) fn find_break(bytes: &[u8]) -> Option<usize> {
    if VECTORS {
        memchr::memchr2(b'\n', b'\r', bytes)
    } else {
        bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))
    }
}

/// Returns whether `bytes` contain a backslash. Searches a short text in a plain loop, because most texts are short.
#[inline]
pub(super) fn has_backslash(bytes: &[u8]) -> bool {
    if WORDS && bytes.len() <= MEDIUM.wrapping_mul(BYTES) {
        return bytes.iter().fold(false, |found, byte| found | (*byte == b'\\'));
    }
    find(b'\\', bytes).is_some()
}

/// Returns the position of the first occurrence of `byte`.
pub(crate) fn find(byte: u8, bytes: &[u8]) -> Option<usize> {
    match (BARE_METAL, UNALIGNED_WORDS) {
        (false, _) => memchr::memchr(byte, bytes),
        (true, true) => find_in_words(byte, bytes),
        (true, false) => find_in_bytes(byte, bytes),
    }
}

/// Finds a byte in a plain loop. The loop takes less code than a word search, and never panics. The function is for
/// short texts, such as templates, and for bare-metal targets that do not read unaligned words.
pub(crate) fn find_in_bytes(byte: u8, bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|at| *at == byte)
}

fn find_in_words(byte: u8, bytes: &[u8]) -> Option<usize> {
    Some(run(bytes, |word| equal_to(byte, word))).filter(|at| *at < bytes.len())
}

#[cfg(test)]
mod tests;
