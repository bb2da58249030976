//! Responses of the server: heads, bodies, and their ends.

use mcp_proto::json::{Json, Str};
use mcp_proto::rpc::{Message, MessageKind};
use mcp_proto::{Millis, Revision, StreamId, WireFeature};

use super::exchange::{Exchange, ExchangeId, Memory, Progress, Purpose, find_mut};
use super::legacy::is_fallback_status;
use super::session_id::SessionId;
use super::tool_headers::ToolHeaders;
use super::{CLOSE_DELAY, HttpClient};
use crate::HeaderFields;
use crate::sse::SseItem;

/// Meaning of the head of a response, returned by [`HttpClient::head`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head {
    /// The server accepted the request. Pass the body to [`HttpClient::body`].
    Body,
    /// The server refused the request, or sent an invalid session id. Pass the body to [`HttpClient::body`]
    /// nevertheless, because the body may contain the error response.
    ///
    /// With 401 and 403, the field `WWW-Authenticate` names the missing authorization. With 429 and 503, `Retry-After`
    /// is the time to wait before the next try. If the client itself sends the request again, the client waits for this
    /// time, at most five minutes. The client ignores a date in `Retry-After`, because a date needs a clock.
    Refused,
    /// The server has ended the session. All exchanges have ended. Close their HTTP exchanges, and
    /// [`reset`](mcp_proto::Client::reset) the client, which connects again.
    ///
    /// While [`HttpClient::awaits_refusals`] returns `true`, the caller may first wait for the heads of other requests.
    /// `head` then returns this variant for each further request that the server refuses with 404.
    SessionLost {
        /// The stream of the request that the server refused for this reason. The server has not processed this
        /// request, so the caller may send it again in another session. `None` if the server refused a notification, a
        /// response, or the resumption of a stream.
        refused: Option<StreamId>,
    },
    /// The exchange has already ended. Close the HTTP exchange.
    Unknown,
}

/// A message from the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inbound<'m> {
    /// The message.
    pub message: &'m [u8],
    /// The stream that the message belongs to.
    pub stream: StreamId,
}

/// A step of [`HttpClient::body`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Body<'m> {
    /// The number of bytes that were consumed. Pass the remaining bytes again.
    pub consumed: usize,
    /// A complete message, for [`Receive::message`](mcp_proto::Receive::message). `None` if the bytes complete no
    /// message. All bytes were then consumed.
    pub message: Option<Inbound<'m>>,
}

/// Meaning of the end of a response, returned by [`HttpClient::finish`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finish<'m> {
    /// The exchange has ended, and there is nothing to do.
    Ended,
    /// The body is this message. Pass the message to [`Receive::message`](mcp_proto::Receive::message), and then its
    /// stream to [`Receive::stream_closed`](mcp_proto::Receive::stream_closed), in case the message was not a response.
    Message(Inbound<'m>),
    /// The stream has ended. Pass its id to [`Receive::stream_closed`](mcp_proto::Receive::stream_closed): if its
    /// request has no response, the request fails.
    Closed(StreamId),
    /// The exchange that sent a cancellation has ended: close the HTTP exchange of the cancelled request.
    Close(ExchangeId),
    /// The stream of HTTP+SSE has ended, which ends the session: see [`Head::SessionLost`].
    SessionLost,
    /// The stream continues in another HTTP exchange, or the client falls back to HTTP+SSE. [`HttpClient::poll`]
    /// returns the next exchange when it is due.
    Continues,
}

/// The media type of a body.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MediaType {
    Json,
    Events,
    Other,
}

impl MediaType {
    fn from_fields(fields: &dyn HeaderFields) -> MediaType {
        let value = fields.field("content-type").unwrap_or_default();
        let name = value.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
        if name.eq_ignore_ascii_case(b"application/json") {
            MediaType::Json
        } else if name.eq_ignore_ascii_case(b"text/event-stream") {
            MediaType::Events
        } else {
            MediaType::Other
        }
    }
}

