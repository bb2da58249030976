//! The open message: a message that grows piece by piece while the peer reads it.
//!
//! A *piece* is a part of a chunked response: its beginning, its end, or the bytes that one call of a method such as
//! [`Chunks::text`](crate::server::Chunks::text) writes.
//!
//! In line mode, the open message is the last message in the buffer. While this message is open, no other message may
//! be written. Every piece leaves space for the end of the message, so that the message can end at any time.
//!
//! In message mode, each piece is a message of its own. Other messages may follow a piece. If the end of a response
//! does not fit, the server writes the end later, when the buffer has space.

use crate::framing::outbound_message::{OutboundMessageKind, Routing, StreamId};
use crate::json::Writer;
use crate::peer::transmit_buffer::{Overflow, TransmitBuffer, UNSENT_LIMIT, Writable};

/// Minimum space for the pieces of a message. [`take_writable`](TransmitBuffer::take_writable) waits for only half of
/// the space, so this half must hold the longest escape sequence or the longest character.
const MIN_SPACE: usize = 16;

impl TransmitBuffer<'_> {
    /// Permits or refuses pieces in message mode. No effect in line mode, which always permits pieces.
    pub(crate) fn accept_pieces(&mut self, accept: bool) {
        match (accept, self.link.writable) {
            (true, Writable::Messages) if self.is_message_mode() => {
                self.link.writable = Writable::MessagesAndPieces
            }
            (false, Writable::MessagesAndPieces | Writable::MessagesFirst) => {
                self.link.writable = Writable::Messages
            }
            _ => {}
        }
    }

    /// Stops the growth of open messages until the buffer is empty, because a whole message or a last piece did not
    /// fit. Message mode only.
    #[cold]
    pub(super) fn hold_pieces(&mut self) {
        if self.link.writable == Writable::MessagesAndPieces {
            self.link.writable = Writable::MessagesFirst;
        }
    }

    /// Returns whether an open message delays all other messages until its end. Always `false` in message mode.
    #[inline]
    pub(crate) fn holds_messages(&self) -> bool {
        self.link.writable == Writable::Pieces
    }

    /// Returns whether the buffer permits open messages.
    pub(crate) fn accepts_pieces(&self) -> bool {
        self.link.writable != Writable::Messages || !self.is_message_mode()
    }

    /// Opens the message that `begin_message` started. The first piece of the message ends at `to`. The end of the
    /// message takes at most `reserved` bytes.
    ///
    /// # Errors
    /// [`Overflow`] if `to` is `None`, the buffer is too small for pieces, or the heap is exhausted. The message is
    /// then dropped.
    pub(crate) fn open_message(
        &mut self,
        stream: StreamId,
        to: Option<usize>,
        reserved: usize,
    ) -> Result<(), Overflow> {
        let to = to.filter(|_| self.piece_space(reserved) >= MIN_SPACE).ok_or(Overflow)?;
        // Show the observer all earlier messages before the open message.
        self.observe_sent();
        if !self.add_piece(stream, Some(to), reserved) {
            return Err(Overflow);
        }
        if !self.is_message_mode() {
            (self.link.writable, self.link.awaits_space) = (Writable::Pieces, false);
        }
        Ok(())
    }

    /// Returns a writer for the next piece of the open message. [`add_piece`](Self::add_piece) takes the result of
    /// [`Writer::finish`].
    pub(crate) fn piece_writer(&mut self, reserved: usize) -> Writer<'_> {
        self.make_piece_space();
        let from = self.piece_start();
        let limit =
            if self.link.writable == Writable::MessagesFirst { from } else { self.piece_limit(reserved) };
        Writer::new(self.buffer.reborrow(), from, limit.max(from))
    }

    /// Adds the piece that ends at `to`. Returns `false` if `to` is `None` or the heap is exhausted; the piece is then
    /// dropped.
    pub(crate) fn add_piece(&mut self, stream: StreamId, to: Option<usize>, reserved: usize) -> bool {
        if self.is_message_mode() {
            return to == Some(self.piece_start()) || self.end_message(piece_of(stream, false), to).is_ok();
        }
        // A growing buffer grows now to the space for the end of the message, so that the end always fits.
        let fits = |to: &usize| self.buffer.reborrow().into_grown(to.saturating_add(reserved)).is_some();
        let Some(to) = to.filter(fits) else { return false };
        self.end = to;
        self.observe_piece(false);
        true
    }

    /// Returns a writer for the end of the open message. [`close_message`](Self::close_message) takes the result of
    /// [`Writer::finish`]. Returns `None` if the end does not fit, which occurs in message mode only.
    pub(crate) fn end_writer(&mut self, reserved: usize) -> Option<Writer<'_>> {
        let (before, after) = self.framing_size();
        if before > 0 && !self.has_space(reserved.saturating_add(before)) {
            return None;
        }
        let (from, limit) = (self.piece_start(), self.buffer.limit().saturating_sub(after));
        Some(Writer::new(self.buffer.reborrow(), from, limit))
    }

    /// Closes the open message, whose text ends at `to`.
    pub(crate) fn close_message(&mut self, stream: StreamId, to: Option<usize>) {
        if self.is_message_mode() {
            _ = self.end_message(piece_of(stream, true), to);
            return;
        }
        self.end = to.unwrap_or(self.end);
        self.observe_piece(true);
        let end = self.end.saturating_add(1);
        if let Some([.., newline]) = self.buffer.ensure(end).and_then(|bytes| bytes.get_mut(..end)) {
            *newline = b'\n';
            self.end = end;
        }
        self.observed = self.end;
        self.link.writable = Writable::Messages;
    }

    /// Records that a piece waits for space. [`take_writable`](Self::take_writable) reports when to write the piece.
    pub(crate) fn await_piece_space(&mut self) {
        self.link.awaits_space = true;
    }

    /// Returns whether a piece of an open message waits for space, and half of the space for pieces is free. If so, the
    /// piece no longer waits.
    ///
    /// The caller must try to write all other messages first. In message mode, a message that did not fit has
    /// precedence until the buffer is empty.
    pub(crate) fn take_writable(&mut self, reserved: usize) -> bool {
        let is_open = self.link.writable == Writable::Pieces || self.is_message_mode();
        if !is_open || !self.link.awaits_space {
            return false;
        }
        self.make_piece_space();
        if self.link.writable == Writable::MessagesFirst {
            if !self.is_empty() {
                return false;
            }
            self.link.writable = Writable::MessagesAndPieces;
        }
        let free = self.piece_limit(reserved).saturating_sub(self.piece_start());
        let has_space = free >= self.piece_space(reserved) / 2;
        self.link.awaits_space = !has_space;
        has_space
    }

    /// Compacts the buffer if at least as many bytes were sent as must move. The total work is therefore linear in the
    /// output.
    fn make_piece_space(&mut self) {
        self.rewind();
        if self.link.start >= self.unsent() && self.link.start > 0 {
            self.move_to_front();
        }
    }

    /// Returns the start of the next piece.
    fn piece_start(&self) -> usize {
        self.end.saturating_add(self.framing_size().0)
    }

    /// Returns the maximum size of a piece.
    fn piece_space(&self, reserved: usize) -> usize {
        self.piece_limit(reserved).saturating_sub(self.framing_size().0)
    }

    /// Returns the maximum end of a piece.
    fn piece_limit(&self, reserved: usize) -> usize {
        let limit = self.buffer.limit();
        let limit = if self.buffer.is_lent() { limit } else { limit.min(UNSENT_LIMIT) };
        limit.saturating_sub(reserved).saturating_sub(self.framing_size().0)
    }

    /// Shows the observer the piece that was just added. `is_last` means that the piece ends the message.
    fn observe_piece(&mut self, is_last: bool) {
        if let Some(attached) = &mut self.observer {
            let piece = self.buffer.bytes().get(self.observed..self.end).unwrap_or_default();
            attached.observer.piece(piece, is_last);
        }
        self.observed = self.end;
    }
}

/// Returns the routing of a piece.
fn piece_of(stream: StreamId, is_last: bool) -> Routing {
    let kind = if is_last { OutboundMessageKind::LastPiece } else { OutboundMessageKind::Piece };
    Routing::on_stream(kind, stream)
}
