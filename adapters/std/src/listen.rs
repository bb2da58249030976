//! Serves all connections of a listener concurrently.

use std::io;
use std::net::{TcpListener, TcpStream};
#[cfg(unix)]
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::thread;
use std::time::Duration;

use mcp_proto::server::Event;
use mcp_proto_handles::{AcceptRetry, ServeError, ServerSettings, SharedObserver, Stop};

use crate::accept::{Acceptor, ConnectionLimit};
use crate::pool::{Pool, PoolGuard};
use crate::serve::{OnStart, Serve, Session};
use crate::stream::Stream;
use crate::worker::ServerHandle;

/// A source of connections: a [`TcpListener`] or, on Unix, a [`UnixListener`].
pub trait Listener: sealed::Sealed {
    /// The address of a client.
    type Address;
    #[doc(hidden)]
    type Stream: Stream;
    #[doc(hidden)]
    fn accept_stream(&self) -> io::Result<(Self::Stream, Self::Address)>;
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
    ($listener:ty, $stream:ty, $address:ty) => {
        impl Listener for $listener {
            type Address = $address;
            type Stream = $stream;

            fn accept_stream(&self) -> io::Result<($stream, $address)> {
                let (stream, address) = self.accept()?;
                // On some systems the socket inherits the non-blocking mode of the listener.
                stream.set_nonblocking(false)?;
                Ok((stream, address))
            }

            fn make_nonblocking(&self) -> io::Result<()> {
                self.set_nonblocking(true)
            }
        }
    };
}

listener!(TcpListener, TcpStream, std::net::SocketAddr);
#[cfg(unix)]
listener!(UnixListener, UnixStream, std::os::unix::net::SocketAddr);

