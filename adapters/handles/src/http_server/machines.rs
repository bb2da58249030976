//! `HttpMachines`: the state machine of HTTP, and the core server that it drives.

use std::panic::{AssertUnwindSafe, catch_unwind};

use mcp_proto::server::{Change, Event};
use mcp_proto::{Buffer, Millis, SendError, Server, Ticket};
use mcp_proto_http::server::{ExchangeId, HttpServer, Policy, Slots, Step};

use super::HttpAccess;
use crate::server_shared::{ServerShared, Sessions};

/// Maximum size of the bodies that are incomplete or wait for the core server, as a number of bodies of maximum length.
const WAITING_BODIES: usize = 16;
/// Maximum size of the unread output of all exchanges, as a number of responses of maximum length.
const UNREAD_RESPONSES: usize = 4;

/// The state machine of HTTP, and the core server that it drives.
///
/// An adapter keeps this value behind a lock. The holder of the lock passes requests to [`http`](HttpMachines::http),
/// and must then call [`run`](HttpMachines::run).
#[derive(Debug)]
pub struct HttpMachines<'i> {
    /// The exchanges and their sessions.
    pub http: HttpServer<'i, HttpAccess<'i>>,
    /// The core server.
    pub server: Server<'i>,
    is_closed: bool,
}

impl<'i> HttpMachines<'i> {
    /// Creates the machines with memory that grows. `server` must be in message mode.
    #[must_use]
    pub fn new(server: Server<'i>, access: HttpAccess<'i>, limits: HttpMemory) -> HttpMachines<'i> {
        let config = access.config();
        let bodies = config.get_limits().body.saturating_mul(WAITING_BODIES);
        let output = limits.longest_answer.saturating_mul(UNREAD_RESPONSES);
        let http = HttpServer::new(config, access, Slots::grown(limits.exchanges), Buffer::grown(output))
            .body_buffer(Buffer::grown(bodies))
            .sessions(Slots::grown(limits.sessions))
            .replay_buffer(Buffer::grown(limits.replay))
            .event_streams(limits.event_streams)
            .chunked_responses();
        HttpMachines { http, server, is_closed: false }
    }

    /// Runs the machines until they wait or the server is closed. Returns the time at which to call `run` again.
    /// Returns `None` if only input, freed memory or a command requires another call. The caller must check
    /// [`is_closed`](HttpMachines::is_closed) after each call, because the result has no meaning for a closed server.
    ///
    /// `now` is the time of the clock of `commands`. `on_event` is the handler of the application. `run` calls
    /// `on_output` for each exchange with new output.
    ///
    /// A panic of the handler or of a hook fails only the request of its event, with an error response (-32603). The
    /// panic does not unwind through the caller, because the caller may serve another connection than that request's.
    pub fn run(
        &mut self,
        commands: &ServerShared,
        now: Millis,
        mut on_event: impl FnMut(Event<'_>),
        mut on_output: impl FnMut(ExchangeId),
    ) -> Option<Millis> {
        let mut now = now;
        loop {
            match self.http.poll(&mut self.server, now) {
                Step::Event => {
                    let handle = || commands.handle_event(&mut self.server, &mut on_event);
                    // The panic hook of the process has already reported the panic. The core server responds to a
                    // dropped request.
                    if catch_unwind(AssertUnwindSafe(handle)).is_err() {
                        commands.drop_record();
                    }
                    // The handler may have worked for long. If the timeout of a request to the client has expired
                    // meanwhile, its response may be unread. The next `poll` then extends the timeout, but only if
                    // `poll` gets the current time.
                    now = commands.now();
                }
                Step::Output(exchange) => on_output(exchange),
                Step::Wait(at) => {
                    // The server is idle now, so a command can select another session.
                    let (is_new, until) = commands.process_commands_in(&mut self.server, &mut self.http, now);
                    if !is_new {
                        self.is_closed |= until.is_some_and(|until| until <= now);
                        return at.into_iter().chain(until).min();
                    }
                }
                Step::Closed => {
                    self.is_closed = true;
                    return None;
                }
            }
        }
    }

    /// Moves output of an exchange to the end of `bytes`, until `bytes` has `limit` bytes or more, or no output is
    /// left. Before the first call, the caller must get the head from [`HttpServer::output`]. Returns `true` if no
    /// more output follows: the response is complete, or the exchange has ended.
    ///
    /// Call [`run`](HttpMachines::run) afterwards, because other exchanges may wait for the freed memory.
    pub fn take_output(
        &mut self,
        exchange: ExchangeId,
        bytes: &mut Vec<u8>,
        limit: usize,
        now: Millis,
    ) -> bool {
        loop {
            let output = self.http.output(exchange);
            let (length, is_end) = (output.body.len(), output.is_end);
            bytes.extend_from_slice(output.body);
            self.http.sent(exchange, length, now);
            if is_end || length == 0 || bytes.len() >= limit {
                return is_end;
            }
        }
    }

    /// Returns whether the server is closed. A closed server produces no further output.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.is_closed
    }
}

impl<P: Policy> Sessions for HttpServer<'_, P> {
    fn select(&mut self, server: &mut Server<'_>, ticket: Ticket) -> bool {
        self.enter(server, ticket) != Err(SendError::Busy)
    }

    fn release_connection(&mut self, server: &mut Server<'_>, ticket: Ticket) {
        // `false` means that the connection stays open, for example because the client would not connect again.
        let _ = HttpServer::release_connection(self, server, ticket);
    }

    fn changed(&mut self, server: &mut Server<'_>, change: Change<'_>) {
        HttpServer::changed(self, server, change);
    }
}

/// Limits of the memory of [`HttpMachines`].
#[derive(Debug, Clone, Copy)]
pub struct HttpMemory {
    /// Maximum number of exchanges: requests, and event streams for notifications.
    pub exchanges: usize,
    /// Maximum number of event streams that no call has opened, such as subscriptions.
    pub event_streams: usize,
    /// Maximum number of sessions. The slot of a session takes at most 128 bytes.
    pub sessions: usize,
    /// Memory for events that a client may request again, and for messages that wait for an event stream, in bytes.
    pub replay: usize,
    /// Maximum length of a response, in bytes.
    pub longest_answer: usize,
}
