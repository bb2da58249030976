//! The inside of strings, escaped.

use super::Writer;
use super::escape::{escape_into, escape_of, escaped_length, first_length};
use crate::buffer::Room;
use crate::json::FAST;
use crate::json::search::text_run;
use crate::json::skip::split;

impl Writer<'_> {
    /// Text inside a string: runs without anything to escape are copied at once.
    pub(super) fn escape(&mut self, text: &str) {
        if !FAST {
            return self.escape_run_by_run(text.as_bytes());
        }
        if self.put_plain(text).is_none() {
            self.escape_fast(text.as_bytes());
        }
    }

    #[inline(never)]
    fn escape_fast(&mut self, text: &[u8]) {
        if matches!(self.room, Room::Measure) {
            self.advance(escaped_length(text));
            return;
        }
        let mut rest = text;
        while !rest.is_empty() {
            // Escaped, it is at least that long. Where more is needed, the next round finds out.
            let wanted = first_length(rest).wrapping_add(rest.len().saturating_sub(1));
            let Some((_, free)) = self.reserve(wanted) else { return };
            let (read, written) = escape_into(free, rest);
            self.advance(written);
            rest = rest.get(read..).unwrap_or_default();
        }
    }

    fn escape_run_by_run(&mut self, text: &[u8]) {
        let mut rest = text;
        loop {
            let (run, tail) = split(rest, text_run(rest));
            self.push(run);
            let [byte, tail @ ..] = tail else { return };
            let (escape, length) = escape_of(*byte);
            self.push(split(&escape, length).0);
            rest = tail;
        }
    }

    /// Copies what was written from `from` to `to` (both counted from the start) to the end, escaped for use inside a
    /// string. While it only counts, it counts the most that can be.
    pub(crate) fn escape_own(&mut self, from: usize, to: usize) {
        let (mut from, to) = (self.start.wrapping_add(from), self.start.wrapping_add(to).min(self.at));
        if matches!(self.room, Room::Measure) {
            // In JSON text only quotes, backslashes and tabs are escaped, with two bytes each.
            self.advance(to.saturating_sub(from).saturating_mul(2));
            return;
        }
        while from < to {
            let source = self.room.bytes().get(from..to).unwrap_or_default();
            let wanted = first_length(source).wrapping_add(source.len().saturating_sub(1));
            let Some((before, free)) = self.reserve(wanted) else { return };
            let (read, written) = escape_into(free, before.get(from..to).unwrap_or_default());
            self.advance(written);
            from = from.wrapping_add(read);
        }
    }
}
