//! Construction of a server from a configuration, buffers and slots.

use crate::buffer::Buffer;
use crate::error::ConfigError;
use crate::framing::LineDecoder;
use crate::peer::keep_alive::KeepAlive;
use crate::peer::observer::Observer;
use crate::peer::transmit_buffer::TransmitBuffer;
use crate::protocol::methods;
use crate::server::features::catalog::{Catalog, Found, find};
use crate::server::in_flight_hooks::INBOUND;
use crate::server::min_buffer_size::largest_own_message;
use crate::server::server_state::{RequestTable, ServerState};
use crate::server::tasks::access::TaskAccess;
use crate::server::tasks::table::{TaskStorage, TaskTable};
use crate::server::{Server, ServerConfig, Slot};

/// The minimum size of a slot's share of the text, in bytes.
pub(super) const MIN_SLOT_TEXT: usize = 8;

impl<'b> Server<'b> {
    /// Creates a server with a receive buffer and a transmit buffer.
    ///
    /// Each buffer is a slice that the caller lends or, with the feature `alloc`, a `Buffer::grown` on the heap. On
    /// boards with a small stack, [`init`](Server::init) creates the server in place.
    ///
    /// The server refuses a line that does not fit into `rx`, unless a [streamed](crate::server::Tool::streamed)
    /// argument makes the line too long. If a response does not fit into `tx`, the server replaces the response with an
    /// error. Only a [chunked](crate::server::Call::chunked) response may be longer than `tx`.
    ///
    /// # Errors
    /// The receive buffer is too small for a request id, or the transmit buffer is too small for the server's own
    /// messages. The configuration has no revision, or the configuration of a feature or of joined features is not
    /// valid.
    pub fn new(
        config: &'b ServerConfig<'b>,
        rx: impl Into<Buffer<'b>>,
        tx: impl Into<Buffer<'b>>,
    ) -> Result<Server<'b>, ConfigError> {
        let (rx, output) = (rx.into(), TransmitBuffer::new(tx.into()));
        // The check needs much stack, so it runs before the large `Server` value exists.
        check(config, rx.limit(), &output)?;
        Ok(Server::unchecked(config, rx, output))
    }

    #[inline(never)]
    pub(super) fn unchecked(
        config: &'b ServerConfig<'b>,
        rx: Buffer<'b>,
        output: TransmitBuffer<'b>,
    ) -> Server<'b> {
        let limits = config.limits;
        Server {
            input: LineDecoder::new(rx, limits.depth, limits.id),
            state: TaskAccess(ServerState::new(config, output)),
        }
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        check(self.state.config, self.input.limit(), &self.state.peer.output)
    }

    /// Lends storage for requests in flight.
    ///
    /// Each slot holds a deferred request, a request with a chunked response, a subscription of the stateless era, or a
    /// request that the server sent. Each slot has an equal share of `text`. The share stores the id and the progress
    /// token of a deferred request. A request whose id is longer than the share cannot be deferred. If only the id
    /// fits, the request cannot report progress. Lend 80 bytes for each slot if a client may use UUIDs for both.
    /// Without slots, [`Call::defer`](crate::server::Call::defer), [`Call::chunked`](crate::server::Call::chunked) and
    /// [`Server::request`] always fail, and the server refuses `subscriptions/listen`.
    ///
    /// # Errors
    /// [`ConfigError::TextTooSmall`]: the share of a slot is less than 8 bytes. [`ConfigError::RequestsInFlight`]: the
    /// server has storage that holds, or has held, requests. The server continues to use that storage, because tickets
    /// of requests that have ended must stay invalid.
    pub fn in_flight(mut self, slots: &'b mut [Slot], text: &'b mut [u8]) -> Result<Server<'b>, ConfigError> {
        self.set_in_flight(slots, text)?;
        Ok(self)
    }

    /// Stores up to `limit` requests in flight on the heap. The storage grows as needed.
    ///
    /// # Errors
    /// [`ConfigError::TextTooSmall`]: the maximum length of an id ([`Limits::id`](crate::server::Limits::id)) is less
    /// than 4 bytes. [`ConfigError::RequestsInFlight`], as for [`in_flight`](Server::in_flight).
    #[cfg(feature = "alloc")]
    pub fn in_flight_grown(mut self, limit: usize) -> Result<Server<'b>, ConfigError> {
        self.set_in_flight_grown(limit)?;
        Ok(self)
    }

    /// Replaces the table of requests in flight and keeps the seed.
    ///
    /// [`ConfigError::TextTooSmall`] reports `needed`, the minimum length of the text. With
    /// [`ConfigError::RequestsInFlight`], the table stays as it was.
    #[inline(never)]
    pub(super) fn replace_in_flight(
        &mut self,
        mut table: RequestTable<'b>,
        needed: usize,
    ) -> Result<(), ConfigError> {
        if self.state.peer.in_flight.has_held_requests() {
            return Err(ConfigError::RequestsInFlight);
        }
        table.set_seed(self.state.peer.in_flight.seed());
        self.state.peer.in_flight = table;
        self.state.in_flight_hooks.get_or_insert(&INBOUND);
        let in_flight = &self.state.peer.in_flight;
        match in_flight.limit() > 0 && in_flight.text_limit() < MIN_SLOT_TEXT {
            true => Err(ConfigError::TextTooSmall { needed }),
            false => Ok(()),
        }
    }

    /// Sets the storage for the URIs of watched resources, for the feature
    /// [`Subscriptions`](crate::server::Subscriptions) or
    /// [`AuthorizedSubscriptions`](crate::server::AuthorizedSubscriptions).
    ///
    /// Each watched resource or task takes 15 bytes plus the length of its URI or id. If the buffer is full, the server
    /// refuses `resources/subscribe` (-32603), and acknowledges `subscriptions/listen` without the resource or task.
    /// Without this buffer, clients cannot subscribe to resources or tasks. Set the buffer before the server receives a
    /// message, because a new buffer forgets the watched URIs.
    #[must_use]
    pub fn subscription_buffer(mut self, uris: impl Into<Buffer<'b>>) -> Server<'b> {
        self.set_subscription_buffer(uris);
        self
    }

    /// Lends the table of tasks, for the feature [`Tasks`](crate::server::Tasks). A server without the feature ignores
    /// the table. Set the table before the server receives a message, because a new table has no tasks.
    #[must_use]
    pub fn tasks(mut self, table: &'b mut TaskTable<'b>) -> Server<'b> {
        self.set_tasks(table);
        self
    }

    /// Sets the table of tasks like [`tasks`](Server::tasks). The server moves the table to the heap.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn tasks_owned(mut self, table: TaskTable<'b>) -> Server<'b> {
        self.set_tasks_owned(table);
        self
    }

    pub(super) fn set_task_storage(&mut self, mut storage: TaskStorage<'b>) {
        if self.state.config.has_feature(methods::TASKS_GET) {
            if let Found::AutomaticTasks(automatic) =
                find(self.state.config, Catalog::AutomaticTasks, &|_| true)
            {
                storage.set_automatic(automatic);
            }
            self.state.tasks = Some(storage);
            self.state.enable_change_writer();
        }
    }

    /// Enables batches in sessions of `2025-03-26`. A batch is a JSON array of messages.
    ///
    /// No other revision has batches. Call this method if the server supports `2025-03-26`. Without a batch buffer, the
    /// server responds to each batch with one error (-32600) and processes no member. `responses` stores 24 bytes of
    /// state, and the responses to the members until the server sends them as one message.
    ///
    /// The server emits the events of the members in order, as if each member were a line. The array of responses is
    /// subject to the size limit of one response. Each request of a batch reserves space for an error response: about
    /// 180 bytes plus the maximum length of an id. If the reserved space exceeds that limit or the size of `responses`,
    /// the server refuses the batch (-32600). The error contains the maximum number of requests. A response may use all
    /// space that is not reserved for further members.
    ///
    /// A member may be [deferred](crate::server::Call::defer): the batch then stays open, and the server continues to
    /// process other messages. At most one batch is open. While a batch is open, the application cannot defer members
    /// of a second batch. The open batch and the batch in the current line share `responses`. To give each batch full
    /// space, lend twice the size limit of a response. A cancelled member has no entry in the array. The server may
    /// send other messages before the array. While a batch is open, a new buffer has no effect.
    ///
    /// A batch cannot contain `initialize` or requests of the stateless era (-32600).
    ///
    /// Specification: 2025-03-26, *Base protocol*, *Batching*.
    #[must_use]
    pub fn batch_buffer(mut self, responses: impl Into<Buffer<'b>>) -> Server<'b> {
        self.set_batch_buffer(responses);
        self
    }

    /// Sets the seed of the hash of request ids and watched URIs. Use a random seed if a client may attack with
    /// colliding ids. Set the seed before the server receives a message.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Server<'b> {
        self.set_seed(seed);
        self
    }

    /// Limits each response to `bytes` of the transmit buffer. One write can then send several responses.
    ///
    /// By default, a response may fill a lent buffer, so the server processes a request only when the buffer is empty.
    ///
    /// # Errors
    /// [`ConfigError::TxTooSmall`]: the server's own messages need more than `bytes`.
    pub fn max_reply_size(mut self, bytes: usize) -> Result<Server<'b>, ConfigError> {
        self.set_max_reply_size(bytes)?;
        Ok(self)
    }

    /// Receives and sends whole messages instead of lines. Use this mode for WebSockets, HTTP bodies or queues.
    ///
    /// # Errors
    /// [`ConfigError::TxTooSmall`]: the transmit buffer cannot hold the server's own messages with the header of
    /// message mode.
    pub fn message_mode(mut self) -> Result<Server<'b>, ConfigError> {
        self.set_message_mode()?;
        Ok(self)
    }

    /// Reports every message to `observer`.
    #[must_use]
    pub fn observe(mut self, observer: &'b mut (dyn Observer + Send + 'b)) -> Server<'b> {
        self.set_observer(observer);
        self
    }

    /// Pings an idle client of the handshake era, and reports a client that does not respond.
    #[must_use]
    pub fn keep_alive(mut self, settings: KeepAlive) -> Server<'b> {
        self.set_keep_alive(settings);
        self
    }
}

