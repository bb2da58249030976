//! `HttpPump`: moves bytes between one HTTP/1.1 connection and the HTTP server.

mod asynch;
mod blocking;

use embedded_io::ErrorKind;
use mcp_proto::{Millis, Server};
use mcp_proto_http::server::{Connection, ConnectionStatus, HttpServer, Policy, RESPONSE_SPACE};

pub use asynch::HttpShared;

use crate::link::Link;
use crate::log;
use crate::status::{ErrorClass, classify};

/// The size of the read buffer, in bytes.
const READ_BUFFER_SIZE: usize = 64;

/// Moves bytes between one HTTP/1.1 connection and the [`HttpServer`] that all connections share.
///
/// The `HttpServer` exchanges messages with a [`Server`], the core server, which handles the protocol and emits the
/// events. The pump contains a 64-byte buffer, has no type parameters, and needs no heap. Each socket has a pump of its
/// own. A main loop takes a [`step`](HttpPump::step) for each socket, and then polls the `HttpServer`:
///
/// ```
/// use mcp_proto::server::{Event, Server};
/// use mcp_proto::Millis;
/// use mcp_proto_embedded::{HttpPump, HttpStatus, Link};
/// use mcp_proto_http::server::{HttpServer, Policy, Step};
///
/// /// A socket that listens again after it has closed.
/// trait Socket: Link {
///     fn has_client(&self) -> bool;
///     /// Shuts down the output.
///     fn end(&mut self);
///     fn close(&mut self);
/// }
///
/// fn main_loop<P: Policy>(
///     http: &mut HttpServer<'_, P>,
///     server: &mut Server<'_>,
///     connections: &mut [(HttpPump<'_>, &mut dyn Socket)],
///     now: fn() -> Millis,
/// ) {
///     loop {
///         for (pump, socket) in connections.iter_mut().filter(|(_, socket)| socket.has_client()) {
///             match pump.step(http, server, *socket, now()) {
///                 HttpStatus::Closing(_) => socket.end(),
///                 HttpStatus::Closed => {
///                     socket.close();
///                     pump.new_connection(http);
///                 }
///                 _ => {}
///             }
///         }
///         match http.poll(server, now()) {
///             Step::Event => match server.event() {
///                 Some(Event::Call(call)) => call.text("Hello!"),
///                 _ => {}
///             },
///             Step::Wait(_) => { /* sleep until an interrupt, if no step has moved bytes */ }
///             _ => {}
///         }
/// #       if true { return }
///     }
/// }
/// ```
///
/// [`run`](HttpPump::run) serves one connection over a blocking driver, and [`serve`](HttpPump::serve) serves one in an
/// async task.
///
/// A lost byte breaks HTTP, so every error of the link closes the connection. The exceptions are `TimedOut`, and
/// `Unsupported` for a flush.
#[derive(Debug)]
pub struct HttpPump<'b> {
    connection: Connection<'b>,
    read_buffer: [u8; READ_BUFFER_SIZE],
    /// Start of the bytes in `read_buffer` that the connection has not consumed.
    fed: usize,
    /// End of the bytes in `read_buffer` that were read.
    filled: usize,
    /// Whether the client has ended its output.
    has_ended: bool,
    /// Whether [`serve`](HttpPump::serve) or [`run`](HttpPump::run) has written output that is not flushed yet.
    is_unflushed: bool,
}

/// The result of [`HttpPump::step`], [`HttpPump::run`] or [`HttpPump::serve`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum HttpStatus {
    /// The core server has an event: call its `event()`. Only [`HttpPump::run`] returns this status.
    Event,
    /// Bytes have moved. Poll the [`HttpServer`], and take another step. Only [`HttpPump::step`] returns this status.
    Moved,
    /// No work is due until bytes arrive, output can be written, the server has output, or this deadline passes. `None`
    /// means no deadline.
    ///
    /// The deadline that [`HttpPump::step`] returns is the deadline of the connection. [`HttpServer::poll`] returns the
    /// deadline of the servers.
    Idle(Option<Millis>),
    /// All output was written. The caller must shut down the output of the socket, and take further steps until a step
    /// returns `Closed`, which happens at the deadline at the latest. These steps drop input, because unread input
    /// would reset the connection, and the client could lose the response.
    ///
    /// After [`HttpPump::serve`], the caller drops the input itself.
    Closing(Option<Millis>),
    /// The connection or the core server is closed. The caller closes the socket, and calls
    /// [`HttpPump::new_connection`]. After [`HttpPump::serve`], this call is not needed.
    Closed,
}

