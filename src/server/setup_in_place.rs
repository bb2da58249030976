//! Construction of a server in place, for boards with a small stack.

use core::mem::MaybeUninit;

use crate::buffer::Buffer;
use crate::error::ConfigError;
use crate::peer::keep_alive::KeepAlive;
use crate::peer::observer::Observer;
use crate::peer::slots::InFlight;
use crate::peer::tasks::storage::Storage;
use crate::peer::transmit_buffer::TransmitBuffer;
use crate::server::batch::{Batch, Batches};
use crate::server::features::subscriptions::registry::SubscriptionRegistry;
use crate::server::keep_alive::KEEP_ALIVE_HOOKS;
use crate::server::setup::{MIN_SLOT_TEXT, check};
use crate::server::tasks::table::{TaskStorage, TaskTable};
use crate::server::{Server, ServerConfig, Slot};

impl<'b> Server<'b> {
    /// Creates a server in `place`, like [`new`](Server::new).
    ///
    /// A server takes several hundred bytes. A compiler that optimizes for size keeps a copy on the stack for each
    /// method that consumes and returns the server. The methods `set_…` configure a server in place. If `place` is in a
    /// static, the server takes no stack after this function has returned.
    ///
    /// ```
    /// use core::mem::MaybeUninit;
    /// use mcp_proto::Server;
    /// use mcp_proto::server::{ServerConfig, Slot};
    ///
    /// static CONFIG: ServerConfig = ServerConfig::new("blinky", "0.1.0");
    /// let (mut rx, mut tx) = ([0; 512], [0; 1024]);
    /// let (mut slots, mut text) = ([Slot::EMPTY; 4], [0; 256]);
    /// let mut place = MaybeUninit::uninit();
    /// let server = Server::init(&mut place, &CONFIG, &mut rx, &mut tx)?;
    /// server.set_in_flight(&mut slots, &mut text)?;
    /// # Ok::<(), mcp_proto::ConfigError>(())
    /// ```
    ///
    /// # Errors
    /// As for [`new`](Server::new).
    pub fn init<'p>(
        place: &'p mut MaybeUninit<Server<'b>>,
        config: &'b ServerConfig<'b>,
        rx: impl Into<Buffer<'b>>,
        tx: impl Into<Buffer<'b>>,
    ) -> Result<&'p mut Server<'b>, ConfigError> {
        let (rx, output) = (rx.into(), TransmitBuffer::new(tx.into()));
        check(config, rx.limit(), &output)?;
        Ok(Server::write_to(place, config, rx, output))
    }

    // Not inlined, so that the stack frame for moving the server exists only during this call, and not during the check
    // or after `init` has returned.
    #[inline(never)]
    fn write_to<'p>(
        place: &'p mut MaybeUninit<Server<'b>>,
        config: &'b ServerConfig<'b>,
        rx: Buffer<'b>,
        output: TransmitBuffer<'b>,
    ) -> &'p mut Server<'b> {
        place.write(Server::unchecked(config, rx, output))
    }

    /// Lends storage for requests in flight, like [`in_flight`](Server::in_flight).
    ///
    /// # Errors
    /// As for [`in_flight`](Server::in_flight). After [`ConfigError::TextTooSmall`], the server uses the storage
    /// nevertheless.
    pub fn set_in_flight(&mut self, slots: &'b mut [Slot], text: &'b mut [u8]) -> Result<(), ConfigError> {
        let needed = slots.len().saturating_mul(MIN_SLOT_TEXT);
        self.replace_in_flight(InFlight::lent(slots, text), needed)
    }

    /// Stores requests in flight on the heap, like [`in_flight_grown`](Server::in_flight_grown).
    ///
    /// # Errors
    /// As for [`in_flight_grown`](Server::in_flight_grown).
    #[cfg(feature = "alloc")]
    pub fn set_in_flight_grown(&mut self, limit: usize) -> Result<(), ConfigError> {
        self.replace_in_flight(InFlight::grown(limit, self.state.config.limits.id.saturating_mul(2)), 0)
    }

    /// Lends storage for watched URIs, like [`subscription_buffer`](Server::subscription_buffer).
    pub fn set_subscription_buffer(&mut self, uris: impl Into<Buffer<'b>>) {
        self.state.registry = SubscriptionRegistry::new(uris.into());
    }

    /// Lends the table of tasks, like [`tasks`](Server::tasks).
    pub fn set_tasks(&mut self, table: &'b mut TaskTable<'b>) {
        self.set_task_storage(TaskStorage(Storage::Lent(table)));
    }

    /// Sets the table of tasks, like [`tasks_owned`](Server::tasks_owned).
    #[cfg(feature = "alloc")]
    pub fn set_tasks_owned(&mut self, table: TaskTable<'b>) {
        self.set_task_storage(TaskStorage(Storage::Owned(alloc::boxed::Box::new(table))));
    }

    /// Enables batches, like [`batch_buffer`](Server::batch_buffer). No effect while a batch is open or in the
    /// current line.
    pub fn set_batch_buffer(&mut self, responses: impl Into<Buffer<'b>>) {
        if self.state.batches == Batches::NONE {
            self.state.batch = Batch::new(responses.into());
        }
    }

    /// Sets the seed of the hash of request ids and watched URIs, like [`seed`](Server::seed).
    pub fn set_seed(&mut self, seed: u64) {
        self.state.peer.in_flight.set_seed(seed);
    }

    /// Limits each response, like [`max_reply_size`](Server::max_reply_size).
    ///
    /// # Errors
    /// As for [`max_reply_size`](Server::max_reply_size). After an error, the limit applies nevertheless.
    pub fn set_max_reply_size(&mut self, bytes: usize) -> Result<(), ConfigError> {
        self.state.peer.output.set_max_reply_size(bytes);
        self.check()
    }

    /// Receives and sends whole messages, like [`message_mode`](Server::message_mode).
    ///
    /// # Errors
    /// As for [`message_mode`](Server::message_mode). After an error, the mode applies nevertheless.
    pub fn set_message_mode(&mut self) -> Result<(), ConfigError> {
        self.input.use_message_mode();
        self.state.peer.output.use_message_mode();
        self.check()
    }

    /// Reports every message to `observer`, like [`observe`](Server::observe).
    pub fn set_observer(&mut self, observer: &'b mut (dyn Observer + Send + 'b)) {
        self.state.peer.output.set_observer(observer);
    }

    /// Pings an idle client, like [`keep_alive`](Server::keep_alive).
    pub fn set_keep_alive(&mut self, options: KeepAlive) {
        self.state.peer.keep_alive.set(options);
        self.state.keep_alive_hooks = Some(&KEEP_ALIVE_HOOKS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_in_place_is_checked_like_a_new_one() {
        static CONFIG: ServerConfig<'_> = ServerConfig::new("s", "1");
        for (rx, tx, text) in [(1024, 1024, 64), (16, 1024, 64), (1024, 16, 64), (1024, 1024, 4)] {
            let setup = |in_place: bool| {
                let (mut rx, mut tx) = (std::vec![0; rx], std::vec![0; tx]);
                let (mut slots, mut text) = ([Slot::EMPTY; 2], std::vec![0; text]);
                if !in_place {
                    let server = Server::new(&CONFIG, &mut rx[..], &mut tx[..])?;
                    return server.in_flight(&mut slots, &mut text).map(drop);
                }
                let mut place = MaybeUninit::uninit();
                let server = Server::init(&mut place, &CONFIG, &mut rx[..], &mut tx[..])?;
                server.set_in_flight(&mut slots, &mut text)
            };
            assert_eq!(setup(true), setup(false), "{rx} {tx} {text}");
        }
    }
}
