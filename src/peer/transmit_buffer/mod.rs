//! `TransmitBuffer`: queue of outbound messages.
//!
//! If a response does not fit, the buffer returns an error, and a server sends an error response (`server_state.rs`).
//! The buffer also checks in advance whether a response of the maximum size fits.

mod open_message;

use crate::buffer::Buffer;
use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{
    HEADER_SIZE, HEADERS, Header, HeaderFormat, OutboundMessage, OutboundMessageKind, Routing,
};
use crate::json::{WriteBody, Writer, find};
use crate::peer::observer::{Direction, Observer};
use crate::platform::shift;
#[cfg(feature = "alloc")]
use crate::time::Millis;

/// Maximum number of unsent bytes in a growing buffer, in addition to a message of the maximum size.
const UNSENT_LIMIT: usize = 64 * 1024;

pub(crate) struct TransmitBuffer<'b> {
    buffer: Buffer<'b>,
    end: usize,
    /// Maximum size of a reply. This space must be free before the machine emits the event of a request.
    max_reply_size: usize,
    /// Message mode only. A reference to a table of functions, so that a program without message mode does not link
    /// these functions.
    headers: Option<&'static HeaderFormat>,
    link: Link,
    observer: Option<AttachedObserver<'b>>,
    /// End of the messages that the observer has seen.
    observed: usize,
}

/// State of the transmission: what the caller has reported, and which messages the buffer accepts.
#[derive(Debug, Clone, Copy, Default)]
struct Link {
    /// Offset of the first unsent byte.
    start: usize,
    /// Whether bytes were sent since the last call of [`TransmitBuffer::take_sent_flag`].
    has_sent: bool,
    /// Whether the connection refuses further bytes.
    broken: bool,
    writable: Writable,
    /// Whether a piece of an open message waits for space.
    awaits_space: bool,
}

/// The kinds of messages that the buffer accepts now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Writable {
    /// Whole messages. In line mode, also the first piece of an open message.
    #[default]
    Messages,
    /// Only pieces of the [open message](open_message). Not in message mode.
    Pieces,
    /// Whole messages, and pieces of open messages. Message mode only.
    MessagesAndPieces,
    /// Like `MessagesAndPieces`, but a whole message or a last piece did not fit. Until the buffer is empty, open
    /// messages can end but not grow, so that they do not take the space that the waiting message needs.
    MessagesFirst,
}

/// An observer, and the function that passes sent messages to the observer.
///
/// `show` is a function pointer, so that a program without an observer does not link the function.
struct AttachedObserver<'b> {
    observer: &'b mut (dyn Observer + Send + 'b),
    show: fn(&mut (dyn Observer + Send), &[u8], Option<&HeaderFormat>),
}

/// Error of a message that did not fit. The message was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Overflow;

impl<'b> TransmitBuffer<'b> {
    pub(crate) fn new(mut buffer: Buffer<'b>) -> TransmitBuffer<'b> {
        let max_reply_size = buffer.limit();
        if !buffer.is_lent() {
            buffer.extend_limit(UNSENT_LIMIT);
        }
        TransmitBuffer {
            buffer,
            end: 0,
            max_reply_size,
            headers: None,
            link: Link::default(),
            observer: None,
            observed: 0,
        }
    }

    /// Returns the size of a message's overhead: a newline or, in message mode, a header.
    pub(crate) fn overhead(&self) -> usize {
        if self.is_message_mode() { HEADER_SIZE } else { 1 }
    }

    pub(crate) fn use_message_mode(&mut self) {
        self.headers = Some(&HEADERS);
    }

    pub(crate) fn is_message_mode(&self) -> bool {
        self.headers.is_some()
    }

    pub(crate) fn max_reply_size(&self) -> usize {
        self.max_reply_size
    }

    /// Returns the maximum length of a reply without its overhead.
    pub(crate) fn max_reply_content(&self) -> usize {
        self.max_reply_size.saturating_sub(self.overhead())
    }

    /// Lowers the maximum size of a reply. The initial maximum is the maximum size of any message.
    pub(crate) fn set_max_reply_size(&mut self, bytes: usize) {
        self.max_reply_size = bytes.min(self.max_reply_size);
    }

    /// Returns the maximum size of any message.
    pub(crate) fn max_message_size(&self) -> usize {
        self.buffer.limit().saturating_sub(if self.buffer.is_lent() { 0 } else { UNSENT_LIMIT })
    }

    pub(crate) fn reset(&mut self) {
        self.clear();
        self.link = Link { writable: self.link.writable, ..Link::default() };
        self.buffer.shrink_if_idle(0);
    }

    pub(crate) fn set_observer(&mut self, observer: &'b mut (dyn Observer + Send + 'b)) {
        self.observer = Some(AttachedObserver { observer, show: show_messages });
    }

