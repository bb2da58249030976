//! Newline framing: find a line, hand it out, release it, and find the way back after one that was too long.
//!
//! Lines end with LF; a CR before it, blank lines and a byte order mark are tolerated. Every byte is scanned once,
//! when it comes. A line that does not fit costs no memory: the scanner goes on through what is thrown away, and
//! only the text of its `id` is kept, in the place where the line was.
//!
//! Specification: every revision, *Transports*, *stdio*.

mod batch;
mod frames;

use frames::{Frames, Framing};
use memchr::memchr;

use crate::buffer::{Buffer, copy, shift};
use crate::frame::StreamId;
use crate::json::{DEPTH_LIMIT, Envelope, Member, ScanError, ScanErrorKind, Scanner};

/// The input as a pump sees it.
pub(crate) trait Door {
    fn is_ready(&self) -> bool;
    fn space(&mut self) -> &mut [u8];
    fn filled(&mut self, n: usize, stream: StreamId);
    fn message(&mut self, message: &[u8], envelope: Option<Envelope>, stream: StreamId) -> bool;
    fn eof(&mut self);
}

/// A line that waits to be dealt with. Its bytes are [`Input::bytes`] until it is released.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) content: Content,
    pub(crate) stream: StreamId,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    /// A valid message; its spans count from the start of the line.
    Message(Envelope),
    /// Not valid JSON, or too deep. What was found of the envelope stands beside the error.
    Broken(ScanError, Envelope),
    /// Thrown away. [`Input::bytes`] is the text of the id, empty if there was none.
    TooLong { envelope: Envelope, id_fits: bool },
    /// The input ended before the message did.
    Truncated,
}

pub(crate) struct Input<'b> {
    buffer: Buffer<'b>,
    /// Where the current line starts, how far it has been scanned, and where the bytes end.
    start: usize,
    scanned: usize,
    end: usize,
    /// The most that was in the buffer since it was empty.
    used: usize,
    scanner: Scanner,
    /// Set while a line is thrown away.
    discard: Option<Capture>,
    /// The line that waits, with its length and the number of bytes to release with it.
    line: Option<(Line, usize, usize)>,
    /// Who takes whole messages, in frame mode.
    framing: Option<&'static dyn Framing>,
    /// Frame mode: a whole message is in the buffer, from this stream.
    frame: Option<StreamId>,
    id_limit: usize,
    /// What others have parsed is scanned again: they know nothing of a lower limit of nesting.
    rescans: bool,
    /// The current line began with a byte order mark: there is only one.
    marked: bool,
    eof: bool,
}

/// The part of an `id` that has been kept of a line that is thrown away.
#[derive(Debug, Clone, Copy, Default)]
struct Capture {
    /// Where in the line the kept id starts.
    from: usize,
    length: usize,
    stream: StreamId,
}

/// ASCII *cancel*. JSON never has it: a link that has lost bytes puts it where they are missing.
const CANCEL: u8 = 0x18;

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Room to read to, beside the text of an id, while a line is thrown away.
const READ_AT_LEAST: usize = 16;

/// How much a growing buffer offers to read to, when it grows.
const READ_AHEAD: usize = 4096;

