//! What has to be escaped inside a string, and how.

use super::free::{escapes, has_stop};
use crate::buffer::copy;
use crate::json::FAST;
use crate::json::search::text_run;
use crate::json::skip::split;

/// The escape of a quote, a backslash or a control character: so many of these bytes.
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

/// How long the first byte of a text is when it is escaped.
pub(super) fn first_length(text: &[u8]) -> usize {
    match text {
        [byte @ (0..=0x1F | b'"' | b'\\'), ..] => escape_of(*byte).1,
        [_, ..] => 1,
        [] => 0,
    }
}

/// How long a text is when it is escaped.
pub(super) fn escaped_length(text: &[u8]) -> usize {
    let (mut rest, mut length) = (text, 0usize);
    loop {
        let (run, tail) = split(rest, text_run(rest));
        length = length.wrapping_add(run.len());
        let [byte, tail @ ..] = tail else { return length };
        length = length.wrapping_add(escape_of(*byte).1);
        rest = tail;
    }
}

/// Escapes `source` into `target` as far as it fits, run by run: how much was read, and how much written.
pub(super) fn escape_into(target: &mut [u8], source: &[u8]) -> (usize, usize) {
    let room = target.len();
    let (from, to) = if FAST { escape_blocks(target, source) } else { (0, 0) };
    let (Some(mut target), Some(mut rest)) = (target.get_mut(to..), source.get(from..)) else {
        return (0, 0);
    };
    loop {
        let length = text_run(rest);
        let fits = length.min(target.len());
        let (run, tail) = split(rest, fits);
        if let Some(place) = target.get_mut(..fits) {
            copy(place, run);
        }
        let Some((_, free)) = target.split_at_mut_checked(fits) else { return (0, 0) };
        (target, rest) = (free, tail);
        if fits < length {
            break;
        }
        let [byte, tail @ ..] = rest else { break };
        let (escape, length) = escape_of(*byte);
        if let Some((place, _)) = target.split_first_chunk_mut::<6>() {
            *place = escape;
        } else if target.len() >= length {
            copy(target, escape.get(..length).unwrap_or_default());
        } else {
            break;
        }
        let Some((_, free)) = target.split_at_mut_checked(length) else { return (0, 0) };
        (target, rest) = (free, tail);
    }
    (source.len().wrapping_sub(rest.len()), room.wrapping_sub(target.len()))
}

/// Escapes whole blocks of `source` as long as there is room for the longest that can come of one: how much was read, and how
/// much written.
fn escape_blocks(target: &mut [u8], source: &[u8]) -> (usize, usize) {
    let (mut to, mut clean) = (0usize, true);
    let (blocks, _) = source.as_chunks::<BLOCK>();
    for (index, block) in blocks.iter().enumerate() {
        let Some(place) = target.get_mut(to..).and_then(|free| free.first_chunk_mut::<PLACE>()) else {
            return (index.wrapping_mul(BLOCK), to);
        };
        // Where much has to be escaped, it does not pay to look first.
        clean = clean && !has_stop(block);
        let length = if clean {
            if let Some(place) = place.first_chunk_mut() {
                *place = *block;
            }
            BLOCK
        } else {
            let words = block.as_chunks::<8>().0;
            words.iter().fold(0, |to, word| escape_word(place, to, u64::from_le_bytes(*word)))
        };
        clean = length == BLOCK;
        to = to.wrapping_add(length);
    }
    (blocks.len().wrapping_mul(BLOCK), to)
}

const BLOCK: usize = 64;
/// Each byte takes up to six, and a word is written where they end.
const PLACE: usize = BLOCK * 6 + 8;

/// Escapes eight bytes to the place from `to` on: where they end. All of what is left of the word is written each time, and
/// what comes next is written over what is too much: that costs less than to find out how much it is.
#[inline(always)]
fn escape_word(place: &mut [u8; PLACE], to: usize, word: u64) -> usize {
    let (mut to, mut stops) = (to, escapes(word));
    put(place, to, word.to_le_bytes());
    while stops != 0 {
        // The bits of the bytes before the stop.
        let before = stops.trailing_zeros() & 0x38;
        stops &= stops.wrapping_sub(1);
        let rest = word.wrapping_shr(before);
        let here = to.wrapping_add(usize::try_from(before >> 3).unwrap_or_default());
        let [byte, ..] = rest.to_le_bytes();
        // How much longer it becomes: what follows is that much further on.
        let more = match LETTERS.get(usize::from(byte)) {
            Some(letter @ 1..) => {
                put(place, here, [b'\\', *letter]);
                1
            }
            _ => {
                put_long(place, here, byte);
                5
            }
        };
        put(place, here.wrapping_add(more).wrapping_add(1), (rest >> 8).to_le_bytes());
        to = to.wrapping_add(more);
    }
    to.wrapping_add(8)
}

/// Seldom, and away from what is done for each escape.
#[cold]
#[inline(never)]
fn put_long(place: &mut [u8; PLACE], to: usize, byte: u8) {
    put(place, to, escape_of(byte).0);
}

#[inline(always)]
fn put<const N: usize>(place: &mut [u8; PLACE], to: usize, bytes: [u8; N]) {
    if let Some(place) = place.get_mut(to..).and_then(|free| free.first_chunk_mut()) {
        *place = bytes;
    }
}

/// What follows the backslash, for each byte that has an escape of two.
#[allow(clippy::indexing_slicing, clippy::as_conversions, reason = "the compiler does it, once")]
static LETTERS: [u8; 256] = {
    let mut letters = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if let ([_, letter, ..], 2) = escape_of(byte as u8)
            && matches!(byte as u8, 0..=0x1F | b'"' | b'\\')
        {
            letters[byte] = letter;
        }
        byte = byte.wrapping_add(1);
    }
    letters
};

#[cfg(test)]
mod tests;