    /// Passes to the observer the written messages that the observer has not seen yet.
    #[inline]
    pub(crate) fn observe_sent(&mut self) {
        if self.observer.is_some() {
            self.show_unobserved();
        }
        self.observed = self.end;
    }

    #[cold]
    fn show_unobserved(&mut self) {
        if let Some(attached) = &mut self.observer {
            let written = self.buffer.bytes().get(self.observed..self.end).unwrap_or_default();
            (attached.show)(attached.observer, written, self.headers);
        }
    }

    /// Shows the observer a received message. The next call of [`observe_sent`](TransmitBuffer::observe_sent) shows the
    /// messages written in response.
    #[inline]
    pub(crate) fn observe_received<'l>(
        &mut self,
        line: impl FnOnce() -> &'l [u8],
        error: Option<ProtocolError>,
    ) {
        if self.observer.is_some() {
            self.show_received(line(), error);
        }
    }

    #[cold]
    fn show_received(&mut self, line: &[u8], error: Option<ProtocolError>) {
        if let Some(attached) = &mut self.observer {
            attached.observer.line(Direction::In, line, error.map_or(Ok(()), Err));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.link.start >= self.end
    }

    /// Returns whether bytes were sent since the last call of this method.
    pub(crate) fn take_sent_flag(&mut self) -> bool {
        core::mem::take(&mut self.link.has_sent)
    }

    /// Returns the offset of the next message.
    pub(crate) fn message_start(&mut self) -> usize {
        self.rewind();
        self.end
    }

    /// Returns the number of unsent bytes.
    fn unsent(&self) -> usize {
        self.end.saturating_sub(self.link.start)
    }

    #[inline]
    pub(crate) fn is_broken(&self) -> bool {
        self.link.broken
    }

    /// Drops unsent bytes. In line mode, the open message (if any) is then closed.
    pub(crate) fn clear(&mut self) {
        (self.link.start, self.end, self.observed) = (0, 0, 0);
        if self.link.writable == Writable::Pieces {
            self.link.writable = Writable::Messages;
        }
    }

    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Returns whether the machine may write a reply of the maximum size: see [`has_space`](Self::has_space).
    #[inline]
    pub(crate) fn has_reply_space(&mut self) -> bool {
        self.has_space(self.max_reply_size)
    }

    /// Returns whether the machine may write a message of `bytes` contiguous bytes. Always `false` while an open
    /// message delays all other messages. Compacts the buffer if necessary. In message mode, if the message does not
    /// fit, open messages can end but not grow until the buffer is empty.
    #[inline]
    pub(crate) fn has_space(&mut self, bytes: usize) -> bool {
        if self.holds_messages() {
            return false;
        }
        self.rewind();
        // Common case: enough free bytes follow the unsent ones.
        let limit = self.buffer.limit();
        if self.end.saturating_add(bytes) <= limit {
            return true;
        }
        let has = self.unsent().saturating_add(bytes) <= limit;
        if has {
            self.move_to_front();
        } else {
            self.hold_pieces();
        }
        has
    }

    #[inline(never)]
    fn move_to_front(&mut self) {
        if let Some(bytes) = self.buffer.bytes_mut().get_mut(..self.end) {
            shift(bytes, self.link.start);
        }
        self.observed = self.observed.saturating_sub(self.link.start);
        (self.link.start, self.end) = (0, self.end.saturating_sub(self.link.start));
    }

    /// Compacts the buffer if more space precedes the unsent bytes than follows them.
    pub(crate) fn compact(&mut self) {
        self.rewind();
        if self.buffer.limit().saturating_sub(self.end) < self.link.start {
            self.move_to_front();
        }
    }

    /// Returns the number of free bytes beyond `reserve`, but at most the maximum size of a message.
    pub(crate) fn free(&self, reserve: usize) -> usize {
        let free = self.buffer.limit().saturating_sub(self.unsent()).saturating_sub(reserve);
        if self.buffer.is_lent() { free } else { free.min(self.max_message_size()) }
    }

    /// Shrinks the buffer of an idle connection: see [`Buffer::shrink_by_deadline`].
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn shrink_by_deadline(&mut self, now: Millis) -> Option<Millis> {
        if !self.is_large() {
            return None;
        }
        self.rewind();
        self.buffer.shrink_by_deadline(self.end, now)
    }

    /// Returns whether the buffer has memory that an idle connection frees.
    #[cfg(feature = "alloc")]
    #[inline]
    pub(crate) fn is_large(&self) -> bool {
        self.buffer.is_large()
    }

    /// Frees the memory after the unsent bytes.
    pub(crate) fn trim(&mut self) {
        self.rewind();
        self.buffer.trim(self.end);
    }

    /// Resets all offsets to 0 if all bytes are sent. The observer has already seen these bytes: see
    /// [`TransmitBuffer::transmit`].
    #[inline(never)]
    fn rewind(&mut self) {
        if self.link.start >= self.end && self.end > 0 {
            self.buffer.shrink_if_idle(self.end);
            (self.link.start, self.end, self.observed) = (0, 0, 0);
        }
    }

    /// Writes one message of at most `space` bytes, including its overhead.
    ///
    /// # Errors
    /// [`Overflow`] if the message does not fit. The message is then dropped.
    pub(crate) fn write(
        &mut self,
        routing: Routing,
        space: usize,
        body: &mut dyn WriteBody,
    ) -> Result<(), Overflow> {
        let mut writer = self.begin_message(space);
        body.write(&mut writer);
        let to = writer.finish();
        self.end_message(routing, to)
    }

    /// Compacts the buffer, and writes one message of at most `space` bytes, including its overhead.
    ///
    /// # Errors
    /// [`Overflow`] if the message does not fit.
    pub(crate) fn send(
        &mut self,
        routing: Routing,
        space: usize,
        body: &mut dyn WriteBody,
    ) -> Result<(), Overflow> {
        self.compact();
        self.write(routing, space, body)
    }

    /// Writes one message of at most the maximum size of a reply.
    ///
    /// # Errors
    /// [`SendError::Invalid`] if the body is not valid, and [`SendError::Unwritable`] if the message does not fit. The
    /// message is then dropped.
    pub(crate) fn write_message(
        &mut self,
        routing: Routing,
        body: &mut dyn WriteBody,
    ) -> Result<(), SendError> {
        self.write_checked(routing, self.max_reply_size, body)
    }

    /// Writes one message like [`write_message`](Self::write_message), but of at most `space` bytes.
    pub(crate) fn write_checked(
        &mut self,
        routing: Routing,
        space: usize,
        body: &mut dyn WriteBody,
    ) -> Result<(), SendError> {
        let mut writer = self.begin_message(space);
        let valid = body.write(&mut writer);
        let to = writer.finish();
        if !valid {
            return Err(SendError::Invalid);
        }
        self.end_message(routing, to).map_err(|Overflow| SendError::Unwritable)
    }

    /// Starts a message, and returns a writer for its text. The message has at most `space` bytes, including its
    /// overhead.
    ///
    /// [`end_message`](TransmitBuffer::end_message) takes the result of [`Writer::finish`].
    pub(crate) fn begin_message(&mut self, space: usize) -> Writer<'_> {
        self.rewind();
        let (before, after) = self.framing_size();
        let from = self.end.saturating_add(before);
        let limit = self.end.saturating_add(space).saturating_sub(after);
        Writer::new(self.buffer.reborrow(), from, limit)
    }

    /// Completes a message, or a piece in message mode, whose text ends at `to`.
    ///
    /// # Errors
    /// [`Overflow`] if `to` is `None` or the overhead does not fit. The message is then dropped.
    pub(crate) fn end_message(&mut self, routing: Routing, to: Option<usize>) -> Result<(), Overflow> {
        let to = to.ok_or(Overflow)?;
        let end = match self.headers {
            None => {
                match self.buffer.bytes_mut().get_mut(to) {
                    Some(place) => *place = b'\n',
                    None => self.append_newline(to)?,
                }
                to.saturating_add(1)
            }
            Some(headers) => {
                let message = self.buffer.bytes_mut().get_mut(self.end..to).ok_or(Overflow)?;
                (headers.write)(message, routing);
                to
            }
        };
        self.end = end;
        Ok(())
    }

    /// Grows the buffer, and writes a newline at `to`.
    ///
    /// # Errors
    /// [`Overflow`]: the buffer is lent, has reached its limit, or the heap is exhausted.
    #[cold]
    fn append_newline(&mut self, to: usize) -> Result<(), Overflow> {
        let bytes = self.buffer.ensure(to.saturating_add(1));
        *bytes.and_then(|bytes| bytes.get_mut(to)).ok_or(Overflow)? = b'\n';
        Ok(())
    }

    /// Removes the latest message, and returns its text. `length` is the length of the message with its overhead. The
    /// observer must not have seen the message yet.
    pub(crate) fn remove_last(&mut self, length: usize) -> &[u8] {
        let (before, after) = self.framing_size();
        let from = self.end.saturating_sub(length);
        let text = from.saturating_add(before)..self.end.saturating_sub(after);
        self.end = from;
        self.buffer.bytes().get(text).unwrap_or_default()
    }

    /// Returns the unsent bytes; in message mode, the first unsent message.
    #[inline]
    pub(crate) fn transmit(&mut self) -> Transmit<'_> {
        self.observe_sent();
        let unsent = self.buffer.bytes().get(self.link.start..self.end).unwrap_or_default();
        let first = self.headers.and_then(|headers| (headers.split_first)(unsent));
        let (header, bytes) = first.map_or((None, unsent), |(header, message)| (Some(header), message));
        Transmit { bytes, header, link: &mut self.link }
    }

    /// Returns the overhead before and after the text of a message.
    fn framing_size(&self) -> (usize, usize) {
        if self.is_message_mode() { (HEADER_SIZE, 0) } else { (0, 1) }
    }
}

