//! What waits to be written: whole messages, one after the other.

use crate::buffer::Buffer;
use crate::frame::{About, MARK};
use crate::json::Writer;
use crate::machine::Transmit;

/// With a growing buffer, answers are written on until this many bytes are unsent.
const UNSENT_LIMIT: usize = 64 * 1024;

pub(crate) struct Output<'b> {
    buffer: Buffer<'b>,
    start: usize,
    end: usize,
    /// What an answer may use, and what has to be free before a request is handed out.
    reply_room: usize,
    frames: bool,
    broken: bool,
}

/// A message did not fit; nothing of it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overflow;

impl<'b> Output<'b> {
    pub(crate) fn new(mut buffer: Buffer<'b>) -> Output<'b> {
        let reply_room = buffer.limit();
        if !buffer.is_lent() {
            buffer.extend_limit(UNSENT_LIMIT);
        }
        Output { buffer, start: 0, end: 0, reply_room, frames: false, broken: false }
    }

    /// Bytes that a message takes beside its text: a newline, or the mark of a frame.
    pub(crate) fn overhead(&self) -> usize {
        if self.frames { MARK } else { 1 }
    }

    pub(crate) fn use_frames(&mut self) {
        self.frames = true;
    }

    pub(crate) fn reply_room(&self) -> usize {
        self.reply_room
    }

    pub(crate) fn set_reply_room(&mut self, bytes: usize) {
        self.reply_room = bytes.min(self.reply_room);
    }

    pub(crate) fn reset(&mut self) {
        (self.start, self.end) = (0, 0);
        self.broken = false;
        self.buffer.settle(0);
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Throws away what is unsent.
    pub(crate) fn clear(&mut self) {
        (self.start, self.end) = (0, 0);
    }

    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Whether a whole `reply_room` is free. Makes it so if it can.
    pub(crate) fn has_room(&mut self) -> bool {
        self.has(self.reply_room)
    }

    fn has(&mut self, bytes: usize) -> bool {
        self.rewind();
        let unsent = self.end.saturating_sub(self.start);
        if unsent.saturating_add(bytes) > self.buffer.limit() {
            return false;
        }
        if self.end.saturating_add(bytes) > self.buffer.limit() {
            if let Some(bytes) = self.buffer.bytes_mut().get_mut(..self.end) {
                bytes.copy_within(self.start.., 0);
            }
            (self.start, self.end) = (0, unsent);
        }
        true
    }

    fn rewind(&mut self) {
        if self.start >= self.end && self.end > 0 {
            self.buffer.settle(self.end);
            (self.start, self.end) = (0, 0);
        }
    }

    /// Writes one message, whole or not at all, into at most `room` bytes (its overhead included).
    /// Returns where its text stands.
    pub(crate) fn write(
        &mut self,
        about: About,
        room: usize,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(usize, usize), Overflow> {
        self.rewind();
        let (before, after) = if self.frames { (MARK, 0) } else { (0, 1) };
        let from = self.end.saturating_add(before);
        let limit = self.end.saturating_add(room).saturating_sub(after);
        let mut writer = Writer::new(self.buffer.room(), from, limit);
        body(&mut writer);
        let to = writer.finish().map_err(|_| Overflow)?;
        let end = to.saturating_add(after);
        let bytes = self.buffer.room().into_grown(end).ok_or(Overflow)?;
        if self.frames {
            let mark = about.encode(to.saturating_sub(from));
            bytes.get_mut(self.end..from).ok_or(Overflow)?.copy_from_slice(&mark);
        } else {
            *bytes.get_mut(to).ok_or(Overflow)? = b'\n';
        }
        self.end = end;
        Ok((from, to))
    }

    pub(crate) fn text(&self, (from, to): (usize, usize)) -> &[u8] {
        self.buffer.bytes().get(from..to).unwrap_or_default()
    }

    /// What can be written now. In frame mode, one message.
    pub(crate) fn transmit(&mut self) -> Transmit<'_> {
        let unsent = self.buffer.bytes().get(self.start..self.end).unwrap_or_default();
        let (mut bytes, mut frame, mut overhead) = (unsent, None, 0);
        if self.frames
            && let Some((mark, rest)) = unsent.split_first_chunk::<MARK>()
        {
            let (length, about) = About::decode(*mark);
            bytes = rest.get(..length).unwrap_or_default();
            frame = Some(about);
            overhead = MARK;
        }
        Transmit { bytes, frame, start: &mut self.start, overhead, broken: &mut self.broken }
    }
}
