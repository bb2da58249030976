//! Chunked responses: results that the application writes in chunks, over many polls.
//!
//! The poll loop calls this module only through a [`ChunkHook`], so that a server without chunked responses does not
//! link the module. The response is an [open message](crate::peer::transmit_buffer) of the transmit buffer. The
//! `RequestKind` of the request holds the state of the response.

mod content;
mod transport;

pub use content::ChunkedContent;

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::StreamId;
use crate::json::{WriteText, Writer};
use crate::peer::Peer;
use crate::peer::inbound::{END, Source};
use crate::peer::request::Inbound;
use crate::peer::slots::Ticket;
use crate::protocol::objects::tool_result::write_end;
use crate::server::Server;
use crate::server::call::Call;
use crate::server::features::read_resource::ReadResource;
use crate::server::pending_event::PendingEvent;
use crate::server::reply::{Pending, Reply, StateAccess};
use crate::server::response_status::ResponseStatus;
use crate::server::server_state::{ServerState, Shape};
use crate::server::write_message::begin_result;

/// The state of a chunked response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ChunkState {
    /// A combination of the flags below.
    flags: u8,
    /// Number of bytes in `remainder`.
    remaining: u8,
    /// The last bytes of a blob, which do not fill a group of base64 yet.
    remainder: [u8; 2],
}

/// The response is a tool result.
const TOOL: u8 = 1;
/// The response is a tool result that needs empty structured content.
const PAD_STRUCTURED: u8 = 2;
/// The string is base64.
const BLOB: u8 = 4;
/// The string is in an object inside of the content block.
const EMBEDDED: u8 = 8;
/// The transport has paused the response: see `Server::pause_stream`.
pub(super) const PAUSED: u8 = 16;
/// The response ends as a failure. In message mode, the end may await transmit space.
const FAILED: u8 = 32;

impl ChunkState {
    fn has(self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Sets or clears a flag.
    pub(super) fn set(&mut self, flag: u8, is_set: bool) {
        self.flags = if is_set { self.flags | flag } else { self.flags & !flag };
    }
}

/// The longest possible text after the content blocks: brackets and the last members.
const LAST_MEMBERS: &str = r#"],"isError":true,"structuredContent":{}}}"#;

/// Maximum size of the end of a message: a group of base64, the brackets, the last members, and the newline.
const RESERVED: usize = r#"AAA="}}"#.len().saturating_add(LAST_MEMBERS.len()).saturating_add(1);

/// Function that advances a chunked response. Only servers with chunked responses link the function. The effect depends
/// on the ticket:
///
/// - The ticket of a request with an open response: the function completes the response as a failure, and emits
///   `Expired`. For a cancellation, the caller then replaces the event.
/// - The ticket of a request whose response is written except for its end, which awaits space: the function writes the
///   end. The caller must then release the request.
/// - [`Ticket::NONE`]: the function emits `Writable` if the application waits for space and the buffer has space.
///
/// Returns `false` if the function did nothing, such as for a request without a chunked response.
pub(crate) type ChunkHook = fn(&mut ServerState<'_>, Ticket) -> bool;

fn poll_chunks(state: &mut ServerState<'_>, ended: Ticket) -> bool {
    let (has_event, event) = match ended {
        Ticket::NONE => (state.peer.output.take_writable(RESERVED), PendingEvent::Writable),
        ticket if state.write_late_end(ticket) => return true,
        ticket => (state.end_chunks(ticket, true, None), PendingEvent::Expired(ticket)),
    };
    if has_event {
        state.pending_event = Some(event);
    }
    has_event
}

/// The writer of one [chunked](Call::chunked) response.
///
/// Dropping the writer does not end the response: [`Server::chunks`] returns a new writer.
#[must_use = "the response stays open until `end` or `fail`"]
pub struct Chunks<'a> {
    state: &'a mut (dyn StateAccess + 'a),
    ticket: Ticket,
}

