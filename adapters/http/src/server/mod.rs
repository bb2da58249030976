//! Server side of MCP over HTTP, without sockets: exchanges, sessions and event streams.
//!
//! The transport, an HTTP library or the module [`http1`](crate::http1), passes in the head and the body of each
//! request. The [`HttpServer`] checks the request, and passes the message to the core [`Server`](mcp_proto::Server) in
//! message mode. Then the `HttpServer` returns the status, the header fields and the body of the response.
//!
//! For each request, the transport calls in this order:
//!
//! 1. [`HttpServer::begin`] with the head. A refusal is the whole response.
//! 2. [`HttpServer::body`] with each piece of the body.
//! 3. [`HttpServer::output`] and [`HttpServer::sent`] for an exchange with output, until the response ends.
//!
//! If the client disconnects before the end, the transport calls [`HttpServer::close`]. After each of these calls,
//! after each event, and at the time of [`Step::Wait`], the transport calls [`HttpServer::poll`]. `poll` reports events
//! of the core server, and exchanges that have output.
//!
//! A program without an HTTP library uses a [`Connection`], which makes these calls from the bytes of a socket.
//!
//! The caller lends all memory: slots for exchanges and sessions, parts for bodies, and pages for output. With the
//! feature `alloc`, each of these memories can also be on the heap, and grow to a limit: [`Slots::grown`],
//! [`Buffer::grown`]. If a client does not send its body in time, its exchange ends. If the client does not read its
//! response in time, it loses its connection, as after `close`: see [`HttpTimes`].

mod allow_list;
mod authorization;
mod begin;
mod body;
mod body_checks;
mod chunked_responses;
mod config;
mod connection;
mod deliver;
mod event_stream;
mod exchange_flags;
mod exchanges;
mod expire;
mod head_checks;
mod header_value;
mod held_messages;
mod legacy;
mod output;
mod page_pool;
mod parameters;
mod policy;
mod poll;
mod pool;
mod replay;
mod request;
mod response;
mod route;
mod sealed;
mod session;
mod sessions;
mod slot_table;

pub use authorization::{Challenge, RESOURCE_METADATA_PATH, Verdict};
pub use config::{AllowList, HttpConfig, HttpLimits, HttpTimes, LegacyPaths, SessionMode};
pub use connection::{Connection, ConnectionStatus, RESPONSE_SPACE};
pub use exchanges::{ExchangeId, ExchangeSlot};
pub use output::Output;
pub use policy::Policy;
pub use poll::Step;
pub use request::{Method, RequestHead};
pub use response::{MediaType, REFUSAL_SIZE, Refusal, ResponseHead, SessionId};
pub use sessions::SessionSlot;
pub use slot_table::Slots;

use chunked_responses::PieceHook;
use exchange_flags::Flags;
use exchanges::Exchanges;
use mcp_proto::{Buffer, Millis, StreamId};
use page_pool::Pages;
use pool::Pool;
use replay::Replay;
use sessions::Sessions;

/// The server side of MCP over HTTP.
///
/// `P` is the [`Policy`] of the application. One core server serves all exchanges.
pub struct HttpServer<'b, P> {
    config: &'b HttpConfig<'b>,
    policy: P,
    exchanges: Exchanges<'b>,
    pages: Pages<'b>,
    bodies: Pool<'b>,
    sessions: Sessions<'b>,
    replay: Replay<'b>,
    /// Maximum number of event streams that no call has opened.
    max_event_streams: usize,
    now: Millis,
    /// Exchange whose session is selected in the core server, for the delivery of its message or for
    /// [`enter`](HttpServer::enter).
    selected: Option<u16>,
    /// The function that handles chunked responses, or `None` if the server does not offer them.
    piece_hook: Option<PieceHook<P>>,
    /// Whether a chunked response may have to be paused or resumed, because the amount of its unread output has
    /// changed.
    has_new_pace: bool,
    /// Whether the core server has received a batch or a cancellation since the last check for cancelled requests.
    may_end_requests: bool,
}

