//! The inside of strings, escaped.

use super::Writer;
use super::escape::{escape_into, escaped_length, first_length};
use crate::buffer::Room;

impl Writer<'_> {
    /// Writes text inside an open string.
    pub(super) fn escape(&mut self, text: &str) {
        if matches!(self.room, Room::Measure) {
            self.advance(escaped_length(text.as_bytes()));
            return;
        }
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            // Its length at least. If escapes need more, the next round reserves it.
            let wanted = first_length(rest).wrapping_add(rest.len().saturating_sub(1));
            let Some((_, spare)) = self.reserve(wanted) else { return };
            let (read, written) = escape_into(spare, rest);
            self.advance(written);
            rest = rest.get(read..).unwrap_or_default();
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
            let wanted = first_length(source).wrapping_add(source.len().saturating_sub(1));
            let Some((before, free)) = self.reserve(wanted) else { return };
            let (read, written) = escape_into(free, before.get(from..to).unwrap_or_default());
            self.advance(written);
            from = from.wrapping_add(read);
        }
    }
}
