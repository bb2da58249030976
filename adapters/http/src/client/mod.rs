//! Client side: HTTP requests for a client's messages, and messages from HTTP responses.
//!
//! [`HttpClient`] connects a [`Client`](mcp_proto::Client) in message mode to an HTTP library. `HttpClient` opens no
//! socket. The application follows these steps:
//!
//! 1. Pass each outbound message to [`HttpClient::begin`], which may start an exchange.
//! 2. Send the [`Request`] of each exchange that [`HttpClient::begin`] and [`HttpClient::poll`] return. If
//!    [`HttpClient::request`] returns `None`, close the HTTP exchange, and pass its end to [`HttpClient::finish`].
//! 3. Pass the head of each response to [`HttpClient::head`], the body in pieces to [`HttpClient::body`], and the
//!    end to [`HttpClient::finish`].
//! 4. Pass each [`Inbound`] message to [`Receive::message`](mcp_proto::Receive::message). Pass the stream of
//!    [`Finish::Closed`], and that of a handled [`Finish::Message`], to
//!    [`Receive::stream_closed`](mcp_proto::Receive::stream_closed).
//!
//! TLS, redirects, proxies, cookies and OAuth are the task of the HTTP library and the application.

mod endpoint;
mod exchange;
mod header_value;
mod legacy;
mod request;
mod response;
mod session_id;
mod tool_headers;

use core::fmt;

use mcp_proto::rpc::{Message, MessageKind};
use mcp_proto::{
    Buffer, Millis, OutboundMessage, OutboundMessageKind, Relation, Revision, StreamId, methods,
};

pub use endpoint::resolve_endpoint;
pub use exchange::{Exchange, ExchangeId};
pub use header_value::encode_value;
pub use mcp_proto::InvalidToolHeader;
pub use request::{Method, Request};
pub use response::{Body, Finish, Head, Inbound, retry_after};
pub use tool_headers::check_tool_headers;

use exchange::{Progress, Purpose, find_mut};
use session_id::SessionId;
use tool_headers::ToolHeaders;

/// The client side of the Streamable HTTP transport.
///
/// Each `HttpClient` communicates with one server. All revisions are supported, and the [`Client`](mcp_proto::Client)
/// selects one. If the server refuses `initialize` with 400, 404 or 405, the transport falls back to HTTP+SSE of
/// 2024-11-05, unless the body is a JSON-RPC response with an id. The stream of HTTP+SSE takes one of the exchanges.
/// `T` is a table with one [`Exchange`] for each concurrent HTTP request: an array, a `Vec`, or a lent slice.
pub struct HttpClient<'b, T> {
    exchanges: T,
    tool_headers: ToolHeaders<'b>,
    /// The session id, or the endpoint of a session of HTTP+SSE.
    session: SessionId,
    /// Whether the session is one of HTTP+SSE.
    is_legacy: bool,
    /// The revision of the session, or of the last stateless request.
    revision: Option<Revision>,
    listens: bool,
    /// The maximum number of failed resumptions in a row, for the stream of a request.
    max_resumptions: u8,
    /// The `now` argument of the last call of `poll` or `finish`.
    now: Millis,
}

/// The time for which the stream of a request may stay open after a response. If the server ends the stream within this
/// time, the HTTP library can reuse the connection.
const CLOSE_DELAY: Millis = Millis(1_000);

/// Step for an outbound message, returned by [`HttpClient::begin`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Begin {
    /// Send the message with the [`Request`] of this exchange.
    Send(ExchangeId),
    /// Drop the message, and close the HTTP exchange. The end of the exchange cancels the request.
    Close(ExchangeId),
    /// Drop the message: there is nothing to send. An example is the cancellation of a request whose exchange has
    /// ended.
    Drop,
    /// No exchange is free for this message, or the session is not ready for a request. Do not consume the message. Try
    /// again after an exchange has ended, or after [`HttpClient::poll`] has returned an exchange.
    Busy,
}

