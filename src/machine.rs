//! `Machine` and `Action`: the contract between a machine and the pump that drives it.

use crate::framing::outbound_message::StreamId;
use crate::framing::{InputSink, LineDecoder};
use crate::peer::transmit_buffer::{Transmit, TransmitBuffer};
use crate::rpc::Message;
use crate::time::Millis;

/// Next step for the caller, returned by [`Machine::poll`].
///
/// The enum is exhaustive on purpose, because a new variant requires a change in the loop of every caller.
#[derive(Debug)]
pub enum Action<'a> {
    /// Write bytes, read bytes, or both, and then poll again. If the machine has no bytes to write and no space for
    /// reads, wait. In every case, poll no later than at the deadline.
    Io(Io<'a>),
    /// A pending event. Call `event()` to receive the event. Until this call, each poll returns this action again.
    Event,
    /// The end of the connection. [`reset`](crate::Server::reset) prepares the machine for another connection.
    Closed,
}

/// Interface between a machine and a pump. The same pump can drive a server or a client.
pub trait Machine: sealed::Sealed {
    /// Handles timeouts and buffered input, and returns the caller's next step.
    ///
    /// `now` is the current time.
    ///
    /// The caller must poll again after every action, and no later than at the deadline of [`Io`]. Extra polls are
    /// harmless.
    ///
    /// The timeout of a request that this machine has sent may expire while the application handles an event of a
    /// message. The machine then extends the timeout once, by 100 milliseconds, because the caller may not have read
    /// the response yet. After the end of input or a shutdown, the machine extends no timeout. If the timeout of a
    /// keep-alive ping expires during such an event, this timeout restarts.
    fn poll(&mut self, now: Millis) -> Action<'_>;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Bytes to write, space for reads, and deadline of the next poll.
///
/// The bytes, the space or both can be empty. [`split`](Io::split) is for a caller that waits for both directions.
/// [`next`](Io::next) is for a caller that performs one operation at a time.
#[derive(Debug)]
pub struct Io<'a> {
    transmit: Transmit<'a>,
    receive: Receive<'a>,
    deadline: Option<Millis>,
}

/// One operation: a write, a read or a wait.
#[derive(Debug)]
pub enum Next<'a> {
    /// Write some or all of these bytes.
    Write(Transmit<'a>),
    /// Read some bytes. No bytes are waiting to be written.
    Read(Receive<'a>),
    /// Wait for a reply of the application, or for the [deadline](Io::deadline). [`Io::next`] consumes the [`Io`], so
    /// the caller must read the deadline before the call of `next`.
    ///
    /// The machine has no bytes to write and accepts no input.
    Wait,
}

/// Result of a machine's poll loop.
pub(crate) enum PollStep {
    /// An event is pending.
    Event,
    /// The connection has ended.
    Closed,
    /// The caller must move bytes or wait, and then poll again, no later than at this time. `None`: no deadline.
    Io(Option<Millis>),
}

impl PollStep {
    /// Converts the result into the action for the caller.
    ///
    /// `poll` is inlined up to this conversion, so that the caller constructs the large action in its final place.
    #[inline]
    pub(crate) fn into_action<'a>(
        self,
        output: &'a mut TransmitBuffer<'_>,
        input: &'a mut LineDecoder<'_>,
    ) -> Action<'a> {
        match self {
            PollStep::Event => Action::Event,
            PollStep::Closed => Action::Closed,
            PollStep::Io(deadline) => {
                Action::Io(Io { transmit: output.transmit(), receive: Receive { input }, deadline })
            }
        }
    }
}

impl<'a> Io<'a> {
    /// Returns the bytes to write and the space for reads.
    #[inline]
    #[must_use]
    pub fn split(self) -> (Transmit<'a>, Receive<'a>) {
        (self.transmit, self.receive)
    }

