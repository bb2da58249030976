//! Runs a server on stdin and stdout, a socket, or any two streams.

use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;

use mcp_proto::server::{Event, ServerConfig};
use mcp_proto::{Clock, Server};
use mcp_proto_handles::{PumpStatus, RequestHook, ServeError, ServerSettings, ServerShared, Stop};

use crate::pool::{Pool, PoolGuard};
use crate::pump::{OpenPump, Pump, RunOptions};
use crate::stream::{ShutdownOnDrop, Stream, halves};
use crate::worker::ServerHandle;

/// Serves on stdin and stdout until the client disconnects: [`Serve::stdio`] with the default limits.
///
/// The handler receives every event on the calling thread. Long work belongs on a worker:
/// [`ServerHandle::run`].
///
/// ```no_run
/// # use mcp_proto_std::server::{Event, ServerConfig, Tool, Tools};
/// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
/// mcp_proto_std::serve(&CONFIG, |event, _| match event {
///     Event::Call(call) => call.text("Hello!"),
///     _ => {}
/// })?;
/// # Ok::<(), mcp_proto_std::ServeError>(())
/// ```
///
/// # Errors
/// See [`Serve::stdio`].
pub fn serve(
    config: &ServerConfig<'_>,
    handler: impl FnMut(Event<'_>, &ServerHandle),
) -> Result<(), ServeError> {
    Serve::new(config).stdio(handler)
}

/// Configures a server and runs it.
///
/// A `Serve` serves one connection, [every connection of a listener](Serve::listen), or HTTP (`Serve::http`).
///
/// ```
/// use std::os::unix::net::UnixStream;
/// use mcp_proto_std::server::ServerConfig;
/// use mcp_proto_std::Serve;
///
/// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
/// let (here, there) = UnixStream::pair()?;
/// # drop(there);
/// Serve::new(&CONFIG).workers(4).longest_line(1 << 20).stream(here, |_, _| {})?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Serve<'i> {
    pub(crate) settings: ServerSettings<'i>,
    pub(crate) stop: Option<Stop>,
    pub(crate) connections: usize,
    pub(crate) on_start: Option<OnStart<'i>>,
}

/// A callback that gets the handle of a new server.
pub(crate) type OnStart<'i> = Arc<dyn Fn(&ServerHandle) + Send + Sync + 'i>;

impl<'i> Serve<'i> {
    /// Creates the configuration of a server with the default limits.
    ///
    /// The limits are 8 MiB for a message, 8 MiB for a response, and 64 KiB for subscribed URIs. There are at most 32
    /// workers, 1,024 requests that wait for a worker, 64 tasks, and 64 connections.
    ///
    /// The server accepts [batches](mcp_proto::Server::batch_buffer) in revisions with batches.
    #[must_use]
    pub fn new(config: &'i ServerConfig<'i>) -> Serve<'i> {
        Serve { settings: ServerSettings::new(config), stop: None, connections: 64, on_start: None }
    }

    mcp_proto_handles::server_settings!('i);
    mcp_proto_handles::stop_settings!();

    /// Sets a callback that gets the handle of the server before the server reads its first message.
    ///
    /// For example, another thread can then report changes. A listener calls `on_start` for each connection, on the
    /// connection's thread. `Serve::http` calls `on_start` once.
    ///
    /// ```no_run
    /// use std::thread;
    /// use std::time::{Duration, SystemTime};
    ///
    /// use mcp_proto_std::server::{Change, Resources, ServerConfig, Subscriptions};
    /// use mcp_proto_std::{Router, Serve, resource, route, router};
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
    /// let serve = Serve::new(&CONFIG).on_start(|server| {
    ///     let server = server.clone();
    ///     thread::spawn(move || {
    ///         // `is_watched` fails when the connection is closed.
    ///         while server.is_watched("clock://now").is_ok() {
    ///             server.changed(Change::Resource("clock://now"));
    ///             thread::sleep(Duration::from_secs(1));
    ///         }
    ///     });
    /// });
    /// serve.stdio(route(&ROUTER, ()))?;
    /// # Ok::<(), mcp_proto_std::ServeError>(())
    /// ```
    #[must_use]
    pub fn on_start(mut self, on_start: impl Fn(&ServerHandle) + Send + Sync + 'i) -> Self {
        self.on_start = Some(Arc::new(on_start));
        self
    }

    /// Serves on stdin and stdout until the client disconnects, or the server is stopped.
    ///
    /// On Unix, only the protocol uses stdin and stdout while the server runs. Other output to stdout, including the
    /// output of child processes, goes to stderr.
    ///
    /// # Errors
    /// See [`streams`](Serve::streams). On Unix, the method also fails if a standard stream is not open.
    pub fn stdio(self, handler: impl FnMut(Event<'_>, &ServerHandle)) -> Result<(), ServeError> {
        #[cfg(unix)]
        {
            let guard = mcp_proto_handles::StdioGuard::acquire()?;
            let (input, output) = guard.streams()?;
            self.session()?.run(Pump::poll_opener(input, output), None, handler)
        }
        #[cfg(not(unix))]
        self.streams(std::io::stdin(), std::io::stdout(), handler)
    }

    /// Serves on a socket until the client disconnects or the server is stopped, then shuts the socket down.
    ///
    /// # Errors
    /// See [`streams`](Serve::streams).
    pub fn stream(
        self,
        stream: impl Stream,
        handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        self.session()?.run_stream(stream, handler)
    }

    /// Serves on two streams until the client disconnects, or the server is stopped.
    ///
    /// Streams may be non-blocking or have timeouts: the server then repeats the read or write. So a write timeout does
    /// not end the connection of a client that reads nothing.
    ///
    /// After the end of the input, running requests may finish within the grace period
    /// ([`Limits::grace`](mcp_proto::server::Limits::grace)). The function returns when the responses are written and
    /// the workers have exited. The function waits at most one second for workers that ignore their cancellation.
    ///
    /// A panic of the handler closes the connection and propagates to the caller. After a panic of a worker, its
    /// request gets an error response (-32603).
    ///
    /// # Errors
    /// The configuration is invalid, or the connection cannot be set up: for example, a thread cannot be started. A
    /// client that disconnects is not an error.
    pub fn streams(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        self.session()?.run(Pump::opener(input, output), None, handler)
    }

    fn session(self) -> Result<Session<'i>, ServeError> {
        let workers = PoolGuard::Own(Pool::new(self.settings.workers));
        Session::new(self.settings, self.stop, self.on_start, workers)
    }
}

