//! One HTTP exchange of a client: a request, and the body of its response.

use core::fmt;

use mcp_proto::{Buffer, Millis, StreamId};

use crate::sse::SseDecoder;

/// Identifier of an exchange of an [`HttpClient`](super::HttpClient).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExchangeId {
    index: u16,
    generation: u16,
}

impl ExchangeId {
    pub(super) fn index(self) -> usize {
        self.index.into()
    }
}

/// The purpose of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Sends a request, and receives its response.
    Request,
    /// Sends `initialize`, and receives its response.
    Initialize,
    /// Sends a notification or a response.
    OneWay,
    /// Sends `notifications/initialized`.
    Initialized,
    /// Receives the messages that belong to no request.
    Listen,
    /// Ends the session.
    Delete,
    /// Receives all messages of a session of HTTP+SSE (2024-11-05).
    LegacyStream,
    /// Sends a request in a session of HTTP+SSE. The response arrives on the stream of the session.
    LegacyRequest,
}

/// The progress of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Progress {
    /// The slot is free.
    Free,
    /// The request is due at this time.
    Due(Millis),
    /// The caller sends the request, or waits for the head of the response.
    Sent,
    /// The body is one JSON text.
    Json,
    /// The body is a stream of events.
    Events,
    /// The body is dropped.
    Dropped,
    /// The stored message waits for the endpoint of a session of HTTP+SSE.
    AwaitsEndpoint,
}

/// Returns the exchange with this identifier, or `None` if the exchange has ended.
pub(super) fn find_mut<'e, 'b>(
    exchanges: &'e mut [Exchange<'b>],
    id: ExchangeId,
) -> Option<&'e mut Exchange<'b>> {
    exchanges.get_mut(id.index()).filter(|exchange| exchange.is(id))
}

/// The memory of a response body.
pub(super) enum Memory<'b> {
    /// A buffer and the number of its bytes in use: the stored message, and the JSON text of the body.
    Text(Buffer<'b>, usize),
    Events(SseDecoder<'b>),
}

/// The memory of one exchange, which the application lends to an [`HttpClient`](super::HttpClient).
pub struct Exchange<'b> {
    pub(super) memory: Memory<'b>,
    generation: u16,
    pub(super) purpose: Purpose,
    pub(super) progress: Progress,
    pub(super) stream: StreamId,
    /// Whether the message belongs to the stateless era, in which the end of the exchange cancels the request.
    pub(super) is_stateless: bool,
    /// Whether a request of `tools/list` requests the first page. `None` for any other message.
    pub(super) tools_page: Option<bool>,
    /// Whether the stream needs no resumption, for example because the client has received the response or cancelled
    /// the request. For [`Purpose::LegacyRequest`], whether the server has accepted the request.
    pub(super) is_complete: bool,
    /// The time at which the client closes the exchange. [`HttpClient::body`](super::HttpClient::body) sets this time
    /// after a response has arrived on the stream of a request. [`limit`](Exchange::limit) sets this time for an
    /// exchange that no timeout of a request ends.
    /// [`close_legacy_stream`](super::HttpClient::close_legacy_stream) sets this time to zero.
    pub(super) closes_at: Option<Millis>,
    /// The exchange of the cancelled request, if this exchange sends a cancellation.
    pub(super) cancelled: Option<ExchangeId>,
    /// The number of reconnections since the last event, or since the server has accepted a resumption of a request.
    pub(super) attempts: u8,
    /// The time in the field `Retry-After` of the last response. Zero if the field is missing or has no number of
    /// seconds, or if the request succeeded.
    pub(super) retry_after: Millis,
    /// The length of the stored `initialize`, which the client sends again if it falls back to HTTP+SSE.
    stored: usize,
    /// Whether the exchange ended with the session while its request had no response, so a refusal may follow.
    pub(super) may_be_refused: bool,
    /// Whether the server refused `initialize` with a status after which the client tries HTTP+SSE.
    pub(super) is_fallback: bool,
}

