//! Settings of a server runtime: configuration and limits.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use mcp_proto::server::ServerConfig;
use mcp_proto::{Buffer, ConfigError, KeepAlive, Millis, Observer, Server};

use crate::hook::RequestHook;

/// Default number of slots for subscriptions, besides the slots for requests.
const SUBSCRIPTIONS: usize = 32;

/// Maximum length of the text of a task, in bytes: its status, its input requests, and its result.
pub(crate) const TASK_TEXT: usize = 16 << 10;

/// Returns the current Unix time, for the timestamps of tasks.
pub(crate) fn unix_time() -> Millis {
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Millis(u64::try_from(time.as_millis()).unwrap_or_default())
}

/// Configuration and limits of a server.
pub struct ServerSettings<'i> {
    /// Identity and features of the server.
    pub config: &'i ServerConfig<'i>,
    /// Maximum length of a client message, in bytes. The length of a line includes its newline.
    pub longest_line: usize,
    /// Maximum length of a response, in bytes.
    pub longest_answer: usize,
    /// Maximum number of concurrent requests outside of the event loop.
    pub workers: usize,
    /// Maximum number of requests that wait for a worker.
    pub waiting: usize,
    /// Number of slots for subscriptions, besides the slots for requests. Over HTTP, all clients share the slots of one
    /// server. These additional slots keep subscriptions from using up the slots of requests: see
    /// [`HttpMemory::event_streams`](crate::HttpMemory::event_streams).
    pub subscriptions: usize,
    /// Size of the buffer for subscribed URIs, in bytes.
    pub subscription_buffer: usize,
    /// Maximum number of tasks.
    pub tasks: usize,
    /// The settings of keep-alive pings. `None` disables the pings.
    pub keep_alive: Option<KeepAlive>,
    /// The hooks that the server calls before and after each request for the handler.
    pub hooks: Vec<Arc<dyn RequestHook>>,
    /// The observer of every message.
    pub observer: Option<&'i mut (dyn Observer + Send + 'i)>,
}

impl<'i> ServerSettings<'i> {
    /// Creates settings with the default limits.
    ///
    /// The limits are 8 MiB for a message, 8 MiB for a response, and 64 KiB for subscribed URIs. There are at most 32
    /// workers, 1,024 requests that wait for a worker, and 64 tasks.
    #[must_use]
    pub fn new(config: &'i ServerConfig<'i>) -> ServerSettings<'i> {
        ServerSettings {
            config,
            longest_line: 8 << 20,
            longest_answer: 8 << 20,
            workers: 32,
            waiting: 1024,
            subscriptions: SUBSCRIPTIONS,
            subscription_buffer: 64 << 10,
            tasks: 64,
            keep_alive: None,
            hooks: Vec::new(),
            observer: None,
        }
    }

    /// Returns the settings for one of many connections, with a separate observer.
    #[must_use]
    pub fn connection<'s>(&self, observer: Option<&'s mut (dyn Observer + Send + 's)>) -> ServerSettings<'s>
    where
        'i: 's,
    {
        ServerSettings {
            config: self.config,
            longest_line: self.longest_line,
            longest_answer: self.longest_answer,
            workers: self.workers,
            waiting: self.waiting,
            subscriptions: self.subscriptions,
            subscription_buffer: self.subscription_buffer,
            tasks: self.tasks,
            keep_alive: self.keep_alive,
            hooks: self.hooks.clone(),
            observer,
        }
    }

    /// Returns the maximum number of deferred requests: those with a worker, and those that wait for one.
    #[must_use]
    pub fn request_limit(&self) -> usize {
        self.workers.saturating_add(self.waiting)
    }

    /// Creates the [`Server`] on the heap, and configures it in place. Copies would need stack memory, which a thread
    /// keeps until the thread ends.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub fn server(self) -> Result<Box<Server<'i>>, ConfigError> {
        let (rx, tx) = (Buffer::grown(self.longest_line), Buffer::grown(self.longest_answer));
        let mut server = Box::new(Server::new(self.config, rx, tx)?);
        // Reserve one slot per worker for a request to the client.
        let requests = self.request_limit().saturating_add(self.workers);
        server.set_in_flight_grown(requests.saturating_add(self.subscriptions))?;
        if let Some(table) = self.config.grown_tasks(self.tasks, TASK_TEXT) {
            server.set_tasks_owned(table.wall_clock(unix_time()));
        }
        server.set_seed(RandomState::new().build_hasher().finish());
        server.set_subscription_buffer(Buffer::grown(self.subscription_buffer));
        // Space for two batches: a batch with deferred members may still wait for responses while the server processes
        // the batch of the current line.
        server.set_batch_buffer(Buffer::grown(self.longest_answer.saturating_mul(2)));
        if let Some(keep_alive) = self.keep_alive {
            server.set_keep_alive(keep_alive);
        }
        if let Some(observer) = self.observer {
            server.set_observer(observer);
        }
        Ok(server)
    }
}

