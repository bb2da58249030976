//! `Connection`: one HTTP/1.1 connection of a server, without its socket.

mod input;
mod output;

use mcp_proto::Millis;
use mcp_proto::rpc::code;

use super::response::Detail;
use super::{ExchangeId, HttpServer, Policy, Refusal};
use crate::http1::{BodyDecoder, BodyFraming, HttpError, RequestDecoder};
use output::Piece;

const NEVER: Millis = Millis(u64::MAX);

/// The space that [`Connection::output`] needs for the head of a response without a challenge, in bytes.
pub const RESPONSE_SPACE: usize = 320;

/// One HTTP/1.1 connection of a server, without its socket and without a heap.
///
/// The caller passes in the bytes that arrive, and sends the bytes that `Connection` returns. The caller also polls the
/// [`HttpServer`], which all connections share. The order of the calls is:
///
/// 1. [`receive`](Connection::receive) with input, and [`close`](Connection::close) when the client has disconnected.
/// 2. [`HttpServer::poll`], and the events of the core server.
/// 3. [`output`](Connection::output) and [`sent`](Connection::sent), until the output is empty.
/// 4. [`status`](Connection::status), which reports when to close the socket.
///
/// A connection serves its requests one after the other. After the end of a request, the connection consumes no input
/// until the response is sent. So pipelined requests stay in the buffer of the caller. [`HttpTimes`](super::HttpTimes)
/// has the time limits.
///
/// ```
/// use mcp_proto::server::{Event, Server};
/// use mcp_proto::Millis;
/// use mcp_proto_http::server::{Connection, ConnectionStatus, HttpServer, Policy, RESPONSE_SPACE, Step};
///
/// trait Socket {
///     fn received(&mut self) -> &[u8];
///     fn drop_received(&mut self, n: usize);
///     fn send(&mut self, bytes: &[u8]) -> usize;
///     fn close(&mut self);
/// }
///
/// fn serve<P: Policy>(
///     connection: &mut Connection<'_>,
///     http: &mut HttpServer<'_, P>,
///     server: &mut Server<'_>,
///     socket: &mut impl Socket,
///     now: Millis,
/// ) {
///     let n = connection.receive(http, server, socket.received(), now);
///     socket.drop_received(n);
///     while !matches!(http.poll(server, now), Step::Wait(_) | Step::Closed) {
///         if let Some(Event::Call(call)) = server.event() {
///             call.text("done");
///         }
///     }
///     let mut space = [0; RESPONSE_SPACE];
///     loop {
///         match socket.send(connection.output(http, &mut space, now)) {
///             0 => break,
///             n => connection.sent(http, n, now),
///         }
///     }
///     if connection.status() != ConnectionStatus::Open {
///         socket.close();
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Connection<'b> {
    head: RequestDecoder<'b>,
    body: BodyDecoder,
    phase: Phase,
    request: Request,
    piece: Piece,
    /// Number of bytes of the piece that were sent.
    position: usize,
    /// Length of the piece.
    length: usize,
    /// The deadline for the client. `NEVER` while an exchange has its own deadline, and, for a new connection, before
    /// the first call of [`Connection::output`].
    deadline: Millis,
    keeps_alive: bool,
    /// Whether the client understands chunks.
    is_chunkable: bool,
    is_chunked: bool,
    /// Whether the response has begun.
    has_response: bool,
    /// Whether all bytes of the response body were sent. The last chunk may still be unsent.
    is_end: bool,
}

/// State of a [`Connection`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConnectionStatus {
    /// The connection serves a request or waits for one.
    Open,
    /// All output was sent. The caller must shut down the output of the socket, and continue to pass in input. If the
    /// socket closed with unread input, the connection would be reset, and the client could lose the response.
    Closing,
    /// The caller must close the socket, and call [`Connection::close`].
    Closed,
}

/// Phase of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Head,
    Body,
    /// The request is complete, or the connection ignores the rest of the request.
    Response,
    Closing,
    Closed,
}

/// The source of the response to the current request.
#[derive(Debug, Clone)]
enum Request {
    /// No exchange has begun for the request.
    None,
    Exchange(ExchangeId),
    /// The refusal of the request. The flag is `true` if [`HttpServer::begin`] has refused a HEAD request: the response
    /// then has no body.
    Refused(Refusal, bool),
}

