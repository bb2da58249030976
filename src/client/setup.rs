//! A client as it is set up: what the host lends, and what it wants before the first poll.

use crate::buffer::Buffer;
use crate::client::client_state::{ClientState, ID_LIMIT};
use crate::client::{Client, ClientConfig, OutboundRequest, Slot};
use crate::error::ConfigError;
use crate::framing::LineDecoder;
use crate::peer::keep_alive::KeepAlive;
use crate::peer::observer::Observer;
use crate::peer::slots::InFlight;

impl<'b> Client<'b> {
    /// A client that works on these buffers: slices of the host's, or `Buffer::grown` (with `alloc`). It needs room for
    /// [requests in flight](Client::in_flight), too.
    ///
    /// # Errors
    /// A buffer is too small for what the machine itself has to read and write.
    pub fn new(
        info: &'b ClientConfig<'b>,
        rx: impl Into<Buffer<'b>>,
        tx: impl Into<Buffer<'b>>,
    ) -> Result<Client<'b>, ConfigError> {
        let rx = rx.into();
        let core = ClientState::new(info, tx.into());
        let input = LineDecoder::new(rx, info.depth, ID_LIMIT);
        Client { input, core, plan: None, holds_line: false, grace_ends: None, ending: 0 }.checked()
    }

    fn checked(self) -> Result<Client<'b>, ConfigError> {
        if self.core.info.revisions.is_empty() {
            return Err(ConfigError::NoRevision);
        }
        self.core.info.check_declared()?;
        let needed = LineDecoder::needed(ID_LIMIT);
        if self.input.limit() < needed {
            return Err(ConfigError::RxTooSmall { needed });
        }
        let needed = self.core.measure();
        if self.core.output.reply_room() < needed || self.core.reply_room < self.core.small() {
            return Err(ConfigError::TxTooSmall { needed });
        }
        Ok(self)
    }

    /// Lends room for requests: one in each slot, with an equal part of `text` for what has to be kept of it: the cursor of
    /// a list, the state of a request that [needs input](crate::client::InputRequired), for both what the host wants in
    /// [`_meta`](crate::client::Options::meta); the filter of a [subscription](Client::listen); the id of a request of the
    /// server's that is [deferred](crate::client::ServerRequest::defer). Without it, every request is refused as [`SendError::Full`](crate::SendError::Full).
    #[must_use]
    pub fn in_flight(mut self, slots: &'b mut [Slot], text: &'b mut [u8]) -> Client<'b> {
        self.set_in_flight(InFlight::lent(slots, text));
        self
    }

    /// The same on the heap: room for `limit` requests, and for 4 KiB of text each. It grows as it is needed.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn in_flight_grown(mut self, limit: usize) -> Client<'b> {
        self.set_in_flight(InFlight::grown(limit, 4096));
        self
    }

    /// The seed stays, whichever is set first.
    fn set_in_flight(&mut self, mut table: InFlight<'b, OutboundRequest>) {
        table.set_seed(self.core.in_flight.seed());
        self.core.in_flight = table;
    }

    /// Hashes the ids of the server with this seed. Give a random one where a server may want to slow the client down.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Client<'b> {
        self.core.in_flight.set_seed(seed);
        self
    }

    /// Lets each answer to the server use at most `bytes` of the transmit buffer. A request of the server's is handed out
    /// when so much is free. If this is not called, an answer may use the whole of a lent buffer, which therefore drains
    /// first.
    ///
    /// # Errors
    /// [`ConfigError::TxTooSmall`]: the machine's own messages need more.
    pub fn reply_room(mut self, bytes: usize) -> Result<Client<'b>, ConfigError> {
        self.core.reply_room = bytes.min(self.core.reply_room);
        self.checked()
    }

    /// Takes and gives whole messages instead of lines: for WebSockets and queues.
    ///
    /// # Errors
    /// [`ConfigError::TxTooSmall`]: each message takes some bytes more in the transmit buffer.
    pub fn message_mode(mut self) -> Result<Client<'b>, ConfigError> {
        self.input.use_frames();
        self.core.output.use_frames();
        self.checked()
    }

    /// Shows every message to `observer`.
    #[must_use]
    pub fn observe(mut self, observer: &'b mut (dyn Observer + Send + 'b)) -> Client<'b> {
        self.core.output.set_observer(observer);
        self
    }

    /// Asks the server whether it is there when nothing was heard of it for a while.
    #[must_use]
    pub fn keep_alive(mut self, pings: KeepAlive) -> Client<'b> {
        self.core.keep_alive.set(pings);
        self
    }
}
