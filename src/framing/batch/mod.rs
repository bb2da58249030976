//! Batches as lines, for clients: the elements of an array become the current line, one after another.
//!
//! The decoder stores no state of a batch, because the byte after an element shows whether another element follows.
//!
//! Specification: 2025-03-26, *Base protocol*, *Batching*.

use crate::framing::line_decoder::{FoundLine, LineDecoder, LineKind};
use crate::json::next_element;

impl LineDecoder<'_> {
    /// Makes the first element of an array the current line. The current line must be a valid array.
    ///
    /// Returns `false` and changes nothing if the array is empty, or is itself an element of a batch.
    #[cold]
    pub(crate) fn open_batch(&mut self) -> bool {
        let is_element = !self.bytes_after_line().iter().all(u8::is_ascii_whitespace);
        let bracket = self.bytes().iter().position(|byte| *byte == b'[');
        match bracket.filter(|_| !is_element) {
            Some(at) => self.select_element(at.wrapping_add(1)),
            None => false,
        }
    }

    /// Releases the current line. If the line was an element of a batch, the next element, if any, becomes the current
    /// line.
    pub(crate) fn release_element(&mut self) {
        let length = self.scanned.saturating_sub(self.start);
        // A further element takes at least two bytes: a comma and a digit.
        let may_follow =
            self.line == Some(LineKind::Message) && self.release_length > length.saturating_add(1);
        if !(may_follow && self.select_element(length)) {
            self.release();
        }
    }

    /// Returns the bytes after the line, up to the last byte that a release frees.
    ///
    /// These bytes are the newline, if any. After an element of a batch, the remaining batch precedes the newline.
    fn bytes_after_line(&self) -> &[u8] {
        let to = self.start.wrapping_add(self.release_length);
        self.buffer.bytes().get(self.scanned..to).unwrap_or_default()
    }

    /// Makes the next element of the batch the current line. The opening bracket or the previous element ends at `at`,
    /// an offset from the start of the line. Returns `false` if no element follows.
    fn select_element(&mut self, at: usize) -> bool {
        let to = self.start.wrapping_add(self.release_length);
        let batch = self.buffer.bytes().get(self.start..to).unwrap_or_default();
        let Some(element) = next_element(batch, at) else { return false };
        self.scanner.reset();
        self.scanner.feed(element.bytes(batch));
        // The element is valid, because the whole batch is valid.
        let kind = self.finish_scan();
        let length = element.end.saturating_sub(element.start);
        self.start = self.start.wrapping_add(element.start);
        let release_length = self.release_length.saturating_sub(element.start);
        self.set_line(FoundLine { kind, length, release_length });
        true
    }
}

#[cfg(test)]
mod tests;
