//! Configuration of the HTTP server: hosts, origins, sessions, limits and times.

use mcp_proto::{Millis, Revisions};

/// Hosts or origins that a request may name.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum AllowList<'c> {
    /// Only `localhost`, `127.0.0.0/8` and `[::1]`, with any port.
    Loopback,
    /// Only these names. A name of a host without a port allows any port. A name of an origin includes the scheme:
    /// `https://example.com`.
    Names(&'c [&'c str]),
    /// Every name. A web page can then reach a server on the user's own computer (DNS rebinding).
    Any,
}

/// The treatment of the handshake era: all revisions before `2026-07-28`.
///
/// With [`Stateless`](SessionMode::Stateless) and [`Sealed`](SessionMode::Sealed), the server does not learn when a
/// session ends. The server therefore refuses `resources/subscribe` with -32601. For a request without a user, the
/// server also refuses tasks of `2025-11-25`: the methods `tasks/…`, and calls with the parameter `task`. The result of
/// `initialize` still declares subscriptions and tasks, so configure such a server without subscriptions. Also
/// configure the server without [tasks](mcp_proto::server::Server::tasks), unless every request has a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionMode {
    /// The endpoint speaks `2026-07-28` only.
    Off,
    /// The server answers `initialize`, but sends no session id and stores no session.
    Stateless,
    /// The server sends a session id, and keeps a table of sessions.
    Sessions,
    /// The server sends a session id that contains the revision of the session, and a signature of
    /// [`Policy::sign`](super::Policy::sign).
    ///
    /// Any server that signs with the same key can continue the session. No table is needed. The server cannot end such
    /// a session, send requests to its client, or remember its log level.
    Sealed,
}

/// The two endpoints of HTTP+SSE, the transport of `2024-11-05`.
#[derive(Debug, Clone, Copy)]
pub struct LegacyPaths<'c> {
    /// Path of the event stream, such as `/sse`.
    pub events: &'c str,
    /// Path for messages, such as `/messages`.
    pub messages: &'c str,
}

/// Configuration of an [`HttpServer`](super::HttpServer).
///
/// By default, the server speaks only `2026-07-28`, and refuses `initialize`. Most current clients begin with
/// `initialize`, so most servers need [`SessionMode::Sessions`]:
///
/// ```
/// use mcp_proto_http::server::{AllowList, HttpConfig, SessionMode};
/// static HTTP: HttpConfig<'static> = HttpConfig::new()
///     .hosts(AllowList::Names(&["mcp.example.com"]))
///     .sessions(SessionMode::Sessions);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct HttpConfig<'c> {
    pub(super) hosts: AllowList<'c>,
    pub(super) origins: AllowList<'c>,
    pub(super) path: Option<&'c str>,
    pub(super) legacy: Option<LegacyPaths<'c>>,
    pub(super) mode: SessionMode,
    pub(super) revisions: Revisions,
    pub(super) is_accept_strict: bool,
    pub(super) json_only: bool,
    pub(super) limits: HttpLimits,
    pub(super) times: HttpTimes,
}

/// Limits of an [`HttpServer`](super::HttpServer).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HttpLimits {
    /// The maximum length of a body, in bytes. Default: 65,536. A longer body gets status 413.
    ///
    /// A server may receive one body per exchange at the same time. Each stored body takes this number of bytes of the
    /// [body buffer](super::HttpServer::body_buffer).
    pub body: usize,
    /// The size of a page of output in bytes, including a header of four bytes. Sizes outside of 5 to 65,535 are
    /// clamped. Default: 1,024.
    pub page: usize,
    /// The maximum unread output of one stream, in bytes. Beyond this limit, notifications of a call are dropped, and
    /// a stream that no call has opened ends. Default: 65,536.
    pub stream: usize,
    /// The maximum number of messages that wait for the event stream of a session. Default: 16.
    pub held: usize,
    /// The number of exchanges that are reserved for calls. An event stream that no call has opened cannot take a
    /// reserved exchange. Default: 1.
    pub reserved: usize,
    /// The maximum length of a request id as JSON, in bytes: a string counts with its quotes. Must not exceed the limit
    /// of the core server. Default: 64.
    pub id: usize,
}

