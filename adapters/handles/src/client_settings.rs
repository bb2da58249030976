//! Settings of a client connector: identity and limits.

use mcp_proto::client::{ClientConfig, Connect, TaskLimits, TaskOptions, TaskTable, Timeouts};
use mcp_proto::json::Json;
use mcp_proto::{Buffer, Client, ClientCapabilities, ConfigError, KeepAlive, Observer, Revisions};

use crate::error::ConnectError;
use crate::server_settings::{TASK_TEXT, unix_time};
use crate::session::MAX_SERVER_REQUESTS;

/// Identity and limits of a client.
pub struct ClientSettings {
    /// The client's name.
    pub name: String,
    /// The client's version.
    pub version: String,
    /// The client's display name.
    pub title: Option<String>,
    /// The eras to try.
    pub connect: Connect,
    /// The revisions to offer.
    pub revisions: Revisions,
    /// Timeouts while connecting and closing.
    pub timeouts: Timeouts,
    /// The maximum number of pages of a list. A longer list fails.
    pub pages: u32,
    /// Maximum length of a server message, in bytes. The length of a line includes its newline.
    pub longest_line: usize,
    /// Maximum length of a request, in bytes.
    pub longest_request: usize,
    /// Maximum number of requests in flight.
    pub requests: usize,
    /// Maximum number of requests that wait to be sent.
    pub waiting: usize,
    /// The settings of keep-alive pings. `None` disables the pings.
    pub keep_alive: Option<KeepAlive>,
    /// The limits of tasks. `None` means that calls never become tasks.
    pub tasks: Option<TaskLimits>,
    /// The function that creates the options of a task. `None` means that requests of the server never become tasks.
    pub client_tasks: Option<fn() -> TaskOptions>,
    /// The names of the extensions to declare, each with the JSON text of its settings.
    pub extensions: &'static [(&'static str, &'static str)],
    /// The methods of the extension requests that the client handles.
    pub methods: &'static [&'static str],
    /// The values of `resultType` that the client accepts, besides those of the specification.
    pub result_types: &'static [&'static str],
    /// The capabilities to declare.
    pub capabilities: ClientCapabilities,
    /// Whether the transport carries messages instead of lines.
    pub message_mode: bool,
    /// Returns whether the transport permits calls of a tool. Lists omit tools that the transport does not permit.
    pub permits_tool: fn(Json<'_>) -> bool,
}

impl ClientSettings {
    /// Creates settings with the default limits.
    ///
    /// The limits are 16 MiB for a message of the server, and 16 MiB for a request of the client. At most 256
    /// requests are in flight, and at most 4,096 requests wait to be sent.
    #[must_use]
    pub fn new(name: String, version: String) -> ClientSettings {
        ClientSettings {
            name,
            version,
            title: None,
            connect: Connect::Automatic,
            revisions: Revisions::ALL,
            timeouts: Timeouts::DEFAULT,
            pages: 1000,
            longest_line: 16 << 20,
            longest_request: 16 << 20,
            requests: 256,
            waiting: 4096,
            keep_alive: None,
            tasks: None,
            client_tasks: None,
            extensions: &[],
            methods: &[],
            result_types: &[],
            capabilities: ClientCapabilities::NONE,
            message_mode: false,
            permits_tool: |_| true,
        }
    }

    /// Returns the configuration of the [`Client`].
    #[must_use]
    pub fn config(&self) -> ClientConfig<'_> {
        let config = ClientConfig::new(&self.name, &self.version)
            .connect(self.connect)
            .revisions(self.revisions)
            .timeouts(self.timeouts)
            .capabilities(self.capabilities)
            .extensions(self.extensions)
            .methods(self.methods)
            .result_types(self.result_types)
            .pages(self.pages);
        let config = match self.tasks {
            Some(limits) => config.tasks(limits),
            None => config,
        };
        let config = match self.client_tasks {
            Some(options) => config.client_tasks(options),
            None => config,
        };
        match &self.title {
            Some(title) => config.title(title),
            None => config,
        }
    }

    /// Creates the [`Client`] for one attempt to connect.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub fn client<'c>(
        &self,
        config: &'c ClientConfig<'c>,
        observer: Option<&'c mut Box<dyn Observer + Send>>,
    ) -> Result<Client<'c>, ConfigError> {
        let (rx, tx) = (Buffer::grown(self.longest_line), Buffer::grown(self.longest_request));
        let mut client =
            Client::new(config, rx, tx)?.in_flight_grown(self.requests.saturating_add(MAX_SERVER_REQUESTS));
        if let Some(keep_alive) = self.keep_alive {
            client = client.keep_alive(keep_alive);
        }
        if self.client_tasks.is_some() {
            let table = TaskTable::grown(MAX_SERVER_REQUESTS, TASK_TEXT).wall_clock(unix_time());
            client = client.client_tasks_owned(table)?;
        }
        if self.message_mode {
            client = client.message_mode()?;
        }
        if let Some(observer) = observer {
            client = client.observe(&mut **observer);
        }
        Ok(client)
    }

    /// Switches from [`Connect::Automatic`] to [`Connect::Handshake`] if `error` is [`ConnectError::Closed`], and the
    /// revisions include one of the handshake era.
    ///
    /// Returns `true` if the settings have changed: the caller should then connect again, because some old servers exit
    /// when they receive a request of the stateless era.
    pub fn fall_back_to_handshake(&mut self, error: &ConnectError) -> bool {
        let has_handshake = !self.revisions.and(Revisions::HANDSHAKE).is_empty();
        let falls_back =
            matches!(error, ConnectError::Closed(_)) && self.connect == Connect::Automatic && has_handshake;
        if falls_back {
            self.connect = Connect::Handshake;
        }
        falls_back
    }
}