impl<'b, P: Policy> HttpServer<'b, P> {
    /// Creates a server with storage for exchanges and their output.
    ///
    /// The server divides `output` into pages of [`HttpLimits::page`] bytes. A page belongs to one exchange until the
    /// transport has reported the bytes of the page as [sent](HttpServer::sent), or the exchange has ended or lost its
    /// connection. If a response does not fit into all pages together, the client gets an error: status 500, or an
    /// event in an open event stream.
    #[must_use]
    pub fn new(
        config: &'b HttpConfig<'b>,
        policy: P,
        exchanges: impl Into<Slots<'b, ExchangeSlot>>,
        output: impl Into<Buffer<'b>>,
    ) -> HttpServer<'b, P> {
        HttpServer {
            config,
            policy,
            exchanges: Exchanges::new(exchanges.into()),
            pages: Pages::new(output.into(), config.limits.page),
            bodies: Pool::empty(),
            sessions: Sessions::new((&mut []).into()),
            replay: Replay::new((&mut []).into()),
            max_event_streams: usize::MAX,
            now: Millis::ZERO,
            selected: None,
            piece_hook: None,
            has_new_pace: false,
            may_end_requests: false,
        }
    }

    /// Sets the maximum number of event streams that no call has opened: subscriptions, and streams of sessions. At the
    /// limit, the server refuses further streams of these kinds with status 503. Default: no limit besides
    /// [`HttpLimits::reserved`].
    ///
    /// Each subscription also takes a slot for a request in the core server. If the core server has more slots than
    /// this limit, subscriptions cannot take all of them.
    #[must_use]
    pub fn event_streams(mut self, limit: usize) -> Self {
        self.max_event_streams = limit;
        self
    }

    /// Lends storage for bodies that arrive in pieces, or while the core server is busy. Each body takes
    /// [`HttpLimits::body`] bytes. If the storage has no space for a body, the server responds with status 503.
    #[must_use]
    pub fn body_buffer(mut self, bytes: impl Into<Buffer<'b>>) -> HttpServer<'b, P> {
        self.bodies = Pool::new(bytes.into(), self.config.limits.body);
        self
    }

    /// Lends storage for sessions, for [`SessionMode::Sessions`]. If all slots are taken, a new session replaces the
    /// session that was idle for the longest time. If no session is idle, the server responds with status 503.
    ///
    /// A table has at most 65,534 slots. [`SessionMode::Sealed`] has no such limit.
    #[must_use]
    pub fn sessions(mut self, slots: impl Into<Slots<'b, SessionSlot>>) -> HttpServer<'b, P> {
        self.sessions = Sessions::new(slots.into());
        self
    }

    /// Lends storage for sent events, so that a client of the handshake era can resume an event stream
    /// (`Last-Event-ID`).
    ///
    /// This storage also holds messages for a session without an event stream, until the client opens a
    /// stream (GET).
    #[must_use]
    pub fn replay_buffer(mut self, events: impl Into<Buffer<'b>>) -> HttpServer<'b, P> {
        self.replay = Replay::new(events.into());
        self
    }

    /// Returns the configuration.
    #[must_use]
    pub fn config(&self) -> &'b HttpConfig<'b> {
        self.config
    }

    /// Returns the configured session mode, or [`SessionMode::Off`] if [`Policy::HANDSHAKE`] is `false`.
    fn mode(&self) -> SessionMode {
        if P::HANDSHAKE { self.config.mode } else { SessionMode::Off }
    }

    /// Returns whether a flag of the handshake era is set. Returns `false` if [`Policy::HANDSHAKE`] is `false`.
    fn has(slot: &ExchangeSlot, flag: Flags) -> bool {
        P::HANDSHAKE && slot.flags.has(flag)
    }

    /// Returns whether the request of an exchange belongs to `2026-07-28`.
    fn is_modern(slot: &ExchangeSlot) -> bool {
        !P::HANDSHAKE || slot.flags.has(Flags::MODERN)
    }

    /// Returns whether sent events are stored.
    fn has_replay(&self) -> bool {
        P::HANDSHAKE && self.replay.is_enabled()
    }

    /// Returns the policy.
    pub fn policy(&mut self) -> &mut P {
        &mut self.policy
    }

    /// Returns the user of a request, as [`Policy::authorize`] has identified the user. Returns `None` if the request
    /// has no user, or if its exchange has ended.
    ///
    /// `stream` is that of an event, such as [`Call::stream`](mcp_proto::server::Call::stream), or that of a deferred
    /// request: [`Server::stream_of`](mcp_proto::Server::stream_of). With the feature `alloc`, `Call::user` and the
    /// same method of other events return the user, too.
    ///
    /// ```
    /// use mcp_proto::server::{Event, Server};
    /// use mcp_proto_http::server::{HttpServer, Policy};
    ///
    /// fn on_event<P: Policy>(http: &HttpServer<'_, P>, server: &mut Server<'_>) {
    ///     match server.event() {
    ///         Some(Event::Call(call)) if call.name() == "erase" && http.user(call.stream()) != Some(1) => {
    ///             call.error(-31_001, "not permitted");
    ///         }
    ///         Some(Event::Call(call)) => call.text("Hello!"),
    ///         _ => {}
    ///     }
    /// }
    /// ```
    #[must_use]
    pub fn user(&self, stream: StreamId) -> Option<u64> {
        let user = self.exchanges.slot(self.exchanges.find(stream)?)?.user;
        Some(user).filter(|user| *user != 0)
    }

    /// Returns the number of exchanges, including those of clients that have disconnected.
    #[must_use]
    pub fn open_exchanges(&self) -> usize {
        self.exchanges.taken()
    }
}

impl<P> core::fmt::Debug for HttpServer<'_, P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("HttpServer").field("exchanges", &self.exchanges.taken()).finish_non_exhaustive()
    }
}