impl HttpLimits {
    /// The default limits.
    pub const DEFAULT: HttpLimits =
        HttpLimits { body: 65_536, page: 1024, stream: 65_536, held: 16, reserved: 1, id: 64 };

    /// Sets the maximum length of a body, in bytes.
    ///
    /// All exchanges may receive a body at the same time. With 4,096 exchanges, the default of `mcp-proto-tower`,
    /// bodies of 64 KiB take up to 256 MiB, and bodies of 4 MiB up to 16 GiB. So a server with a larger limit should
    /// also limit its exchanges (`Serve::exchanges`) or its connections (`Serve::connections` of `mcp-proto-std`, 64 by
    /// default). Requests that the policy refuses take no such memory, because the server refuses them by their head.
    ///
    /// ```
    /// use mcp_proto_http::server::{HttpConfig, HttpLimits};
    /// static HTTP: HttpConfig = HttpConfig::new().limits(HttpLimits::DEFAULT.with_body(4 << 20));
    /// ```
    #[must_use]
    pub const fn with_body(mut self, bytes: usize) -> Self {
        self.body = bytes;
        self
    }
}

impl Default for HttpLimits {
    fn default() -> Self {
        HttpLimits::DEFAULT
    }
}

/// Times of an [`HttpServer`](super::HttpServer).
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct HttpTimes {
    /// The time for a body to arrive. Default: 30 s.
    pub body: Millis,
    /// The time without a message after which a response becomes an event stream. Has no effect with
    /// [`json_only`](HttpConfig::json_only), for `initialize`, and for a client that does not accept event streams.
    /// Default: 5 s.
    pub upgrade_after: Millis,
    /// The interval of comments on an idle event stream. Default: 15 s.
    pub keep_alive: Millis,
    /// The time after which an exchange ends if the client does not read the response. Default: 30 s.
    pub stall: Millis,
    /// The time after which an unused session ends. Default: 8 hours.
    pub session_idle: Millis,
    /// The time that a client should wait before it connects to a stream again. The server sends this time only in
    /// priming events, which `2025-11-25` has. Default: 1 s.
    pub retry: Millis,
    /// The value of `Retry-After`, in seconds. Default: 1.
    pub retry_after: u16,
    /// [`Connection`](super::Connection): the time for a client to send its next request. Default: 75 s.
    pub idle: Millis,
    /// [`Connection`](super::Connection): the time for a head to arrive. Default: 30 s.
    pub head: Millis,
    /// [`Connection`](super::Connection): the time for which input is dropped before the socket closes. Default: 2 s.
    pub linger: Millis,
}

impl<'c> HttpConfig<'c> {
    /// Creates a configuration for a server on the loopback interface that speaks only `2026-07-28`. For clients of
    /// the handshake era, add [`sessions`](HttpConfig::sessions).
    #[must_use]
    pub const fn new() -> Self {
        HttpConfig {
            hosts: AllowList::Loopback,
            origins: AllowList::Loopback,
            path: None,
            legacy: None,
            mode: SessionMode::Off,
            revisions: Revisions::ALL,
            is_accept_strict: false,
            json_only: false,
            limits: HttpLimits::DEFAULT,
            times: HttpTimes {
                body: Millis::seconds(30),
                upgrade_after: Millis::seconds(5),
                keep_alive: Millis::seconds(15),
                stall: Millis::seconds(30),
                session_idle: Millis::seconds(8 * 3600),
                retry: Millis::seconds(1),
                retry_after: 1,
                idle: Millis::seconds(75),
                head: Millis::seconds(30),
                linger: Millis::seconds(2),
            },
        }
    }

