//! String content, escaped.

use super::Writer;
use super::escape::{escape_length, escape_letter, hex_code};
use crate::json::search::{VECTORS, copy_short, text_run};
use crate::json::skip::split;
use crate::platform::copy;

/// The bytes before or after the text of a string.
///
/// An edge of one byte repeats this byte, because the writer copies two bytes and then overwrites the inner byte.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    bytes: [u8; 2],
    length: u8,
    /// The last byte of the output after this edge, for [`Writer::last`].
    last: u8,
}

impl Edge {
    /// No bytes: the string is already open, or stays open.
    pub(super) const NONE: Edge = Edge { bytes: *b"\"\"", length: 0, last: b'"' };
    pub(super) const QUOTE: Edge = Edge { bytes: *b"\"\"", length: 1, last: b'"' };
    /// The start of a string after another item.
    pub(super) const NEXT: Edge = Edge { bytes: *b",\"", length: 2, last: b'"' };
    /// The end of a member's name.
    pub(super) const NAME_END: Edge = Edge { bytes: *b"\":", length: 2, last: b':' };

    /// Returns the opening quote of a string, after a comma if one is needed.
    #[inline]
    pub(super) fn opening(comma: bool) -> Edge {
        if comma { Edge::NEXT } else { Edge::QUOTE }
    }

    #[inline]
    fn len(self) -> usize {
        self.length.into()
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len()).unwrap_or_default()
    }
}

impl Writer<'_> {
    /// Writes `before`, the escaped `text` and `after`.
    pub(super) fn escape(&mut self, before: Edge, text: &str, after: Edge) {
        // Without vectors, `escape_runs` alone is as fast.
        if !(VECTORS && self.copy_plain(before, text.as_bytes(), after)) {
            self.escape_runs(before, text.as_bytes(), after);
        }
    }

    /// Writes a short text that is not empty and needs no escapes. For any other text, or if the buffer must grow,
    /// returns `false` and adds nothing to the output.
    #[inline]
    fn copy_plain(&mut self, before: Edge, text: &[u8], after: Edge) -> bool {
        let start = self.at.wrapping_add(before.len());
        let end = start.wrapping_add(text.len()).wrapping_add(after.len());
        if end > self.ready {
            return false;
        }
        let Some(place) = self.buffer.bytes_mut().get_mut(self.at..end) else { return false };
        if let Some(place) = place.last_chunk_mut() {
            *place = after.bytes;
        }
        if let Some(place) = place.first_chunk_mut() {
            *place = before.bytes;
        }
        let is_plain = place.get_mut(before.len()..).is_some_and(|place| copy_short(place, text));
        if is_plain {
            (self.at, self.last) = (end, after.last);
        }
        is_plain
    }

    /// Writes the text in runs between the bytes that need escapes.
    #[inline(never)]
    fn escape_runs(&mut self, before: Edge, text: &[u8], after: Edge) {
        self.push(before.bytes());
        // A long text without escapes grows the buffer once.
        if !self.reserve_to(self.at.wrapping_add(text.len())) {
            return;
        }
        let mut rest = text;
        loop {
            let (run, tail) = split(rest, text_run(rest));
            self.append(run);
            let [byte, tail @ ..] = tail else { break };
            self.push_escape(*byte);
            rest = tail;
        }
        self.push(after.bytes());
    }

    /// Writes the escape for a byte into an open string.
    fn push_escape(&mut self, byte: u8) {
        let letter = escape_letter(byte);
        self.append(&[b'\\', letter]);
        if letter == b'u' {
            self.push(&hex_code(byte));
        }
        self.last = b'"';
    }

    /// Writes the longest prefix of `text` that fits, escaped, into an open string. Returns the length of the prefix.
    pub(crate) fn prefix_inside(&mut self, text: &str) -> usize {
        let length = fitting_prefix(text, self.remaining());
        self.escape(Edge::NONE, text.get(..length).unwrap_or_default(), Edge::NONE);
        length
    }

    /// Appends an escaped copy of the output between `from` and `to`, for use inside a string. Both arguments are
    /// offsets from the start of the output. A writer that only counts adds the longest possible length.
    pub(crate) fn escape_own(&mut self, from: usize, to: usize) {
        let (mut from, to) = (self.start.wrapping_add(from), self.start.wrapping_add(to).min(self.at));
        if self.only_counts {
            // JSON text needs escapes only for quotes, backslashes and tabs, with two bytes each.
            self.advance(to.saturating_sub(from).saturating_mul(2));
            return;
        }
        while from < to {
            let source = self.buffer.bytes().get(from..to).unwrap_or_default();
            let length = text_run(source);
            let stop = source.get(length).copied();
            let end = from.wrapping_add(length);
            if !self.reserve_to(self.at.wrapping_add(length)) {
                return;
            }
            let all = self.buffer.bytes_mut().split_at_mut_checked(self.at);
            let (written, spare) = all.unwrap_or_default();
            copy(spare, written.get(from..end).unwrap_or_default());
            self.advance(length);
            if let Some(byte) = stop {
                self.push_escape(byte);
            }
            from = end.wrapping_add(1);
        }
    }
}

/// Returns the length of the longest prefix of `text` that takes at most `space` bytes with escapes.
pub(crate) fn fitting_prefix(text: &str, space: usize) -> usize {
    let (mut taken, mut space) = (0usize, space);
    loop {
        let rest = text.as_bytes().get(taken..).unwrap_or_default();
        let window = rest.get(..space).unwrap_or(rest);
        let run = text_run(window);
        (taken, space) = (taken.wrapping_add(run), space.saturating_sub(run));
        let Some(byte) = window.get(run) else { break };
        let length = escape_length(*byte);
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
