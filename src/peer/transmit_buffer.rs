//! What waits to be written: whole messages, one after the other. Whoever watches sees them here.

use crate::buffer::Buffer;
use crate::error::ProtocolError;
use crate::framing::outbound_message::{About, MARK, MARKS, Marking};
use crate::json::Writer;
use crate::machine::Transmit;
use crate::peer::observer::{Direction, Observer};
use crate::platform::{find, shift};

/// With a growing buffer, answers are written on until this many bytes are unsent.
const UNSENT_LIMIT: usize = 64 * 1024;

pub(crate) struct TransmitBuffer<'b> {
    buffer: Buffer<'b>,
    start: usize,
    end: usize,
    /// What an answer may use, and what has to be free before a request is handed out.
    reply_room: usize,
    /// Who marks messages, in frame mode. Who takes lines does not link it.
    marking: Option<&'static &'static dyn Marking>,
    link: Link,
    watch: Option<Watch<'b>>,
    /// Up to where the observer has seen what is written.
    shown: usize,
}

/// What the host has said of what it was given to write.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Link {
    /// The peer has taken something, since somebody asked.
    pub(crate) moved: bool,
    /// Nothing can be written any more.
    pub(crate) broken: bool,
}

/// Who looks at every message, with the way to show it what was written: where nobody looks, that is not linked.
struct Watch<'b> {
    observer: &'b mut (dyn Observer + Send + 'b),
    show: fn(&mut (dyn Observer + Send), &[u8], Option<&dyn Marking>),
}

/// A message did not fit; nothing of it was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overflow;

impl<'b> TransmitBuffer<'b> {
    pub(crate) fn new(mut buffer: Buffer<'b>) -> TransmitBuffer<'b> {
        let reply_room = buffer.limit();
        if !buffer.is_lent() {
            buffer.extend_limit(UNSENT_LIMIT);
        }
        TransmitBuffer {
            buffer,
            start: 0,
            end: 0,
            reply_room,
            marking: None,
            link: Link::default(),
            watch: None,
            shown: 0,
        }
    }

    /// Bytes that a message takes beside its text: a newline, or the mark of a frame.
    pub(crate) fn overhead(&self) -> usize {
        if self.is_message_mode() { MARK } else { 1 }
    }

    pub(crate) fn use_frames(&mut self) {
        self.marking = Some(&MARKS);
    }

    pub(crate) fn is_message_mode(&self) -> bool {
        self.marking.is_some()
    }

    pub(crate) fn reply_room(&self) -> usize {
        self.reply_room
    }

    pub(crate) fn set_reply_room(&mut self, bytes: usize) {
        self.reply_room = bytes.min(self.reply_room);
    }

    pub(crate) fn reset(&mut self) {
        self.clear();
        self.link = Link::default();
        self.buffer.settle(0);
    }

    pub(crate) fn set_observer(&mut self, observer: &'b mut (dyn Observer + Send + 'b)) {
        self.watch = Some(Watch { observer, show: show_written });
    }

    /// Shows the messages that were written since the last time.
    pub(crate) fn show(&mut self) {
        if self.watch.is_some() {
            self.show_unseen();
        }
        self.shown = self.end;
    }

    #[cold]
    fn show_unseen(&mut self) {
        if let Some(watch) = &mut self.watch {
            let written = self.buffer.bytes().get(self.shown..self.end).unwrap_or_default();
            (watch.show)(watch.observer, written, self.marking.copied());
        }
    }

