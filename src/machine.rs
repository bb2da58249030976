//! `Machine` and `Action`: the interface between a machine and its pump.

use crate::framing::InputSink;
use crate::framing::outbound_message::StreamId;
use crate::peer::transmit_buffer::Transmit;
use crate::rpc::Message;
use crate::time::Millis;

/// Next step for the caller, returned by [`Machine::poll`].
///
/// The enum is exhaustive on purpose, because a new variant requires a change in the loop of every caller.
#[derive(Debug)]
pub enum Action<'a> {
    /// Move bytes in one or both directions, then poll again. Poll at the deadline at the latest.
    Io(Io<'a>),
    /// An event is pending: call `event()`.
    Event,
    /// The connection is closed. [`reset`](crate::Server::reset) prepares the machine for another one.
    Closed,
}

/// Interface of a server or client to a pump. One pump serves both roles.
pub trait Machine: sealed::Sealed {
    /// Handles timeouts and buffered input, and returns the caller's next step. `now` is the current time.
    ///
    /// Poll again after every action, and at the deadline of [`Io`]. Extra polls are harmless.
    fn poll(&mut self, now: Millis) -> Action<'_>;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Bytes to write, space for reads, and deadline of the next poll.
///
/// Either half may be empty. [`split`](Io::split) is for a caller that waits for both directions. [`next`](Io::next) is
/// for a caller that performs one operation at a time.
#[derive(Debug)]
pub struct Io<'a> {
    transmit: Transmit<'a>,
    receive: Receive<'a>,
    deadline: Option<Millis>,
}

/// One operation, for a caller that performs one at a time.
#[derive(Debug)]
pub enum Next<'a> {
    /// Write some or all of these bytes.
    Write(Transmit<'a>),
    /// No bytes to write: read some bytes.
    Read(Receive<'a>),
    /// No bytes to write and no input accepted: the machine waits for replies of the application, or for its deadline.
    Wait,
}

impl<'a> Io<'a> {
    pub(crate) fn new(transmit: Transmit<'a>, receive: Receive<'a>, deadline: Option<Millis>) -> Io<'a> {
        Io { transmit, receive, deadline }
    }

    /// Returns both halves.
    #[must_use]
    pub fn split(self) -> (Transmit<'a>, Receive<'a>) {
        (self.transmit, self.receive)
    }

    /// Returns the next operation: a write if bytes are unsent, else a read if input is accepted, else a wait.
    #[must_use = "the machine waits for one of the two"]
    pub fn next(self) -> Next<'a> {
        if !self.transmit.bytes().is_empty() {
            Next::Write(self.transmit)
        } else if self.receive.is_ready() {
            Next::Read(self.receive)
        } else {
            Next::Wait
        }
    }

    /// Returns the latest time of the next poll. `None` if no timeout is running.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        self.deadline
    }
}

/// Space for received bytes.
pub struct Receive<'a> {
    input: &'a mut (dyn InputSink + 'a),
}

impl<'a> Receive<'a> {
    pub(crate) fn new(input: &'a mut (dyn InputSink + 'a)) -> Receive<'a> {
        Receive { input }
    }

    /// Returns whether input is accepted. Input is refused after its end, and while buffered input waits for transmit
    /// space or for the application.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.input.is_ready()
    }

    /// Returns the space for a read. It is empty only if [`is_ready`](Receive::is_ready) returns `false`.
    #[must_use]
    pub fn space(&mut self) -> &mut [u8] {
        self.input.space()
    }

    /// Reports that `n` bytes were read into [`space`](Receive::space). In message mode they are one whole message.
    ///
    /// A link that has lost bytes within a line inserts the byte `CAN` (0x18), which valid JSON never contains. The
    /// machine then drops the line. If it received the id of a request, it responds with an error. Otherwise it sends
    /// no response.
    pub fn filled(self, n: usize) {
        self.input.filled(n, StreamId::NONE);
    }

    /// Reports a whole message of `n` bytes from `stream` in [`space`](Receive::space). Message mode only.
    ///
    /// The space of a growing buffer is only the part allocated so far. [`message`](Receive::message) has no such
    /// limit.
    pub fn framed(self, n: usize, stream: StreamId) {
        self.input.filled(n, stream);
    }

    /// Copies one whole message from `stream`: a WebSocket, a queue or an HTTP body. Message mode only.
    ///
    /// The message may contain newlines. The machine responds to an oversized message as to an oversized line.
    ///
    /// # Errors
    /// Returns the message if the machine is not [`ready`](Receive::is_ready), or is not in message mode.
    pub fn message(self, message: &[u8], stream: StreamId) -> Result<(), &[u8]> {
        if self.input.message(message, None, stream) { Ok(()) } else { Err(message) }
    }

    /// Copies one whole message that the caller has parsed, like [`message`](Receive::message).
    ///
    /// The machine scans the message again only if the machine's nesting limit is below
    /// [`DEPTH_LIMIT`](crate::json::DEPTH_LIMIT).
    ///
    /// # Errors
    /// Returns the message if the machine is not [`ready`](Receive::is_ready), or is not in message mode.
    #[expect(clippy::result_large_err, reason = "without a heap, the message cannot be boxed")]
    pub fn parsed<'m>(self, message: Message<'m>, stream: StreamId) -> Result<(), Message<'m>> {
        if self.input.message(message.bytes(), Some(message.envelope()), stream) {
            Ok(())
        } else {
            Err(message)
        }
    }

    /// Reports that a stream has closed. Message mode only. Examples are an HTTP response that the client abandoned,
    /// and an exchange that failed.
    ///
    /// A server cancels the requests and subscriptions of `2026-07-28` on this stream. It emits
    /// [`Event::Cancelled`](crate::server::Event::Cancelled) for each of them, and sends no response. Requests of a
    /// handshake session continue, because the client may reconnect and receive the responses. The
    /// [stream of a session](crate::SessionKey::stream) ends the session: its requests are cancelled, requests to its
    /// client fail, and its subscriptions end. If a client has sent a
    /// request on this stream, the request fails with [`RequestFailure::Closed`](crate::RequestFailure::Closed). The
    /// machine still offers messages that it wrote before for this stream. The caller drops these messages.
    ///
    /// # Errors
    /// Returns the stream if the machine is not [`ready`](Receive::is_ready), or is not in message mode.
    pub fn stream_closed(self, stream: StreamId) -> Result<(), StreamId> {
        if self.input.stream_closed(stream) { Ok(()) } else { Err(stream) }
    }

    /// Reports the end of input.
    pub fn eof(self) {
        self.input.eof();
    }
}

impl core::fmt::Debug for Receive<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Receive").field("is_ready", &self.is_ready()).finish()
    }
}
