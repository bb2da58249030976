//! Newline framing: find a line, hand it out, release it, and find the way back after one that was too long.
//!
//! Lines end with LF; a CR before it, blank lines and a byte order mark are tolerated. Every byte is scanned once,
//! when it comes. A line that does not fit costs no memory: the scanner goes on through what is thrown away, and
//! only the text of its `id` is kept, in the place where the line was.
//!
//! Specification: every revision, *Transports*, *stdio*.

mod batch;
mod fill;
mod message_mode;
pub(crate) mod outbound_message;

use core::ops::Range;

use crate::framing::message_mode::{FRAMES, Framing};

use crate::buffer::Buffer;
use crate::framing::outbound_message::StreamId;
use crate::json::{Envelope, Member, MemberIndex, ScanError, ScanErrorKind, Scanner, Span};
use crate::platform::{copy, find, shift};

/// The input as a pump sees it.
pub(crate) trait InputSink {
    fn is_ready(&self) -> bool;
    fn space(&mut self) -> &mut [u8];
    fn filled(&mut self, n: usize, stream: StreamId);
    fn message(&mut self, message: &[u8], envelope: Option<Envelope>, stream: StreamId) -> bool;
    fn eof(&mut self);
}

/// A line that waits to be dealt with. Until it is released, its bytes are [`LineDecoder::bytes`], and what was found of the
/// envelope is [`LineDecoder::envelope`]; its spans count from the start of the line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Line {
    pub(crate) content: Content,
    pub(crate) stream: StreamId,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Content {
    /// A valid message.
    Message,
    /// Not valid JSON, or too deep.
    Broken(ScanError),
    /// Thrown away. [`LineDecoder::bytes`] is the text of the id, empty if there was none.
    TooLong { id_fits: bool, limit: usize },
    /// The input ended before the message did.
    Truncated,
}

/// A line that was found.
#[derive(Debug, Clone, Copy)]
struct Found {
    kind: Kind,
    length: usize,
    /// The number of bytes to release with it.
    whole: usize,
}

/// What a line is. The scanner knows the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    /// Only white space.
    Blank,
    /// Not valid JSON.
    Invalid,
    TooDeep,
    /// A part of it was lost on its way.
    GivenUp,
    TooLong,
    Truncated,
}

impl Kind {
    #[inline]
    fn from_scan(scanned: Result<(), ScanError>) -> Kind {
        match scanned.map_err(|error| error.kind) {
            Ok(()) => Kind::Message,
            Err(ScanErrorKind::Empty) => Kind::Blank,
            Err(ScanErrorKind::TooDeep) => Kind::TooDeep,
            Err(_) => Kind::Invalid,
        }
    }
}

pub(crate) struct LineDecoder<'b> {
    buffer: Buffer<'b>,
    /// Where the current line starts, how far it has been scanned, and where the bytes end. A line that waits ends where
    /// scanning has. Of one that is thrown away, `scanned` is instead how much of its id has been kept.
    start: usize,
    scanned: usize,
    end: usize,
    scanner: Scanner,
    /// The number of bytes to release with the line that waits.
    whole: usize,
    /// Who takes whole messages, in frame mode.
    framing: Option<&'static &'static dyn Framing>,
    id_limit: usize,
    /// Frame mode: the stream of the message in the buffer.
    stream: StreamId,
    /// The line that waits.
    line: Option<Kind>,
    /// The current line is thrown away.
    discards: bool,
    /// The current line began with a byte order mark: there is only one.
    marked: bool,
    eof: bool,
}

/// ASCII *cancel*. JSON never has it: a link that has lost bytes puts it where they are missing.
const CANCEL: u8 = 0x18;

const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Room to read to, beside the text of an id, while a line is thrown away.
const READ_AT_LEAST: usize = 16;

