//! A server on stdin and stdout, on a socket, or on any two streams.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{Read, Write};

use mcp_proto::server::{Event, ServerInfo};
use mcp_proto::{Buffer, Observer, Pings, Server};

use crate::error::ServeError;
use crate::pump::{Pump, Step};
use crate::stream::{HangUp, Stream};
use crate::worker::ServerHandle;

/// Serves on stdin and stdout until the client is gone: [`Serve::stdio`] with the usual limits.
///
/// The handler gets every event on the calling thread. What takes long belongs on a worker:
/// [`ServerHandle::run`].
///
/// ```no_run
/// # use mcp_proto::server::{Event, ServerInfo, Tool, Tools};
/// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
/// # static INFO: ServerInfo = ServerInfo::new("example", "1.0.0").features(&[&TOOLS]);
/// mcp_proto_std::serve(&INFO, |event, _| match event {
///     Event::Call(call) => call.text("Hello!"),
///     _ => {}
/// })?;
/// # Ok::<(), mcp_proto_std::ServeError>(())
/// ```
///
/// # Errors
/// The server is not set up well, or a thread cannot be started. A client that goes away is no error.
pub fn serve(info: &ServerInfo<'_>, handler: impl FnMut(Event<'_>, &ServerHandle)) -> Result<(), ServeError> {
    Serve::new(info).stdio(handler)
}

/// There is room in flight for so many subscriptions beside what the workers have.
const SUBSCRIPTIONS: usize = 32;

/// A server for one connection, with its limits.
///
/// ```
/// use std::os::unix::net::UnixStream;
/// use mcp_proto::server::ServerInfo;
/// use mcp_proto_std::Serve;
///
/// static INFO: ServerInfo = ServerInfo::new("example", "1.0.0");
/// let (here, there) = UnixStream::pair()?;
/// # drop(there);
/// Serve::new(&INFO).workers(4).longest_line(1 << 20).stream(here, |_, _| {})?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Serve<'i> {
    info: &'i ServerInfo<'i>,
    longest_line: usize,
    longest_answer: usize,
    workers: usize,
    watches: usize,
    pings: Option<Pings>,
    observer: Option<&'i mut (dyn Observer + Send + 'i)>,
}

impl<'i> Serve<'i> {
    /// A server with the usual limits: lines and answers of 8 MiB, 32 workers, 64 KiB for watched URIs.
    ///
    /// It takes [batches](Server::batches) where the revision has them.
    #[must_use]
    pub fn new(info: &'i ServerInfo<'i>) -> Serve<'i> {
        Serve {
            info,
            longest_line: 8 << 20,
            longest_answer: 8 << 20,
            workers: 32,
            watches: 64 << 10,
            pings: None,
            observer: None,
        }
    }

    /// How long a message of the client may be, in bytes.
    #[must_use]
    pub fn longest_line(mut self, bytes: usize) -> Self {
        self.longest_line = bytes;
        self
    }

    /// How long an answer may be, in bytes.
    #[must_use]
    pub fn longest_answer(mut self, bytes: usize) -> Self {
        self.longest_answer = bytes;
        self
    }

    /// How many requests may run on worker threads at once.
    #[must_use]
    pub fn workers(mut self, limit: usize) -> Self {
        self.workers = limit;
        self
    }

    /// How much room there is for the URIs of resources that clients watch, in bytes: see [`Server::watches`].
    #[must_use]
    pub fn watches(mut self, bytes: usize) -> Self {
        self.watches = bytes;
        self
    }

    /// Pings a client of the handshake era when nothing was heard of it for a while.
    #[must_use]
    pub fn keep_alive(mut self, pings: Pings) -> Self {
        self.pings = Some(pings);
        self
    }

    /// Shows every message to `observer`.
    #[must_use]
    pub fn observe(mut self, observer: &'i mut (dyn Observer + Send + 'i)) -> Self {
        self.observer = Some(observer);
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
            let taken = crate::stdio::Taken::take()?;
            let (input, output) = taken.streams()?;
            self.streams(input, output, handler)
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
        let _hang_up = HangUp::of(&stream)?;
        self.streams(stream.twin()?, stream, handler)
    }

    /// Serves on two streams until the client is gone.
    ///
    /// After the end of the input, calls that are on their way may take as long as the grace lasts
    /// ([`Limits::grace`](mcp_proto::server::Limits::grace)). It returns when their answers are written.
    ///
    /// # Errors
    /// The server is not set up well, or a thread cannot be started. A client that goes away is no error.
    pub fn streams(
        self,
        input: impl Read + Send + 'static,
        output: impl Write + Send + 'static,
        mut handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let (rx, tx) = (Buffer::grown(self.longest_line), Buffer::grown(self.longest_answer));
        let seed = RandomState::new().build_hasher().finish();
        // Each worker may have asked the client something.
        let in_flight = self.workers.saturating_mul(2).saturating_add(SUBSCRIPTIONS);
        // One batch may be open while the answers to another are collected.
        let batches = Buffer::grown(self.longest_answer.saturating_mul(2));
        let mut server = Server::new(self.info, rx, tx)?
            .in_flight_grown(in_flight)?
            .seed(seed)
            .watches(Buffer::grown(self.watches))
            .batches(batches);
        if let Some(pings) = self.pings {
            server = server.keep_alive(pings);
        }
        if let Some(observer) = self.observer {
            server = server.observe(observer);
        }
        let mut pump = Pump::new(input, output)?;
        let handle = ServerHandle::new(pump.waker(), self.workers);
        // However this ends, the workers hear of it.
        let desk = handle.desk();
        let _end = desk.end_on_drop();
        loop {
            match pump.run(&mut server) {
                Step::Closed => return Ok(()),
                Step::Woken => {}
                Step::Event => {
                    if let Some(event) = server.event() {
                        desk.notice(&event);
                        handler(event, &handle);
                    }
                }
            }
            desk.deliver(&mut server, pump.now());
        }
    }
}

impl std::fmt::Debug for Serve<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Serve").field("info", &self.info).finish_non_exhaustive()
    }
}
