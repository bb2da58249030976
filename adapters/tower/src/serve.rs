//! `Serve`: the limits of a server, and the creation of its service.

use mcp_proto::server::{Event, ServerConfig};
use mcp_proto_handles::{HttpAccess, HttpMachines, HttpMemory, ServeError, ServerSettings, Stop};
use mcp_proto_tokio::ServerHandle;
use tokio::runtime::Handle;

use crate::service::McpService;
use crate::shared::Shared;

/// A server over HTTP, with its limits.
///
/// ```
/// use mcp_proto_tower::server::{Event, ServerConfig};
/// use mcp_proto_tower::{HttpAccess, HttpConfig, Serve};
///
/// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
/// static HTTP: HttpConfig = HttpConfig::new();
/// let service = Serve::new(&CONFIG).workers(100).service(HttpAccess::new(&HTTP), |_, _| {})?;
/// # Ok::<(), mcp_proto_tower::ServeError>(())
/// ```
pub struct Serve {
    settings: ServerSettings<'static>,
    stop: Option<Stop>,
    exchanges: usize,
    sessions: usize,
    replay: usize,
}

impl Serve {
    /// Creates a server with the default limits.
    ///
    /// The limits are 8 MiB for a response, 1,024 workers, and 1,024 requests that wait for a worker. The server has up
    /// to 4,096 exchanges, 65,534 sessions, 64 tasks, and 4 MiB for the replay of events. Memory grows to these limits
    /// on demand. A message has at most the length of an HTTP body, 64 KiB: see
    /// [`HttpLimits::with_body`](crate::HttpLimits::with_body).
    #[must_use]
    pub fn new(config: &'static ServerConfig<'static>) -> Serve {
        let settings = ServerSettings { workers: 1024, ..ServerSettings::new(config) };
        Serve { settings, stop: None, exchanges: 4096, sessions: 65_534, replay: 4 << 20 }
    }

    mcp_proto_handles::server_settings!('static);

    /// Connects a [`Stop`] switch that stops the server from outside, such as the switch that
    /// `mcp_proto_tokio::stop_on_ctrl_c` returns.
    ///
    /// The switch does not stop the HTTP server around the service: pass [`Stop::stopped`] to the HTTP server as well.
    #[must_use]
    pub fn stopped_by(mut self, stop: &Stop) -> Serve {
        self.stop = Some(stop.clone());
        self
    }

    /// Sets the maximum number of exchanges: requests without a complete response, and event streams for
    /// notifications. At the limit, the server responds with 503. Event streams for notifications take at most half of
    /// the exchanges (rounded up), so that they leave space for calls.
    #[must_use]
    pub fn exchanges(mut self, limit: usize) -> Serve {
        self.exchanges = limit;
        self
    }

    /// Sets the maximum number of sessions. At the limit, a new session replaces the session that was idle for the
    /// longest time. The slot of a session takes at most 128 bytes.
    #[must_use]
    pub fn sessions(mut self, limit: usize) -> Serve {
        self.sessions = limit;
        self
    }

    /// Sets the size of the memory for the replay of events, in bytes. With 0, a client cannot resume an event stream.
    #[must_use]
    pub fn replay_buffer(mut self, bytes: usize) -> Serve {
        self.replay = bytes;
        self
    }

    /// Creates the service.
    ///
    /// The handler receives every event, one at a time, except requests that a [hook](Serve::hook) refuses. Long work
    /// belongs in a task: [`ServerHandle::run`]. A panic of the handler, or of a hook before a request, fails only this
    /// request (-32603). A panic of a hook after a request has no effect on the response.
    ///
    /// Inside of a tokio runtime, the server runs at once. Otherwise the server runs from the first request on: until
    /// then, a [`Stop`] has no effect, and methods of [handles](McpService::handle) that wait do not return.
    ///
    /// # Errors
    /// The configuration is invalid.
    pub fn service(
        self,
        access: HttpAccess<'static>,
        handler: impl FnMut(Event<'_>, &ServerHandle) + Send + 'static,
    ) -> Result<McpService, ServeError> {
        let (workers, requests) = (self.settings.workers, self.settings.request_limit());
        let event_streams = self.exchanges.div_ceil(2);
        let settings = ServerSettings { subscriptions: event_streams, ..self.settings };
        let (longest_answer, hooks) = (settings.longest_answer, settings.hooks.clone());
        let server = (*settings.server()?).message_mode()?;
        let (exchanges, sessions, replay) = (self.exchanges, self.sessions, self.replay);
        let memory = HttpMemory { exchanges, event_streams, sessions, replay, longest_answer };
        let machines = HttpMachines::new(server, access, memory);
        let handler = Box::new(handler);
        let shared = Shared::new(machines, workers, requests, hooks, handler, self.stop.as_ref());
        if Handle::try_current().is_ok() {
            shared.with(|machines, _| machines.start_timer(&shared));
        }
        Ok(McpService::new(shared))
    }
}

impl std::fmt::Debug for Serve {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve").field("settings", &self.settings).finish_non_exhaustive()
    }
}
