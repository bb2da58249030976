//! `LineDecoder`: finds lines in received bytes, and scans each byte on arrival.

use core::ops::Range;

use crate::buffer::Buffer;
use crate::framing::flags::Flags;
use crate::framing::message_mode::{MessageFraming, WHOLE_MESSAGES};
use crate::framing::outbound_message::StreamId;
use crate::json::{KnownObject, Member, ScanError, ScanErrorKind, Scanned, Scanner, Span, find};
#[cfg(feature = "alloc")]
use crate::time::Millis;

/// Receiving side of a connection, used by a pump. [`Receive`](crate::Receive) documents the methods.
pub(crate) trait InputSink {
    fn is_ready(&self) -> bool;
    fn space(&mut self) -> &mut [u8];
    fn filled(&mut self, n: usize, stream: StreamId);
    fn message(&mut self, message: &[u8], scanned: Option<&Scanned>, stream: StreamId) -> bool;
    fn stream_closed(&mut self, stream: StreamId) -> bool;
    fn eof(&mut self);
}

/// Kind and extent of a complete line.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundLine {
    pub(super) kind: LineKind,
    pub(super) length: usize,
    /// Number of bytes that a release frees: the line and its newline, if any. For an element of a batch, the line
    /// counts from this element on.
    pub(super) release_length: usize,
}

/// Kind of a complete line. The scanner holds the members of a message, and the error of an invalid line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineKind {
    /// A valid message.
    Message,
    /// Only white space.
    Blank,
    /// Text that is not valid JSON.
    Invalid,
    TooDeep,
    /// Text with a gap, which the link marked with [`CANCEL`]. Not in message mode, in which messages arrive whole.
    Gap,
    /// A line that was discarded, because it did not fit into the buffer. [`LineDecoder::bytes`] returns the captured
    /// id, or an empty slice for a line without an id.
    TooLong,
    /// An invalid last line without a newline. The end of input has probably cut off a message.
    Truncated,
    /// The end of the stream that [`LineDecoder::stream`] returns (message mode). The line is empty.
    StreamClosed,
}

impl LineKind {
    #[inline]
    pub(super) fn from_scan(scanned: Result<(), ScanError>) -> LineKind {
        match scanned.map_err(|error| error.kind) {
            Ok(()) => LineKind::Message,
            Err(ScanErrorKind::Empty) => LineKind::Blank,
            Err(ScanErrorKind::TooDeep) => LineKind::TooDeep,
            Err(_) => LineKind::Invalid,
        }
    }
}

/// Receive buffer that is split into lines. In message mode, the buffer contains one whole message.
///
/// The current line is at the offset `start`. The decoder scans each byte on arrival. For clients, the decoder
/// scans the elements of a batch a second time.
pub(crate) struct LineDecoder<'b> {
    pub(super) buffer: Buffer<'b>,
    /// Offset of the current line.
    pub(super) start: usize,
    /// End of the scanned bytes. For a complete line, also the end of the line. For a discarded line, the length of its
    /// captured id.
    pub(super) scanned: usize,
    /// End of the received bytes.
    pub(super) end: usize,
    pub(super) scanner: Scanner,
    /// Number of bytes that a release of the complete line frees. In an incomplete line with chunks, the number of
    /// bytes of the last chunk.
    pub(super) release_length: usize,
    /// Framing of message mode, or `None` for lines. A reference to a table of functions, so that a program that
    /// receives lines does not link these functions.
    pub(super) message_framing: Option<&'static MessageFraming>,
    /// Stream of the message in the buffer. Message mode only.
    pub(super) stream: StreamId,
    /// Maximum length of an id. A field of two bytes keeps the decoder small on boards.
    id_limit: u16,
    /// Kind of the current line. `None` while the line is incomplete.
    pub(super) line: Option<LineKind>,
    pub(super) flags: Flags,
}

/// ASCII *cancel*, which valid JSON never contains. A link that has lost bytes inserts this byte in their place.
const CANCEL: u8 = 0x18;

