//! Searches inside strings, many bytes at a time without `unsafe`: the scanner, the views and the writer share them.
#![allow(
    clippy::as_conversions,
    reason = "bytes become the words that are searched, and counts of bits are small; some of it is constant"
)]

use crate::buffer::find;

/// Whether to spend code on speed. On bare metal flash is what is short, and lines are; everywhere else the fast ways
/// are worth their size. All ways give the same results; `--cfg mcp_proto_small` takes the small ones everywhere, and
/// `--cfg mcp_proto_words` those of [`WORDS`], so that tests can see them.
pub(crate) const FAST: bool = cfg!(not(any(target_os = "none", mcp_proto_small, mcp_proto_words)));

/// Whether a word of four bytes is read from any address with one instruction, where `FAST` is not worth its size: on
/// ARM from the Cortex-M3 on. That it also has atomic operations is what tells it from a Cortex-M0.
pub(crate) const WORDS: bool = !FAST
    && cfg!(any(mcp_proto_words, all(target_arch = "arm", target_has_atomic = "32", not(mcp_proto_small))));

/// Whether runs of bytes are found at once, so that it pays to look for them.
pub(crate) const RUNS: bool = FAST || WORDS;

const LOW: u64 = u64::from_le_bytes([0x01; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// The high bit of each byte of `word` that ends a plain run: a quote, a backslash, a control character and, with
/// `ASCII`, everything past it. Only the lowest bit set is to be trusted: a borrow can set higher ones by mistake.
#[cfg_attr(not(target_os = "none"), inline(always))]
fn stops<const ASCII: bool>(word: u64) -> u64 {
    // With this bit turned over, a quote comes right behind the control characters.
    let quote_or_control = (word ^ LOW.wrapping_mul(0x02)).wrapping_sub(LOW.wrapping_mul(0x21));
    let backslash = (word ^ LOW.wrapping_mul(b'\\' as u64)).wrapping_sub(LOW);
    let found = quote_or_control | backslash;
    (if ASCII { found | word } else { found & !word }) & HIGH
}

#[cfg_attr(not(target_os = "none"), inline(always))]
fn is_stop<const ASCII: bool>(byte: u8) -> bool {
    byte < 0x20 || byte == b'"' || byte == b'\\' || (ASCII && byte >= 0x80)
}

/// How many bytes at the start of `bytes` are printable ASCII other than quote and backslash.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    run::<true>(bytes)
}

/// How many bytes at the start of `bytes` are neither a quote, a backslash nor a control character.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(super) fn text_run(bytes: &[u8]) -> usize {
    run::<false>(bytes)
}

/// If a quote ends a plain run of at most seven bytes: the run as a word (little endian, the rest zero) and its length.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(super) fn short_plain_text(bytes: &[u8]) -> Option<(u64, usize)> {
    let (first, _) = bytes.split_first_chunk::<8>()?;
    let word = u64::from_le_bytes(*first);
    let length = stops::<true>(word).trailing_zeros() >> 3;
    if bytes.get(length as usize) != Some(&b'"') || length > 7 {
        return None;
    }
    let kept = word & (1u64.wrapping_shl(length.wrapping_mul(8))).wrapping_sub(1);
    Some((kept, length as usize))
}

/// How many bytes of a word come before the first that is not printable ASCII, or is a quote or a backslash.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(super) fn plain_end(word: u64) -> Option<usize> {
    let hits = stops::<true>(word);
    (hits != 0).then(|| (hits.trailing_zeros() >> 3) as usize)
}

/// How many bytes at the start of a word are neither a quote, a backslash nor a control character: 8 if none is.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(super) fn text_bytes(word: u64) -> usize {
    (stops::<false>(word).trailing_zeros() >> 3) as usize
}

/// Whether there is a backslash.
#[cfg_attr(not(target_os = "none"), inline)]
pub(super) fn has_backslash(bytes: &[u8]) -> bool {
    has(b'\\', bytes)
}

/// Whether there is such a byte. Most texts are short: two words that overlap are all of them then.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(crate) fn has(byte: u8, bytes: &[u8]) -> bool {
    if FAST
        && bytes.len() <= 16
        && let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk())
    {
        let hits = |word: &[u8; 8]| {
            let other = u64::from_le_bytes(*word) ^ LOW.wrapping_mul(byte as u64);
            other.wrapping_sub(LOW) & !other
        };
        return (hits(first) | hits(last)) & HIGH != 0;
    }
    if FAST && bytes.len() < 8 {
        return bytes.contains(&byte);
    }
    find(byte, bytes).is_some()
}

/// How many bytes at the start of a word are digits.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(crate) fn digits(word: u64) -> usize {
    let value = word ^ LOW.wrapping_mul(b'0' as u64);
    // Past 9 the high bit is set. A carry goes up only from a byte that is past it.
    let others = (value.wrapping_add(LOW.wrapping_mul(0x7F - 9)) | value) & HIGH;
    (others.trailing_zeros() >> 3) as usize
}