impl<'b> Exchange<'b> {
    /// Creates an exchange. `buffer` holds the body of a response, or one event of a stream with its id. For
    /// `initialize`, `buffer` also holds the request, in front of the body of the response. `buffer` must have space
    /// for the longest message.
    #[must_use]
    pub fn new(buffer: impl Into<Buffer<'b>>) -> Exchange<'b> {
        Exchange {
            memory: Memory::Text(buffer.into(), 0),
            generation: 0,
            purpose: Purpose::OneWay,
            progress: Progress::Free,
            stream: StreamId::NONE,
            is_stateless: false,
            tools_page: None,
            is_complete: false,
            closes_at: None,
            cancelled: None,
            attempts: 0,
            retry_after: Millis::ZERO,
            stored: 0,
            may_be_refused: false,
            is_fallback: false,
        }
    }

    /// Returns the identifier of this exchange, which is at `index` in the table.
    pub(super) fn id(&self, index: usize) -> ExchangeId {
        ExchangeId { index: u16::try_from(index).unwrap_or(u16::MAX), generation: self.generation }
    }

    /// Returns whether `id` names this exchange, and the exchange has not ended.
    pub(super) fn is(&self, id: ExchangeId) -> bool {
        self.generation == id.generation && self.progress != Progress::Free
    }

    /// Starts an exchange in a free slot.
    pub(super) fn begin(&mut self, purpose: Purpose, progress: Progress) {
        self.free();
        self.clear_memory();
        let (generation, buffer) = (self.generation, self.take_buffer());
        *self = Exchange { generation, purpose, progress, ..Exchange::new(buffer) };
    }

    /// Ends the exchange, and makes its id invalid.
    pub(super) fn free(&mut self) {
        self.progress = Progress::Free;
        self.generation = self.generation.wrapping_add(1);
    }

    /// Ends the exchange, because the session has ended.
    pub(super) fn lose(&mut self) {
        self.may_be_refused =
            self.purpose == Purpose::Request && self.progress == Progress::Sent && !self.is_resumed();
        self.free();
    }

    /// Returns whether `id` named this exchange before the end of the session, and the server may still refuse its
    /// request.
    pub(super) fn awaits_refusal(&self, id: ExchangeId) -> bool {
        self.may_be_refused && self.generation == id.generation.wrapping_add(1)
    }

    /// Drops the message, the body and the position in the stream.
    pub(super) fn clear_memory(&mut self) {
        let used = if let Memory::Text(_, length) = self.memory { length } else { 0 };
        let mut buffer = self.take_buffer();
        buffer.shrink_if_idle(used);
        (self.memory, self.stored) = (Memory::Text(buffer, 0), 0);
    }

    /// Stores a message in front of the body, if it fits.
    pub(super) fn store(&mut self, message: &[u8]) {
        if let Memory::Text(buffer, length) = &mut self.memory
            && let Some(space) = buffer.ensure(message.len()).and_then(|all| all.get_mut(..message.len()))
        {
            space.copy_from_slice(message);
            (*length, self.stored) = (message.len(), message.len());
        }
    }

    /// Returns the stored message, or `None` if no message is stored.
    pub(super) fn stored(&self) -> Option<&[u8]> {
        let Memory::Text(buffer, _) = &self.memory else { return None };
        buffer.bytes().get(..self.stored).filter(|message| !message.is_empty())
    }

    /// Returns the received part of a body of one JSON text.
    pub(super) fn body(&self) -> &[u8] {
        let Memory::Text(buffer, length) = &self.memory else { return &[] };
        buffer.bytes().get(self.stored..*length).unwrap_or_default()
    }

    /// Drops the body, which follows the stored message.
    pub(super) fn drop_body(&mut self) {
        if let Memory::Text(_, length) = &mut self.memory {
            *length = self.stored;
        }
    }

    fn take_buffer(&mut self) -> Buffer<'b> {
        let nothing: &mut [u8] = &mut [];
        match core::mem::replace(&mut self.memory, Memory::Text(nothing.into(), 0)) {
            Memory::Text(buffer, _) => buffer,
            Memory::Events(decoder) => decoder.into_buffer(),
        }
    }

    /// Prepares for a body of one JSON text.
    pub(super) fn begin_json(&mut self) {
        if !self.is_fallback {
            self.clear_memory();
        }
        self.progress = Progress::Json;
    }

