//! The open message: the last message in the buffer, which grows piece by piece while the peer reads it.
//!
//! No other message may be written while a message is open. Every piece leaves space for the end of the message, so
//! that the message can end at any time.

use crate::json::Writer;
use crate::peer::transmit_buffer::{Overflow, TransmitBuffer, UNSENT_LIMIT};

/// Minimum space for the pieces of a message. Half of it holds the longest escape sequence and the longest character.
const MIN_SPACE: usize = 16;

impl TransmitBuffer<'_> {
    pub(crate) fn is_open(&self) -> bool {
        self.link.is_open
    }

    /// Opens the started message, whose first piece ends at `to`. The end of the message takes at most `reserved` bytes.
    ///
    /// # Errors
    /// [`Overflow`] if `to` is `None`, or if the buffer is too small for pieces. The message is then dropped.
    pub(crate) fn open_message(&mut self, to: Option<usize>, reserved: usize) -> Result<(), Overflow> {
        let to = to.filter(|_| self.piece_limit(reserved) >= MIN_SPACE).ok_or(Overflow)?;
        // An observer sees the messages before the open one first.
        self.observe_sent();
        (self.link.is_open, self.link.awaits_space) = (true, false);
        if self.add_piece(Some(to), reserved) {
            return Ok(());
        }
        self.link.is_open = false;
        Err(Overflow)
    }

    /// Returns a writer for the next piece of the open message. [`add_piece`](Self::add_piece) takes the result of
    /// [`Writer::finish`].
    pub(crate) fn piece_writer(&mut self, reserved: usize) -> Writer<'_> {
        self.make_piece_space();
        let limit = self.piece_limit(reserved);
        Writer::new(self.buffer.reborrow(), self.end, limit)
    }

    /// Adds the piece that ends at `to`. Returns `false` if `to` is `None` or the heap is exhausted; the piece is then
    /// dropped.
    pub(crate) fn add_piece(&mut self, to: Option<usize>, reserved: usize) -> bool {
        // A growing buffer must have the space for the end of the message before the piece counts.
        let fits = |to: &usize| self.buffer.reborrow().into_grown(to.saturating_add(reserved)).is_some();
        let Some(to) = to.filter(fits) else { return false };
        self.end = to;
        self.observe_piece(false);
        true
    }

    /// Returns a writer for the end of the open message. [`close_message`](Self::close_message) takes the result of
    /// [`Writer::finish`].
    pub(crate) fn end_writer(&mut self) -> Writer<'_> {
        let limit = self.buffer.limit().saturating_sub(1);
        Writer::new(self.buffer.reborrow(), self.end, limit)
    }

    /// Closes the open message, whose text ends at `to`.
    pub(crate) fn close_message(&mut self, to: Option<usize>) {
        self.end = to.unwrap_or(self.end);
        self.observe_piece(true);
        let end = self.end.saturating_add(1);
        if let Some([.., newline]) = self.buffer.ensure(end).and_then(|bytes| bytes.get_mut(..end)) {
            *newline = b'\n';
            self.end = end;
        }
        self.observed = self.end;
        self.link.is_open = false;
    }

    /// Records that a piece did not fit. [`take_writable`](Self::take_writable) reports when to write the next piece.
    pub(crate) fn await_piece_space(&mut self) {
        self.link.awaits_space = true;
    }

    /// Returns whether the next piece of the open message was awaited, and half of the space for pieces is free.
    pub(crate) fn take_writable(&mut self, reserved: usize) -> bool {
        if !self.link.is_open || !self.link.awaits_space {
            return false;
        }
        self.make_piece_space();
        let limit = self.piece_limit(reserved);
        let has_space = limit.saturating_sub(self.end) >= limit / 2;
        self.link.awaits_space = !has_space;
        has_space
    }

    /// Compacts the buffer if no more bytes move than were sent. The work is then linear in the output.
    fn make_piece_space(&mut self) {
        self.rewind();
        if self.start >= self.unsent() && self.start > 0 {
            self.move_to_front();
        }
    }

    /// Maximum end of a piece.
    fn piece_limit(&self, reserved: usize) -> usize {
        let limit = self.buffer.limit();
        let limit = if self.buffer.is_lent() { limit } else { limit.min(UNSENT_LIMIT) };
        limit.saturating_sub(reserved)
    }

    /// Shows the observer the last piece.
    fn observe_piece(&mut self, is_last: bool) {
        if let Some(attached) = &mut self.observer {
            let piece = self.buffer.bytes().get(self.observed..self.end).unwrap_or_default();
            attached.observer.piece(piece, is_last);
        }
        self.observed = self.end;
    }
}
