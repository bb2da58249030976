//! Results in chunks: the content of a result that may be larger than the receive buffer.
//!
//! The client calls this module only through a [`ChunkHook`], so that a client without chunks does not link the module.
//! The hook decodes the strings of the content, and removes them from the line before the client handles the line. The
//! client then handles a result with empty strings.

mod content_walk;

use crate::client::Client;
use crate::client::method_properties::Method;
use crate::client::pending_event::PendingEvent;
use crate::error::SendError;
use crate::framing::LineKind;
use crate::json::{Json, Member, Span, Str, decode_text_in_place};
use crate::peer::outbound::IssuedId;
use crate::peer::request::Flags;
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::objects::base64::decode_in_json;
use crate::protocol::revision::WireFeature;
use content_walk::{ContentWalk, FoundString};

/// A part of the content of a result.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum ChunkData<'a> {
    /// A part of a text. The part never ends inside a character.
    Text(&'a str),
    /// Decoded bytes of an image, of audio or of a binary resource.
    Blob(&'a [u8]),
}

/// Prints the beginning of a text, or the number of bytes.
impl core::fmt::Debug for ChunkData<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            ChunkData::Text(text) => f.debug_tuple("Text").field(&Str::trusted(text.as_bytes())).finish(),
            ChunkData::Blob(bytes) => write!(f, "Blob({} bytes)", bytes.len()),
        }
    }
}

/// The function that emits chunks. Only programs that call [`Client::receive_chunks`] link this function.
///
/// The client calls the hook before the client handles a line, and also while no line is complete. The second argument
/// is the kind of the line, or `None` if no line is complete. The hook returns whether it has set an event or ended a
/// request.
pub(crate) type ChunkHook = fn(&mut Client<'_>, Option<LineKind>) -> bool;

/// The state of the chunks in the current line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChunkState {
    walk: ContentWalk,
    /// The encoded text of the previous chunk. The next call of the hook removes this text from the line.
    held: Span,
    /// The request that the client assumes for a line whose `id` has not arrived: the only request that awaited a
    /// response.
    assumed: Option<Ticket>,
    /// Whether the last call of the hook passed the complete line on to the client. The next call then begins another
    /// line.
    is_handled: bool,
}

impl ChunkState {
    pub(crate) const START: ChunkState =
        ChunkState { walk: ContentWalk::START, held: Span::MISSING, assumed: None, is_handled: false };
}

/// A chunk in the line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingChunk {
    pub(crate) ticket: Ticket,
    pub(crate) block: u16,
    pub(crate) is_blob: bool,
    /// The decoded part.
    pub(crate) data: Span,
}

impl PendingChunk {
    pub(crate) fn data<'a>(&self, line: &'a [u8]) -> ChunkData<'a> {
        let data = self.data.bytes(line);
        if self.is_blob {
            ChunkData::Blob(data)
        } else {
            ChunkData::Text(core::str::from_utf8(data).unwrap_or_default())
        }
    }
}

fn before_line(client: &mut Client<'_>, line: Option<LineKind>) -> bool {
    if client.chunks.is_handled && client.end_chunks() {
        return true;
    }
    let has_event = match line {
        None | Some(LineKind::Message) => next_chunk(client, line.is_some()),
        Some(_) => false,
    };
    // A truncated line does not count as handled. The end of the connection, and not `end_chunks`, then fails the
    // request of this line.
    client.chunks.is_handled = !has_event && line.is_some_and(|line| line != LineKind::Truncated);
    has_event
}

fn next_chunk(client: &mut Client<'_>, is_complete: bool) -> bool {
    let held = core::mem::replace(&mut client.chunks.held, Span::MISSING);
    if !held.is_missing() {
        client.input.remove_from_string(held);
    }
    if !is_complete && !client.input.is_full() {
        return false;
    }
    let Some((ticket, result)) = client.chunked_result() else { return false };
    let is_poll = client.state.method_of(ticket) == Method::TaskGet;
    // In 2025-11-25, `tasks/result` requests the result of the task, and its response is the result itself.
    let is_task = is_poll && client.state.has(WireFeature::TasksExtension);
    loop {
        let Some(found) = client.chunks.walk.next_string(client.input.text_so_far(), result, is_task) else {
            return false;
        };
        match client.decode(found) {
            Some((consumed, length)) if length > 0 => {
                let data = Span { start: found.start, end: found.start.wrapping_add(length) };
                client.chunks.held = Span { start: found.start, end: found.start.wrapping_add(consumed) };
                let FoundString { block, is_blob, .. } = found;
                if client.input.scanner().member(Member::Id).is_none() {
                    client.chunks.assumed = Some(ticket);
                }
                client.state.emit(PendingEvent::Chunk(PendingChunk { ticket, block, is_blob, data }));
                client.state.peer.restart_timeout(ticket);
                client.state.peer.keep_alive.record_part(client.state.peer.now);
                return true;
            }
            // The rest of the string cannot be decoded, so this rest stays in the result.
            _ if found.is_complete => client.chunks.walk.skip_string(found),
            _ => return false,
        }
    }
}

