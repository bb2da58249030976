//! What a machine needs from its host next: [`Action`], and the two halves of [`Action::Io`].

use crate::framing::InputSink;
use crate::framing::outbound_message::{About, OutboundMessage, StreamId};
use crate::peer::transmit_buffer::Link;
use crate::rpc::Message;
use crate::time::Millis;

/// What [`Machine::poll`] asks for. It is exhaustive on purpose: a new need would have to break every host's loop.
#[derive(Debug)]
pub enum Action<'a> {
    /// Move bytes, in whichever direction is possible first, until the deadline at the latest; then poll again.
    Io(Io<'a>),
    /// Something happened: call `event()`.
    Event,
    /// The connection is over. [`reset`](crate::Server::reset) makes the machine ready for the next one.
    Closed,
}

/// A server or a client, seen by whoever moves its bytes: one pump serves both.
pub trait Machine: sealed::Sealed {
    /// Says what is needed next. Whatever is due at `now` happens first.
    ///
    /// Poll again after every action, and when the deadline of [`Io`] has come. Polling too often is harmless.
    fn poll(&mut self, now: Millis) -> Action<'_>;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// Both directions at once: what to write, where to read to, and when to poll again if neither happens.
///
/// Either half may be empty. A host that can wait for both directions takes them with [`split`](Io::split); one
/// that does one thing at a time takes [`next`](Io::next).
#[derive(Debug)]
pub struct Io<'a> {
    transmit: Transmit<'a>,
    receive: Receive<'a>,
    deadline: Option<Millis>,
}

/// One thing to do, for a host that does one thing at a time.
#[derive(Debug)]
pub enum Next<'a> {
    /// Write some of these bytes.
    Write(Transmit<'a>),
    /// Nothing to write: read some bytes.
    Read(Receive<'a>),
    /// Nothing to write and no more to read: the machine waits for answers of the host, or for its deadline.
    Wait,
}

impl<'a> Io<'a> {
    pub(crate) fn new(transmit: Transmit<'a>, receive: Receive<'a>, deadline: Option<Millis>) -> Io<'a> {
        Io { transmit, receive, deadline }
    }

    /// The two halves.
    #[must_use]
    pub fn split(self) -> (Transmit<'a>, Receive<'a>) {
        (self.transmit, self.receive)
    }

    /// The half that a host should work on if it can only do one: writing comes first.
    #[must_use = "the machine waits for one of the two"]
    pub fn next(self) -> Next<'a> {
        if !self.transmit.bytes.is_empty() {
            Next::Write(self.transmit)
        } else if self.receive.is_ready() {
            Next::Read(self.receive)
        } else {
            Next::Wait
        }
    }

    /// The time at which to poll again even if no byte has moved.
    #[must_use]
    pub fn deadline(&self) -> Option<Millis> {
        self.deadline
    }
}

/// Bytes that are ready to be written. What is not reported as sent is offered again.
#[derive(Debug)]
pub struct Transmit<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) frame: Option<About>,
    pub(crate) start: &'a mut usize,
    /// Bytes to step over with a whole frame: its mark, which is no part of the message.
    pub(crate) overhead: usize,
    pub(crate) link: &'a mut Link,
}

impl<'a> Transmit<'a> {
    /// The bytes to write. Empty if there are none. In frame mode this is exactly one message.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// In frame mode, the message with what it is and what it belongs to.
    #[must_use]
    pub fn frame(&self) -> Option<OutboundMessage<'a>> {
        let about = self.frame?;
        Some(OutboundMessage { message: self.bytes, about })
    }

    /// Reports that the first `n` bytes were written. In frame mode a message counts as sent only when it was
    /// written whole; a smaller `n` leaves it to be offered again.
    pub fn sent(self, n: usize) {
        let n = n.min(self.bytes.len());
        if self.frame.is_none() || n == self.bytes.len() {
            self.link.moved |= n > 0;
        }
        if self.frame.is_none() {
            *self.start = self.start.saturating_add(n);
        } else if n == self.bytes.len() {
            *self.start = self.start.saturating_add(n).saturating_add(self.overhead);
        }
    }

    /// Reports that nothing can be written any more, as after `EPIPE`. What is unsent is dropped, and the
    /// connection ends as if the peer had closed it.
    pub fn broken(self) {
        self.link.broken = true;
    }
}

/// Room for bytes that arrive.
pub struct Receive<'a> {
    door: &'a mut (dyn InputSink + 'a),
}

impl<'a> Receive<'a> {
    pub(crate) fn new(door: &'a mut (dyn InputSink + 'a)) -> Receive<'a> {
        Receive { door }
    }

    /// Whether input can be taken now. If not, unsent output has to go first, or the input has ended.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.door.is_ready()
    }

    /// Where to read to. It is empty only if [`is_ready`](Receive::is_ready) says no.
    #[must_use]
    pub fn space(&mut self) -> &mut [u8] {
        self.door.space()
    }

    /// Reports that `n` bytes were read into [`space`](Receive::space). In frame mode they are one whole message.
    ///
    /// A link that has lost bytes in the middle of a line puts the byte `CAN` (0x18) there, which JSON cannot have: the line
    /// is given up. If it was a request whose id had come, that gets an error; nothing else of it is answered.
    pub fn filled(self, n: usize) {
        self.door.filled(n, StreamId::NONE);
    }

    /// Frame mode: reports that `n` bytes were read into [`space`](Receive::space), one whole message, which came
    /// from `stream`. With a growing buffer the space is what is allocated so far: for messages of any size use
    /// [`message`](Receive::message).
    pub fn framed(self, n: usize, stream: StreamId) {
        self.door.filled(n, stream);
    }

    /// Takes a copy of one whole message, from a WebSocket, a queue or an HTTP body, which came from `stream`. It
    /// may hold newlines. One that is too long is answered as a line that is too long would be.
    ///
    /// # Errors
    /// The message comes back if the machine is not [`ready`](Receive::is_ready) for it, or takes lines and not frames.
    pub fn message(self, message: &[u8], stream: StreamId) -> Result<(), &[u8]> {
        if self.door.message(message, None, stream) { Ok(()) } else { Err(message) }
    }

    /// The same for a message that somebody had to look at before: it is not scanned again, unless the limit of nesting
    /// is lower than [`DEPTH_LIMIT`](crate::json::DEPTH_LIMIT).
    ///
    /// # Errors
    /// The message comes back if the machine is not [`ready`](Receive::is_ready) for it, or takes lines and not frames.
    #[expect(clippy::result_large_err, reason = "there is no heap to box it on")]
    pub fn parsed<'m>(self, message: Message<'m>, stream: StreamId) -> Result<(), Message<'m>> {
        if self.door.message(message.bytes(), Some(message.envelope()), stream) {
            Ok(())
        } else {
            Err(message)
        }
    }

    /// Reports that no more bytes will come.
    pub fn eof(self) {
        self.door.eof();
    }
}

impl core::fmt::Debug for Receive<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Receive").field("is_ready", &self.is_ready()).finish()
    }
}
