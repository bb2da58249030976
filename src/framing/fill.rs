//! Room for more input: what is there moves to the front, and a growing buffer grows.

use crate::framing::LineDecoder;
use crate::platform::shift;

/// How much a growing buffer offers to read to, when it grows.
pub(super) const READ_AHEAD: usize = 4096;

/// As long as it is smaller, it doubles when a read fills it: who reads more at a time asks the system less often.
pub(super) const READ_MUCH: usize = 64 * 1024;

/// With so much room left, it does not grow.
const ENOUGH: usize = READ_AHEAD / 4;

impl LineDecoder<'_> {
    /// Makes room for more bytes: moves what there is to the front, grows, or starts to throw the line away.
    /// Called when no line waits, or one waits that cannot be dealt with yet.
    pub(crate) fn make_room(&mut self) {
        if self.framing.is_some() || self.eof {
            self.reserve();
            return;
        }
        let held = self.end.saturating_sub(self.start);
        let full = self.end >= self.buffer.limit();
        // Each byte moves about once: far enough, or because its line cannot end otherwise. While one waits for room,
        // it is not worth it.
        let worth_it = self.start >= held || (full && self.line.is_none());
        if self.start > 0 && !self.discards && worth_it {
            if let Some(bytes) = self.buffer.bytes_mut().get_mut(..self.end) {
                shift(bytes, self.start);
            }
            self.scanned = self.scanned.saturating_sub(self.start);
            (self.start, self.end) = (0, held);
        }
        let full = self.end >= self.buffer.limit();
        if full && self.line.is_none() && !self.discards {
            self.start_discarding();
        }
        self.reserve();
    }

    fn reserve(&mut self) {
        // Only when little is left: a buffer that has shrunk must not grow again with the first bytes of a line.
        if self.left() < ENOUGH && self.is_open() {
            let ahead = self.end.saturating_add(READ_AHEAD).min(self.buffer.limit());
            let _ = self.buffer.room().ensure(ahead);
        }
    }

    /// Doubles a growing buffer that was filled to its end, since more may wait. If little comes later, it shrinks again.
    pub(super) fn offer_more(&mut self) {
        let length = self.buffer.bytes().len();
        if !self.buffer.is_lent() && self.end >= length && length < READ_MUCH {
            let _ = self.buffer.room().ensure(length.saturating_add(1));
        }
    }

    /// How many bytes may be read without growing.
    #[inline]
    fn left(&self) -> usize {
        self.buffer.bytes().len().saturating_sub(self.end)
    }
}
