//! The inside of strings, escaped.

use super::Writer;
use super::escape::escape_of;
use crate::buffer::Room;
use crate::json::search::text_run;
use crate::json::skip::split;
use crate::platform::copy;

impl Writer<'_> {
    /// Writes text inside an open string, and `end` behind it.
    pub(super) fn escape(&mut self, text: &str, end: &[u8]) {
        let mut rest = text.as_bytes();
        loop {
            let (run, tail) = split(rest, text_run(rest));
            let [byte, tail @ ..] = tail else { return self.push_both(run, end) };
            if rest.len() == text.len() {
                // At the first escape: grow once for all that follows.
                self.reserve(rest.len());
            }
            let (escape, length) = escape_of(*byte);
            self.push_both(run, split(&escape, length).0);
            rest = tail;
        }
    }

    /// Copies the output between `from` and `to` (both counted from the start) to the end, escaped for use inside a
    /// string. While the writer only counts, it adds the longest possible result.
    pub(crate) fn escape_own(&mut self, from: usize, to: usize) {
        let (mut from, to) = (self.start.wrapping_add(from), self.start.wrapping_add(to).min(self.at));
        if matches!(self.room, Room::Measure) {
            // In JSON text only quotes, backslashes and tabs are escaped, with two bytes each.
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
            if let Some((escape, length)) = stop.map(escape_of) {
                self.push(split(&escape, length).0);
            }
            from = end.wrapping_add(1);
        }
    }
}
