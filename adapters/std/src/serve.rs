//! A server on stdin and stdout, on a socket, or on any two streams.

use std::io::{Read, Write};
use std::sync::Arc;
use std::thread;

use mcp_proto::Clock;
use mcp_proto::server::{Event, ServerConfig};
use mcp_proto_handles::{ServeError, ServerSettings, ServerShared};

use crate::pool::Pool;
use crate::pump::{Open, Pump, PumpStatus, Turn};
use crate::stop::Stop;
use crate::stream::{HangUp, Stream};
use crate::worker::ServerHandle;

/// Serves on stdin and stdout until the client is gone: [`Serve::stdio`] with the usual limits.
///
/// The handler gets every event on the calling thread. What takes long belongs on a worker:
/// [`ServerHandle::run`].
///
/// ```no_run
/// # use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
/// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// # static INFO: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
/// mcp_proto_std::serve(&INFO, |event, _| match event {
///     Event::Call(call) => call.text("Hello!"),
///     _ => {}
/// })?;
/// # Ok::<(), mcp_proto_std::ServeError>(())
/// ```
///
/// # Errors
/// The server is not set up well, or a thread cannot be started. A client that goes away is no error.
pub fn serve(
    info: &ServerConfig<'_>,
    handler: impl FnMut(Event<'_>, &ServerHandle),
) -> Result<(), ServeError> {
    Serve::new(info).stdio(handler)
}

/// How many requests may wait for a worker, if nothing else is said.
const WAITING: usize = 256;

/// A server, with its limits: for one connection, or for all that [come in](Serve::listen).
///
/// ```
/// use std::os::unix::net::UnixStream;
/// use mcp_proto::server::ServerConfig;
/// use mcp_proto_std::Serve;
///
/// static INFO: ServerConfig = ServerConfig::new("example", "1.0.0");
/// let (here, there) = UnixStream::pair()?;
/// # drop(there);
/// Serve::new(&INFO).workers(4).longest_line(1 << 20).stream(here, |_, _| {})?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Serve<'i> {
    pub(crate) settings: ServerSettings<'i>,
    pub(crate) waiting: usize,
    pub(crate) stop: Option<Stop>,
    pub(crate) connections: usize,
}

impl<'i> Serve<'i> {
    /// A server with the usual limits: lines and answers of 8 MiB, 32 workers, for which 256 requests may wait, 64 KiB for
    /// watched URIs, 64 connections.
    ///
    /// It takes [batches](mcp_proto::Server::batch_buffer) where the revision has them.
    #[must_use]
    pub fn new(info: &'i ServerConfig<'i>) -> Serve<'i> {
        Serve { settings: ServerSettings::new(info), waiting: WAITING, stop: None, connections: 64 }
    }

    mcp_proto_handles::server_settings!('i);

    /// How many requests may wait for a worker when all of them work. More are refused (-32603), in either era. What waits
    /// has no more time than what runs, and can be cancelled.
    #[must_use]
    pub fn waiting(mut self, limit: usize) -> Self {
        self.waiting = limit;
        self
    }

    /// Ends it from outside, even before a client has said anything: see [`Stop`].
    #[must_use]
    pub fn stopped_by(mut self, stop: &Stop) -> Self {
        self.stop = Some(stop.clone());
        self
    }

    /// Serves on stdin and stdout until the client is gone.
    ///
    /// On Unix both are taken over meanwhile, so that nothing but the protocol ever gets onto stdout: what prints
    /// there, prints to stderr instead, and so do child processes.
    ///
    /// # Errors
    /// As [`streams`](Serve::streams).
    pub fn stdio(self, handler: impl FnMut(Event<'_>, &ServerHandle)) -> Result<(), ServeError> {
        #[cfg(unix)]
        {
            let taken = mcp_proto_handles::Taken::take()?;
            let (input, output) = taken.streams()?;
            self.over(Pump::polled(input, output), handler)
        }
        #[cfg(not(unix))]
        self.streams(std::io::stdin(), std::io::stdout(), handler)
    }

    /// Serves on a socket until the client is gone, and hangs up.
    ///
    /// # Errors
    /// As [`streams`](Serve::streams).
    pub fn stream(
        self,
        stream: impl Stream,
        handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let _hang_up = HangUp::new(&stream)?;
        self.streams(stream.twin()?, stream, handler)
    }

    /// Serves on two streams until the client is gone.
    ///
    /// After the end of the input, calls that are on their way may take as long as the grace lasts
    /// ([`Limits::grace`](mcp_proto::server::Limits::grace)). It returns when their answers are written, and the workers
    /// have ended; those that do not care that they are cancelled are left behind after one second.
    ///
    /// If the handler panics, the connection is over and the panic goes on here. A worker may panic: its request is
    /// answered with an error (-32603).
    ///
    /// # Errors
    /// The server is not set up well, or a thread cannot be started. A client that goes away is no error.
    pub fn streams(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        self.over(Pump::over(input, output), handler)
    }

    fn over(self, open: Open, mut handler: impl FnMut(Event<'_>, &ServerHandle)) -> Result<(), ServeError> {
        let pool = Pool::new(self.settings.workers);
        // They are waited for when all else is over, and the client has seen the end of the output.
        let _workers = pool.end_on_drop();
        let mut settings = self.settings;
        settings.workers = settings.workers.saturating_add(self.waiting);
        let places = settings.workers;
        let mut server = settings.server()?;
        let mut pump = open(Clock::start())?;
        let desk = ServerShared::new(pump.wake(), places, Some(thread::current().id()));
        // However this ends, the workers hear of it.
        let _end = desk.end_on_drop();
        let is_stopped_by_others = self.stop.is_some();
        let _hearer = self.stop.map(|stop| {
            let desk = Arc::clone(&desk);
            stop.hear(move |time| desk.shutdown(Some(time)))
        });
        let handle = ServerHandle::new(Arc::clone(&desk), Arc::clone(&pool));
        let ours = Arc::strong_count(&desk);
        loop {
            let now = pump.now();
            let until = desk.deliver(&mut server, now);
            // Only the handler gives handles away, which runs here and not meanwhile; whoever has none cannot make one.
            let nobody_wakes = !is_stopped_by_others && !desk.is_known_to_others(ours);
            match pump.turn(&mut server, Turn { now, until, nobody_wakes }) {
                PumpStatus::Closed => return Ok(()),
                PumpStatus::Woken if desk.is_overdue(pump.now()) => return Ok(()),
                PumpStatus::Woken => {}
                PumpStatus::Event => {
                    if let Some(event) = server.event() {
                        desk.hear(&event);
                        if let Event::Cancelled { .. } | Event::Expired(_) | Event::Restarted = event {
                            pool.sweep();
                        }
                        handler(event, &handle);
                    }
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
