//! What has to be escaped inside a string, and how.

use crate::buffer::copy;
use crate::json::swar::{FAST, text_run};
use crate::json::walk::split;

/// The escape of a quote, a backslash or a control character: so many of these bytes.
pub(super) fn escape_of(byte: u8) -> ([u8; 6], usize) {
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
    let (mut target, mut rest) = (target, source);
    loop {
        let length = text_run(rest);
        let fits = length.min(target.len());
        let (run, tail) = split(rest, fits);
        if FAST
            && fits <= 16
            && let (Some(place), Some(run)) = (target.first_chunk_mut::<16>(), rest.first_chunk::<16>())
        {
            // What is too much is written over by what comes next, and it costs less than to copy exactly.
            *place = *run;
        } else if let Some(place) = target.get_mut(..fits) {
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
