//! String content, escaped.

use super::Writer;
use super::escape::{code_of, escape_letter};
use crate::buffer::BufferMut;
use crate::json::search::{copy_run, text_run};
use crate::platform::copy;

impl Writer<'_> {
    /// Writes `begin`, the escaped `text` and `end`. `begin` and `end` are short.
    pub(super) fn escape(&mut self, begin: &[u8], text: &str, end: &[u8]) {
        let mut rest = text.as_bytes();
        let edges = begin.len().wrapping_add(end.len());
        let mut written = begin.len();
        let Some((_, spare)) = self.reserve(rest.len().wrapping_add(edges)) else { return };
        let mut spare = put(spare, begin);
        loop {
            let run = copy_run(spare, rest);
            (spare, written) = (spare.get_mut(run..).unwrap_or_default(), written.wrapping_add(run));
            let Some([byte, tail @ ..]) = rest.get(run..) else { break };
            let letter = escape_letter(*byte);
            let length = if letter == b'u' { 6 } else { 2 };
            let left = tail.len().wrapping_add(end.len()).wrapping_add(length);
            if spare.len() < left {
                self.advance(core::mem::take(&mut written));
                let Some((_, more)) = self.reserve(left) else { return };
                spare = more;
            }
            if let Some(place) = spare.first_chunk_mut() {
                *place = [b'\\', letter];
            }
            if letter == b'u' {
                put(spare.get_mut(2..).unwrap_or_default(), &code_of(*byte));
            }
            spare = spare.get_mut(length..).unwrap_or_default();
            (rest, written) = (tail, written.wrapping_add(length));
        }
        put(spare, end);
        self.advance(written.wrapping_add(end.len()));
        if let Some(last) = end.last() {
            self.last = *last;
        }
    }

    /// Writes the longest prefix of `text` that fits into an open string, escaped. Returns the length of the prefix.
    pub(crate) fn prefix_inside(&mut self, text: &str) -> usize {
        let length = fitting_prefix(text, self.remaining());
        self.escape(b"", text.get(..length).unwrap_or_default(), b"");
        length
    }

    /// Appends an escaped copy of the output between `from` and `to`, for use inside a string. Both are offsets from
    /// the start. A writer that only counts adds the longest possible length.
    pub(crate) fn escape_own(&mut self, from: usize, to: usize) {
        let (mut from, to) = (self.start.wrapping_add(from), self.start.wrapping_add(to).min(self.at));
        if matches!(self.room, BufferMut::Measure) {
            // JSON text needs escapes only for quotes, backslashes and tabs, with two bytes each.
            self.advance(to.saturating_sub(from).saturating_mul(2));
            return;
        }
        while from < to {
            let source = self.room.bytes().get(from..to).unwrap_or_default();
            let length = text_run(source);
            let stop = source.get(length).copied();
            let end = from.wrapping_add(length);
            let Some((written, spare)) = self.reserve(length) else { return };
            copy(spare, written.get(from..end).unwrap_or_default());
            self.advance(length);
            if let Some(byte) = stop {
                let letter = escape_letter(byte);
                self.push(&[b'\\', letter]);
                if letter == b'u' {
                    self.push(&code_of(byte));
                }
            }
            from = end.wrapping_add(1);
        }
    }
}

/// Returns the length of the longest prefix of `text` that takes at most `space` bytes when it is escaped.
fn fitting_prefix(text: &str, space: usize) -> usize {
    let (mut taken, mut space) = (0usize, space);
    loop {
        let rest = text.as_bytes().get(taken..).unwrap_or_default();
        let window = rest.get(..space).unwrap_or(rest);
        let run = text_run(window);
        (taken, space) = (taken.wrapping_add(run), space.saturating_sub(run));
        let Some(byte) = window.get(run) else { break };
        let length = if escape_letter(*byte) == b'u' { 6 } else { 2 };
        if length > space {
            break;
        }
        (taken, space) = (taken.wrapping_add(1), space.saturating_sub(length));
    }
    while !text.is_char_boundary(taken) {
        taken = taken.wrapping_sub(1);
    }
    taken
}

/// Copies a few bytes to the start of the spare capacity. Returns the remaining capacity, or an empty slice if the
/// bytes do not fit.
pub(super) fn put<'s>(mut spare: &'s mut [u8], bytes: &[u8]) -> &'s mut [u8] {
    for byte in bytes {
        if let [place, behind @ ..] = spare {
            *place = *byte;
            spare = behind;
        } else {
            return &mut [];
        }
    }
    spare
}