    /// Prepares for a stream of events. A resumed stream keeps its last event id. If a request owns the stream, all
    /// resumptions are available again, because a server may close the stream after each interval of polling, even
    /// without an event.
    pub(super) fn begin_events(&mut self) {
        match &mut self.memory {
            Memory::Events(decoder) => {
                decoder.reconnect();
                if self.purpose != Purpose::Listen {
                    self.attempts = 0;
                }
            }
            Memory::Text(..) => self.memory = Memory::Events(SseDecoder::new(self.take_buffer())),
        }
        self.progress = Progress::Events;
    }

    /// Starts the time limit of an exchange that sends a notification or a response, unless the limit has started. The
    /// limit includes the body of the HTTP response. For a request of HTTP+SSE, limits only the body of the HTTP
    /// response. Has no effect on other exchanges. For other requests, their timeouts end the exchanges.
    pub(super) fn limit(&mut self, now: Millis) {
        const MAX_TIME: Millis = Millis::seconds(30);
        let is_limited = match self.purpose {
            Purpose::OneWay | Purpose::Initialized => {
                matches!(self.progress, Progress::Sent | Progress::Dropped)
            }
            Purpose::LegacyRequest => self.progress == Progress::Dropped,
            _ => false,
        };
        if is_limited {
            self.closes_at.get_or_insert(now.plus(MAX_TIME));
        }
    }

    /// Returns the time at which the request is due, or at which the client closes the exchange. `None` means that
    /// there is no such time.
    pub(super) fn deadline(&self) -> Option<Millis> {
        match self.progress {
            Progress::Due(at) => Some(at),
            Progress::Events | Progress::Sent | Progress::Dropped => self.closes_at,
            _ => None,
        }
    }

    /// Returns whether the exchange will send `initialize` again, over HTTP+SSE.
    pub(super) fn will_repeat_initialize(&self) -> bool {
        match self.progress {
            Progress::AwaitsEndpoint => true,
            Progress::Due(_) => self.purpose == Purpose::LegacyRequest,
            _ => false,
        }
    }

    /// Returns the id to resume the stream from, or `None` if the stream has sent no id.
    pub(super) fn last_event_id(&self) -> Option<&str> {
        let Memory::Events(decoder) = &self.memory else { return None };
        core::str::from_utf8(decoder.last_event_id()).ok().filter(|id| !id.is_empty())
    }

    /// Returns whether the request resumes a stream. Call this method before the body of the response begins.
    pub(super) fn is_resumed(&self) -> bool {
        matches!(self.memory, Memory::Events(_))
    }

    /// Returns whether the stream can continue in another connection after its end.
    pub(super) fn is_resumable(&self) -> bool {
        let wants_more = match self.purpose {
            Purpose::Request | Purpose::Initialize => !self.is_complete && !self.is_stateless,
            Purpose::Listen => true,
            _ => false,
        };
        wants_more && (self.purpose == Purpose::Listen || self.last_event_id().is_some())
    }

    /// Returns the pause before the next connection: the retry time of the server (at least 100 ms), or one second.
    /// After a failed reconnection, the pause is at least two seconds. The pause doubles with each further failure, up
    /// to 30 seconds, or 8 seconds for a request, whose time is limited. A reconnection of the stream of a session
    /// fails if it brings no event. The resumption of a request fails if the server does not accept it. A longer
    /// retry time of the server takes precedence, and so does a longer `Retry-After` of a refusal.
    pub(super) fn delay(&self) -> Millis {
        const MIN_BACKOFF: u64 = 1_000;
        const MIN_RETRY: Millis = Millis(100);
        let max_backoff = if self.purpose == Purpose::Listen { 30_000 } else { 8_000 };
        let backoff = MIN_BACKOFF.saturating_mul(1 << self.attempts.min(5)).min(max_backoff);
        let set = if let Memory::Events(decoder) = &self.memory { decoder.retry() } else { None };
        let pause = match set {
            Some(set) if self.attempts == 0 => set.max(MIN_RETRY),
            Some(set) => set.max(Millis(backoff)),
            None => Millis(backoff),
        };
        pause.max(self.retry_after)
    }
}

impl fmt::Debug for Exchange<'_> {
    /// Leaves out the memory, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exchange")
            .field("purpose", &self.purpose)
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}