impl<'b, T: AsMut<[Exchange<'b>]> + AsRef<[Exchange<'b>]>> HttpClient<'b, T> {
    /// Handles the head of a response.
    ///
    /// `fields` are the header fields of the response. The caller or its HTTP library must follow redirects, and must
    /// not pass in informational responses (1xx).
    pub fn head(&mut self, exchange: ExchangeId, status: u16, fields: &dyn HeaderFields) -> Head {
        if let Some(stream) = self.end_lost(exchange) {
            return if status == 404 { Head::SessionLost { refused: Some(stream) } } else { Head::Unknown };
        }
        let Some(found) = find_mut(self.exchanges.as_mut(), exchange) else {
            return Head::Unknown;
        };
        let is_success = (200..300).contains(&status);
        let time = fields.field("retry-after").filter(|_| !is_success);
        found.retry_after = time.map_or(Millis::ZERO, retry_after);
        let purpose = found.purpose;
        // A server that offers no stream may respond with 404. The next message shows whether the session still exists.
        let never_listened = purpose == Purpose::Listen && found.last_event_id().is_none();
        if status == 404
            && self.session.is_some()
            && !never_listened
            && !matches!(purpose, Purpose::Delete | Purpose::Initialize)
        {
            let is_request = matches!(purpose, Purpose::Request | Purpose::LegacyRequest);
            let refused = (is_request && !found.is_resumed()).then_some(found.stream);
            found.free();
            self.session = SessionId::NONE;
            self.exchanges.as_mut().iter_mut().for_each(Exchange::lose);
            return Head::SessionLost { refused };
        }
        if matches!(status, 404 | 405) && purpose == Purpose::Listen {
            self.listens = false;
        }
        // The server may resume the stream later, so the exchange keeps the last event id.
        let is_postponed = found.is_resumed() && matches!(status, 408 | 425 | 429 | 500..);
        if purpose == Purpose::Listen && !is_postponed && matches!(status, 400 | 402 | 404..500) {
            // The server may have refused the last event id, so the next request opens a new stream.
            found.clear_memory();
        }
        if purpose == Purpose::Initialize && is_success {
            let id = fields.field("mcp-session-id").map(SessionId::new);
            let Some(id) = id.unwrap_or(Some(SessionId::NONE)) else {
                // The session id is invalid, so later requests could not name the session.
                (found.progress, found.is_complete) = (Progress::Dropped, true);
                return Head::Refused;
            };
            self.session = id;
        }
        // A request of HTTP+SSE is complete when the server has accepted it. Any other request is complete when the
        // server has refused it, unless the refusal only postpones a resumption.
        found.is_complete |= !is_postponed && is_success == (purpose == Purpose::LegacyRequest);
        found.is_fallback = purpose == Purpose::Initialize && is_fallback_status(status);
        let has_response = matches!(purpose, Purpose::Request | Purpose::Initialize);
        let has_events = has_response || matches!(purpose, Purpose::Listen | Purpose::LegacyStream);
        match MediaType::from_fields(fields) {
            MediaType::Json if has_response && !is_postponed => found.begin_json(),
            MediaType::Events if has_events && is_success => found.begin_events(),
            _ => found.progress = Progress::Dropped,
        }
        if purpose == Purpose::Initialized && is_success {
            self.listen(Millis::ZERO);
        }
        if is_success { Head::Body } else { Head::Refused }
    }

    /// Returns whether requests were in flight at the end of the session, and the server may still refuse them because
    /// it has ended the session. See [`Head::SessionLost`].
    #[must_use]
    pub fn awaits_refusals(&self) -> bool {
        self.exchanges.as_ref().iter().any(|exchange| exchange.may_be_refused)
    }

    /// Ends the wait for the refusal of a request whose exchange ended with the session. Returns the stream of the
    /// request, or `None` if `exchange` awaits no refusal.
    fn end_lost(&mut self, exchange: ExchangeId) -> Option<StreamId> {
        let found = self.exchanges.as_mut().get_mut(exchange.index())?;
        if !found.awaits_refusal(exchange) {
            return None;
        }
        found.may_be_refused = false;
        Some(found.stream)
    }

    /// Handles a piece of a body, up to the end of the next message. Call this method again with the rest of the piece.
    ///
    /// Call this method only while [`Receive::is_ready`](mcp_proto::Receive::is_ready) returns `true`, so that the
    /// [`Client`](mcp_proto::Client) accepts the message. A message that does not fit into the memory of the exchange
    /// is dropped. If the message was a response, its request fails at the end of the body.
    pub fn body(&mut self, exchange: ExchangeId, bytes: &[u8]) -> Body<'_> {
        let all = Body { consumed: bytes.len(), message: None };
        let start = self.find_endpoint(exchange, bytes);
        let found = find_mut(self.exchanges.as_mut(), exchange);
        let Some(found) = found else { return all };
        let is_request = matches!(found.purpose, Purpose::Request | Purpose::Initialize);
        let Exchange {
            memory, progress, purpose, stream, is_complete, closes_at, attempts, tools_page, ..
        } = found;
        match (&*progress, memory) {
            (Progress::Json, Memory::Text(buffer, length)) => {
                let end = length.saturating_add(bytes.len());
                match buffer.ensure(end).and_then(|all| all.get_mut(*length..end)) {
                    Some(space) => {
                        space.copy_from_slice(bytes);
                        *length = end;
                    }
                    None => *progress = Progress::Dropped,
                }
                all
            }
            (Progress::Events, Memory::Events(decoder)) => {
                let mut consumed = start;
                loop {
                    // A step without an item has consumed all bytes. An event cannot leave the loop, because the
                    // decoder would be borrowed in all iterations. After the loop, `decoder.event` returns it again.
                    let step = decoder.decode(bytes.get(consumed..).unwrap_or_default());
                    consumed = consumed.saturating_add(step.consumed);
                    match step.item {
                        None => return all,
                        Some(SseItem::Event(event)) if event.name == b"message" && !event.data.is_empty() => {
                            break;
                        }
                        Some(SseItem::TooLong) => *is_complete = true,
                        Some(_) => *attempts = 0,
                    }
                }
                *attempts = 0;
                let message = decoder.event().map(|event| event.data).unwrap_or_default();
                if let Ok(message) = Message::parse(message)
                    && has_response(&message, self.revision)
                {
                    *is_complete = true;
                    *closes_at = is_request.then_some(self.now.plus(CLOSE_DELAY));
                    record_response(
                        &mut self.tool_headers,
                        &mut self.revision,
                        *purpose,
                        *tools_page,
                        &message,
                    );
                }
                Body { consumed, message: Some(Inbound { message, stream: *stream }) }
            }
            _ => all,
        }
    }

    /// Handles the end of a response: the body has ended, or the connection has closed. `now` is the current time.
    ///
    /// Call this method only while [`Receive::is_ready`](mcp_proto::Receive::is_ready) returns `true`.
    pub fn finish(&mut self, exchange: ExchangeId, now: Millis) -> Finish<'_> {
        self.now = now;
        let _ = self.end_lost(exchange);
        if let Some(found) = find_mut(self.exchanges.as_mut(), exchange)
            && let Some(cancelled) = found.cancelled
        {
            found.free();
            return if self.free_cancelled(cancelled) { Finish::Close(cancelled) } else { Finish::Ended };
        }
        if self.fall_back(exchange, now) {
            return Finish::Continues;
        }
        if self.free_legacy_stream(exchange) {
            return self.finish_legacy_stream();
        }
        let can_listen = self.listens && self.session.is_some();
        let max_resumptions = self.max_resumptions;
        let found = find_mut(self.exchanges.as_mut(), exchange);
        let Some(found) = found else { return Finish::Ended };
        let was = found.progress;
        let can_continue = match found.purpose {
            Purpose::Listen => can_listen,
            _ => found.attempts < max_resumptions,
        };
        if found.is_resumable() && can_continue {
            found.progress = Progress::Due(Millis(now.0.saturating_add(found.delay().0)));
            found.attempts = found.attempts.saturating_add(1);
            return Finish::Continues;
        }
        found.free();
        match found.purpose {
            Purpose::Request | Purpose::Initialize => {}
            Purpose::LegacyRequest if !found.is_complete => {}
            _ => return Finish::Ended,
        }
        match &found.memory {
            Memory::Text(..) if was == Progress::Json => {
                let message = found.body();
                // Only these responses have parts that later requests repeat.
                let is_recorded = found.purpose == Purpose::Initialize || found.tools_page.is_some();
                if is_recorded && let Ok(message) = Message::parse(message) {
                    record_response(
                        &mut self.tool_headers,
                        &mut self.revision,
                        found.purpose,
                        found.tools_page,
                        &message,
                    );
                }
                Finish::Message(Inbound { message, stream: found.stream })
            }
            _ => Finish::Closed(found.stream),
        }
    }
}

