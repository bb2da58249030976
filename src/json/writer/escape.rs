//! Escapes of string content.

use crate::buffer::copy;
use crate::json::search::text_run;
use crate::json::skip::split;

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

/// Returns the escaped length of the first byte.
pub(super) fn first_length(text: &[u8]) -> usize {
    match text {
        [byte @ (0..=0x1F | b'"' | b'\\'), ..] => escape_of(*byte).1,
        [_, ..] => 1,
        [] => 0,
    }
}

/// Returns the escaped length of a text.
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

/// Escapes `source` into `target` as far as it fits, and returns how many bytes were read and written.
pub(super) fn escape_into(target: &mut [u8], source: &[u8]) -> (usize, usize) {
    let capacity = target.len();
    let (mut target, mut rest) = (target, source);
    loop {
        let (run, _) = split(rest, text_run(rest));
        let fits = run.len().min(target.len());
        let Some((place, spare)) = target.split_at_mut_checked(fits) else { return (0, 0) };
        copy(place, run);
        rest = rest.get(fits..).unwrap_or_default();
        let (escape, length) = match rest {
            [byte, ..] if fits == run.len() => escape_of(*byte),
            _ => return (source.len().wrapping_sub(rest.len()), capacity.wrapping_sub(spare.len())),
        };
        let needed = spare.len();
        let Some((place, behind)) = spare.split_at_mut_checked(length) else {
            return (source.len().wrapping_sub(rest.len()), capacity.wrapping_sub(needed));
        };
        copy(place, &escape);
        rest = rest.get(1..).unwrap_or_default();
        target = behind;
    }
}
