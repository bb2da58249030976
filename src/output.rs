//! What waits to be written: whole messages, one after the other. Whoever watches sees them here.

use crate::buffer::{Buffer, copy, find, shift};
use crate::fault::Fault;
use crate::frame::{About, MARK};
use crate::json::Writer;
use crate::machine::Transmit;
use crate::observe::{Direction, Observer};

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
    observer: Option<&'b mut (dyn Observer + Send + 'b)>,
    /// Up to where the observer has seen what is written.
    shown: usize,
    /// How many bytes were written so far, sent or not.
    written: usize,
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
        Output {
            buffer,
            start: 0,
            end: 0,
            reply_room,
            frames: false,
            broken: false,
            observer: None,
            shown: 0,
            written: 0,
        }
    }

    /// Bytes that a message takes beside its text: a newline, or the mark of a frame.
    pub(crate) fn overhead(&self) -> usize {
        if self.frames { MARK } else { 1 }
    }

    pub(crate) fn use_frames(&mut self) {
        self.frames = true;
    }

    pub(crate) fn uses_frames(&self) -> bool {
        self.frames
    }

    pub(crate) fn reply_room(&self) -> usize {
        self.reply_room
    }

    pub(crate) fn set_reply_room(&mut self, bytes: usize) {
        self.reply_room = bytes.min(self.reply_room);
    }

    pub(crate) fn reset(&mut self) {
        self.clear();
        self.broken = false;
        self.buffer.settle(0);
    }

    pub(crate) fn set_observer(&mut self, observer: &'b mut (dyn Observer + Send + 'b)) {
        self.observer = Some(observer);
    }

    /// Shows the messages that were written since the last time.
    pub(crate) fn show(&mut self) {
        let written = self.buffer.bytes().get(self.shown..self.end).unwrap_or_default();
        self.shown = self.end;
        let Some(observer) = &mut self.observer else { return };
        let mut rest = written;
        while !rest.is_empty() {
            let (message, behind) = split_message(rest, self.frames);
            observer.line(Direction::Out, message, Ok(()));
            rest = behind;
        }
    }

    /// Shows a message that has come in, and then what was written because of it.
    pub(crate) fn show_received(&mut self, line: &[u8], outcome: Result<(), Fault>) {
        if let Some(observer) = &mut self.observer {
            observer.line(Direction::In, line, outcome);
        }
        self.show();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// How many bytes the peer has taken so far: a number that changes whenever it takes some.
    pub(crate) fn taken(&self) -> usize {
        self.written.wrapping_sub(self.unsent())
    }

    /// How many bytes were written so far, sent or not.
    pub(crate) fn written(&self) -> usize {
        self.written
    }

    /// How many bytes wait to be written.
    fn unsent(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken
    }

    /// Throws away what is unsent.
    pub(crate) fn clear(&mut self) {
        (self.start, self.end, self.shown) = (0, 0, 0);
    }

    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Whether a whole `reply_room` is free. Makes it so if it can.
    pub(crate) fn has_room(&mut self) -> bool {
        self.has(self.reply_room)
    }

    /// Whether so much is free. Makes it so if it can.
    pub(crate) fn has(&mut self, bytes: usize) -> bool {
        self.rewind();
        if self.unsent().saturating_add(bytes) > self.buffer.limit() {
            return false;
        }
        if self.end.saturating_add(bytes) > self.buffer.limit() {
            self.move_to_front();
        }
        true
    }

    fn move_to_front(&mut self) {
        if let Some(bytes) = self.buffer.bytes_mut().get_mut(..self.end) {
            shift(bytes, self.start);
        }
        self.shown = self.shown.saturating_sub(self.start);
        (self.start, self.end) = (0, self.end.saturating_sub(self.start));
    }

    /// Moves what is unsent to the front, so that all that is free is in one piece.
    pub(crate) fn compact(&mut self) {
        self.rewind();
        let full = self.buffer.limit().saturating_sub(self.end) < self.start;
        if full {
            self.move_to_front();
        }
    }

    /// How many bytes could be written, if what is unsent were moved to the front.
    pub(crate) fn free(&self) -> usize {
        self.buffer.limit().saturating_sub(self.unsent())
    }

    fn rewind(&mut self) {
        if self.start >= self.end && self.end > 0 {
            self.buffer.settle(self.end);
            (self.start, self.end, self.shown) = (0, 0, 0);
        }
    }

    /// Writes one message, whole or not at all, into at most `room` bytes (its overhead included).
    pub(crate) fn write(
        &mut self,
        about: About,
        room: usize,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(), Overflow> {
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
            copy(bytes.get_mut(self.end..from).ok_or(Overflow)?, &mark);
        } else {
            *bytes.get_mut(to).ok_or(Overflow)? = b'\n';
        }
        self.written = self.written.wrapping_add(end.saturating_sub(self.end));
        self.end = end;
        Ok(())
    }

    /// Takes the last message back, of so many bytes, which nobody has seen yet: its text.
    pub(crate) fn take_back(&mut self, length: usize) -> &[u8] {
        let (before, after) = if self.frames { (MARK, 0) } else { (0, 1) };
        let from = self.end.saturating_sub(length);
        let text = from.saturating_add(before)..self.end.saturating_sub(after);
        self.written = self.written.wrapping_sub(length);
        self.end = from;
        self.buffer.bytes().get(text).unwrap_or_default()
    }

    /// What can be written now. In frame mode, one message.
    pub(crate) fn transmit(&mut self) -> Transmit<'_> {
        self.show();
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

/// The first message of what is written, and what stands behind it.
fn split_message(written: &[u8], frames: bool) -> (&[u8], &[u8]) {
    let (text, length, behind) = match written.split_first_chunk::<MARK>() {
        Some((mark, text)) if frames => (text, About::decode(*mark).0, 0),
        _ => (written, find(b'\n', written).unwrap_or(written.len()), 1),
    };
    let (message, rest) = text.split_at_checked(length).unwrap_or((text, &[]));
    (message, rest.get(behind..).unwrap_or_default())
}