impl<'b> LineDecoder<'b> {
    pub(crate) fn new(buffer: Buffer<'b>, depth: u8, id_limit: usize) -> LineDecoder<'b> {
        LineDecoder {
            buffer,
            start: 0,
            scanned: 0,
            end: 0,
            scanner: Scanner::new(depth),
            whole: 0,
            framing: None,
            id_limit,
            stream: StreamId::NONE,
            line: None,
            discards: false,
            marked: false,
            eof: false,
        }
    }

    /// The smallest receive buffer that works for ids of `id_limit` bytes.
    pub(crate) fn needed(id_limit: usize) -> usize {
        id_limit.saturating_add(1).saturating_add(READ_AT_LEAST)
    }

    pub(crate) fn use_frames(&mut self) {
        self.framing = Some(&FRAMES);
    }

    pub(crate) fn set_id_limit(&mut self, limit: usize) {
        self.id_limit = limit;
    }

    pub(crate) fn limit(&self) -> usize {
        self.buffer.limit()
    }

    pub(crate) fn reset(&mut self) {
        (self.start, self.end) = (0, 0);
        self.begin();
        self.line = None;
        self.eof = false;
    }

    pub(crate) fn ended(&self) -> bool {
        self.eof
    }

    /// Takes no more input, but what is buffered still counts.
    pub(crate) fn end(&mut self) {
        self.eof = true;
    }

    /// Takes no more input behind the current line: what is buffered behind it is dropped.
    pub(crate) fn end_behind_line(&mut self) {
        self.end = self.start.wrapping_add(self.whole).min(self.end);
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
            self.find()?;
        }
        let content = match self.line? {
            Kind::Message => Content::Message,
            Kind::TooLong => {
                Content::TooLong { id_fits: self.scanned <= self.id_limit, limit: self.buffer.limit() }
            }
            Kind::Truncated => Content::Truncated,
            Kind::Blank | Kind::Invalid | Kind::TooDeep | Kind::GivenUp => {
                Content::Broken(self.scanner.error())
            }
        };
        Some(Line { content, stream: self.stream })
    }

    /// Looks for the next line, which waits then.
    fn find(&mut self) -> Option<()> {
        let found = match self.framing {
            Some(framing) => framing.find(self),
            None => self.find_line(),
        }?;
        self.wait(found);
        Some(())
    }

    /// This is the line that waits.
    fn wait(&mut self, found: Found) {
        let Found { kind, length, whole } = found;
        let start = if kind == Kind::TooLong { 0 } else { self.start };
        (self.line, self.whole, self.scanned) = (Some(kind), whole, start.wrapping_add(length));
    }

    /// What was found of the envelope of the line that waits.
    #[inline]
    pub(crate) fn envelope(&self) -> Envelope {
        self.scanner.envelope()
    }

    /// Where the members of `params` or `result` of the line that waits stand, if the scanner has noted them.
    #[inline]
    pub(crate) fn inner(&self, of: Member) -> Option<&MemberIndex> {
        self.scanner.inner(of)
    }

    /// Keeps the places of the parts of an event instead of the envelope, until the line is released.
    pub(crate) fn set_places(&mut self, places: [Span; 6]) {
        self.scanner.set_places(places);
    }

    pub(crate) fn places(&self) -> [Span; 6] {
        self.scanner.places()
    }

    /// The stream that the line came from.
    pub(crate) fn stream(&self) -> StreamId {
        self.stream
    }