impl<'b> Input<'b> {
    pub(crate) fn new(buffer: Buffer<'b>, depth: u8, id_limit: usize) -> Input<'b> {
        Input {
            buffer,
            start: 0,
            scanned: 0,
            end: 0,
            used: 0,
            scanner: Scanner::new(depth),
            discard: None,
            line: None,
            framing: None,
            frame: None,
            id_limit,
            rescans: depth < DEPTH_LIMIT,
            marked: false,
            eof: false,
        }
    }

    /// The smallest receive buffer that works for ids of `id_limit` bytes.
    pub(crate) fn needed(id_limit: usize) -> usize {
        id_limit.saturating_add(1).saturating_add(READ_AT_LEAST)
    }

    pub(crate) fn use_frames(&mut self) {
        self.framing = Some(&Frames);
    }

    pub(crate) fn set_id_limit(&mut self, limit: usize) {
        self.id_limit = limit;
    }

    pub(crate) fn limit(&self) -> usize {
        self.buffer.limit()
    }

    pub(crate) fn reset(&mut self) {
        (self.start, self.scanned, self.end, self.used) = (0, 0, 0, 0);
        self.scanner.reset();
        self.discard = None;
        self.line = None;
        self.frame = None;
        (self.marked, self.eof) = (false, false);
        self.buffer.settle(0);
    }

    pub(crate) fn ended(&self) -> bool {
        self.eof
    }

    /// Takes no more input, but what is buffered still counts.
    pub(crate) fn end(&mut self) {
        self.eof = true;
    }

    /// Takes no more input: what is buffered is dropped, what still comes is not read.
    pub(crate) fn close(&mut self) {
        self.reset();
        self.eof = true;
    }

    /// The line that waits, found first if it has to be.
    pub(crate) fn line(&mut self) -> Option<Line> {
        if self.line.is_none() {
            self.line = match self.framing {
                Some(framing) => framing.find(self),
                None => self.find_line(),
            };
        }
        self.line.map(|(line, _, _)| line)
    }

    /// The bytes of the line that waits; of one that was too long, its id.
    pub(crate) fn bytes(&self) -> &[u8] {
        let (from, length) = self.place();
        self.buffer.bytes().get(from..from.saturating_add(length)).unwrap_or_default()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let (from, length) = self.place();
        self.buffer.bytes_mut().get_mut(from..from.saturating_add(length)).unwrap_or_default()
    }

    fn place(&self) -> (usize, usize) {
        match self.line {
            Some((Line { content: Content::TooLong { .. }, .. }, length, _)) => (0, length),
            Some((_, length, _)) => (self.start, length),
            None => (0, 0),
        }
    }

    /// Lets the line go: its bytes may be overwritten.
    pub(crate) fn release(&mut self) {
        if let Some((_, _, bytes)) = self.line.take() {
            self.start = self.start.saturating_add(bytes).min(self.end);
            self.begin();
        }
    }

    /// A new line starts at `start`.
    fn begin(&mut self) {
        self.used = self.used.max(self.end);
        if self.start >= self.end {
            self.buffer.settle(self.used);
            (self.start, self.end, self.used) = (0, 0, 0);
        }
        self.scanned = self.start;
        self.scanner.reset();
        self.discard = None;
        self.frame = None;
        self.marked = false;
    }

    fn find_line(&mut self) -> Option<(Line, usize, usize)> {
        loop {
            if self.discard.is_some() {
                match self.find_end_of_discarded()? {
                    (Line { content: Content::Broken(error, _), .. }, _, _)
                        if error.kind == ScanErrorKind::Empty =>
                    {
                        self.begin();
                        continue;
                    }
                    found => return Some(found),
                }
            }
            if self.waits_for_byte_order_mark() {
                return None;
            }
            let fresh = self.buffer.bytes().get(self.scanned..self.end).unwrap_or_default();
            let newline = memchr(b'\n', fresh);
            let text = fresh.get(..newline.unwrap_or(fresh.len())).unwrap_or_default();
            self.scanner.feed(text);
            self.scanned = self.scanned.saturating_add(text.len());
            let length = self.scanned.saturating_sub(self.start);
            if newline.is_none() {
                if self.eof && length > 0 {
                    match self.finish() {
                        Content::Broken(error, _) if error.kind == ScanErrorKind::Empty => {
                            self.start = self.end;
                            self.begin();
                            return None;
                        }
                        Content::Broken(error, _) if !error.kind.leaves_members() => {
                            return Some((line(Content::Truncated), 0, length));
                        }
                        content => return Some((line(content), length, length)),
                    }
                }
                return None;
            }
            let whole = length.saturating_add(1);
            match self.finish() {
                Content::Broken(error, _) if error.kind == ScanErrorKind::Empty => {
                    self.start = self.start.saturating_add(whole);
                    self.begin();
                }
                content => return Some((line(content), length, whole)),
            }
        }
    }

    fn finish(&mut self) -> Content {
        match self.scanner.finish() {
            Ok(envelope) => Content::Message(envelope),
            Err(mut error) => {
                let rest = self.buffer.bytes().get(self.start.saturating_add(error.at)..self.scanned);
                let mut envelope = self.scanner.envelope();
                if memchr(CANCEL, rest.unwrap_or_default()).is_some() {
                    error.kind = ScanErrorKind::GivenUp;
                    envelope.cut(error.at);
                }
                Content::Broken(error, envelope)
            }
        }
    }

    /// Steps over a byte order mark at the start of a line. `true`: it may be one, more bytes will tell.
    fn waits_for_byte_order_mark(&mut self) -> bool {
        if self.scanned != self.start || self.marked {
            return false;
        }
        let head = self.buffer.bytes().get(self.start..self.end).unwrap_or_default();
        if head.starts_with(&BYTE_ORDER_MARK) {
            self.start = self.start.saturating_add(BYTE_ORDER_MARK.len());
            self.scanned = self.start;
            self.marked = true;
            return false;
        }
        !self.eof && !head.is_empty() && BYTE_ORDER_MARK.starts_with(head)
    }

    /// Starts to throw the current line away: it fills the whole buffer, and has not ended.
    fn start_discarding(&mut self) {
        let mut capture = Capture::default();
        if let Some(id) = self.scanner.member(Member::Id) {
            let to = id.end.unwrap_or(self.scanned).min(self.scanned);
            capture.from = id.start;
            capture.length = to.saturating_sub(id.start).min(self.capture_room());
            let to = id.start.saturating_add(capture.length);
            if let Some(bytes) = self.buffer.bytes_mut().get_mut(..to) {
                shift(bytes, id.start);
            }
        }
        self.discard = Some(capture);
        (self.start, self.end, self.scanned) = (0, self.capture_room(), self.capture_room());
    }

    /// One byte more than an id may have, so that a longer one can be told.
    fn capture_room(&self) -> usize {
        self.id_limit.saturating_add(1)
    }

    fn find_end_of_discarded(&mut self) -> Option<(Line, usize, usize)> {
        let mut capture = self.discard?;
        let room = self.capture_room();
        let (kept, fresh) = self.buffer.bytes_mut().get_mut(..self.end)?.split_at_mut_checked(room)?;
        let newline = memchr(b'\n', fresh);
        let text = fresh.get(..newline.unwrap_or(fresh.len()))?;
        keep_id(&mut self.scanner, &mut capture, text, kept);
        self.discard = Some(capture);
        match newline {
            Some(at) => {
                self.start = room.saturating_add(at).saturating_add(1);
                Some(self.discarded(capture, 0))
            }
            None if self.eof => {
                self.start = self.end;
                match self.discarded(capture, 0) {
                    (Line { content: Content::Broken(error, _), .. }, _, _)
                        if error.kind != ScanErrorKind::Empty =>
                    {
                        Some((line(Content::Truncated), 0, 0))
                    }
                    found => Some(found),
                }
            }
            None => {
                self.end = room;
                self.scanned = room;
                None
            }
        }
    }

    fn discarded(&mut self, capture: Capture, release: usize) -> (Line, usize, usize) {
        let content = match self.scanner.finish() {
            Ok(envelope) => Content::TooLong { envelope, id_fits: capture.length <= self.id_limit },
            Err(error) if error.kind == ScanErrorKind::TooDeep => Content::TooLong {
                envelope: self.scanner.envelope(),
                id_fits: capture.length <= self.id_limit,
            },
            Err(error) => Content::Broken(error, self.scanner.envelope()),
        };
        let length = if matches!(content, Content::TooLong { .. }) { capture.length } else { 0 };
        (Line { content, stream: capture.stream }, length, release)
    }

    /// Makes room for more bytes: moves what there is to the front, grows, or starts to throw the line away.
    /// Called when no line waits, or one waits that cannot be dealt with yet.
    pub(crate) fn make_room(&mut self) {
        let too_long_waits = matches!(self.line, Some((Line { content: Content::TooLong { .. }, .. }, _, _)));
        if self.framing.is_some() || self.eof || too_long_waits {
            self.reserve();
            return;
        }
        let held = self.end.saturating_sub(self.start);
        let full = self.end >= self.buffer.limit();
        // Each byte moves about once: far enough, or because its line cannot end otherwise. While one waits for room,
        // it is not worth it.
        let worth_it = self.start >= held || (full && self.line.is_none());
        if self.discard.is_none() && self.start > 0 && worth_it {
            if let Some(bytes) = self.buffer.bytes_mut().get_mut(..self.end) {
                shift(bytes, self.start);
            }
            self.scanned = self.scanned.saturating_sub(self.start);
            (self.start, self.end) = (0, held);
        }
        let full = self.end >= self.buffer.limit();
        if full && self.line.is_none() && self.discard.is_none() {
            self.start_discarding();
        }
        self.reserve();
    }

    fn reserve(&mut self) {
        // Only when little is left: a buffer that has shrunk must not grow again with the first bytes of a line.
        let left = self.buffer.bytes().len().saturating_sub(self.end);
        if left < READ_AHEAD / 4 && !self.buffer.is_lent() && self.is_open() {
            let ahead = self.end.saturating_add(READ_AHEAD).min(self.buffer.limit());
            let _ = self.buffer.room().ensure(ahead);
        }
    }

    /// Whether bytes may come: not ended, and in frame mode the last message is done.
    fn is_open(&self) -> bool {
        !self.eof && self.frame.is_none()
    }
}

fn line(content: Content) -> Line {
    Line { content, stream: StreamId::NONE }
}

/// Scans `text`, which is thrown away afterwards, and keeps what it has of the `id` in `kept`.
fn keep_id(scanner: &mut Scanner, capture: &mut Capture, text: &[u8], kept: &mut [u8]) {
    let before = scanner.position();
    scanner.feed(text);
    let Some(id) = scanner.member(Member::Id) else { return };
    if id.start >= before || id.start != capture.from {
        *capture = Capture { from: id.start, length: 0, stream: capture.stream };
    }
    let have = id.start.saturating_add(capture.length);
    let from = have.max(before).saturating_sub(before);
    let to = id.end.unwrap_or(usize::MAX).saturating_sub(before).min(text.len());
    let (Some(text), Some(room)) = (text.get(from..to), kept.get_mut(capture.length..)) else { return };
    let length = text.len().min(room.len());
    if let (Some(text), Some(room)) = (text.get(..length), room.get_mut(..length)) {
        copy(room, text);
        capture.length = capture.length.saturating_add(length);
    }
}

impl Door for Input<'_> {
    fn is_ready(&self) -> bool {
        self.is_open() && self.end < self.buffer.bytes().len()
    }

    fn space(&mut self) -> &mut [u8] {
        let from = if self.is_open() { self.end } else { usize::MAX };
        self.buffer.bytes_mut().get_mut(from..).unwrap_or_default()
    }

    fn filled(&mut self, n: usize, stream: StreamId) {
        if !self.is_open() {
            return;
        }
        self.end = self.end.saturating_add(n).min(self.buffer.bytes().len());
        if self.framing.is_some() && n > 0 {
            self.frame = Some(stream);
        }
    }

    fn message(&mut self, message: &[u8], envelope: Option<Envelope>, stream: StreamId) -> bool {
        let Some(framing) = self.framing.filter(|_| self.is_open()) else { return false };
        framing.take(self, message, envelope, stream);
        true
    }

    fn eof(&mut self) {
        self.end();
    }
}

#[cfg(test)]
mod tests;