impl<'b> Connection<'b> {
    /// Creates a connection that waits for its first request.
    ///
    /// `head` stores the needed parts of a head: see [`RequestDecoder`]. 400 bytes suffice for a typical head. A long
    /// target or token takes more.
    #[must_use]
    pub fn new(head: &'b mut [u8]) -> Connection<'b> {
        Connection {
            head: RequestDecoder::new(head),
            body: BodyDecoder::new(BodyFraming::EMPTY),
            phase: Phase::Head,
            request: Request::None,
            piece: Piece::None,
            position: 0,
            length: 0,
            deadline: NEVER,
            keeps_alive: false,
            is_chunkable: false,
            is_chunked: false,
            has_response: false,
            is_end: false,
        }
    }

    /// Returns the state of the connection.
    #[must_use]
    pub fn status(&self) -> ConnectionStatus {
        match self.phase {
            Phase::Closing => ConnectionStatus::Closing,
            Phase::Closed => ConnectionStatus::Closed,
            Phase::Head | Phase::Body | Phase::Response => ConnectionStatus::Open,
        }
    }

    /// Returns whether the connection waits for the first byte of a request. The caller may then close the connection
    /// in favor of another client.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.phase == Phase::Head && self.head.is_idle()
    }

    /// Returns whether the connection takes input. Between the end of a request and the end of its response, the
    /// connection takes no input.
    #[must_use]
    pub fn takes_input(&self) -> bool {
        matches!(self.phase, Phase::Head | Phase::Body | Phase::Closing)
    }

    /// Returns the exchange that the connection serves. The caller finds the connection of a
    /// [`Step::Output`](super::Step::Output) by this exchange. Returns `None` before the exchange begins, after its
    /// response, and for a refused request.
    #[must_use]
    pub fn exchange(&self) -> Option<ExchangeId> {
        match self.request {
            Request::Exchange(exchange) => Some(exchange),
            Request::None | Request::Refused(..) => None,
        }
    }

    /// Returns whether the response to the current request is complete, but not yet fully sent. A client that has ended
    /// its input may still read this response. At the end of the input in any other state, the caller calls
    /// [`close`](Connection::close).
    #[must_use]
    pub fn has_whole_response<P: Policy>(&self, http: &HttpServer<'_, P>) -> bool {
        match self.request {
            Request::None => false,
            Request::Exchange(exchange) => self.is_end || http.is_ending(exchange),
            Request::Refused(..) => true,
        }
    }

    /// Returns the latest time for the next call of [`output`](Connection::output), or `None` if the connection has no
    /// deadline.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        Some(self.deadline).filter(|deadline| *deadline != NEVER)
    }

    /// Ends the connection, after the client has disconnected or the caller has closed the socket. This value then
    /// waits for the first request of another connection.
    pub fn close<P: Policy>(&mut self, http: &mut HttpServer<'_, P>) {
        self.close_exchange(http);
        self.begin_request();
        self.deadline = NEVER;
    }

    /// Prepares for the next request, or for the end of the connection.
    fn end_request<P: Policy>(&mut self, http: &HttpServer<'_, P>, now: Millis) {
        let times = &http.config.times;
        if self.keeps_alive {
            self.begin_request();
            self.deadline = now.plus(times.idle);
        } else {
            self.phase = Phase::Closing;
            self.request = Request::None;
            self.deadline = now.plus(times.linger);
        }
    }

    fn begin_request(&mut self) {
        self.head.reset();
        self.phase = Phase::Head;
        self.request = Request::None;
        self.set_piece(Piece::None);
        (self.is_chunked, self.has_response, self.is_end) = (false, false, false);
    }

    fn set_piece(&mut self, piece: Piece) {
        (self.piece, self.position, self.length) = (piece, 0, 0);
    }

    /// Refuses a request whose end is unknown, and ends the connection after the response. If a response has already
    /// begun, the connection closes at once.
    pub fn refuse<P: Policy>(
        &mut self,
        http: &mut HttpServer<'_, P>,
        refusal: impl Into<Refusal>,
        now: Millis,
    ) {
        self.close_exchange(http);
        self.keeps_alive = false;
        self.phase = if self.has_response { Phase::Closed } else { Phase::Response };
        self.request = Request::Refused(refusal.into(), false);
        self.deadline = now.plus(http.config.times.stall);
    }

    fn close_exchange<P: Policy>(&mut self, http: &mut HttpServer<'_, P>) {
        if let Some(exchange) = self.exchange() {
            http.close(exchange);
        }
    }

    /// Starts the time for the first request, if the connection waits for this request and has no deadline. Otherwise
    /// handles a deadline that has passed.
    fn expire<P: Policy>(&mut self, http: &mut HttpServer<'_, P>, now: Millis) {
        match self.deadline {
            NEVER if self.phase == Phase::Head => self.deadline = now.plus(http.config.times.idle),
            deadline if deadline <= now => {
                if self.phase == Phase::Head && !self.head.is_idle() {
                    let reason = "the head did not arrive in time";
                    self.refuse(http, Refusal::new(408, code::INVALID_REQUEST, reason), now);
                } else {
                    self.phase = Phase::Closed;
                }
            }
            _ => {}
        }
    }
}

/// A response to a request whose head or body the parser rejects.
impl From<HttpError> for Refusal {
    fn from(error: HttpError) -> Refusal {
        let refusal = Refusal::new(error.status(), code::INVALID_REQUEST, error.reason());
        Refusal { detail: Detail::Element(error.element()), ..refusal }
    }
}
