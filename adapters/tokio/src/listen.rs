//! Serves all connections of a listener concurrently.

use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use mcp_proto::server::Event;
use mcp_proto_handles::{AcceptRetry, ServeError, SharedObserver, Stop};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
#[cfg(unix)]
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tokio::time::sleep;

use crate::serve::Serve;
use crate::tasks::ServerHandle;

/// A source of connections: a [`TcpListener`] or, on Unix, a [`UnixListener`].
pub trait Listener: sealed::Sealed + Send {
    /// The address of a client.
    type Address;
    #[doc(hidden)]
    type Stream: AsyncRead + AsyncWrite + Send + 'static;
    #[doc(hidden)]
    fn poll_stream(&self, context: &mut Context<'_>) -> Poll<io::Result<(Self::Stream, Self::Address)>>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for tokio::net::TcpListener {}
    #[cfg(unix)]
    impl Sealed for tokio::net::UnixListener {}
}

impl Listener for TcpListener {
    type Address = std::net::SocketAddr;
    type Stream = TcpStream;

    fn poll_stream(&self, context: &mut Context<'_>) -> Poll<io::Result<(TcpStream, Self::Address)>> {
        self.poll_accept(context).map_ok(|(stream, address)| {
            // Responses are small and urgent, so Nagle's algorithm is disabled. An error is
            // ignored, because a later read or write reports a closed socket.
            let _ = stream.set_nodelay(true);
            (stream, address)
        })
    }
}

#[cfg(unix)]
impl Listener for UnixListener {
    type Address = tokio::net::unix::SocketAddr;
    type Stream = UnixStream;

