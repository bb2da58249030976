//! A server for every connection that comes in: one after the other, and several at once.

use std::io::{self, ErrorKind};
use std::net::{TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use mcp_proto::server::{Event, ServerConfig};
use mcp_proto::{Direction, KeepAlive, Observer, ProtocolError};
use mcp_proto_handles::{ServeError, ServerSettings, lock};

use crate::accept::{Gate, InputSink, Next};
use crate::serve::Serve;
use crate::stop::Stop;
use crate::stream::Stream;
use crate::worker::ServerHandle;

/// Where connections come in: a [`TcpListener`] or, on Unix, a [`UnixListener`].
pub trait Listener: sealed::Sealed {
    #[doc(hidden)]
    type Stream: Stream;
    #[doc(hidden)]
    fn take(&self) -> io::Result<Self::Stream>;
    #[doc(hidden)]
    fn do_not_wait(&self) -> io::Result<()>;
}

pub(crate) mod sealed {
    #[cfg(unix)]
    pub trait Sealed: std::os::fd::AsFd {}
    #[cfg(not(unix))]
    pub trait Sealed {}
    impl Sealed for std::net::TcpListener {}
    #[cfg(unix)]
    impl Sealed for std::os::unix::net::UnixListener {}
}

macro_rules! listener {
    ($listener:ty, $stream:ty) => {
        impl Listener for $listener {
            type Stream = $stream;

            fn take(&self) -> io::Result<$stream> {
                let (stream, _) = self.accept()?;
                // On some systems it is as its listener.
                stream.set_nonblocking(false)?;
                Ok(stream)
            }

            fn do_not_wait(&self) -> io::Result<()> {
                self.set_nonblocking(true)
            }
        }
    };
}

listener!(TcpListener, TcpStream);
#[cfg(unix)]
listener!(UnixListener, UnixStream);

/// How long nothing is accepted after it went wrong: there may be too many open files.
const PAUSE: Duration = Duration::from_millis(100);

/// So often it may go wrong in a row.
const FAILURES: u32 = 100;

/// How long connections may take to end when no more can be accepted.
const LAST_CALLS: Duration = Duration::from_secs(2);

impl Serve<'_> {
    /// How many connections there may be at once. More are not accepted until one ends.
    #[must_use]
    pub fn connections(mut self, limit: usize) -> Self {
        self.connections = limit;
        self
    }

    /// Serves every connection that comes in, until it is [stopped](Serve::stopped_by): each with a machine and workers of
    /// its own, on a thread of its own.
    ///
    /// They share the handler, which is called for one event at a time of each connection. If it panics, that connection
    /// is over; so is one whose socket fails. An observer sees the messages of all connections. A server that needs to
    /// keep something for each accepts them itself, and gives each to [`stream`](Serve::stream).
    ///
    /// ```no_run
    /// # use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
    /// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
    /// # static INFO: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
    /// use std::os::unix::net::UnixListener;
    /// use mcp_proto_std::Serve;
    ///
    /// let listener = UnixListener::bind("/run/example.sock")?;
    /// Serve::new(&INFO).listen(listener, |event, server| match event {
    ///     Event::Call(call) => server.run(call, |answer| answer.text("Hello!")),
    ///     _ => {}
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The server is not set up well, or nothing can be accepted for ten seconds.
    pub fn listen(
        mut self,
        listener: impl Listener,
        handler: impl Fn(Event<'_>, &ServerHandle) + Sync,
    ) -> Result<(), ServeError> {
        let observer = self.settings.observer.take().map(Mutex::new);
        let (observer, handler) = (observer.as_ref(), &handler);
        // This one is for the connections alone: the host's may be for other servers, too.
        let ours = Stop::new();
        let each = Each {
            info: self.settings.info,
            longest_line: self.settings.longest_line,
            longest_answer: self.settings.longest_answer,
            workers: self.settings.workers,
            watches: self.settings.watches,
            pings: self.settings.pings,
            waiting: self.waiting,
            stop: &ours,
        };
        // What is not set up well will never be.
        each.settings(None).server()?;
        let gate = Gate::new(self.connections);
        let door = InputSink::new(listener, &gate)?;
        let _hearer = self.stop.map(|stop| {
            let (gate, ours) = (gate.clone(), ours.clone());
            stop.hear(move |time| {
                ours.within(time);
                gate.close();
            })
        });
        thread::scope(|scope| {
            let (mut failures, mut outcome) = (0, Ok(()));
            while outcome.is_ok() {
                let place = gate.place();
                match door.next() {
                    Ok(Next::Closed) => break,
                    Ok(Next::Stream(stream)) => {
                        failures = 0;
                        let serve = move || {
                            let _place = place;
                            // A handler that panics has said so on stderr.
                            let _ = catch_unwind(AssertUnwindSafe(|| each.serve(stream, observer, handler)));
                        };
                        // If no thread can be started, the stream is closed with its closure.
                        let _ = thread::Builder::new().name("mcp-serve".into()).spawn_scoped(scope, serve);
                    }
                    // That one is gone.
                    Err(error) if is_passing(&error) => {}
                    Err(error) if failures >= FAILURES => outcome = Err(error.into()),
                    Err(_) => {
                        failures += 1;
                        gate.wait(PAUSE);
                    }
                }
            }
            drop(door);
            if outcome.is_err() {
                ours.within(LAST_CALLS);
            }
            outcome
        })
    }
}

fn is_passing(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
}

type Watcher<'i> = Mutex<&'i mut (dyn Observer + Send + 'i)>;

/// What every connection is served with.
#[derive(Clone, Copy)]
struct Each<'i> {
    info: &'i ServerConfig<'i>,
    longest_line: usize,
    longest_answer: usize,
    workers: usize,
    watches: usize,
    pings: Option<KeepAlive>,
    waiting: usize,
    stop: &'i Stop,
}

impl Each<'_> {
    fn settings<'s>(&'s self, observer: Option<&'s mut (dyn Observer + Send + 's)>) -> ServerSettings<'s> {
        ServerSettings {
            info: self.info,
            longest_line: self.longest_line,
            longest_answer: self.longest_answer,
            workers: self.workers,
            watches: self.watches,
            pings: self.pings,
            observer,
        }
    }

    fn serve(
        &self,
        stream: impl Stream,
        observer: Option<&Watcher<'_>>,
        handler: impl Fn(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let mut observer = observer.map(Shared);
        let settings = self.settings(observer.as_mut().map(|shared| shared as _));
        let stop = Some(self.stop.clone());
        Serve { settings, waiting: self.waiting, stop, connections: 1 }.stream(stream, handler)
    }
}

/// One observer of several connections.
struct Shared<'o, 'i>(&'o Watcher<'i>);

impl Observer for Shared<'_, '_> {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        lock(self.0).line(direction, line, outcome);
    }
}
