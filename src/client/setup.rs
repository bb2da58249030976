//! Construction of a client: buffers, slots, options.

use crate::buffer::Buffer;
use crate::client::chunks::ChunkState;
use crate::client::client_state::{ClientState, ID_LIMIT, RequestTable};
use crate::client::keep_alive::KeepAliveHooks;
use crate::client::{Client, ClientConfig, Slot};
use crate::error::ConfigError;
use crate::framing::LineDecoder;
use crate::peer::keep_alive::KeepAlive;
use crate::peer::observer::Observer;
use crate::peer::slots::InFlight;

impl<'b> Client<'b> {
    /// Creates a client on two buffers.
    ///
    /// Each buffer is a lent slice or, with the feature `alloc`, a heap buffer from `Buffer::grown`. To send requests,
    /// the client also needs [slots](Client::in_flight).
    ///
    /// # Errors
    /// [`ConfigError::RxTooSmall`]: the receive buffer is too small for the id of an oversized line.
    /// [`ConfigError::TxTooSmall`]: the transmit buffer is too small for the messages that the client itself writes.
    /// [`ConfigError::NoRevision`]: the configuration has no revision.
    /// [`ConfigError::InvalidJson`], [`ConfigError::NotAnObject`]: the settings of an extension or an experimental
    /// capability are invalid.
    pub fn new(
        config: &'b ClientConfig<'b>,
        rx: impl Into<Buffer<'b>>,
        tx: impl Into<Buffer<'b>>,
    ) -> Result<Client<'b>, ConfigError> {
        let rx = rx.into();
        let state = ClientState::new(config, tx.into());
        let input = LineDecoder::new(rx, config.depth, ID_LIMIT);
        let (chunk_hook, chunks) = (None, ChunkState::START);
        let (grace_deadline, next_ended_slot) = (None, 0);
        Client { input, state, grace_deadline, next_ended_slot, chunk_hook, chunks }.checked()
    }

    pub(super) fn checked(self) -> Result<Client<'b>, ConfigError> {
        if self.state.config.revisions.is_empty() {
            return Err(ConfigError::NoRevision);
        }
        self.state.config.check_declared()?;
        let needed = LineDecoder::min_buffer_size(ID_LIMIT);
        if self.input.limit() < needed {
            return Err(ConfigError::RxTooSmall { needed });
        }
        let (reply, output) = (self.state.min_reply_size(), &self.state.peer.output);
        let needed = self.state.max_message_size().max(reply);
        if output.max_message_size() < needed || output.max_reply_size() < reply {
            return Err(ConfigError::TxTooSmall { needed });
        }
        Ok(self)
    }

    /// Lends slots for requests in flight. Each slot has an equal share of `text`. This share stores one of the
    /// following:
    /// - the cursor of a list,
    /// - the state of a request that [requires input](crate::client::InputRequired),
    /// - the filter of a [subscription](Client::listen),
    /// - the id of a [task](ClientConfig::tasks),
    /// - the id and the progress token of a [deferred](crate::client::ServerRequest::defer) request of the server,
    /// - the reason of a [cancellation](Client::cancel) that awaits transmit space.
    ///
    /// For a list, a subscription or a request that may require input, this share also stores the additional
    /// [`_meta`](crate::client::Options::meta). If the client has no slots, every request of the application fails with
    /// [`SendError::Full`](crate::SendError::Full), and no request of the server can be deferred.
    ///
    /// Lend the slots before the client sends a request: requests in the replaced slots end without an event.
    #[must_use]
    pub fn in_flight(mut self, slots: &'b mut [Slot], text: &'b mut [u8]) -> Client<'b> {
        self.set_in_flight(InFlight::lent(slots, text));
        self
    }

    /// Allocates up to `limit` slots on the heap as needed. Each slot has up to 4 KiB of text. The slots replace
    /// earlier ones, as those of [`in_flight`](Client::in_flight) do.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn in_flight_grown(mut self, limit: usize) -> Client<'b> {
        self.set_in_flight(InFlight::grown(limit, 4096));
        self
    }

    /// Replaces the request table, but keeps the seed, so that `seed` may precede or follow `in_flight`.
    fn set_in_flight(&mut self, mut table: RequestTable<'b>) {
        table.set_seed(self.state.peer.in_flight.seed());
        self.state.peer.in_flight = table;
    }

    /// Sets the seed for hashes of texts that the server chooses, such as ids. Use a random seed if a malicious server
    /// could exploit hash collisions.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Client<'b> {
        self.state.peer.in_flight.set_seed(seed);
        self
    }

    /// Limits each response to the server to `bytes` of the transmit buffer. The client emits a request of the server
    /// only when this space is free. By default, a response may use the whole lent buffer. The client then emits a
    /// request of the server only when the buffer is empty.
    ///
    /// # Errors
    /// [`ConfigError::TxTooSmall`]: `bytes` is too small for the messages that the client itself writes.
    pub fn max_reply_size(mut self, bytes: usize) -> Result<Client<'b>, ConfigError> {
        self.state.peer.output.set_max_reply_size(bytes);
        self.checked()
    }

    /// Transfers whole messages instead of lines, for WebSockets and queues.
    ///
    /// # Errors
    /// [`ConfigError::TxTooSmall`]: the transmit buffer cannot hold the client's own messages with the header of
    /// message mode.
    pub fn message_mode(mut self) -> Result<Client<'b>, ConfigError> {
        self.input.use_message_mode();
        self.state.peer.output.use_message_mode();
        self.checked()
    }

    /// Reports every message to `observer`.
    #[must_use]
    pub fn observe(mut self, observer: &'b mut (dyn Observer + Send + 'b)) -> Client<'b> {
        self.state.peer.output.set_observer(observer);
        self
    }

    /// Enables keep-alive: the client pings an idle server, and reports a server that does not respond.
    #[must_use]
    pub fn keep_alive(mut self, settings: KeepAlive) -> Client<'b> {
        self.state.peer.keep_alive.set(settings);
        self.state.keep_alive_hooks = Some(&KeepAliveHooks::CODE);
        self
    }
}
