//! Server side of MCP over HTTP, without sockets: exchanges, sessions and event streams.
//!
//! The transport, an HTTP library or the module [`http1`](crate::http1), passes in the head and the body of each
//! request. The [`HttpServer`] checks them, passes the message to the core [`Server`](mcp_proto::Server) in message
//! mode, and returns the status, the header fields and the body of the response.
//!
//! The transport calls, in this order for each request:
//!
//! 1. [`HttpServer::begin`] with the head. A refusal is the whole response.
//! 2. [`HttpServer::body`] with each piece of the body.
//! 3. [`HttpServer::poll`] whenever something happened. It reports events of the core server and exchanges with output.
//! 4. [`HttpServer::output`] and [`HttpServer::sent`] for an exchange with output, until the output ends.
//! 5. [`HttpServer::close`] if the client disconnects before the end.
//!
//! All memory is lent: slots for exchanges and sessions, parts for bodies, and pages for output. A client that neither
//! sends its body nor reads its response loses its exchange after a time.

mod allow_list;
mod begin;
mod bodies;
mod body;
mod body_checks;
mod config;
mod deliver;
mod event_stream;
mod exchanges;
mod expire;
mod flags;
mod head_checks;
mod header_value;
mod legacy;
mod output;
mod pages;
mod parameters;
mod policy;
mod poll;
mod replay;
mod request;
mod response;
mod route;
mod sealed;
mod session;
mod sessions;

pub use config::{AllowList, HttpConfig, HttpLimits, HttpTimes, LegacyPaths, SessionMode};
pub use exchanges::{ExchangeId, ExchangeSlot};
pub use output::Output;
pub use policy::{Policy, Verdict};
pub use poll::Step;
pub use request::{Method, RequestHead};
pub use response::{MediaType, REFUSAL_SIZE, Refusal, ResponseHead, SessionId};
pub use sessions::SessionSlot;

use bodies::Bodies;
use exchanges::Exchanges;
use mcp_proto::Millis;
use pages::Pages;
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
    bodies: Bodies<'b>,
    sessions: Sessions<'b>,
    replay: Replay<'b>,
    now: Millis,
    /// Exchange whose session the core server has, ready for its message.
    selected: Option<u16>,
}

impl<'b, P: Policy> HttpServer<'b, P> {
    /// Creates a server with storage for exchanges and their output.
    ///
    /// The server divides `output` into pages of [`HttpLimits::page`] bytes. A page belongs to one exchange until its
    /// client has read it. A response that is longer than all pages is answered with 500.
    #[must_use]
    pub fn new(
        config: &'b HttpConfig<'b>,
        policy: P,
        exchanges: &'b mut [ExchangeSlot],
        output: &'b mut [u8],
    ) -> HttpServer<'b, P> {
        HttpServer {
            config,
            policy,
            exchanges: Exchanges::new(exchanges),
            pages: Pages::new(output, config.limits.page),
            bodies: Bodies::new(&mut [], config.limits.body),
            sessions: Sessions::new(&mut []),
            replay: Replay::new(&mut []),
            now: Millis::ZERO,
            selected: None,
        }
    }

    /// Lends storage for bodies that arrive in pieces, or while the core server is busy. Each body takes
    /// [`HttpLimits::body`] bytes. Without a free part, the answer is 503.
    #[must_use]
    pub fn body_buffer(mut self, bytes: &'b mut [u8]) -> HttpServer<'b, P> {
        self.bodies = Bodies::new(bytes, self.config.limits.body);
        self
    }

    /// Lends storage for sessions, for [`SessionMode::Sessions`]. If all slots are taken, the session that was idle for
    /// the longest time ends.
    #[must_use]
    pub fn sessions(mut self, slots: &'b mut [SessionSlot]) -> HttpServer<'b, P> {
        self.sessions = Sessions::new(slots);
        self
    }

    /// Lends storage for sent events, so that a client can resume an event stream (`Last-Event-ID`).
    #[must_use]
    pub fn replay_buffer(mut self, events: &'b mut [u8]) -> HttpServer<'b, P> {
        self.replay = Replay::new(events);
        self
    }

    /// Returns the policy.
    pub fn policy(&mut self) -> &mut P {
        &mut self.policy
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