    /// Shows a message that has come in, and then what was written because of it.
    pub(crate) fn show_received(&mut self, line: &[u8], outcome: Result<(), ProtocolError>) {
        if let Some(watch) = &mut self.watch {
            watch.observer.line(Direction::In, line, outcome);
        }
        self.show();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Whether the peer has taken something since this was called.
    pub(crate) fn has_moved(&mut self) -> bool {
        core::mem::take(&mut self.link.moved)
    }

    /// Where the next message will begin.
    pub(crate) fn message_start(&mut self) -> usize {
        self.rewind();
        self.end
    }

    /// How many bytes wait to be written.
    fn unsent(&self) -> usize {
        self.end.saturating_sub(self.start)
    }

    #[inline]
    pub(crate) fn is_broken(&self) -> bool {
        self.link.broken
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
        // Usually there is so much behind what is unsent.
        let limit = self.buffer.limit();
        if self.end.saturating_add(bytes) <= limit {
            return true;
        }
        let has = self.unsent().saturating_add(bytes) <= limit;
        if has {
            self.move_to_front();
        }
        has
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
        // Usually nothing is unsent.
        if self.start > 0 && self.buffer.limit().saturating_sub(self.end) < self.start {
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
        let mut writer = self.begin(room);
        body(&mut writer);
        let to = writer.finish().ok();
        self.end_message(about, to)
    }

    /// Where one message can be written, of at most `room` bytes (its overhead included). What it has become is handed to
    /// [`end_message`](TransmitBuffer::end_message).
    pub(crate) fn begin(&mut self, room: usize) -> Writer<'_> {
        self.rewind();
        let (before, after) = self.around();
        let from = self.end.saturating_add(before);
        let limit = self.end.saturating_add(room).saturating_sub(after);
        Writer::new(self.buffer.room(), from, limit)
    }

    /// The message that was begun ends here, if it fitted: now it is written.
    pub(crate) fn end_message(&mut self, about: About, to: Option<usize>) -> Result<(), Overflow> {
        let to = to.ok_or(Overflow)?;
        let (_, after) = self.around();
        let end = to.saturating_add(after);
        let bytes = self.buffer.room().into_grown(end).ok_or(Overflow)?;
        match self.marking {
            Some(marking) => marking.mark(bytes.get_mut(self.end..to).ok_or(Overflow)?, about),
            None => *bytes.get_mut(to).ok_or(Overflow)? = b'\n',
        }
        self.end = end;
        Ok(())
    }

    /// Takes the last message back, of so many bytes, which nobody has seen yet: its text.
    pub(crate) fn take_back(&mut self, length: usize) -> &[u8] {
        let (before, after) = self.around();
        let from = self.end.saturating_sub(length);
        let text = from.saturating_add(before)..self.end.saturating_sub(after);
        self.end = from;
        self.buffer.bytes().get(text).unwrap_or_default()
    }

    /// What can be written now. In frame mode, one message.
    pub(crate) fn transmit(&mut self) -> Transmit<'_> {
        self.show();
        let mut bytes = self.buffer.bytes().get(self.start..self.end).unwrap_or_default();
        let mut frame = None;
        if let Some(marking) = self.marking {
            (bytes, frame) = first_of(*marking, bytes);
        }
        let overhead = if frame.is_some() { MARK } else { 0 };
        Transmit { bytes, frame, start: &mut self.start, overhead, link: &mut self.link }
    }

    /// The bytes before and behind the text of a message.
    fn around(&self) -> (usize, usize) {
        if self.is_message_mode() { (MARK, 0) } else { (0, 1) }
    }
}

/// The first message of some that are marked, and what it is about.
#[cold]
fn first_of<'t>(marking: &'static dyn Marking, marked: &'t [u8]) -> (&'t [u8], Option<About>) {
    match marking.first(marked) {
        Some((message, about)) => (message, Some(about)),
        None => (marked, None),
    }
}

/// Shows messages one after the other.
fn show_written(observer: &mut (dyn Observer + Send), written: &[u8], marking: Option<&dyn Marking>) {
    let mut rest = written;
    while !rest.is_empty() {
        let (message, length) = match marking.and_then(|marking| marking.first(rest)) {
            Some((message, _)) => (message, message.len().saturating_add(MARK)),
            None => {
                let length = find(b'\n', rest).unwrap_or(rest.len());
                (rest.get(..length).unwrap_or_default(), length.saturating_add(1))
            }
        };
        observer.line(Direction::Out, message, Ok(()));
        rest = rest.get(length..).unwrap_or_default();
    }
}