pub(super) const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// Minimum read space behind the captured id while a line is discarded.
pub(super) const MIN_READ_SIZE: usize = 16;

impl<'b> LineDecoder<'b> {
    pub(crate) fn new(buffer: Buffer<'b>, depth: u8, id_limit: usize) -> LineDecoder<'b> {
        LineDecoder {
            buffer,
            start: 0,
            scanned: 0,
            end: 0,
            scanner: Scanner::new(depth),
            release_length: 0,
            message_framing: None,
            id_limit: to_u16(id_limit),
            stream: StreamId::NONE,
            line: None,
            flags: Flags::NONE,
        }
    }

    /// Returns the minimum receive buffer size for ids of `id_limit` bytes.
    pub(crate) fn min_buffer_size(id_limit: usize) -> usize {
        id_limit.saturating_add(1).saturating_add(MIN_READ_SIZE)
    }

    pub(crate) fn use_message_mode(&mut self) {
        self.message_framing = Some(&WHOLE_MESSAGES);
    }

    pub(super) fn id_limit(&self) -> usize {
        self.id_limit.into()
    }

    pub(crate) fn limit(&self) -> usize {
        self.buffer.limit()
    }

    pub(crate) fn reset(&mut self) {
        (self.start, self.end) = (0, 0);
        self.start_line();
        self.line = None;
        self.flags = Flags::NONE;
    }

    pub(crate) fn is_ended(&self) -> bool {
        self.flags.any(Flags::ENDED)
    }

    /// Refuses further input. The decoder still returns buffered lines.
    pub(crate) fn end(&mut self) {
        self.flags.add(Flags::ENDED);
    }

    /// Refuses further input, and drops buffered input behind the current line.
    #[cold]
    pub(crate) fn end_behind_line(&mut self) {
        self.end = self.start.wrapping_add(self.release_length).min(self.end);
        self.flags.add(Flags::ENDED);
    }

    /// Drops buffered input and refuses further input.
    #[cold]
    pub(crate) fn close(&mut self) {
        self.reset();
        self.flags.add(Flags::ENDED);
    }

    /// Returns the kind of the current line, or `None` while the line is incomplete. Repeated calls return the same
    /// line until its release.
    ///
    /// [`LineDecoder::bytes`] returns the text of the line. [`LineDecoder::scanner`] returns the members of the message
    /// as spans from the start of the line.
    #[inline]
    pub(crate) fn line(&mut self) -> Option<LineKind> {
        self.line_with(|| None)
    }

    /// Returns whether a line is complete and not released.
    pub(crate) fn has_line(&self) -> bool {
        self.line.is_some()
    }

    /// Returns the kind of the current line, like [`line`](LineDecoder::line). The scanner skips repetitions of the
    /// object that `known` returns: see [`Scanner::feed_with`].
    #[inline]
    pub(crate) fn line_with<'k>(
        &mut self,
        known: impl FnOnce() -> Option<&'k KnownObject>,
    ) -> Option<LineKind> {
        // Only new bytes or the end of input can complete a line. A discarded message is complete without either.
        let may_end = self.scanned < self.end || self.flags.any(Flags::MAY_END);
        if self.line.is_none() && may_end { self.complete_line(known()) } else { self.line }
    }

    #[inline(never)]
    fn complete_line(&mut self, known: Option<&KnownObject>) -> Option<LineKind> {
        let found = match self.message_framing {
            Some(framing) => (framing.find)(self, known),
            None => self.find_line(known),
        };
        self.set_line(found?);
        self.line
    }

    /// Returns the id of the current line, even if the line is not a message. Returns an empty slice if the id is
    /// missing or unreliable, or if the id of a discarded line exceeds the limit.
    #[cold]
    pub(crate) fn intact_id(&self) -> &[u8] {
        match self.line {
            Some(LineKind::TooLong) if self.scanned > self.id_limit() => b"",
            Some(LineKind::TooLong) => self.bytes(),
            _ => self.scanner.span(Member::Id).bytes(self.bytes()),
        }
    }