/// Checks the configuration and the buffer sizes. The receive buffer must hold an id, and the transmit buffer the
/// server's own messages.
#[inline(never)]
pub(super) fn check(
    config: &ServerConfig<'_>,
    rx: usize,
    output: &TransmitBuffer<'_>,
) -> Result<(), ConfigError> {
    let id_limit = config.limits.id;
    let needed = LineDecoder::min_buffer_size(id_limit);
    if rx < needed {
        return Err(ConfigError::RxTooSmall { needed });
    }
    let needed = largest_own_message(config)?.saturating_add(id_limit).saturating_add(output.overhead());
    if output.max_reply_size() < needed {
        return Err(ConfigError::TxTooSmall { needed });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seed_applies_before_and_after_in_flight() {
        static CONFIG: ServerConfig<'_> = ServerConfig::new("s", "1");
        for seed_first in [false, true] {
            let (mut rx, mut tx, mut slots, mut text) = ([0; 1024], [0; 1024], [Slot::EMPTY; 2], [0; 64]);
            let server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap();
            let server = if seed_first {
                server.seed(7).in_flight(&mut slots, &mut text).unwrap()
            } else {
                server.in_flight(&mut slots, &mut text).unwrap().seed(7)
            };
            assert_eq!(server.state.peer.in_flight.seed(), 7, "seed first: {seed_first}");
        }
    }
}