impl Chunks<'_> {
    /// Writes the next part of a text. Returns the number of bytes that the server took. These bytes are whole
    /// characters.
    ///
    /// If the number is less than the length of `text`, [`Event::Writable`](crate::server::Event::Writable) follows
    /// when the buffer has space, or after a [pause](Server::pause_stream). If the content is not text, the response
    /// ends as a failure, and the next event is [`ProtocolError::InvalidReply`].
    pub fn text(&mut self, text: &str) -> usize {
        self.write(0, text.len(), &mut |out, _| out.prefix_inside(text))
    }

    /// Writes the next part of binary content. Returns the number of bytes that the server took.
    ///
    /// If the number is less than the length of `bytes`, [`Event::Writable`](crate::server::Event::Writable) follows
    /// when the buffer has space, or after a [pause](Server::pause_stream). If the content is not binary, the response
    /// ends as a failure, and the next event is [`ProtocolError::InvalidReply`].
    pub fn blob(&mut self, bytes: &[u8]) -> usize {
        self.write(BLOB, bytes.len(), &mut |out, chunks| write_blob(out, chunks, bytes))
    }

    /// Completes the response.
    pub fn end(self) {
        let Chunks { state, ticket } = self;
        state.with(&mut |state: &mut ServerState<'_>| _ = state.end_chunks(ticket, false, None));
    }

    /// Completes the response as a failure.
    ///
    /// A tool result gets the flag `isError`. If there is transmit space for `why` now, the result also gets `why` as a
    /// further text block. Space that is reserved for the response to another request does not count. The contents of a
    /// resource have no flag for a failure, and end without a sign of the failure.
    pub fn fail(self, why: impl WriteText) {
        let Chunks { state, ticket } = self;
        state.with(&mut |state: &mut ServerState<'_>| _ = state.end_chunks(ticket, true, Some(&why)));
    }

    fn write(&mut self, kind: u8, length: usize, write: &mut WriteChunk<'_>) -> usize {
        let Chunks { state, ticket } = self;
        let mut taken = 0;
        state
            .with(&mut |state: &mut ServerState<'_>| taken = state.write_chunk(*ticket, kind, length, write));
        taken
    }
}

impl core::fmt::Debug for Chunks<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Chunks").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}

/// Writes a part of a string. Returns the number of bytes taken.
type WriteChunk<'a> = dyn FnMut(&mut Writer<'_>, &mut ChunkState) -> usize + 'a;

/// Writes the groups of base64 that fit. Returns the number of bytes taken. The bytes of an incomplete group stay in
/// the state.
fn write_blob(out: &mut Writer<'_>, chunks: &mut ChunkState, bytes: &[u8]) -> usize {
    let mut rest = bytes;
    // Complete the group that the last chunk began.
    while chunks.remaining > 0 {
        let Some((byte, tail)) = rest.split_first() else { return bytes.len() };
        let [a, b] = chunks.remainder;
        if chunks.remaining == 1 {
            (chunks.remainder, chunks.remaining) = ([a, *byte], 2);
        } else if out.remaining() >= 4 {
            out.base64_inside(&[a, b, *byte]);
            chunks.remaining = 0;
        } else {
            return bytes.len().saturating_sub(rest.len());
        }
        rest = tail;
    }
    let groups = (out.remaining() / 4).saturating_mul(3);
    let whole = rest.len().saturating_sub(rest.len() % 3).min(groups);
    let (written, tail) = rest.split_at_checked(whole).unwrap_or_default();
    out.base64_inside(written);
    (chunks.remainder, chunks.remaining) = match tail {
        [a] => ([*a, 0], 1),
        [a, b] => ([*a, *b], 2),
        _ => return bytes.len().saturating_sub(tail.len()),
    };
    bytes.len()
}

impl ServerState<'_> {
    /// Returns the state of an open response. Returns `None` if the request has no open response.
    fn chunk_state(&self, ticket: Ticket) -> Option<ChunkState> {
        self.peer.in_flight.inbound(ticket).filter(|inbound| inbound.is_chunked()).and_then(Inbound::chunks)
    }

    /// Returns the stream of a request.
    fn chunk_stream(&self, ticket: Ticket) -> StreamId {
        self.peer.in_flight.inbound(ticket).map_or(StreamId::NONE, |inbound| inbound.stream)
    }

    /// Opens the response to a request. Defers the request, unless it is deferred already.
    fn open_chunks(
        &mut self,
        pending: &Pending<'_>,
        content: ChunkedContent<'_>,
    ) -> Result<Ticket, SendError> {
        let revision = pending.context.revision();
        let is_possible = !pending.context.is_batched() && self.peer.output.accepts_pieces();
        let chunks = content.state(pending.context.kind, revision).filter(|_| is_possible);
        let chunks = chunks.ok_or(SendError::Unsupported)?;
        let ticket = match pending.source {
            Source::Slot(ticket) => ticket,
            // Not `ServerState::defer`, because that method may also reserve a slot of the task table for the call.
            source @ Source::Line { .. } => {
                self.peer.defer(&source, pending.stream, pending.context, None).ok_or(SendError::Full)?
            }
        };
        let space = self.peer.available().saturating_sub(RESERVED);
        let shape = if chunks.has(TOOL) { Shape::Result } else { Shape::List };
        let Peer { in_flight, output, .. } = &mut self.peer;
        let mut out = output.begin_message(space);
        let id = in_flight.id(ticket);
        begin_result(&mut out, id, self.config, revision, shape, &mut self.result_cache);
        content.begin(chunks, &mut out);
        let to = out.finish();
        if output.open_message(pending.stream, to, RESERVED).is_err() {
            if let Source::Line { .. } = pending.source {
                self.peer.in_flight.release(ticket);
                self.peer.response_pending = true;
            }
            return Err(SendError::Unwritable);
        }
        self.chunk_hook = Some(poll_chunks);
        self.set_chunk_state(ticket, chunks);
        Ok(ticket)
    }

    /// Stores the state of an open response, and restarts its timeout.
    fn set_chunk_state(&mut self, ticket: Ticket, chunks: ChunkState) {
        if let Some(inbound) = self.peer.in_flight.inbound_mut(ticket) {
            inbound.set_chunks(chunks);
        }
        let deadline = self.peer.now.plus(self.deferred_timeout());
        self.peer.in_flight.set_deadline(ticket, Some(deadline));
    }

    fn write_chunk(&mut self, ticket: Ticket, kind: u8, length: usize, write: &mut WriteChunk<'_>) -> usize {
        let Some(mut chunks) = self.chunk_state(ticket).filter(|chunks| !chunks.has(PAUSED)) else {
            return 0;
        };
        // In message mode, the request of an event may have reserved the space, or may have left a pending error. The
        // error of this chunk must not replace that error.
        if self.has_pending_response() || self.peer.pending_error.is_some() {
            self.peer.output.await_piece_space();
            return 0;
        }
        if chunks.flags & BLOB != kind {
            self.end_chunks(ticket, true, None);
            self.peer.pending_error = Some(ProtocolError::InvalidReply);
            return 0;
        }
        let mut out = self.peer.output.piece_writer(RESERVED);
        let taken = write(&mut out, &mut chunks);
        let to = out.finish();
        let stream = self.chunk_stream(ticket);
        let taken = if self.peer.output.add_piece(stream, to, RESERVED) { taken } else { 0 };
        if taken > 0 {
            self.set_chunk_state(ticket, chunks);
        }
        if taken < length {
            self.peer.output.await_piece_space();
        }
        taken
    }

    /// Completes an open response, and releases its request. Returns `false` if the request has no open response.
    ///
    /// In message mode, the end may have to wait for space. The response then gets no `why`, and `write_queued`
    /// releases the request.
    fn end_chunks(&mut self, ticket: Ticket, failed: bool, why: Option<&dyn WriteText>) -> bool {
        let Some(mut chunks) = self.chunk_state(ticket) else { return false };
        chunks.set(FAILED, failed);
        let is_failure = chunks.has(TOOL) && failed;
        self.record_status(if is_failure { ResponseStatus::ToolFailure } else { ResponseStatus::Result });
        if self.close_chunks(ticket, chunks, why) {
            self.peer.in_flight.release(ticket);
        } else {
            self.set_chunk_state(ticket, chunks);
            self.peer.expire(ticket);
        }
        true
    }

    /// Writes the end of a response, if the end awaits space. Returns `true` if the caller must now release the
    /// request. Returns `false` if no end awaits space, or if the end still does not fit.
    fn write_late_end(&mut self, ticket: Ticket) -> bool {
        let inbound = self.peer.in_flight.inbound(ticket).filter(|inbound| !inbound.is_chunked());
        let Some(chunks) = inbound.and_then(Inbound::chunks) else { return false };
        self.close_chunks(ticket, chunks, None)
    }

    /// Writes the end of an open response. Outside message mode the end always fits, because every piece leaves
    /// [`RESERVED`] bytes. Returns `false` if the end does not fit, or if the request of an event has reserved the space.
    fn close_chunks(&mut self, ticket: Ticket, chunks: ChunkState, why: Option<&dyn WriteText>) -> bool {
        let stream = self.chunk_stream(ticket);
        if self.has_pending_response() {
            return false;
        }
        let Some(mut out) = self.peer.output.end_writer(RESERVED) else { return false };
        out.base64_inside(chunks.remainder.get(..usize::from(chunks.remaining)).unwrap_or_default());
        out.token(if chunks.has(EMBEDDED) { "\"}}" } else { "\"}" });
        if let Some(why) = why.filter(|_| chunks.has(TOOL)) {
            let before = out.mark();
            out.token(r#",{"type":"text","text":""#);
            out.inside(why);
            out.token("\"}");
            if out.remaining() < LAST_MEMBERS.len() {
                out.rollback(before);
            }
        }
        out.token("]");
        if chunks.has(TOOL) {
            write_end(&mut out, chunks.has(FAILED), chunks.has(PAD_STRUCTURED));
        }
        out.token(END);
        let to = out.finish();
        self.peer.output.close_message(stream, to);
        true
    }
}

impl Reply<'_> {
    /// Responds with content that the application writes in chunks: see [`Call::chunked`]. Returns the ticket for
    /// [`Server::chunks`]. If the request was deferred before, its ticket stays the same.
    ///
    /// # Errors
    /// A deferred request stays in flight. [`SendError::Unsupported`]: the request or its revision does not permit this
    /// content, the request is a member of a batch, or the call has become, or must become, a
    /// [task](crate::server::Tasks::automatic). In [message mode](Server::message_mode), this error also means that the
    /// transport accepts no [pieces](Server::accept_pieces). [`SendError::Full`]: no slot is free, or the id does not
    /// fit into the text of a slot. [`SendError::Unwritable`]: the transmit buffer has no space for the members around
    /// the content.
    pub fn chunked(mut self, content: ChunkedContent<'_>) -> Result<Ticket, SendError> {
        self.open_chunks(content)
    }

    fn open_chunks(&mut self, content: ChunkedContent<'_>) -> Result<Ticket, SendError> {
        let Reply { state, pending, .. } = self;
        let mut opened = Err(SendError::Gone);
        state.with(&mut |state: &mut ServerState<'_>| opened = state.open_chunks(pending, content));
        opened
    }
}

impl<'a> Call<'a> {
    /// Responds with content that the application writes in chunks, over many polls. The content may be larger than the
    /// transmit buffer.
    ///
    /// [`Server::chunks`] takes the ticket, and returns the writer. The request is in flight like a
    /// [deferred](Call::defer) one. The timeout of the request is
    /// [`Limits::deferred_timeout`](crate::server::Limits::deferred_timeout), and restarts with every chunk. A
    /// cancellation, a timeout or a shutdown may end the request before the response is complete. The server then
    /// completes the response with the flag `isError`, and emits [`Event::Cancelled`](crate::server::Event::Cancelled)
    /// or [`Event::Expired`](crate::server::Event::Expired). The client receives this end even if it cancelled the
    /// request, because half a message cannot be withdrawn.
    ///
    /// Outside [message mode](Server::message_mode), the server sends no other message until the response is complete.
    /// The client's requests wait, and methods that send other messages fail with [`Busy`](SendError::Busy). In message
    /// mode, such as over HTTP, the server also sends other messages before the chunked response is complete. A
    /// message that waits for space has precedence over the chunks, and the server takes no chunks while the request of
    /// an event awaits its response. In this mode, several responses may be open. After
    /// [`Event::Writable`](crate::server::Event::Writable), the application continues each open response.
    ///
    /// ```
    /// use mcp_proto::server::{ChunkedContent, Event, Server};
    /// use mcp_proto::Ticket;
    ///
    /// /// A download: the request, and the number of bytes sent.
    /// type Download = Option<(Ticket, usize)>;
    ///
    /// fn handle(server: &mut Server<'_>, download: &mut Download, text: &str) {
    ///     match server.event() {
    ///         Some(Event::Call(call)) => match call.chunked(ChunkedContent::Text) {
    ///             Ok(ticket) => *download = Some((ticket, 0)),
    ///             Err(call) => return call.busy(),
    ///         },
    ///         Some(Event::Cancelled { .. } | Event::Expired(_)) => *download = None,
    ///         _ => {}
    ///     }
    ///     // After the call, and after each `Event::Writable`.
    ///     if let Some((ticket, sent)) = download
    ///         && let Ok(mut chunks) = server.chunks(*ticket)
    ///     {
    ///         *sent += chunks.text(&text[*sent..]);
    ///         if *sent == text.len() {
    ///             chunks.end();
    ///             *download = None;
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns the call if no slot is free, or if the id does not fit into the text of a slot. Also returns a call that
    /// is a member of a batch, or that must become a [task](crate::server::Tasks::automatic). Also returns the call if
    /// the revision does not permit the content, or if the transmit buffer cannot hold the other members of the result.
    /// In [message mode](Server::message_mode), also returns the call if the transport accepts no
    /// [pieces](Server::accept_pieces).
    #[allow(clippy::result_large_err, reason = "boxing needs a heap")]
    pub fn chunked(mut self, content: ChunkedContent<'_>) -> Result<Ticket, Call<'a>> {
        self.parts.reply.open_chunks(content).map_err(|_| self)
    }
}

impl<'a> ReadResource<'a> {
    /// Responds with text that the application writes in chunks: see [`Call::chunked`]. The media type comes from the
    /// catalog, or else is `text/plain`.
    ///
    /// The contents of a resource have no flag for a failure. If the request ends before the response is complete,
    /// the contents end without a sign of the failure.
    ///
    /// # Errors
    /// Returns the request in the cases of [`Call::chunked`].
    #[allow(clippy::result_large_err, reason = "boxing needs a heap")]
    pub fn chunked_text(mut self) -> Result<Ticket, ReadResource<'a>> {
        let (uri, mime_type) = (self.uri(), self.mime_type());
        self.parts.reply.open_chunks(ChunkedContent::ResourceText { uri, mime_type }).map_err(|_| self)
    }

    /// Responds with bytes that the application writes in chunks, like [`chunked_text`](Self::chunked_text). The media
    /// type comes from the catalog, or else is `application/octet-stream`.
    ///
    /// # Errors
    /// Returns the request in the cases of [`Call::chunked`].
    #[allow(clippy::result_large_err, reason = "boxing needs a heap")]
    pub fn chunked_blob(mut self) -> Result<Ticket, ReadResource<'a>> {
        let (uri, mime_type) = (self.uri(), self.mime_type());
        self.parts.reply.open_chunks(ChunkedContent::ResourceBlob { uri, mime_type }).map_err(|_| self)
    }
}

impl Server<'_> {
    /// Returns the writer of a [chunked](Call::chunked) response.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has ended, or its response is not chunked.
    pub fn chunks(&mut self, ticket: Ticket) -> Result<Chunks<'_>, SendError> {
        self.state.chunk_state(ticket).ok_or(SendError::Gone)?;
        Ok(Chunks { state: &mut *self.state, ticket })
    }
}
