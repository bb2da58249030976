//! Runs a server on stdin and stdout, a socket, or any two streams.

use std::sync::Arc;

use mcp_proto::server::{Event, ServerConfig};
use mcp_proto_handles::{PumpStatus, ServeError, ServerSettings, ServerShared, Stop};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use crate::blocking::{Input, Output};
use crate::pump::Pump;
use crate::pump_state::time_since;
use crate::tasks::ServerHandle;

/// Serves on stdin and stdout until the client disconnects: [`Serve::stdio`] with the default limits.
///
/// The handler receives every event. Long work belongs in a task: [`ServerHandle::run`].
///
/// ```no_run
/// # use mcp_proto_tokio::server::{Event, ServerConfig, Tool, Tools};
/// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
/// # async fn example() -> Result<(), mcp_proto_tokio::ServeError> {
/// mcp_proto_tokio::serve(&CONFIG, |event, _| match event {
///     Event::Call(call) => call.text("Hello!"),
///     _ => {}
/// })
/// .await
/// # }
/// ```
///
/// # Errors
/// See [`Serve::stdio`].
pub async fn serve(
    config: &ServerConfig<'_>,
    handler: impl FnMut(Event<'_>, &ServerHandle),
) -> Result<(), ServeError> {
    Serve::new(config).stdio(handler).await
}

/// Configures a server and runs it.
///
/// A `Serve` serves one connection, or every connection of a listener (`Serve::listen`, feature `net`).
///
/// ```no_run
/// use mcp_proto_tokio::server::ServerConfig;
/// use mcp_proto_tokio::Serve;
///
/// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
/// # async fn example() -> Result<(), mcp_proto_tokio::ServeError> {
/// let (here, there) = tokio::io::duplex(4096);
/// # drop(there);
/// Serve::new(&CONFIG).workers(4).longest_line(1 << 20).stream(here, |_, _| {}).await
/// # }
/// ```
///
/// Dropping the future of a server closes the connection and cancels all running requests.
pub struct Serve<'i> {
    pub(crate) settings: ServerSettings<'i>,
    pub(crate) stop: Option<Stop>,
    pub(crate) connections: usize,
    /// The permits that all connections of a listener share.
    pub(crate) workers: Option<Arc<Semaphore>>,
    pub(crate) on_start: Option<OnStart<'i>>,
}

/// A callback that gets the handle of a new server.
pub(crate) type OnStart<'i> = Arc<dyn Fn(&ServerHandle) + Send + Sync + 'i>;