    /// Makes `found` the current line.
    pub(super) fn set_line(&mut self, found: FoundLine) {
        let FoundLine { kind, length, release_length } = found;
        (self.line, self.release_length) = (Some(kind), release_length);
        self.scanned = self.start.wrapping_add(length);
    }

    /// Returns the scanner, which holds the members of the current line.
    pub(crate) fn scanner(&self) -> &Scanner {
        &self.scanner
    }

    /// Stores the spans of an event until the release of the line. To save memory on a microcontroller, the stored
    /// spans replace the spans of the members.
    pub(crate) fn hold_event(&mut self, spans: [Span; 6]) {
        self.scanner.set_table(spans);
    }

    /// Returns the stored spans of the event.
    pub(crate) fn event_spans(&self) -> &[Span; 6] {
        self.scanner.table()
    }

    /// Returns the stream on which the current line arrived.
    pub(crate) fn stream(&self) -> StreamId {
        self.stream
    }

    /// Returns the bytes of the current line, or an empty slice while the line is incomplete. If the line is oversized,
    /// returns its captured id.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        self.between(self.line_range())
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        let range = self.line_range();
        self.buffer.bytes_mut().get_mut(range).unwrap_or_default()
    }

    fn between(&self, range: Range<usize>) -> &[u8] {
        self.buffer.bytes().get(range).unwrap_or_default()
    }

    fn line_range(&self) -> Range<usize> {
        if self.line.is_some() { self.start..self.scanned } else { 0..0 }
    }

    /// Frees the bytes of the current line. No effect on an incomplete line.
    #[inline]
    pub(crate) fn release(&mut self) {
        if self.line.take().is_some() {
            self.start = self.start.wrapping_add(self.release_length).min(self.end);
            self.start_line();
        }
    }

    /// Shrinks the buffer of an idle connection: see [`Buffer::shrink_by_deadline`].
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn shrink_by_deadline(&mut self, now: Millis) -> Option<Millis> {
        if self.is_large() { self.buffer.shrink_by_deadline(self.end, now) } else { None }
    }

    /// Returns whether the buffer has memory that an idle connection frees.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.buffer.is_large()
    }

    /// Frees the memory behind the received bytes.
    pub(crate) fn trim(&mut self) {
        self.buffer.trim(self.end.max(self.scanned)); // A captured id ends at `scanned`.
    }

    /// Starts a new line at `start`.
    #[inline]
    pub(super) fn start_line(&mut self) {
        self.buffer.record_use(self.end);
        if self.start >= self.end {
            self.buffer.shrink_if_idle(0);
            (self.start, self.end) = (0, 0);
        }
        self.scanned = self.start;
        self.scanner.reset();
        self.flags.remove(Flags::LINE);
        self.stream = StreamId::NONE;
    }

    /// Returns the next complete line that is not blank.
    fn find_line(&mut self, known: Option<&KnownObject>) -> Option<FoundLine> {
        loop {
            let found = if self.is_discarding() { self.scan_discarded() } else { self.scan_buffered(known) };
            let (line, at_eof) = found?;
            match line.kind {
                LineKind::Blank => self.skip_blank_line(line.release_length),
                LineKind::Invalid if at_eof => {
                    return Some(FoundLine { kind: LineKind::Truncated, length: 0, ..line });
                }
                _ => return Some(line),
            }
        }
    }

    /// Drops a line of only white space. `length` includes the newline, if any.
    #[cold]
    fn skip_blank_line(&mut self, length: usize) {
        self.start = self.start.wrapping_add(length);
        self.start_line();
    }

    /// Scans received bytes up to the next newline. Returns the complete line and a flag, or `None` while the line is
    /// incomplete. The flag is `true` if the end of input completed the line without a newline.
    fn scan_buffered(&mut self, known: Option<&KnownObject>) -> Option<(FoundLine, bool)> {
        if self.is_partial_byte_order_mark() {
            return None;
        }
        let fresh = self.buffer.bytes().get(self.scanned..self.end)?;
        let rest = self.scanner.feed_tokens(known, fresh);
        // The scanner usually stops at the newline.
        let newline = if let [b'\n', ..] = rest { Some(0) } else { find(b'\n', rest) };
        let line = rest.get(..newline.unwrap_or(rest.len()))?;
        if !line.is_empty() {
            self.scanner.feed_with(known, line);
        }
        self.scanned = self.end.wrapping_sub(rest.len()).wrapping_add(line.len());
        let length = self.scanned.saturating_sub(self.start);
        let at_eof = newline.is_none();
        if at_eof && (!self.is_ended() || length == 0) {
            return None;
        }
        let release_length = length.wrapping_add((!at_eof).into());
        Some((FoundLine { kind: self.finish_scan(), length, release_length }, at_eof))
    }

    /// Ends the scan of a complete line and returns its kind.
    #[inline]
    pub(super) fn finish_scan(&mut self) -> LineKind {
        let kind = LineKind::from_scan(self.scanner.finish());
        if kind == LineKind::Invalid { self.finish_invalid() } else { kind }
    }

    /// Ends the scan of an invalid line and returns its kind. In message mode, `scanned` is still the start of the
    /// message, so the search finds no gap.
    #[cold]
    fn finish_invalid(&mut self) -> LineKind {
        self.scanner.drop_unreliable_id();
        let error_at = self.start.wrapping_add(self.scanner.position());
        let rest = self.between(error_at..self.scanned);
        if find(CANCEL, rest).is_none() {
            return LineKind::Invalid;
        }
        self.scanner.mark_gap();
        LineKind::Gap
    }

    /// Skips a byte order mark at the start of a line. Returns `true` if all bytes of the line so far may belong to an
    /// incomplete mark. The decoder then needs more bytes.
    fn is_partial_byte_order_mark(&mut self) -> bool {
        if self.scanned != self.start || self.flags.any(Flags::SHORTENED) {
            return false;
        }
        let [first, ..] = BYTE_ORDER_MARK;
        self.between(self.start..self.end).first() == Some(&first) && self.skip_byte_order_mark()
    }

    /// Skips a complete byte order mark. Returns `true` if more bytes may complete a mark.
    #[cold]
    fn skip_byte_order_mark(&mut self) -> bool {
        let head = self.between(self.start..self.end);
        if head.starts_with(&BYTE_ORDER_MARK) {
            self.start = self.start.wrapping_add(BYTE_ORDER_MARK.len());
            self.scanned = self.start;
            self.flags.add(Flags::BYTE_ORDER_MARK);
            return false;
        }
        !self.is_ended() && BYTE_ORDER_MARK.starts_with(head)
    }

    /// Returns whether the decoder holds a message or the end of a stream. Always returns `false` outside message mode.
    pub(super) fn has_message(&self) -> bool {
        self.message_framing.is_some() && (self.end > 0 || self.is_discarding() || self.line.is_some())
    }

    /// Returns whether the decoder accepts input.
    ///
    /// The decoder accepts no input after the end of the input and, in message mode, before the release of the previous
    /// message.
    pub(super) fn is_open(&self) -> bool {
        !self.is_ended() && !self.has_message()
    }

    pub(super) fn is_discarding(&self) -> bool {
        self.flags.any(Flags::DISCARDING)
    }
}

fn to_u16(limit: usize) -> u16 {
    limit.try_into().unwrap_or(u16::MAX)
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
        match self.message_framing {
            Some(_) => self.stream = stream,
            None => self.grow_if_filled(),
        }
    }

    fn message(&mut self, message: &[u8], scanned: Option<&Scanned>, stream: StreamId) -> bool {
        let Some(framing) = self.message_framing.filter(|_| self.is_open()) else { return false };
        (framing.receive)(self, message, scanned, stream);
        true
    }

    fn stream_closed(&mut self, stream: StreamId) -> bool {
        let is_accepted = self.message_framing.is_some() && self.is_open();
        if is_accepted {
            self.stream = stream;
            self.set_line(FoundLine { kind: LineKind::StreamClosed, length: 0, release_length: 0 });
        }
        is_accepted
    }

    fn eof(&mut self) {
        self.end();
    }
}