/// Bytes to write. The machine offers the bytes again until the caller reports them with [`sent`](Transmit::sent).
#[derive(Debug)]
pub struct Transmit<'a> {
    bytes: &'a [u8],
    /// Message mode only.
    header: Option<&'a Header>,
    link: &'a mut Link,
}

impl<'a> Transmit<'a> {
    /// Returns the bytes to write, possibly none. In message mode, the bytes are one whole message, one piece of
    /// a message, or none.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the message with its kind and relation, in message mode. Returns `None` in line mode, or if there is
    /// no message.
    #[must_use]
    pub fn frame(&self) -> Option<OutboundMessage<'a>> {
        let routing = Routing::decode(*self.header?);
        Some(OutboundMessage { message: self.bytes, routing })
    }

    /// Reports that the first `n` bytes were written. If `n` exceeds the number of bytes, all bytes count as written.
    ///
    /// In message mode, a message counts as sent only if `n` is at least its whole length. After a smaller `n`, the
    /// machine offers the whole message again.
    #[inline]
    pub fn sent(self, n: usize) {
        let n = n.min(self.bytes.len());
        let header_size = match self.header {
            Some(_) if n < self.bytes.len() => return,
            Some(header) => header.len(),
            None => 0,
        };
        self.link.has_sent |= n > 0;
        self.link.start = self.link.start.saturating_add(n).saturating_add(header_size);
    }

    /// Reports that the connection refuses further bytes, as after `EPIPE`.
    ///
    /// The machine drops unsent bytes and ends the connection. A server also drops buffered input and requests in
    /// flight. A client first handles the buffered input.
    pub fn broken(self) {
        self.link.broken = true;
    }
}

/// Shows an observer each of the written messages.
fn show_messages(observer: &mut (dyn Observer + Send), written: &[u8], headers: Option<&HeaderFormat>) {
    let mut rest = written;
    while !rest.is_empty() {
        let length = match headers.and_then(|headers| (headers.split_first)(rest).zip(Some(headers))) {
            Some(((header, message), headers)) => {
                match (headers.decode)(*header).kind {
                    OutboundMessageKind::Piece => observer.piece(message, false),
                    OutboundMessageKind::LastPiece => observer.piece(message, true),
                    _ => observer.line(Direction::Out, message, Ok(())),
                }
                message.len().saturating_add(HEADER_SIZE)
            }
            None => {
                let length = find(b'\n', rest).unwrap_or(rest.len());
                observer.line(Direction::Out, rest.get(..length).unwrap_or_default(), Ok(()));
                length.saturating_add(1)
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
}