    /// Sets the accepted values of `Host`. Default: [`AllowList::Loopback`].
    #[must_use]
    pub const fn hosts(mut self, hosts: AllowList<'c>) -> Self {
        self.hosts = hosts;
        self
    }

    /// Sets the accepted values of `Origin`. Default: [`AllowList::Loopback`].
    #[must_use]
    pub const fn origins(mut self, origins: AllowList<'c>) -> Self {
        self.origins = origins;
        self
    }

    /// Sets the path of the endpoint. Default: the server answers on every path.
    #[must_use]
    pub const fn path(mut self, path: &'c str) -> Self {
        self.path = Some(path);
        self
    }

    /// Serves HTTP+SSE of `2024-11-05` on these paths. Needs [`SessionMode::Sessions`].
    ///
    /// The server then refuses [chunked](mcp_proto::server::Call::chunked) responses, because all responses to a client
    /// of HTTP+SSE share one stream.
    #[must_use]
    pub const fn legacy(mut self, paths: LegacyPaths<'c>) -> Self {
        self.legacy = Some(paths);
        self
    }

    /// Sets the treatment of the handshake era. Default: [`SessionMode::Off`], so the server refuses `initialize`.
    #[must_use]
    pub const fn sessions(mut self, mode: SessionMode) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the supported revisions, which must be those of the core server. Default: all revisions.
    #[must_use]
    pub const fn revisions(mut self, revisions: Revisions) -> Self {
        self.revisions = revisions;
        self
    }

    /// Refuses a POST to the MCP endpoint unless its `Accept` names `application/json` and `text/event-stream`.
    ///
    /// By default, one of these media types suffices, and `*/*` or no `Accept` stands for JSON. For a client that does
    /// not accept event streams, the server drops the same messages as with [`json_only`](HttpConfig::json_only).
    #[must_use]
    pub const fn strict_accept(mut self) -> Self {
        self.is_accept_strict = true;
        self
    }

    /// Answers calls with JSON, unless the client accepts only event streams. Drops all messages before the response,
    /// such as progress and log messages.
    ///
    /// The server also drops requests to the client that are related to a call, such as elicitation. These requests end
    /// with their timeout. Do not set this option on a server that sends such requests in the handshake era.
    #[must_use]
    pub const fn json_only(mut self) -> Self {
        self.json_only = true;
        self
    }

    /// Sets the limits.
    #[must_use]
    pub const fn limits(mut self, limits: HttpLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the times. A time of 0 has the effect of 1 ms, except for `retry` and `retry_after`.
    #[must_use]
    pub const fn times(mut self, times: HttpTimes) -> Self {
        self.times = HttpTimes {
            body: at_least_a_millisecond(times.body),
            upgrade_after: at_least_a_millisecond(times.upgrade_after),
            keep_alive: at_least_a_millisecond(times.keep_alive),
            stall: at_least_a_millisecond(times.stall),
            session_idle: at_least_a_millisecond(times.session_idle),
            retry: times.retry,
            retry_after: times.retry_after,
            idle: at_least_a_millisecond(times.idle),
            head: at_least_a_millisecond(times.head),
            linger: at_least_a_millisecond(times.linger),
        };
        self
    }

    /// Returns a copy of the limits, which the caller can change and pass to [`limits`](HttpConfig::limits).
    #[must_use]
    pub const fn get_limits(&self) -> HttpLimits {
        self.limits
    }

    /// Returns a copy of the times, which the caller can change and pass to [`times`](HttpConfig::times).
    #[must_use]
    pub const fn get_times(&self) -> HttpTimes {
        self.times
    }
}

/// Returns the time, or one millisecond for a time of 0, because a deadline at `now` would expire in the same poll.
const fn at_least_a_millisecond(time: Millis) -> Millis {
    if time.0 == 0 { Millis(1) } else { time }
}

impl Default for HttpConfig<'_> {
    fn default() -> Self {
        HttpConfig::new()
    }
}