/// Result of [`HttpClient::abort`].
enum Aborted {
    Begin(Begin),
    /// Send the cancellation. Then close the exchange of the cancelled request, if that exchange is open.
    Send(Option<ExchangeId>),
}

impl<'b, T: AsMut<[Exchange<'b>]> + AsRef<[Exchange<'b>]>> HttpClient<'b, T> {
    /// Creates the client side for one server.
    ///
    /// If there are several `exchanges`, the [listening](HttpClient::without_listening) stream and requests of
    /// Streamable HTTP leave one of them free for notifications and responses. Among these requests, only `initialize`
    /// may take the last free exchange. `tool_headers` holds those parameters of the listed tools that have the
    /// annotation `x-mcp-header`: about 40 bytes for each. `tool_headers` may be empty if no tool has such parameters.
    pub fn new(exchanges: T, tool_headers: impl Into<Buffer<'b>>) -> HttpClient<'b, T> {
        HttpClient {
            exchanges,
            tool_headers: ToolHeaders::new(tool_headers.into()),
            session: SessionId::NONE,
            is_legacy: false,
            revision: None,
            listens: true,
            max_resumptions: u8::MAX,
            now: Millis::ZERO,
        }
    }

    /// Configures the client to open no stream for messages that the server sends without a request. Only sessions of
    /// the handshake era have such a stream.
    #[must_use]
    pub fn without_listening(mut self) -> HttpClient<'b, T> {
        self.listens = false;
        self
    }

    /// Sets how often the client tries to resume the stream of a request before the request fails. Default: 255. Each
    /// resumption that the server accepts makes all resumptions available again, even without an event: a server may
    /// close the stream after each interval of polling.
    #[must_use]
    pub fn max_resumptions(mut self, limit: u8) -> HttpClient<'b, T> {
        self.max_resumptions = limit;
        self
    }

    /// Starts an exchange for an outbound message, unless the message needs none. Returns the step for the caller.
    pub fn begin(&mut self, message: &OutboundMessage<'_>) -> Begin {
        let stream = match message.relation() {
            Relation::Request(stream) => stream,
            _ => StreamId::NONE,
        };
        let mut cancelled = None;
        if message.kind() == OutboundMessageKind::Abort {
            cancelled = match self.abort(stream) {
                Aborted::Begin(begin) => return begin,
                Aborted::Send(exchange) => exchange,
            };
        }
        let Ok(parsed) = Message::parse(message.message()) else { return Begin::Drop };
        let version = request::stateless_version(parsed);
        if let Some(version) = version {
            self.revision = version.as_str().and_then(Revision::parse);
        }
        let is_method = |name: &str| parsed.method().and_then(|it| it.string()).is_some_and(|it| it == *name);
        let purpose = match parsed.kind() {
            MessageKind::Request if is_method(methods::INITIALIZE.name()) => Purpose::Initialize,
            MessageKind::Request if self.is_legacy => Purpose::LegacyRequest,
            MessageKind::Request => Purpose::Request,
            _ if is_method(methods::INITIALIZED.name()) => Purpose::Initialized,
            _ => Purpose::OneWay,
        };
        if purpose == Purpose::Initialize {
            (self.session, self.revision) = (SessionId::NONE, None);
            // A late refusal of the previous session must not end this session.
            self.exchanges.as_mut().iter_mut().for_each(|exchange| exchange.may_be_refused = false);
            self.close_legacy_stream();
        }
        if matches!(purpose, Purpose::Request | Purpose::LegacyRequest) && self.session_starts() {
            return Begin::Busy;
        }
        let Some((id, exchange)) = self.start(purpose, Progress::Sent) else { return Begin::Busy };
        exchange.stream = stream;
        exchange.cancelled = cancelled;
        exchange.is_stateless = version.is_some();
        if purpose == Purpose::Initialize {
            exchange.store(message.message());
        }
        if is_method(methods::TOOLS_LIST.name()) {
            exchange.tools_page = Some(parsed.params().and_then(|params| params.get("cursor")).is_none());
        }
        Begin::Send(id)
    }

    /// Returns whether the session is still starting: the client waits for the HTTP response to
    /// `notifications/initialized`, or has not yet requested the stream of the session. Requests wait for the stream,
    /// because a server may drop a message for a stream that is not open.
    fn session_starts(&self) -> bool {
        self.exchanges.as_ref().iter().any(|exchange| match (exchange.purpose, exchange.progress) {
            (_, Progress::Free) => false,
            (Purpose::Initialized, Progress::Sent) => true,
            (Purpose::Listen, Progress::Due(_)) => exchange.attempts == 0,
            _ => false,
        })
    }

    /// Handles the cancellation of the request on `stream`.
    fn abort(&mut self, stream: StreamId) -> Aborted {
        let is_request = |(_, exchange): &(usize, &mut Exchange<'_>)| {
            let is_own = matches!(exchange.purpose, Purpose::Request | Purpose::Initialize)
                || exchange.will_repeat_initialize();
            is_own && exchange.stream == stream && exchange.progress != Progress::Free
        };
        let Some((index, exchange)) = self.exchanges.as_mut().iter_mut().enumerate().find(is_request) else {
            // The exchange has ended, or belongs to HTTP+SSE. Without a session id, as in the stateless era, the end of
            // the exchange has also cancelled the request.
            return if self.session.is_some() { Aborted::Send(None) } else { Aborted::Begin(Begin::Drop) };
        };
        let id = exchange.id(index);
        if exchange.will_repeat_initialize() {
            self.close_legacy_stream();
            return Aborted::Begin(Begin::Drop);
        }
        // The specification forbids the cancellation of `initialize`, so only its exchange is closed.
        if exchange.is_stateless || exchange.purpose == Purpose::Initialize {
            exchange.free();
            return Aborted::Begin(Begin::Close(id));
        }
        // No response is expected, so a stream that ends is not resumed.
        exchange.is_complete = true;
        if let Progress::Due(_) = exchange.progress {
            exchange.free();
            return Aborted::Send(None);
        }
        Aborted::Send(Some(id))
    }

    /// Frees the exchange of a cancelled request. Returns `false` if the exchange has ended.
    fn free_cancelled(&mut self, id: ExchangeId) -> bool {
        let found = find_mut(self.exchanges.as_mut(), id);
        found.map(Exchange::free).is_some()
    }

    /// Takes a free exchange, or returns `None`. Listening streams, and requests of Streamable HTTP other than
    /// `initialize`, do not take the last free exchange. A table of one exchange is the exception.
    fn start(&mut self, purpose: Purpose, progress: Progress) -> Option<(ExchangeId, &mut Exchange<'b>)> {
        let free =
            self.exchanges.as_ref().iter().filter(|exchange| exchange.progress == Progress::Free).count();
        let keeps_one =
            matches!(purpose, Purpose::Request | Purpose::Listen) && self.exchanges.as_ref().len() > 1;
        if free <= usize::from(keeps_one) {
            return None;
        }
        let index =
            self.exchanges.as_ref().iter().position(|exchange| exchange.progress == Progress::Free)?;
        let exchange = self.exchanges.as_mut().get_mut(index)?;
        exchange.begin(purpose, progress);
        Some((exchange.id(index), exchange))
    }

    /// Returns the request of an exchange. `message` is the message that the caller passed to
    /// [`begin`](HttpClient::begin), or `None` for an exchange that [`poll`](HttpClient::poll) returned.
    ///
    /// Returns `None` if the exchange has ended, or if its response is no longer needed. Close the HTTP exchange in
    /// that case, and pass its end to [`finish`](HttpClient::finish).
    pub fn request<'r>(&'r self, exchange: ExchangeId, message: Option<&'r [u8]>) -> Option<Request<'r>> {
        let found = self.exchanges.as_ref().get(exchange.index()).filter(|it| it.is(exchange))?;
        if found.progress == Progress::Dropped {
            return None;
        }
        let method = match (found.purpose, found.attempts > 0) {
            (Purpose::Delete, _) => Method::Delete,
            (Purpose::Listen | Purpose::LegacyStream, _) | (_, true) => Method::Get,
            _ => Method::Post,
        };
        let message = message.or(found.stored()).filter(|_| method == Method::Post);
        Some(Request {
            method,
            message: message.and_then(|message| Message::parse(message).ok()),
            session: self.session(),
            endpoint: self.session.as_str().filter(|_| self.is_legacy),
            revision: self.revision,
            last_event_id: found.last_event_id().filter(|_| method == Method::Get),
            tool_headers: &self.tool_headers,
        })
    }

    /// Returns an exchange whose request is due: one that resumes or opens a stream, sends `initialize` again over
    /// HTTP+SSE, or ends the session. Call this method until it returns `None`.
    ///
    /// Also returns the exchange of a request whose stream is still open one second after a response has arrived on the
    /// stream. This response may belong to another request. Also returns an exchange that has sent a notification or a
    /// response, if the HTTP response has not ended after 30 seconds. The same limit applies to the body of the HTTP
    /// response to a request of HTTP+SSE. Also returns a stream of HTTP+SSE that is no longer needed. For these
    /// exchanges, [`request`](HttpClient::request) returns `None`: close the HTTP exchange, and pass its end to
    /// [`finish`](HttpClient::finish).
    pub fn poll(&mut self, now: Millis) -> Option<ExchangeId> {
        self.now = now;
        self.exchanges.as_mut().iter_mut().for_each(|exchange| exchange.limit(now));
        let mut exchanges = self.exchanges.as_mut().iter_mut().enumerate();
        let (index, exchange) =
            exchanges.find(|(_, exchange)| exchange.deadline().is_some_and(|at| at <= now))?;
        let id = exchange.id(index);
        match exchange.progress {
            Progress::Due(_) => (exchange.progress, exchange.retry_after) = (Progress::Sent, Millis::ZERO),
            progress => {
                (exchange.progress, exchange.closes_at) = (Progress::Dropped, None);
                // No response has arrived, so `head` has not opened the stream of the session.
                if exchange.purpose == Purpose::Initialized && progress == Progress::Sent {
                    self.listen(now);
                }
            }
        }
        Some(id)
    }

    /// Returns the time at which [`poll`](HttpClient::poll) has an exchange to return, or `None` if no exchange will be
    /// due. Call `poll` first, because `poll` starts the 30 seconds of a sent notification or response.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Millis> {
        self.exchanges.as_ref().iter().filter_map(Exchange::deadline).min()
    }

    /// Ends the session: frees all exchanges, and starts an exchange that sends DELETE to the server. Without a session
    /// id, as in HTTP+SSE, only frees the exchanges. The caller must close the HTTP exchanges of all freed exchanges.
    pub fn shutdown(&mut self, now: Millis) {
        self.free_all();
        if self.session().is_some() {
            self.start(Purpose::Delete, Progress::Due(now));
        }
    }

    /// Opens the event stream of the session if listening is enabled, the session has an id, and
    /// [`start`](HttpClient::start) finds an exchange.
    fn listen(&mut self, at: Millis) {
        if self.listens && self.session().is_some() {
            self.start(Purpose::Listen, Progress::Due(at));
        }
    }

    fn free_all(&mut self) {
        self.exchanges.as_mut().iter_mut().for_each(Exchange::free);
    }

    /// Returns the session id, which is a secret. Returns `None` without a session, and for HTTP+SSE.
    #[must_use]
    pub fn session(&self) -> Option<&str> {
        self.session.as_str().filter(|_| !self.is_legacy)
    }
}

impl<T> fmt::Debug for HttpClient<'_, T> {
    /// Omits the session id and all data of the server.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient").field("revision", &self.revision).finish_non_exhaustive()
    }
}