impl<'i> Serve<'i> {
    /// Creates a server with the default limits.
    ///
    /// The limits are 8 MiB for a message, 8 MiB for a response, and 64 KiB for subscribed URIs. There are at most 1,024
    /// workers, 1,024 requests that wait for a worker, 64 tasks, and 64 connections.
    ///
    /// The server accepts [batches](mcp_proto::Server::batch_buffer) in revisions with batches.
    #[must_use]
    pub fn new(config: &'i ServerConfig<'i>) -> Serve<'i> {
        let settings = ServerSettings { workers: 1024, ..ServerSettings::new(config) };
        Serve { settings, stop: None, connections: 64, workers: None, on_start: None }
    }

    mcp_proto_handles::server_settings!('i);
    mcp_proto_handles::stop_settings!();

    /// Sets a callback that gets the handle of the server before the server reads its first message.
    ///
    /// For example, another task can then report changes. The callback runs in the task of the server. A listener calls
    /// `on_start` for each connection.
    ///
    /// ```no_run
    /// use std::time::{Duration, SystemTime};
    ///
    /// use mcp_proto_tokio::server::{Change, Resources, ServerConfig, Subscriptions};
    /// use mcp_proto_tokio::{Router, Serve, resource, route, router};
    ///
    /// #[resource("clock://now")]
    /// fn now() -> String {
    ///     format!("{:?}", SystemTime::now())
    /// }
    ///
    /// static ROUTER: Router<()> = router![now];
    /// static RESOURCES: Resources = ROUTER.resources().subscribe();
    /// static CONFIG: ServerConfig = ServerConfig::new("clock", "1.0.0").features(&[&RESOURCES, &Subscriptions]);
    ///
    /// # async fn example() -> Result<(), mcp_proto_tokio::ServeError> {
    /// let serve = Serve::new(&CONFIG).on_start(|server| {
    ///     let server = server.clone();
    ///     tokio::spawn(async move {
    ///         // `is_watched` fails when the connection is closed.
    ///         while server.is_watched("clock://now").await.is_ok() {
    ///             server.changed(Change::Resource("clock://now"));
    ///             tokio::time::sleep(Duration::from_secs(1)).await;
    ///         }
    ///     });
    /// });
    /// serve.stdio(route(&ROUTER, ())).await
    /// # }
    /// ```
    #[must_use]
    pub fn on_start(mut self, on_start: impl Fn(&ServerHandle) + Send + Sync + 'i) -> Self {
        self.on_start = Some(Arc::new(on_start));
        self
    }

    /// Serves on stdin and stdout until the client disconnects, or the server is stopped.
    ///
    /// Stdin and stdout may block, so each stream has a thread. The thread of stdin may outlive this function until
    /// input arrives or ends, or the process exits. The shutdown of a runtime does not wait for this thread, but would
    /// wait for tokio's own stdin.
    ///
    /// On Unix, only the protocol uses stdin and stdout while the server runs. Other output to stdout, including the
    /// output of child processes, goes to stderr.
    ///
    /// # Errors
    /// The configuration is invalid, a standard stream is not open or cannot be redirected, or a thread cannot be
    /// started. A client that disconnects is not an error.
    pub async fn stdio(self, handler: impl FnMut(Event<'_>, &ServerHandle)) -> Result<(), ServeError> {
        #[cfg(unix)]
        let guard = mcp_proto_handles::StdioGuard::acquire()?;
        #[cfg(unix)]
        let (input, output) = guard.streams()?;
        #[cfg(not(unix))]
        let (input, output) = (std::io::stdin(), std::io::stdout());
        self.streams(Input::start(input)?, Output::start(output)?, handler).await
    }

    /// Serves on a socket or another bidirectional stream until the client disconnects, or the server is stopped.
    ///
    /// # Errors
    /// See [`streams`](Serve::streams).
    pub async fn stream(
        self,
        stream: impl AsyncRead + AsyncWrite,
        handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let (input, output) = tokio::io::split(stream);
        self.streams(input, output, handler).await
    }

    /// Serves on two streams until the client disconnects, or the server is stopped.
    ///
    /// After the end of the input, running requests may finish within the grace period
    /// ([`Limits::grace`](mcp_proto::server::Limits::grace)). The function returns when the responses are written, or
    /// can no longer be written.
    ///
    /// A panic of the handler closes the connection and propagates to the caller. After a panic in the
    /// [work](ServerHandle::run) of a request, the request gets an error response (-32603).
    ///
    /// # Errors
    /// The configuration is invalid. A client that disconnects is not an error.
    pub async fn streams(
        self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin,
        mut handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let (requests, hooks) = (self.settings.request_limit(), self.settings.hooks.clone());
        let workers = self.workers.unwrap_or_else(|| ServerHandle::permits(self.settings.workers));
        let mut server = self.settings.server()?;
        let start = Instant::now();
        let mut pump = Pump::with_clock(input, output, start);
        let shared = ServerShared::new(pump.wake(), move || time_since(start), requests, None, hooks);
        // On drop, the guard cancels all running requests, even after a panic of the handler.
        let _guard = shared.close_guard();
        let _listener = self.stop.map(|stop| {
            let shared = Arc::clone(&shared);
            stop.on_stop(move |time| shared.shutdown(Some(time)))
        });
        let handle = ServerHandle::with_permits(Arc::clone(&shared), workers);
        if let Some(on_start) = &self.on_start {
            on_start(&handle);
        }
        let mut now = pump.read_clock();
        loop {
            let mut until = None;
            if shared.has_work() {
                // Read the clock, because `now` may lag behind by a few events, and commands set deadlines.
                now = pump.read_clock();
                until = shared.process_commands(&mut server, now);
            }
            match pump.run_until(&mut *server, now, until).await {
                PumpStatus::Closed => return Ok(()),
                PumpStatus::Woken => {
                    now = pump.read_clock();
                    if shared.is_overdue(now) {
                        return Ok(());
                    }
                }
                PumpStatus::Event => {
                    let _ = shared.handle_event(&mut server, |event| handler(event, &handle));
                    now = pump.time_after_event(server.deadline().is_some());
                }
            }
        }
    }
}

impl std::fmt::Debug for Serve<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve").field("settings", &self.settings).finish()
    }
}