impl Client<'_> {
    /// Makes the client emit the content of a request's result in chunks, as
    /// [`Event::Chunk`](crate::client::Event::Chunk). The result may then be larger than the receive buffer.
    ///
    /// Use this function after [`call_json`](Client::call_json), [`read_resource`](Client::read_resource) or their
    /// variants, and before the next poll. All texts and binary data in the content blocks of a tool result, or in the
    /// contents of a resource, arrive as chunks, in order. After the last chunk, the
    /// [`Response`](crate::client::Event::Response) contains the rest, such as `isError`, structured content and the
    /// media types. In this rest, empty strings take the place of the content. The rest must fit into the receive
    /// buffer. Otherwise the request fails with [`RequestFailure::TooLong`], possibly after chunks. If the request ends
    /// with an error or a failure, the application must discard the chunks. If a call becomes a
    /// [task](crate::client::ClientConfig::tasks), the result of the task arrives in the same way.
    ///
    /// Each chunk restarts the timeout of the request, but does not extend the maximum duration. In message mode, a
    /// result cannot be larger than the receive buffer. Invalid base64 stays in the result, and so does the content of
    /// a member whose name has escapes. If the result has two members with the same name, the content of both arrives.
    /// An [observer](crate::Observer) sees the message without its content.
    ///
    /// Some servers write the `id` after the result. If exactly one request awaits a response, the client then assumes
    /// that a large result belongs to this request, and emits the chunks. At the end of the message, the client checks
    /// the `id`. If the `id` does not belong to the assumed request, this request fails with
    /// [`RequestFailure::Invalid`], and the application must discard the chunks. If several requests await responses,
    /// and a large result has its `id` at the end, the request of that result fails with [`RequestFailure::TooLong`].
    ///
    /// ```
    /// use mcp_proto::client::{ChunkData, Client, Event, Options};
    /// use mcp_proto::{SendError, Ticket};
    ///
    /// fn begin(client: &mut Client<'_>) -> Result<Ticket, SendError> {
    ///     let ticket = client.call_json("dump", "{}", Options::DEFAULT)?;
    ///     client.receive_chunks(ticket)?;
    ///     Ok(ticket)
    /// }
    ///
    /// fn handle(event: Event<'_>, flash: &mut dyn FnMut(&[u8])) {
    ///     match event {
    ///         Event::Chunk { data: ChunkData::Blob(bytes), .. } => flash(bytes),
    ///         Event::Response(response) => assert!(response.tool_result().is_some()),
    ///         _ => {}
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has ended, or is a request of the server.
    pub fn receive_chunks(&mut self, ticket: Ticket) -> Result<(), SendError> {
        self.state.open_request(ticket).ok_or(SendError::Gone)?;
        if let Some(outbound) = self.state.peer.in_flight.outbound_mut(ticket) {
            outbound.flags.add(Flags::CHUNKED);
        }
        self.chunk_hook = Some(before_line);
        Ok(())
    }

    /// Returns the request to which the current line responds, and the offset of the result. Returns `None` if the line
    /// is no valid response so far, if the result has not begun, or if the request is unknown, awaits no response or
    /// receives no chunks.
    fn chunked_result(&self) -> Option<(Ticket, usize)> {
        let (line, scanner) = (self.input.text_so_far(), self.input.scanner());
        let issued = match scanner.member(Member::Id) {
            Some(id) => self.state.peer.find_issued(Json::trusted(line.get(id.start..id.end?)?)),
            None => IssuedId::Request(self.chunks.assumed.or_else(|| self.only_request())?),
        };
        let result = scanner.member(Member::Result)?.start;
        if scanner.member(Member::Method).is_some() || !scanner.is_valid() {
            return None;
        }
        let IssuedId::Request(ticket) = issued else { return None };
        let outbound = self.state.peer.in_flight.outbound(ticket)?;
        (outbound.flags.has(Flags::CHUNKED) && outbound.state.awaits_response()).then_some((ticket, result))
    }

    /// Returns the only request that awaits a response. Returns `None` if no request or several requests await a
    /// response.
    fn only_request(&self) -> Option<Ticket> {
        let requests = self.state.peer.in_flight.requests().map(|(ticket, _)| ticket);
        let mut awaiting = requests.filter(|ticket| self.state.peer.awaits_response(*ticket));
        awaiting.next().filter(|_| awaiting.next().is_none())
    }

    /// Ends the chunks of a line. If the client assumed the request of the chunks, and this request still awaits its
    /// response, the line belonged to another request. The function then fails the assumed request, and returns `true`.
    fn end_chunks(&mut self) -> bool {
        let assumed = core::mem::replace(&mut self.chunks, ChunkState::START).assumed;
        let failed = assumed.filter(|ticket| self.state.peer.awaits_response(*ticket));
        if let Some(ticket) = failed {
            self.state.peer.fail_request(ticket, RequestFailure::Invalid);
        }
        failed.is_some()
    }

    /// Decodes the received part of a string in place. Returns the number of consumed bytes, and the length of the
    /// decoded data. Returns `None` for a binary string that is not valid base64.
    fn decode(&mut self, found: FoundString) -> Option<(usize, usize)> {
        let FoundString { start, length, is_complete, is_blob, .. } = found;
        // Number of bytes of a character or an escape that has not completely arrived.
        let unfinished = if is_complete { 0 } else { self.input.scanner().unfinished() };
        let end = start.wrapping_add(length.saturating_sub(unfinished));
        let text = self.input.text_so_far_mut().get_mut(start..end)?;
        if is_blob {
            return decode_in_json(text, is_complete);
        }
        let consumed = text.len();
        Some((consumed, decode_text_in_place(text).0))
    }
}