    fn poll_stream(&self, context: &mut Context<'_>) -> Poll<io::Result<(UnixStream, Self::Address)>> {
        self.poll_accept(context)
    }
}

impl Serve<'static> {
    /// Serves every connection until the server is [stopped](Serve::stopped_by).
    ///
    /// Each connection has a separate task and state machine. All connections share the [workers](Serve::workers).
    ///
    /// All connections share the handler. For a handler with separate state for each connection, call
    /// [`listen_with`](Serve::listen_with). Each connection calls the handler for one event at a time. A panic of the
    /// handler, or a failed socket, ends only one connection. The observer receives the messages of all connections.
    /// Dropping the future closes all connections.
    ///
    /// ```no_run
    /// # use mcp_proto_tokio::server::{Event, ServerConfig, Tool, Tools};
    /// # static TOOLS: Tools = Tools::new(&[Tool::new("hello", "{}")]);
    /// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
    /// use mcp_proto_tokio::Serve;
    /// use tokio::net::UnixListener;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let listener = UnixListener::bind("/run/example.sock")?;
    /// let handler = |event: Event<'_>, server: &mcp_proto_tokio::ServerHandle| match event {
    ///     Event::Call(call) => server.run(call, |answer| async { answer.text("Hello!") }),
    ///     _ => {}
    /// };
    /// Serve::new(&CONFIG).listen(listener, handler).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The configuration is invalid, the socket no longer listens, or `accept` has failed for ten seconds.
    pub async fn listen(
        self,
        listener: impl Listener,
        handler: impl Fn(Event<'_>, &ServerHandle) + Send + Sync + 'static,
    ) -> Result<(), ServeError> {
        let handler = Arc::new(handler);
        self.listen_with(listener, |_| {
            let handler = Arc::clone(&handler);
            move |event: Event<'_>, server: &ServerHandle| handler(event, server)
        })
        .await
    }

    /// Like [`listen`](Serve::listen), with a separate handler for each connection, so a handler may contain state.
    ///
    /// `new_handler` receives the address of the client, and returns the handler of the connection. A panic of
    /// `new_handler` closes all connections and propagates to the caller.
    ///
    /// ```no_run
    /// # use mcp_proto_tokio::server::{Event, ServerConfig, Tool, Tools};
    /// # static TOOLS: Tools = Tools::new(&[Tool::new("count", "{}")]);
    /// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS]);
    /// use mcp_proto_tokio::Serve;
    /// use tokio::net::TcpListener;
    ///
    /// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let listener = TcpListener::bind("127.0.0.1:8080").await?;
    /// let new_handler = |address| {
    ///     let mut calls = 0;
    ///     move |event: Event<'_>, _: &mcp_proto_tokio::ServerHandle| match event {
    ///         Event::Call(call) => {
    ///             calls += 1;
    ///             call.text(format_args!("call {calls} of {address}"));
    ///         }
    ///         _ => {}
    ///     }
    /// };
    /// Serve::new(&CONFIG).listen_with(listener, new_handler).await?;
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// The configuration is invalid, the socket no longer listens, or `accept` has failed for ten seconds.
    pub async fn listen_with<L, H>(
        mut self,
        listener: L,
        mut new_handler: impl FnMut(L::Address) -> H,
    ) -> Result<(), ServeError>
    where
        L: Listener,
        H: FnMut(Event<'_>, &ServerHandle) + Send + 'static,
    {
        let observer = self.settings.observer.take().map(SharedObserver::new);
        // If `accept` fails permanently, the listener stops its own connections. These connections have a separate
        // `Stop`, because the application's `Stop` may also stop other servers.
        let stop = Stop::new();
        // Reports an invalid configuration before the first connection.
        self.settings.connection(None).server()?;
        let permits = Arc::new(Semaphore::new(self.connections.clamp(1, Semaphore::MAX_PERMITS)));
        let workers = ServerHandle::permits(self.settings.workers);
        let stopped = Arc::new(Notify::new());
        let _listener = self.stop.map(|outer| {
            let (permits, stop, stopped) = (Arc::clone(&permits), stop.clone(), Arc::clone(&stopped));
            outer.on_stop(move |time| {
                stop.within(time);
                permits.close();
                stopped.notify_one();
            })
        });
        // Dropping the set aborts its tasks.
        let mut connections = JoinSet::new();
        let (mut retry, mut outcome) = (AcceptRetry::default(), Ok(()));
        while outcome.is_ok()
            && let Ok(permit) = Arc::clone(&permits).acquire_owned().await
        {
            // Remove the results of ended connections. Otherwise the set keeps these results.
            while connections.try_join_next().is_some() {}
            match unless_stopped(&listener, &stopped).await {
                None => break,
                Some(Ok((stream, address))) => {
                    retry.succeeded();
                    let (settings, mut observer) = (self.settings.connection(None), observer.clone());
                    let (stop, workers) = (Some(stop.clone()), Some(Arc::clone(&workers)));
                    let (handler, on_start) = (new_handler(address), self.on_start.clone());
                    connections.spawn(async move {
                        let _permit = permit;
                        let observer = observer.as_mut().map(|observer| observer as _);
                        let settings = settings.connection(observer);
                        let serve = Serve { settings, stop, connections: 1, workers, on_start };
                        // Ignore the result: `listen_with` has reported an invalid configuration before.
                        let _ = serve.stream(stream, handler).await;
                    });
                }
                Some(Err(error)) => match retry.failed(error) {
                    Ok(pause) => sleep(pause).await,
                    Err(error) => outcome = Err(error.into()),
                },
            }
        }
        drop(listener);
        if outcome.is_err() {
            stop.within(AcceptRetry::FINISH_TIME);
        }
        // Ignore the results: a panic of the handler has ended only its connection, and the panic hook has reported it.
        while connections.join_next().await.is_some() {}
        outcome
    }
}

/// Waits for a connection. Returns `None` if the application stops the server.
async fn unless_stopped<L: Listener>(
    listener: &L,
    stopped: &Notify,
) -> Option<io::Result<(L::Stream, L::Address)>> {
    let mut stopped = pin!(stopped.notified());
    poll_fn(|context| match stopped.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => listener.poll_stream(context).map(Some),
    })
    .await
}