impl std::fmt::Debug for ServerSettings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerSettings").field("config", &self.config).finish_non_exhaustive()
    }
}

/// Defines the setters for a server's stop switch and number of connections. The type needs the fields `stop`
/// (`Option<Stop>`) and `connections` (`usize`).
#[doc(hidden)]
#[macro_export]
macro_rules! stop_settings {
    () => {
        /// Connects a [`Stop`](crate::Stop) switch that stops the server from outside.
        ///
        /// The switch works even before the client's first message.
        #[must_use]
        pub fn stopped_by(mut self, stop: &$crate::Stop) -> Self {
            self.stop = Some(stop.clone());
            self
        }

        /// Sets the maximum number of concurrent connections of a listener. Default: 64. At the limit, the server
        /// accepts the next connection when an open connection ends.
        #[must_use]
        pub fn connections(mut self, limit: usize) -> Self {
            self.connections = limit;
            self
        }
    };
}

/// Defines the setters for a server's settings. The type needs the field `settings` ([`ServerSettings`]).
#[doc(hidden)]
#[macro_export]
macro_rules! server_settings {
    ($lifetime:lifetime) => {
        /// Sets the maximum length of a client message, in bytes. The length of a line includes its newline.
        #[must_use]
        pub fn longest_line(mut self, bytes: usize) -> Self {
            self.settings.longest_line = bytes;
            self
        }

        /// Sets the maximum length of a response, in bytes. A chunked response may be longer.
        #[must_use]
        pub fn longest_answer(mut self, bytes: usize) -> Self {
            self.settings.longest_answer = bytes;
            self
        }

        /// Sets the maximum number of concurrent requests outside of the event loop. Further requests
        /// [wait](Self::waiting). All connections of a listener share this limit.
        #[must_use]
        pub fn workers(mut self, limit: usize) -> Self {
            self.settings.workers = limit;
            self
        }

        /// Sets the maximum number of requests of a connection that wait for a worker. Default: 1,024. Over HTTP, all
        /// clients share this limit.
        ///
        /// The server refuses further requests (-32603), in either era. The timeout of a request includes its waiting
        /// time, and waiting requests can be cancelled.
        #[must_use]
        pub fn waiting(mut self, limit: usize) -> Self {
            self.settings.waiting = limit;
            self
        }

        /// Sets the size of the buffer for subscribed URIs, in bytes: see
        /// [`Server::subscription_buffer`](mcp_proto::Server::subscription_buffer).
        #[must_use]
        pub fn subscription_buffer(mut self, bytes: usize) -> Self {
            self.settings.subscription_buffer = bytes;
            self
        }

        /// Sets the maximum number of tasks, for the feature [`Tasks`](mcp_proto::server::Tasks).
        #[must_use]
        pub fn tasks(mut self, limit: usize) -> Self {
            self.settings.tasks = limit;
            self
        }

        /// Sends keep-alive pings to an idle client of the handshake era.
        #[must_use]
        pub fn keep_alive(mut self, keep_alive: mcp_proto::KeepAlive) -> Self {
            self.settings.keep_alive = Some(keep_alive);
            self
        }

        /// Adds a hook that the server calls before and after each request for the handler. Before a request, the
        /// server calls the hooks in the order of their addition, up to the first hook that refuses the request. After
        /// the request, the server calls the same hooks in reverse order.
        #[must_use]
        pub fn hook(mut self, hook: impl $crate::RequestHook + 'static) -> Self {
            self.settings.hooks.push(std::sync::Arc::new(hook));
            self
        }

        /// Passes every message to `observer`.
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