/// A server that is ready for its connection.
///
/// Creating a server takes more stack memory than running it, and a thread keeps the stack memory that it has used. So
/// a listener's thread creates the servers of all connections. Exception: with an observer, the thread of each
/// connection creates its server.
pub(crate) struct Session<'s> {
    server: Box<Server<'s>>,
    request_limit: usize,
    hooks: Vec<Arc<dyn RequestHook>>,
    stop: Option<Stop>,
    on_start: Option<OnStart<'s>>,
    workers: PoolGuard,
}

impl<'s> Session<'s> {
    pub(crate) fn new(
        mut settings: ServerSettings<'s>,
        stop: Option<Stop>,
        on_start: Option<OnStart<'s>>,
        workers: PoolGuard,
    ) -> Result<Session<'s>, ServeError> {
        let (request_limit, hooks) = (settings.request_limit(), std::mem::take(&mut settings.hooks));
        Ok(Session { server: settings.server()?, request_limit, hooks, stop, on_start, workers })
    }

    /// Serves on a socket until the client disconnects or the server is stopped, then shuts the socket down.
    pub(crate) fn run_stream(
        self,
        stream: impl Stream,
        handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let (halves, shutdown) = halves(stream)?;
        self.run(Pump::socket_opener(halves), Some(shutdown), handler)
    }

    fn run(
        self,
        open: OpenPump,
        shutdown: Option<ShutdownOnDrop>,
        mut handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        // The drop order matters: the pump and `_shutdown` close the output before the drop of `workers` waits for the
        // worker threads.
        let workers = self.workers;
        let _shutdown = shutdown;
        let (mut server, pool) = (self.server, Arc::clone(workers.pool()));
        let clock = Clock::start();
        let mut pump = open(clock)?;
        let current = Some(thread::current().id());
        let (read_clock, limit) = (move || clock.now(), self.request_limit);
        let shared = ServerShared::new(pump.wake(), read_clock, limit, current, self.hooks);
        // On drop, cancels all running requests, even if the handler panics.
        let _guard = shared.close_guard();
        let has_stop = self.stop.is_some();
        let _listener = self.stop.map(|stop| {
            let shared = Arc::clone(&shared);
            stop.on_stop(move |time| shared.shutdown(Some(time)))
        });
        let handle = ServerHandle::new(Arc::clone(&shared), Arc::clone(&pool));
        let own_count = Arc::strong_count(&shared);
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
            // Only `on_start` and the handler can create the first clone of a handle, and neither runs during
            // `run_with`. If no clone exists now, no clone can appear during that call.
            let no_wakers = !has_stop && !shared.has_other_owners(own_count);
            match pump.run_with(&mut *server, RunOptions { now, until, no_wakers }) {
                PumpStatus::Closed => return Ok(()),
                PumpStatus::Woken => {
                    now = pump.read_clock();
                    if shared.is_overdue(now) {
                        return Ok(());
                    }
                }
                PumpStatus::Event => {
                    if shared.handle_event(&mut server, |event| handler(event, &handle)) {
                        pool.remove_cancelled();
                    }
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
