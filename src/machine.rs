//! `Machine` and `Action`: the interface between a machine and its pump.

use crate::framing::InputSink;
use crate::framing::outbound_message::StreamId;
use crate::peer::transmit_buffer::Transmit;
use crate::rpc::Message;
use crate::time::Millis;

/// Next step for the caller, returned by [`Machine::poll`].
///
/// Exhaustive on purpose, because a further step would require a change of every caller's loop.
#[derive(Debug)]
pub enum Action<'a> {
    /// Move bytes in whichever direction is ready first, then poll again. Poll at the deadline at the latest.
    Io(Io<'a>),
    /// An event is pending: call `event()`.
    Event,
    /// The connection is closed. [`reset`](crate::Server::reset) prepares the machine for another one.
    Closed,
}

/// A server or a client, as a pump sees it: one pump serves both roles.
pub trait Machine: sealed::Sealed {
    /// Handles expired timeouts and buffered input, and returns the next step for the caller. `now` is the current time.
    ///
    /// Poll again after every action, and at the deadline of [`Io`]. Extra polls are harmless.
    fn poll(&mut self, now: Millis) -> Action<'_>;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Bytes to write, space for reads, and the deadline for the next poll.
///
/// Either half may be empty. A caller that can wait for both directions uses [`split`](Io::split). A caller that performs
/// one operation at a time uses [`next`](Io::next).
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

    /// Returns the operation to perform first: a write if bytes are unsent, otherwise a read.
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

    /// Returns the time of the next poll if no bytes move before. `None` if no timeout is running.
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

    /// Returns whether input is accepted. If not, unsent output has to be sent first, or the input has ended.
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
    /// machine then drops the line. It answers a request whose id was received with an error, and sends no other reply.
    pub fn filled(self, n: usize) {
        self.input.filled(n, StreamId::NONE);
    }

    /// Reports that one whole message of `n` bytes, from `stream`, was read into [`space`](Receive::space). Message
    /// mode only.
    ///
    /// The space of a growing buffer is only the part allocated so far. For messages of any size use
    /// [`message`](Receive::message).
    pub fn framed(self, n: usize, stream: StreamId) {
        self.input.filled(n, stream);
    }

    /// Copies one whole message from `stream`: a WebSocket, a queue or an HTTP body. Message mode only.
    ///
    /// The message may contain newlines. An oversized message is answered like an oversized line.
    ///
    /// # Errors
    /// Returns the message if the machine is not [`ready`](Receive::is_ready), or is not in message mode.
    pub fn message(self, message: &[u8], stream: StreamId) -> Result<(), &[u8]> {
        if self.input.message(message, None, stream) { Ok(()) } else { Err(message) }
    }

    /// Copies one whole message that the caller has already parsed. Otherwise like [`message`](Receive::message).
    ///
    /// The machine scans it again only if its nesting limit is lower than [`DEPTH_LIMIT`](crate::json::DEPTH_LIMIT).
    ///
    /// # Errors
    /// Returns the message if the machine is not [`ready`](Receive::is_ready), or is not in message mode.
    #[expect(clippy::result_large_err, reason = "there is no heap to box it on")]
    pub fn parsed<'m>(self, message: Message<'m>, stream: StreamId) -> Result<(), Message<'m>> {
        if self.input.message(message.bytes(), Some(message.envelope()), stream) {
            Ok(())
        } else {
            Err(message)
        }
    }

    /// Reports that a stream has closed: an HTTP response that the client abandoned, or an exchange that failed. Message
    /// mode only.
    ///
    /// A server cancels the stream's requests of `2026-07-28` and ends its subscriptions, each with
    /// [`Event::Cancelled`](crate::server::Event::Cancelled), and sends no response. Requests of a handshake session
    /// continue, because a client may come back for their responses. A client fails the request that it sent on this
    /// stream with [`RequestFailure::Closed`](crate::RequestFailure::Closed). The machine still offers messages of the
    /// stream that it wrote before; the caller drops them.
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