    /// The bytes of the line that waits; of one that was too long, its id.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.buffer.bytes().get(self.place()).unwrap_or_default()
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let place = self.place();
        self.buffer.bytes_mut().get_mut(place).unwrap_or_default()
    }

    fn place(&self) -> Range<usize> {
        match self.line {
            None => 0..0,
            Some(Kind::TooLong) => 0..self.scanned,
            Some(_) => self.start..self.scanned,
        }
    }

    /// Lets the line go: its bytes may be overwritten.
    pub(crate) fn release(&mut self) {
        if self.line.take().is_some() {
            self.start = self.start.wrapping_add(self.whole).min(self.end);
            self.begin();
        }
    }

    /// A new line starts at `start`.
    fn begin(&mut self) {
        self.buffer.note(self.end);
        if self.start >= self.end {
            self.buffer.settle(0);
            (self.start, self.end) = (0, 0);
        }
        self.scanned = self.start;
        self.scanner.reset();
        (self.discards, self.marked) = (false, false);
        self.stream = StreamId::NONE;
    }

    fn find_line(&mut self) -> Option<Found> {
        loop {
            let (line, ended) = if self.discards { self.find_end_of_discarded() } else { self.find_end() }?;
            match line.kind {
                Kind::Blank => {
                    self.start = self.start.wrapping_add(line.whole);
                    self.begin();
                }
                Kind::Invalid if ended => return Some(Found { kind: Kind::Truncated, length: 0, ..line }),
                _ => return Some(line),
            }
        }
    }

    /// The end of the line in the buffer, and whether the input ended there.
    fn find_end(&mut self) -> Option<(Found, bool)> {
        let is_new = self.scanned < self.end || self.eof;
        if !is_new || self.waits_for_byte_order_mark() {
            return None;
        }
        let fresh = self.buffer.bytes().get(self.scanned..self.end).unwrap_or_default();
        let newline = find(b'\n', fresh);
        let text = fresh.get(..newline.unwrap_or(fresh.len())).unwrap_or_default();
        self.scanner.feed(text);
        self.scanned = self.scanned.wrapping_add(text.len());
        let length = self.scanned.saturating_sub(self.start);
        let ended = newline.is_none();
        if ended && (!self.eof || length == 0) {
            return None;
        }
        let whole = length.wrapping_add((!ended).into());
        Some((Found { kind: self.finish(), length, whole }, ended))
    }

    fn finish(&mut self) -> Kind {
        let kind = Kind::from_scan(self.scanner.end());
        if kind == Kind::Invalid {
            let wrong_at = self.start.wrapping_add(self.scanner.position());
            let rest = self.buffer.bytes().get(wrong_at..self.scanned).unwrap_or_default();
            if find(CANCEL, rest).is_some() {
                self.scanner.give_up();
                return Kind::GivenUp;
            }
        }
        kind
    }

    /// ErrorPath over a byte order mark at the start of a line. `true`: it may be one, more bytes will tell.
    fn waits_for_byte_order_mark(&mut self) -> bool {
        if self.scanned != self.start || self.marked {
            return false;
        }
        let head = self.buffer.bytes().get(self.start..self.end).unwrap_or_default();
        if head.starts_with(&BYTE_ORDER_MARK) {
            self.start = self.start.wrapping_add(BYTE_ORDER_MARK.len());
            self.scanned = self.start;
            self.marked = true;
            return false;
        }
        !self.eof && !head.is_empty() && BYTE_ORDER_MARK.starts_with(head)
    }

    /// Starts to throw the current line away: it fills the whole buffer, and has not ended.
    fn start_discarding(&mut self) {
        let mut kept = 0;
        if let Some(id) = self.scanner.member(Member::Id) {
            let to = id.end.unwrap_or(self.scanned).min(self.scanned);
            kept = to.saturating_sub(id.start).min(self.capture_room());
            let to = id.start.wrapping_add(kept);
            if let Some(bytes) = self.buffer.bytes_mut().get_mut(..to) {
                shift(bytes, id.start);
            }
        }
        self.discards = true;
        (self.start, self.scanned, self.end) = (0, kept, self.capture_room());
    }

    /// One byte more than an id may have, so that a longer one can be told.
    fn capture_room(&self) -> usize {
        self.id_limit.saturating_add(1)
    }

    /// The end of the line that is thrown away, and whether the input ended there.
    fn find_end_of_discarded(&mut self) -> Option<(Found, bool)> {
        let room = self.capture_room();
        let (kept, fresh) = self.buffer.bytes_mut().get_mut(..self.end)?.split_at_mut_checked(room)?;
        let newline = find(b'\n', fresh);
        let text = fresh.get(..newline.unwrap_or(fresh.len()))?;
        keep_id(&mut self.scanner, &mut self.scanned, text, kept);
        match newline {
            Some(at) => self.start = room.saturating_add(at).saturating_add(1),
            None if self.eof => self.start = self.end,
            None => {
                self.end = room;
                return None;
            }
        }
        Some((self.discarded(), newline.is_none()))
    }

    fn discarded(&mut self) -> Found {
        match Kind::from_scan(self.scanner.end()) {
            kind @ (Kind::Blank | Kind::Invalid) => Found { kind, length: 0, whole: 0 },
            _ => Found { kind: Kind::TooLong, length: self.scanned, whole: 0 },
        }
    }

    /// Frame mode: whether a whole message is there.
    fn has_frame(&self) -> bool {
        self.framing.is_some() && (self.end > 0 || self.discards)
    }

    /// Whether bytes may come: not ended, and in frame mode the last message is done.
    fn is_open(&self) -> bool {
        !self.eof && !self.has_frame()
    }
}

/// Scans `text`, which is thrown away afterwards, and keeps what it has of the `id` in `kept`, behind the first `length`
/// bytes, which are there.
fn keep_id(scanner: &mut Scanner, length: &mut usize, text: &[u8], kept: &mut [u8]) {
    let before = scanner.position();
    scanner.feed(text);
    let Some(id) = scanner.member(Member::Id) else { return };
    if id.start >= before {
        *length = 0;
    }
    let have = id.start.wrapping_add(*length);
    let from = have.max(before).saturating_sub(before);
    let to = id.end.unwrap_or(usize::MAX).saturating_sub(before).min(text.len());
    let (Some(text), Some(room)) = (text.get(from..to), kept.get_mut(*length..)) else { return };
    let more = text.len().min(room.len());
    if let (Some(text), Some(room)) = (text.get(..more), room.get_mut(..more)) {
        copy(room, text);
        *length = length.wrapping_add(more);
    }
}

impl InputSink for LineDecoder<'_> {
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
        if n == 0 {
            return;
        }
        match self.framing {
            Some(_) => self.stream = stream,
            None => self.offer_more(),
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