impl Serve<'_> {
    /// Serves every connection until the server is [stopped](Serve::stopped_by).
    ///
    /// Each connection has a separate thread and state machine. All connections share the
    /// [workers](Serve::workers).
    ///
    /// All connections share the handler. For a handler with separate state for each connection, call
    /// [`listen_with`](Serve::listen_with). Each connection calls the handler for one event at a time. A panic of the
    /// handler, or a failed socket, ends only one connection. The [observer](Serve::observe) receives the messages of
    /// all connections.
    ///
    /// ```no_run
    /// # use mcp_proto_std::server::{Event, ServerConfig, Tool, Tools};
    /// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
    /// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
    /// use std::os::unix::net::UnixListener;
    /// use mcp_proto_std::Serve;
    ///
    /// let listener = UnixListener::bind("/run/example.sock")?;
    /// Serve::new(&CONFIG).listen(listener, |event, server| match event {
    ///     Event::Call(call) => server.run(call, |answer| answer.text("Hello!")),
    ///     _ => {}
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The configuration is invalid, the listener cannot be prepared or no longer listens, or `accept` has failed for
    /// ten seconds.
    pub fn listen(
        self,
        listener: impl Listener,
        handler: impl Fn(Event<'_>, &ServerHandle) + Sync,
    ) -> Result<(), ServeError> {
        self.listen_with(listener, |_| &handler)
    }

    /// Like [`listen`](Serve::listen), with a separate handler for each connection, so a handler may contain state.
    ///
    /// `new_handler` receives the address of the client, and returns the handler of the connection. A panic of
    /// `new_handler` closes all connections and propagates to the caller.
    ///
    /// ```no_run
    /// # use mcp_proto_std::server::{Event, ServerConfig, Tool, Tools};
    /// # static TOOLS: Tools = Tools::new(&[Tool::new("count", "{}")]);
    /// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
    /// use std::net::TcpListener;
    /// use mcp_proto_std::Serve;
    ///
    /// let listener = TcpListener::bind("127.0.0.1:8080")?;
    /// Serve::new(&CONFIG).listen_with(listener, |address| {
    ///     let mut calls = 0;
    ///     move |event, _| match event {
    ///         Event::Call(call) => {
    ///             calls += 1;
    ///             call.text(format_args!("call {calls} of {address}"));
    ///         }
    ///         _ => {}
    ///     }
    /// })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The configuration is invalid, the listener cannot be prepared or no longer listens, or `accept` has failed for
    /// ten seconds.
    pub fn listen_with<L, H>(
        mut self,
        listener: L,
        mut new_handler: impl FnMut(L::Address) -> H,
    ) -> Result<(), ServeError>
    where
        L: Listener,
        H: FnMut(Event<'_>, &ServerHandle) + Send,
    {
        let observer = self.settings.observer.take().map(SharedObserver::new);
        // If `accept` fails, the listener stops its own connections. These connections have a separate `Stop`, because
        // the application's `Stop` may also stop other servers.
        let stop = Stop::new();
        // Reports an invalid configuration before the first connection.
        self.settings.connection(None).server()?;
        let limit = ConnectionLimit::new(self.connections);
        let acceptor = Acceptor::new(listener, &limit)?;
        let workers = PoolGuard::Own(Pool::new(self.settings.workers));
        let _listener = self.stop.map(|outer| {
            let (limit, stop) = (limit.clone(), stop.clone());
            outer.on_stop(move |time| {
                stop.within(time);
                limit.close();
            })
        });
        thread::scope(|scope| {
            let (mut retry, mut outcome) = (AcceptRetry::default(), Ok(()));
            while outcome.is_ok() {
                let permit = limit.acquire();
                match acceptor.accept() {
                    Ok(None) => break,
                    Ok(Some((stream, address))) => {
                        retry.succeeded();
                        // The scope passes on a panic only after all connections have ended, so end them.
                        let handler = catch_unwind(AssertUnwindSafe(|| new_handler(address)));
                        let handler = handler.unwrap_or_else(|panic| {
                            stop.within(Duration::ZERO);
                            resume_unwind(panic)
                        });
                        let settings = self.settings.connection(None);
                        let (stop, workers) = (Some(stop.clone()), workers.share());
                        let on_start = self.on_start.clone();
                        let connection = match observer.clone() {
                            None => Connection::Ready(Session::new(settings, stop, on_start, workers)?),
                            Some(observer) => Connection::Observed(Box::new(Observed {
                                observer,
                                settings,
                                stop,
                                on_start,
                                workers,
                            })),
                        };
                        // Boxed, because starting a thread copies the closure several times on the stack.
                        let serve: Box<dyn FnOnce() + Send> = Box::new(move || {
                            let _permit = permit;
                            // The panic hook has already reported a panic of the handler.
                            let _ = catch_unwind(AssertUnwindSafe(|| connection.serve(stream, handler)));
                        });
                        // If no thread can be started, dropping the closure closes the stream.
                        let _ = thread::Builder::new().name("mcp-serve".into()).spawn_scoped(scope, serve);
                    }
                    Err(error) => match retry.failed(error) {
                        Ok(pause) => limit.pause(pause),
                        Err(error) => outcome = Err(error.into()),
                    },
                }
            }
            drop(acceptor);
            if outcome.is_err() {
                stop.within(AcceptRetry::FINISH_TIME);
            }
            outcome
        })
    }
}

/// The server of a connection, or the parts from which the connection's thread creates the server.
enum Connection<'s, 'o> {
    Ready(Session<'s>),
    /// A server with an observer cannot be moved to another thread, so the connection's thread creates the server.
    Observed(Box<Observed<'s, 'o>>),
}

struct Observed<'s, 'o> {
    observer: SharedObserver<'o>,
    settings: ServerSettings<'s>,
    stop: Option<Stop>,
    on_start: Option<OnStart<'s>>,
    workers: PoolGuard,
}

impl Connection<'_, '_> {
    fn serve(
        self,
        stream: impl Stream,
        handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        match self {
            Connection::Ready(session) => session.run_stream(stream, handler),
            Connection::Observed(observed) => observed.serve(stream, handler),
        }
    }
}

impl Observed<'_, '_> {
    // Not inlined: otherwise the locals would also take stack memory of connections without an observer.
    #[inline(never)]
    #[expect(clippy::boxed_local, reason = "a value would be copied to the stack of the caller")]
    fn serve(
        self: Box<Self>,
        stream: impl Stream,
        handler: impl FnMut(Event<'_>, &ServerHandle),
    ) -> Result<(), ServeError> {
        let Observed { mut observer, settings, stop, on_start, workers } = *self;
        let settings = settings.connection(Some(&mut observer));
        Session::new(settings, stop, on_start, workers)?.run_stream(stream, handler)
    }
}