/// How many digits `bytes` begin with.
#[cfg_attr(not(target_os = "none"), inline(always))]
pub(super) fn digit_run(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    while let Some((first, tail)) = rest.split_first_chunk::<8>() {
        let length = digits(u64::from_le_bytes(*first));
        if length < 8 {
            return bytes.len().wrapping_sub(rest.len()).wrapping_add(length);
        }
        rest = tail;
    }
    let last = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
    bytes.len().wrapping_sub(rest.len()).wrapping_add(last)
}

/// Most strings are short: the first words are looked at in place, the rest is a call.
#[cfg_attr(not(target_os = "none"), inline(always))]
fn run<const ASCII: bool>(bytes: &[u8]) -> usize {
    if !FAST {
        let beyond = if ASCII { TOPS } else { 0 };
        return if WORDS { word_run(bytes, beyond) } else { slow_run::<ASCII>(bytes) };
    }
    let Some((first, tail)) = bytes.split_first_chunk::<8>() else { return slow_run::<ASCII>(bytes) };
    let hits = stops::<ASCII>(u64::from_le_bytes(*first));
    if hits != 0 {
        return (hits.trailing_zeros() >> 3) as usize;
    }
    long_run::<ASCII>(tail).wrapping_add(8)
}

#[inline(never)]
fn long_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    let mut rest = bytes;
    // The first 64 bytes by words, then by blocks where the target has vectors.
    let mut words: usize = if VECTORS { 8 } else { usize::MAX };
    loop {
        while let Some((first, tail)) = rest.split_first_chunk::<8>() {
            let hits = stops::<ASCII>(u64::from_le_bytes(*first));
            if hits != 0 {
                let here = bytes.len().wrapping_sub(rest.len());
                return here.wrapping_add((hits.trailing_zeros() >> 3) as usize);
            }
            rest = tail;
            words = words.wrapping_sub(1);
            if words == 0 {
                break;
            }
        }
        if words != 0 {
            break;
        }
        while let Some((first, tail)) = rest.split_first_chunk::<BLOCK>()
            && !block_has_stop::<ASCII>(first)
        {
            rest = tail;
        }
        // The block that stopped it, or the rest, by words again.
        words = usize::MAX;
    }
    bytes.len().wrapping_sub(rest.len()).wrapping_add(slow_run::<ASCII>(rest))
}

/// One for both kinds of run: `beyond` has the high bits if what is not ASCII ends it.
#[inline(never)]
fn word_run(bytes: &[u8], beyond: u32) -> usize {
    let here = by_words(bytes, |word| {
        // With this bit turned over, a quote comes right behind the control characters.
        let quote_or_control = (word ^ SPREAD.wrapping_mul(0x02)).wrapping_sub(SPREAD.wrapping_mul(0x21));
        let backslash = (word ^ SPREAD.wrapping_mul(b'\\' as u32)).wrapping_sub(SPREAD);
        (quote_or_control | backslash) & !word | word & beyond
    });
    let rest = bytes.get(here..).unwrap_or_default();
    let stop = rest.iter().position(|byte| is_stop::<false>(*byte) || u32::from(*byte) & beyond != 0);
    here.wrapping_add(stop.unwrap_or(rest.len()))
}

/// Where a byte stands first, otherwise the length.
pub(crate) fn find_by_words(byte: u8, bytes: &[u8]) -> usize {
    let wanted = SPREAD.wrapping_mul(byte.into());
    let here = by_words(bytes, |word| (word ^ wanted).wrapping_sub(SPREAD) & !(word ^ wanted));
    let rest = bytes.get(here..).unwrap_or_default();
    here.wrapping_add(rest.iter().position(|at| *at == byte).unwrap_or(rest.len()))
}

const SPREAD: u32 = 0x0101_0101;
const TOPS: u32 = 0x8080_8080;

/// How many bytes come before the first whose high bit `stops` sets, or before the last ones, which are no whole word. Only
/// the lowest bit set is to be trusted.
#[inline(always)]
fn by_words(bytes: &[u8], stops: impl Fn(u32) -> u32) -> usize {
    let mut here = 0usize;
    for word in bytes.as_chunks::<4>().0 {
        let hits = stops(u32::from_le_bytes(*word)) & TOPS;
        if hits != 0 {
            return here.wrapping_add((hits.trailing_zeros() >> 3) as usize);
        }
        here = here.wrapping_add(4);
    }
    here
}

fn slow_run<const ASCII: bool>(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| is_stop::<ASCII>(byte)).unwrap_or(bytes.len())
}

const BLOCK: usize = 64;
const VECTORS: bool = cfg!(any(target_feature = "sse2", target_feature = "neon", target_feature = "simd128"));

/// Written as one fold without an early exit, which the compiler turns into vector code.
#[cfg_attr(not(target_os = "none"), inline(always))]
fn block_has_stop<const ASCII: bool>(block: &[u8; BLOCK]) -> bool {
    let mut found = 0u8;
    for &byte in block {
        // Below a space as a signed number: a control character or not ASCII.
        let outside = if ASCII { (byte as i8) < 0x20 } else { byte < 0x20 };
        found |= u8::from(byte == b'"') | u8::from(byte == b'\\') | u8::from(outside);
    }
    found != 0
}

#[cfg(test)]
mod tests;