/// Returns the time in a value of the field `Retry-After`, at most five minutes. Returns zero for a date, which needs a
/// clock, and for an invalid value.
#[must_use]
pub fn retry_after(value: &[u8]) -> Millis {
    const MAX_SECONDS: u32 = 300;
    let add = |seconds: u32, digit: &u8| {
        let digit = digit.is_ascii_digit().then(|| digit.wrapping_sub(b'0'))?;
        Some(seconds.saturating_mul(10).saturating_add(digit.into()))
    };
    let seconds = value.trim_ascii().iter().try_fold(0, add).unwrap_or_default();
    Millis::seconds(seconds.min(MAX_SECONDS))
}

/// Returns whether a message is a response, or a batch with a response in a revision with batches.
fn has_response(message: &Message<'_>, revision: Option<Revision>) -> bool {
    let is_response = |element: Json<'_>| {
        Message::parse(element.raw().as_bytes()).is_ok_and(|message| message.kind() == MessageKind::Response)
    };
    match message.kind() {
        MessageKind::Response => true,
        // In a revision without batches, the client refuses a batch.
        MessageKind::Batch if revision.is_some_and(|it| it.has(WireFeature::Batches)) => {
            Json::parse(message.bytes()).is_ok_and(|batch| batch.elements().any(is_response))
        }
        _ => false,
    }
}

/// Stores the parts of a response that later requests repeat: the revision of the session, and the tool parameters to
/// send as header fields.
fn record_response(
    tool_headers: &mut ToolHeaders<'_>,
    revision: &mut Option<Revision>,
    purpose: Purpose,
    tools_page: Option<bool>,
    message: &Message<'_>,
) {
    let Some(result) = message.result() else { return };
    if purpose == Purpose::Initialize || purpose == Purpose::LegacyStream && revision.is_none() {
        let version = result.get("protocolVersion").and_then(Json::string);
        *revision = version.and_then(Str::as_str).and_then(Revision::parse);
    }
    if let Some(is_first) = tools_page {
        if is_first {
            tool_headers.clear();
        }
        tool_headers.add_page(result);
    }
}
