//! Serves all connections of a listener concurrently.

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

use crate::accept::{Accepted, Acceptor, ConnectionLimit};
use crate::serve::Serve;
use crate::stop::Stop;
use crate::stream::Stream;
use crate::worker::ServerHandle;

/// A source of connections: a [`TcpListener`] or, on Unix, a [`UnixListener`].
pub trait Listener: sealed::Sealed {
    #[doc(hidden)]
    type Stream: Stream;
    #[doc(hidden)]
    fn accept_stream(&self) -> io::Result<Self::Stream>;
    #[doc(hidden)]
    fn make_nonblocking(&self) -> io::Result<()>;
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

            fn accept_stream(&self) -> io::Result<$stream> {
                let (stream, _) = self.accept()?;
                // On some systems the socket inherits the non-blocking mode of the listener.
                stream.set_nonblocking(false)?;
                Ok(stream)
            }

            fn make_nonblocking(&self) -> io::Result<()> {
                self.set_nonblocking(true)
            }
        }
    };
}

listener!(TcpListener, TcpStream);
#[cfg(unix)]
listener!(UnixListener, UnixStream);

/// Pause after a failed `accept`. A possible cause is the limit of open files.
pub(crate) const RETRY_PAUSE: Duration = Duration::from_millis(100);

/// Maximum number of consecutive failures of `accept`.
const MAX_FAILURES: u32 = 100;

/// Time for open connections to finish after the last failure of `accept`.
const FINISH_TIME: Duration = Duration::from_secs(2);

impl Serve<'_> {
    /// Sets the maximum number of concurrent connections. At the limit, the server accepts the next connection when an
    /// open connection ends.
    #[must_use]
    pub fn connections(mut self, limit: usize) -> Self {
        self.connections = limit;
        self
    }

    /// Serves every connection until the server is [stopped](Serve::stopped_by).
    ///
    /// Each connection has a separate thread, state machine and workers.
    ///
    /// All connections share the handler. Each connection calls the handler for one event at a time. A panic of the
    /// handler, or a failed socket, ends only one connection. The observer receives the messages of all connections. To
    /// keep state for each connection, accept connections in the application and pass each one to
    /// [`stream`](Serve::stream).
    ///
    /// ```no_run
    /// # use mcp_proto_std::server::{Event, ServerConfig, Tool, Tools};
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
    /// The configuration is invalid, or `accept` has failed for ten seconds.
    pub fn listen(
        mut self,
        listener: impl Listener,
        handler: impl Fn(Event<'_>, &ServerHandle) + Sync,
    ) -> Result<(), ServeError> {
        let observer = self.settings.observer.take().map(Mutex::new);
        let (observer, handler) = (observer.as_ref(), &handler);
        // A separate switch for these connections, because the application's switch may also stop other servers.
        let stop = Stop::new();
        let settings = ConnectionSettings {
            config: self.settings.config,
            longest_line: self.settings.longest_line,
            longest_answer: self.settings.longest_answer,
            workers: self.settings.workers,
            subscription_buffer: self.settings.subscription_buffer,
            tasks: self.settings.tasks,
            keep_alive: self.settings.keep_alive,
            waiting: self.settings.waiting,
            stop: &stop,
        };
        // Reports an invalid configuration before the first connection.
        settings.server_settings(None).server()?;
        let limit = ConnectionLimit::new(self.connections);
        let acceptor = Acceptor::new(listener, &limit)?;
        let _listener = self.stop.map(|outer| {
            let (limit, stop) = (limit.clone(), stop.clone());
            outer.on_stop(move |time| {
                stop.within(time);
                limit.close();
            })
        });
        thread::scope(|scope| {
            let (mut failures, mut outcome) = (0, Ok(()));
            while outcome.is_ok() {
                let permit = limit.acquire();
                match acceptor.accept() {
                    Ok(Accepted::Closed) => break,
                    Ok(Accepted::Stream(stream)) => {
                        failures = 0;
                        let serve = move || {
                            let _permit = permit;
                            // The panic hook has already reported a panic of the handler.
                            let _ =
                                catch_unwind(AssertUnwindSafe(|| settings.serve(stream, observer, handler)));
                        };
                        // If no thread can be started, dropping the closure closes the stream.
                        let _ = thread::Builder::new().name("mcp-serve".into()).spawn_scoped(scope, serve);
                    }
                    // The connection was closed before it was accepted, or a signal interrupted the call.
                    Err(error) if is_transient(&error) => {}
                    Err(error) if failures >= MAX_FAILURES => outcome = Err(error.into()),
                    Err(_) => {
                        failures += 1;
                        limit.pause(RETRY_PAUSE);
                    }
                }
            }
            drop(acceptor);
            if outcome.is_err() {
                stop.within(FINISH_TIME);
            }
            outcome
        })
    }
}

fn is_transient(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionAborted, ConnectionReset, Interrupted, WouldBlock};
    matches!(error.kind(), ConnectionAborted | ConnectionReset | Interrupted | WouldBlock)
}

type SharedObserver<'i> = Mutex<&'i mut (dyn Observer + Send + 'i)>;

/// The settings that all connections share.
#[derive(Clone, Copy)]
struct ConnectionSettings<'i> {
    config: &'i ServerConfig<'i>,
    longest_line: usize,
    longest_answer: usize,
    workers: usize,
    subscription_buffer: usize,
    tasks: usize,
    keep_alive: Option<KeepAlive>,
    waiting: usize,
    stop: &'i Stop,
}

impl ConnectionSettings<'_> {
    fn server_settings<'s>(
        &'s self,
        observer: Option<&'s mut (dyn Observer + Send + 's)>,
    ) -> ServerSettings<'s> {
        ServerSettings {
            config: self.config,
            longest_line: self.longest_line,
            longest_answer: self.longest_answer,
            workers: self.workers,
            waiting: self.waiting,
            subscription_buffer: self.subscription_buffer,
            tasks: self.tasks,
            keep_alive: self.keep_alive,
            observer,
        }
    }

    fn serve(
        &self,
        stream: impl Stream,
        observer: Option<&SharedObserver<'_>>,
        handler: impl Fn(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let mut observer = observer.map(ObserverHandle);
        let settings = self.server_settings(observer.as_mut().map(|shared| shared as _));
        let stop = Some(self.stop.clone());
        Serve { settings, stop, connections: 1 }.stream(stream, handler)
    }
}

/// One connection's access to the shared observer.
struct ObserverHandle<'o, 'i>(&'o SharedObserver<'i>);

impl Observer for ObserverHandle<'_, '_> {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        lock(self.0).line(direction, line, outcome);
    }
}