    /// Returns the next operation.
    ///
    /// The operation is a write while bytes are unsent. Otherwise, the operation is a read if the machine accepts
    /// input, and a wait if the machine accepts none.
    #[inline]
    #[must_use = "the machine waits for this operation"]
    pub fn next(self) -> Next<'a> {
        if !self.transmit.bytes().is_empty() {
            Next::Write(self.transmit)
        } else if self.receive.is_ready() {
            Next::Read(self.receive)
        } else {
            Next::Wait
        }
    }

    /// Returns the latest time at which the caller must poll. Returns `None` if the machine has no deadline: the next
    /// poll then follows I/O, or a call of the application.
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
    /// Returns whether the machine accepts input. The machine refuses input after the end of input or of the
    /// connection, and while unhandled input fills the receive buffer. In message mode, a single unhandled message
    /// blocks further input.
    #[inline]
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.input.is_ready()
    }

    /// Returns the space for a read. The space is empty only if [`is_ready`](Receive::is_ready) returns `false`.
    #[inline]
    #[must_use]
    pub fn space(&mut self) -> &mut [u8] {
        self.input.space()
    }

    /// Reports that `n` bytes were read into [`space`](Receive::space). In message mode, these bytes are one whole
    /// message. A call with `n` = 0 has no effect: [`eof`](Receive::eof) reports the end of input. If `n` exceeds
    /// the space, the machine handles the whole space as input.
    ///
    /// A link that has lost bytes within a line must insert the byte `CAN` (0x18), which valid JSON never contains. The
    /// machine then drops the line. If the machine received the id and the method of a request before the gap, the
    /// machine responds with an error. Otherwise, and on a client of `2026-07-28`, the machine sends no response.
    #[inline]
    pub fn filled(self, n: usize) {
        self.input.filled(n, StreamId::NONE);
    }

    /// Reports that the first `n` bytes of [`space`](Receive::space) are one whole message from `stream`. Message mode
    /// only.
    ///
    /// [`space`](Receive::space) does not grow a growing buffer. For a message that exceeds the space, call
    /// [`message`](Receive::message).
    pub fn framed(self, n: usize, stream: StreamId) {
        self.input.filled(n, stream);
    }

    /// Copies one whole message from `stream`. Message mode only.
    ///
    /// Examples of a stream are a WebSocket, a queue and an HTTP body. The message may contain newlines. The machine
    /// handles an oversized message in the same way as an oversized line.
    ///
    /// # Errors
    /// Returns the message if the machine is not [`ready`](Receive::is_ready), or is not in message mode.
    pub fn message(self, message: &[u8], stream: StreamId) -> Result<(), &[u8]> {
        if self.input.message(message, None, stream) { Ok(()) } else { Err(message) }
    }

    /// Copies one whole message that the caller has parsed, like [`message`](Receive::message).
    ///
    /// The machine does not scan the message again, unless the message is oversized, or the machine's nesting limit is
    /// below [`DEPTH_LIMIT`](crate::json::DEPTH_LIMIT).
    ///
    /// # Errors
    /// Returns the message if the machine is not [`ready`](Receive::is_ready), or is not in message mode.
    #[expect(clippy::result_large_err, reason = "without a heap, the message cannot be boxed")]
    pub fn parsed<'m>(self, message: Message<'m>, stream: StreamId) -> Result<(), Message<'m>> {
        if self.input.message(message.bytes(), Some(message.scanned()), stream) {
            Ok(())
        } else {
            Err(message)
        }
    }

    /// Reports that a stream has closed. Message mode only.
    ///
    /// Examples are an HTTP response that the client abandoned, and an HTTP exchange that failed.
    ///
    /// On a server, the requests and subscriptions of `2026-07-28` on this stream are cancelled. The server emits
    /// [`Event::Cancelled`](crate::server::Event::Cancelled) for each request or subscription, and sends no response.
    /// Requests of a handshake session continue, because the client may reconnect and receive the responses. An
    /// exception is a [chunked](crate::server::Call::chunked) response that has begun on this stream: the server
    /// cancels the request. If the stream is the [stream of a session](crate::SessionKey::stream), the session ends:
    /// its requests are cancelled, requests to its client fail, and its subscriptions end.
    ///
    /// On a client, a request that awaits its response on this stream fails with
    /// [`RequestFailure::Closed`](crate::RequestFailure::Closed). There are two exceptions. After a request about a
    /// task, the client polls the task again. After a request that connects the client, the client falls back to the
    /// handshake, or fails to connect. The machine may still offer unsent messages of this stream. The caller must drop
    /// these messages.
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
