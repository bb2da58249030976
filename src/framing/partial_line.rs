//! Access to a line that is still arriving, for code that reads a string of the line in chunks.

use crate::framing::LineDecoder;
use crate::framing::flags::Flags;
use crate::json::Span;
use crate::platform::shift;

impl LineDecoder<'_> {
    /// Returns whether an incomplete line fills the buffer up to its limit. Always returns `false` in message mode.
    pub(crate) fn is_full(&self) -> bool {
        let is_incomplete = self.line.is_none() && self.message_framing.is_none();
        is_incomplete && !self.is_discarding() && self.start == 0 && self.end >= self.buffer.limit()
    }

    /// Returns the scanned bytes of the current line.
    pub(crate) fn text_so_far(&self) -> &[u8] {
        self.buffer.bytes().get(self.start..self.scanned).unwrap_or_default()
    }

    pub(crate) fn text_so_far_mut(&mut self) -> &mut [u8] {
        self.buffer.bytes_mut().get_mut(self.start..self.scanned).unwrap_or_default()
    }

    /// Removes a part of a string from the current line. The part must end at the end of the string's received text, or
    /// before an incomplete character or escape.
    ///
    /// If the string has ended, and either the line is complete or many bytes follow, the bytes after the part do not
    /// move. The closing quote moves to the start of the part, and spaces fill the rest of the part. The work is
    /// therefore linear in the input.
    pub(crate) fn remove_from_string(&mut self, part: Span) {
        let Span { start, end } = part;
        let (from, length) = (self.start.wrapping_add(start), end.saturating_sub(start));
        let Some(rest) = self.buffer.bytes_mut().get_mut(from..self.end) else { return };
        let behind = rest.len().saturating_sub(length);
        let is_closed = rest.get(length) == Some(&b'"');
        if is_closed && (self.line.is_some() || behind > length.saturating_mul(4)) {
            if let Some(text) = rest.get_mut(..=length) {
                text.fill(b' ');
                text.iter_mut().take(1).for_each(|byte| *byte = b'"');
            }
            return;
        }
        self.cut_from_string(part);
    }

    /// Removes a part of a string like [`remove_from_string`](LineDecoder::remove_from_string), but always frees the
    /// space of the part. The part may end between any two characters of the string.
    pub(crate) fn cut_from_string(&mut self, part: Span) {
        let Span { start, end } = part;
        let (from, length) = (self.start.wrapping_add(start), end.saturating_sub(start));
        let Some(rest) = self.buffer.bytes_mut().get_mut(from..self.end) else { return };
        shift(rest, length);
        self.end = self.end.saturating_sub(length);
        self.scanned = self.scanned.saturating_sub(length);
        self.scanner.remove(part);
    }

    /// Returns whether the machine removes chunks of a string from the current line.
    pub(crate) fn is_chunked(&self) -> bool {
        self.flags.any(Flags::CHUNKED)
    }

    /// Sets whether the machine removes chunks of a string from the current line.
    pub(crate) fn set_chunked(&mut self, is_chunked: bool) {
        if is_chunked {
            self.flags.add(Flags::CHUNKED);
        } else {
            self.flags.remove(Flags::CHUNKED);
        }
    }

    /// Records that duplicate members of the current line have replaced the tool call, or the argument, whose chunks
    /// the machine has emitted.
    pub(crate) fn abort_chunks(&mut self) {
        self.flags.remove(Flags::CHUNKED);
        self.flags.add(Flags::ABORTED);
    }

    /// Returns whether [`abort_chunks`](LineDecoder::abort_chunks) was called since the last call of this method.
    pub(crate) fn take_aborted(&mut self) -> bool {
        let is_aborted = self.flags.any(Flags::ABORTED);
        self.flags.remove(Flags::ABORTED);
        is_aborted
    }

    /// Stores the number of bytes to remove from the incomplete line after the event of a chunk. The number is in the
    /// field `release_length`, which has no other use before the line is complete.
    pub(crate) fn hold_chunk(&mut self, length: usize) {
        self.release_length = length;
    }

    /// Takes the number that [`hold_chunk`](LineDecoder::hold_chunk) stored.
    pub(crate) fn take_held_chunk(&mut self) -> usize {
        core::mem::take(&mut self.release_length)
    }
}
