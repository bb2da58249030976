//! Batches as lines, for clients: the elements of an array become the current line, one after another.
//!
//! The iteration stores no state, because the byte after an element shows whether another element follows.
//!
//! Specification: 2025-03-26, *Base protocol*, *Batching*.

use crate::framing::line_decoder::{FoundLine, LineDecoder, LineKind};
use crate::json::next_value;

impl LineDecoder<'_> {
    /// Makes the first element of an array the current line.
    ///
    /// Returns `false` if the array is empty, or is itself an element of a batch.
    #[cold]
    pub(crate) fn open_batch(&mut self) -> bool {
        let is_element = !self.bytes_after_line().iter().all(u8::is_ascii_whitespace);
        let bracket = self.bytes().iter().position(|byte| *byte == b'[');
        match bracket.filter(|_| !is_element) {
            Some(at) => self.select_value(at.wrapping_add(1)),
            None => false,
        }
    }

    /// Releases the current line. After an element of a batch, the next element becomes the current line.
    pub(crate) fn release_element(&mut self) {
        let length = self.scanned.saturating_sub(self.start);
        // A further element takes at least two bytes: a comma and a digit.
        let may_follow = self.release_length > length.saturating_add(1);
        let next = match self.line {
            Some(LineKind::Message) if may_follow => {
                let after = self.bytes_after_line();
                let comma = after.iter().position(|byte| !byte.is_ascii_whitespace());
                comma
                    .filter(|at| after.get(*at) == Some(&b','))
                    .map(|at| length.wrapping_add(at).wrapping_add(1))
            }
            _ => None,
        };
        if !next.is_some_and(|at| self.select_value(at)) {
            self.release();
        }
    }

    /// Returns the bytes after the line, up to the last byte that a release frees.
    ///
    /// These bytes are the newline, if any, or the remaining batch.
    fn bytes_after_line(&self) -> &[u8] {
        let to = self.start.wrapping_add(self.release_length);
        self.buffer.bytes().get(self.scanned..to).unwrap_or_default()
    }

    /// Selects the next value of the batch as the current line.
    ///
    /// The search for the value starts `skipped` bytes after the start of the line. Returns `false` if no value
    /// follows.
    fn select_value(&mut self, skipped: usize) -> bool {
        let from = self.start.wrapping_add(skipped);
        let rest =
            self.buffer.bytes().get(from..self.start.wrapping_add(self.release_length)).unwrap_or_default();
        let Some((before, length)) = next_value(rest) else { return false };
        let skipped = skipped.wrapping_add(before);
        let from = self.start.wrapping_add(skipped);
        let value = self.buffer.bytes().get(from..from.wrapping_add(length)).unwrap_or_default();
        self.scanner.reset();
        self.scanner.feed(value);
        // The element is valid, because the whole batch is valid.
        let kind = self.finish_scan();
        self.start = from;
        let release_length = self.release_length.saturating_sub(skipped);
        self.set_line(FoundLine { kind, length, release_length });
        true
    }
}

#[cfg(test)]
mod tests;