impl std::fmt::Debug for ClientSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientSettings")
            .field("name", &self.name)
            .field("version", &self.version)
            .finish_non_exhaustive()
    }
}

/// Defines the setters for a connector's identity and limits. The type needs the fields `settings`
/// ([`ClientSettings`]), `observer`, `stderr` and `ending`.
#[doc(hidden)]
#[macro_export]
macro_rules! client_settings {
    () => {
        /// Sets the client's display name.
        #[must_use]
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self.settings.title = Some(title.into());
            self
        }

        /// Sets the eras to try; the default is
        /// [`Connect::Automatic`](mcp_proto::client::Connect::Automatic).
        ///
        /// With the default, the connector restarts a child process that exits before it responds to the first request.
        /// The first request to the second process is `initialize`. Some old servers require this restart.
        #[must_use]
        pub fn connect(mut self, connect: mcp_proto::client::Connect) -> Self {
            self.settings.connect = connect;
            self
        }

        /// Sets the revisions to offer; the default is all revisions.
        #[must_use]
        pub fn revisions(mut self, revisions: mcp_proto::Revisions) -> Self {
            self.settings.revisions = revisions;
            self
        }

        /// Sets the timeouts for connecting and closing. Requests take their timeouts from
        /// [`CallOptions`](crate::CallOptions).
        #[must_use]
        pub fn timeouts(mut self, timeouts: mcp_proto::client::Timeouts) -> Self {
            self.settings.timeouts = timeouts;
            self
        }

        /// Sets the maximum number of pages of a list. Default: 1,000. A longer list fails with
        /// [`CallError::Invalid`](crate::CallError::Invalid).
        #[must_use]
        pub fn pages(mut self, limit: u32) -> Self {
            self.settings.pages = limit;
            self
        }

        /// Sets the maximum length of a server message, in bytes. The length of a line includes its newline.
        #[must_use]
        pub fn longest_line(mut self, bytes: usize) -> Self {
            self.settings.longest_line = bytes;
            self
        }

        /// Sets the maximum length of a request, in bytes.
        #[must_use]
        pub fn longest_request(mut self, bytes: usize) -> Self {
            self.settings.longest_request = bytes;
            self
        }

        /// Sets the maximum number of requests in flight, over HTTP at most 65,471. Further requests
        /// [wait](Self::waiting). Zero counts as one.
        #[must_use]
        pub fn requests(mut self, limit: usize) -> Self {
            self.settings.requests = limit.max(1);
            self
        }

        /// Sets the maximum number of requests that wait to be sent. Default: 4,096. Further requests fail with
        /// [`CallError::Busy`](crate::CallError::Busy).
        #[must_use]
        pub fn waiting(mut self, limit: usize) -> Self {
            self.settings.waiting = limit;
            self
        }

        /// Lets tool calls become tasks, which survive a lost connection. A call that becomes a task still ends with
        /// the result of the tool. Example: `connector.tasks(TaskLimits::DEFAULT)`.
        ///
        /// In `2026-07-28`, the server decides which calls become tasks. In `2025-11-25`, a call becomes a task only
        /// with [`CallOptions::task`](crate::CallOptions::task) or [`call_task`](crate::ClientHandle::call_task).
        #[must_use]
        pub fn tasks(mut self, limits: mcp_proto::client::TaskLimits) -> Self {
            self.settings.tasks = Some(limits);
            self
        }

        /// Lets server requests for sampling and elicitation become tasks, up to 32 at a time (`2025-11-25`). The
        /// server decides which requests become tasks. The callback of [`on_server_request`](Self::on_server_request)
        /// still responds to each request.
        ///
        /// `options` must return options with new random bits at each call.
        #[must_use]
        pub fn client_tasks(mut self, options: fn() -> mcp_proto::client::TaskOptions) -> Self {
            self.settings.client_tasks = Some(options);
            self
        }

        /// Declares extensions: pairs of a name and the JSON text of its settings (`2026-07-28`).
        #[must_use]
        pub fn extensions(mut self, extensions: &'static [(&'static str, &'static str)]) -> Self {
            self.settings.extensions = extensions;
            self
        }

        /// Passes server requests with these methods of extensions to the callback of
        /// [`on_server_request`](Self::on_server_request) (up to `2025-11-25`).
        #[must_use]
        pub fn methods(mut self, methods: &'static [&'static str]) -> Self {
            self.settings.methods = methods;
            self
        }

        /// Accepts results with these values of `resultType`, which extensions define (`2026-07-28`).
        #[must_use]
        pub fn result_types(mut self, types: &'static [&'static str]) -> Self {
            self.settings.result_types = types;
            self
        }

        /// Sends keep-alive pings to an idle server.
        #[must_use]
        pub fn keep_alive(mut self, keep_alive: mcp_proto::KeepAlive) -> Self {
            self.settings.keep_alive = Some(keep_alive);
            self
        }

        /// Passes every message to `observer`, on the thread or task of the connection.
        #[must_use]
        pub fn observe(mut self, observer: impl mcp_proto::Observer + Send + 'static) -> Self {
            self.observer = Some(Box::new(observer));
            self
        }

        /// Sets the destination of a child process's stderr; the default is
        /// [`Stderr::inherit`](crate::Stderr::inherit).
        #[must_use]
        pub fn stderr(mut self, stderr: $crate::Stderr) -> Self {
            self.stderr = stderr;
            self
        }

        /// Sets the timeouts for the exit of a child process.
        #[must_use]
        pub fn ending(mut self, ending: $crate::Ending) -> Self {
            self.ending = ending;
            self
        }
    };
}