impl<'b> HttpPump<'b> {
    /// Creates a pump that waits for the first request of a connection.
    ///
    /// `head` is memory for the header fields of one request: see [`Connection::new`].
    #[must_use]
    pub fn new(head: &'b mut [u8]) -> HttpPump<'b> {
        let connection = Connection::new(head);
        HttpPump {
            connection,
            read_buffer: [0; READ_BUFFER_SIZE],
            fed: 0,
            filled: 0,
            has_ended: false,
            is_unflushed: false,
        }
    }

    /// Returns the state of the connection.
    #[must_use]
    pub fn connection(&self) -> &Connection<'b> {
        &self.connection
    }

    /// Ends the exchange and drops the buffered bytes of the old connection. The pump then waits for the first request
    /// of another connection.
    pub fn new_connection<P: Policy>(&mut self, http: &mut HttpServer<'_, P>) {
        (self.fed, self.filled, self.has_ended, self.is_unflushed) = (0, 0, false, false);
        self.connection.close(http);
    }

    /// Moves bytes in both directions. Blocks only as long as the link does.
    ///
    /// Writes as many bytes as the link accepts, and reads at most 64 bytes. The caller then polls `http`.
    ///
    /// The first step for a client starts the time limit for the first request of this client. So the caller must not
    /// take a step while the link has no client.
    pub fn step<P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        server: &mut Server<'_>,
        link: &mut dyn Link,
        now: Millis,
    ) -> HttpStatus {
        let has_sent = self.transmit(http, &mut |bytes| link.transmit(bytes), now);
        let has_read = self.wants_more().then(|| link.receive(&mut self.read_buffer));
        let has_received = self.receive(http, server, has_read.unwrap_or(Ok(None)), now);
        match (has_sent, has_received) {
            (Ok(_), Ok(_)) if self.is_lost(http) => HttpStatus::Closed,
            (Ok(has_sent), Ok(has_received)) => self.status(has_sent | has_received),
            _ => HttpStatus::Closed,
        }
    }

    /// Writes output until none is left, or `write` writes no byte. Returns whether bytes were written. Fails if the
    /// link has failed.
    // Not inlined, so that its stack frame is not live while the server parses a message.
    #[inline(never)]
    fn transmit<P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        write: &mut dyn FnMut(&[u8]) -> Result<usize, ErrorKind>,
        now: Millis,
    ) -> Result<bool, Lost> {
        let mut space = [0; RESPONSE_SPACE];
        let mut has_sent = false;
        loop {
            let bytes = self.connection.output(http, &mut space, now);
            if bytes.is_empty() {
                return Ok(has_sent);
            }
            let n = write(bytes).or_else(ignore_timeout)?.min(bytes.len());
            if n == 0 {
                return Ok(has_sent);
            }
            has_sent = true;
            self.connection.sent(http, n, now);
        }
    }

    /// Returns whether the caller may read into the read buffer.
    fn wants_more(&self) -> bool {
        !self.has_ended && self.fed >= self.filled
    }

    /// Returns whether the client has ended its output, and no whole response is left to send.
    fn is_lost<P: Policy>(&self, http: &HttpServer<'_, P>) -> bool {
        self.has_ended && !self.connection.has_whole_response(http)
    }

    /// Handles the result of a read, and passes buffered input to the connection. Returns whether the connection has
    /// consumed bytes. Fails if the link has failed.
    fn receive<P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        server: &mut Server<'_>,
        read: Result<Option<usize>, ErrorKind>,
        now: Millis,
    ) -> Result<bool, Lost> {
        if let Some(n) = read.or_else(|kind| ignore_timeout(kind).map(|_| None))? {
            (self.fed, self.filled) = (0, n.min(READ_BUFFER_SIZE));
            self.has_ended = n == 0;
        }
        let input = self.read_buffer.get(self.fed..self.filled).unwrap_or_default();
        if input.is_empty() {
            return Ok(false);
        }
        let n = self.connection.receive(http, server, input, now);
        self.fed = self.fed.saturating_add(n);
        Ok(n > 0)
    }

    fn status(&self, has_moved: bool) -> HttpStatus {
        let deadline = self.connection.deadline();
        match self.connection.status() {
            ConnectionStatus::Open if has_moved => HttpStatus::Moved,
            ConnectionStatus::Open => HttpStatus::Idle(deadline),
            ConnectionStatus::Closing => HttpStatus::Closing(deadline),
            ConnectionStatus::Closed => HttpStatus::Closed,
        }
    }
}

/// The link has failed.
struct Lost;

/// Returns `Ok(0)` for `TimedOut`, because no byte has moved and none was lost. Logs any other error, and returns
/// `Err`.
fn ignore_timeout(kind: ErrorKind) -> Result<usize, Lost> {
    match classify(kind) {
        ErrorClass::TimedOut => Ok(0),
        ErrorClass::Temporary | ErrorClass::Gone => {
            log::lost(kind);
            Err(Lost)
        }
    }
}
