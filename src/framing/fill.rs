//! Read space: moves buffered bytes to the front and grows the buffer.

use crate::framing::LineDecoder;
use crate::platform::shift;

/// Minimum read space, in bytes, of a buffer that has just grown, unless the limit of the buffer leaves less space. A
/// read that fills the space doubles a buffer that is smaller than [`MAX_READ_AHEAD`].
pub(super) const READ_AHEAD: usize = 1024;

/// Size, in bytes, from which a filled buffer no longer doubles. Smaller buffers double, because larger reads need
/// fewer system calls.
pub(super) const MAX_READ_AHEAD: usize = 64 * 1024;

/// Minimum read space, in bytes. A growing buffer with less read space grows.
const MIN_READ_AHEAD: usize = READ_AHEAD / 4;

impl LineDecoder<'_> {
    /// Provides space for reads.
    ///
    /// To gain space, moves buffered bytes to the front, grows the buffer, or starts to discard the line.
    ///
    /// A client calls this method while no line is complete, or while the complete line waits for transmit space.
    #[inline]
    pub(crate) fn provide_space(&mut self) {
        if self.is_full_after_move() {
            self.discard_if_full();
        }
    }

    /// Provides space like [`provide_space`](LineDecoder::provide_space), but discards nothing. Returns `true` if an
    /// incomplete line fills the buffer. The machine must then remove a part of the line, or
    /// [discard](LineDecoder::discard_if_full) the whole line.
    #[inline]
    pub(crate) fn is_full_after_move(&mut self) -> bool {
        // If the line is at the front and the read space is sufficient, no change is necessary.
        (self.start > 0 || self.read_space() < MIN_READ_AHEAD) && self.move_or_grow()
    }

    #[cold]
    #[inline(never)]
    fn move_or_grow(&mut self) -> bool {
        if self.message_framing.is_some() || self.is_ended() {
            self.reserve();
            return false;
        }
        // Move the buffered bytes only if at least as many bytes precede them. Each byte then moves about once.
        if self.start >= self.end.saturating_sub(self.start) {
            self.move_to_front();
        }
        self.reserve();
        let is_full = self.is_out_of_space() && self.line.is_none() && !self.is_discarding();
        // Only an incomplete line needs space at any cost, so this move ignores the number of bytes.
        if is_full && self.start > 0 {
            self.move_to_front();
            return false;
        }
        is_full
    }

    /// Moves the buffered bytes to the front, unless they belong to a discarded line.
    fn move_to_front(&mut self) {
        if self.start > 0 && !self.is_discarding() {
            if let Some(bytes) = self.buffer.bytes_mut().get_mut(..self.end) {
                shift(bytes, self.start);
            }
            self.scanned = self.scanned.saturating_sub(self.start);
            (self.start, self.end) = (0, self.end.saturating_sub(self.start));
        }
    }

    /// Starts to discard the incomplete line if it still fills the buffer, and provides space for reads.
    pub(crate) fn discard_if_full(&mut self) {
        if self.is_out_of_space() {
            self.start_discarding();
        }
        self.reserve();
    }

    /// Returns whether received bytes fill the buffer, and the buffer cannot grow: its limit is reached, or the heap is
    /// exhausted.
    fn is_out_of_space(&self) -> bool {
        self.end >= self.buffer.limit() || self.read_space() == 0 && self.end > 0
    }

    fn reserve(&mut self) {
        // Grow only when little space remains, so that a buffer that has shrunk does not grow at the first bytes of a
        // line.
        if self.read_space() < MIN_READ_AHEAD && self.is_open() {
            let ahead = self.end.saturating_add(READ_AHEAD).min(self.buffer.limit());
            let _ = self.buffer.reborrow().ensure(ahead);
        }
    }

    /// Doubles a growing buffer of less than [`MAX_READ_AHEAD`] bytes that a read has filled, because more input may be
    /// pending. A buffer that is too large shrinks later.
    pub(super) fn grow_if_filled(&mut self) {
        let length = self.buffer.bytes().len();
        if !self.buffer.is_lent() && self.end >= length && length < MAX_READ_AHEAD {
            let _ = self.buffer.reborrow().ensure(length.saturating_add(1));
        }
    }

    /// Returns the number of bytes that the buffer can receive at its current size.
    #[inline]
    fn read_space(&self) -> usize {
        self.buffer.bytes().len().saturating_sub(self.end)
    }
}
