//! The limits of a server: what every runtime lets its user say.

use std::hash::{BuildHasher, Hasher, RandomState};

use mcp_proto::server::ServerConfig;
use mcp_proto::{Buffer, ConfigError, KeepAlive, Observer, Server};

/// There is room in flight for so many subscriptions beside what the workers have.
const SUBSCRIPTIONS: usize = 32;

/// Who a server is, and its limits.
pub struct ServerSettings<'i> {
    /// Who it is.
    pub info: &'i ServerConfig<'i>,
    /// How long a message of the client may be.
    pub longest_line: usize,
    /// How long an answer may be.
    pub longest_answer: usize,
    /// How many requests may run at once.
    pub workers: usize,
    /// How much room there is for watched URIs.
    pub watches: usize,
    /// Whether to ask the client whether it is there.
    pub pings: Option<KeepAlive>,
    /// Who sees every message.
    pub observer: Option<&'i mut (dyn Observer + Send + 'i)>,
}

impl<'i> ServerSettings<'i> {
    /// The usual limits: lines and answers of 8 MiB, 32 workers, 64 KiB for watched URIs.
    #[must_use]
    pub fn new(info: &'i ServerConfig<'i>) -> ServerSettings<'i> {
        ServerSettings {
            info,
            longest_line: 8 << 20,
            longest_answer: 8 << 20,
            workers: 32,
            watches: 64 << 10,
            pings: None,
            observer: None,
        }
    }

    /// The machine.
    ///
    /// # Errors
    /// The server is not set up well.
    pub fn server(self) -> Result<Server<'i>, ConfigError> {
        let (rx, tx) = (Buffer::grown(self.longest_line), Buffer::grown(self.longest_answer));
        let seed = RandomState::new().build_hasher().finish();
        // Each worker may have asked the client something.
        let in_flight = self.workers.saturating_mul(2).saturating_add(SUBSCRIPTIONS);
        // One batch may be open while the answers to another are collected.
        let batches = Buffer::grown(self.longest_answer.saturating_mul(2));
        let mut server = Server::new(self.info, rx, tx)?
            .in_flight_grown(in_flight)?
            .seed(seed)
            .subscription_buffer(Buffer::grown(self.watches))
            .batch_buffer(batches);
        if let Some(pings) = self.pings {
            server = server.keep_alive(pings);
        }
        if let Some(observer) = self.observer {
            server = server.observe(observer);
        }
        Ok(server)
    }
}

impl std::fmt::Debug for ServerSettings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerSettings").field("info", &self.info).finish_non_exhaustive()
    }
}

/// The methods of a server that only say what its limits are. It has the field `settings` ([`ServerSettings`]).
#[doc(hidden)]
#[macro_export]
macro_rules! server_settings {
    ($lifetime:lifetime) => {
        /// How long a message of the client may be, in bytes.
        #[must_use]
        pub fn longest_line(mut self, bytes: usize) -> Self {
            self.settings.longest_line = bytes;
            self
        }

        /// How long an answer may be, in bytes.
        #[must_use]
        pub fn longest_answer(mut self, bytes: usize) -> Self {
            self.settings.longest_answer = bytes;
            self
        }

        /// How many requests may run beside the loop at once.
        #[must_use]
        pub fn workers(mut self, limit: usize) -> Self {
            self.settings.workers = limit;
            self
        }

        /// How much room there is for the URIs of resources that clients watch, in bytes: see
        /// [`Server::subscription_buffer`](mcp_proto::Server::subscription_buffer).
        #[must_use]
        pub fn subscription_buffer(mut self, bytes: usize) -> Self {
            self.settings.watches = bytes;
            self
        }

        /// Pings a client of the handshake era when nothing was heard of it for a while.
        #[must_use]
        pub fn keep_alive(mut self, pings: mcp_proto::KeepAlive) -> Self {
            self.settings.pings = Some(pings);
            self
        }

        /// Shows every message to `observer`.
        #[must_use]
        pub fn observe(
            mut self,
            observer: &$lifetime mut (dyn mcp_proto::Observer + Send + $lifetime),
        ) -> Self {
            self.settings.observer = Some(observer);
            self
        }
    };
}
