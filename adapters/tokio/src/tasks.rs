//! The handle of a running server: tasks, notifications, shutdown.

use std::fmt::Display;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::{Change, Task, TaskTicket};
use mcp_proto::{Level, Millis, SendError, Ticket};
use mcp_proto_handles::{ClientResponse, Defer, RequestError, Responder, Serialize, ServerShared};
use tokio::sync::Semaphore;

/// Waits for a future. Returns `None` if the request is cancelled before the future is ready. After the cancellation,
/// the future is not polled again.
pub(crate) async fn unless_cancelled<T>(responder: &Responder, future: impl Future<Output = T>) -> Option<T> {
    let (mut future, cancellation) = (pin!(future), responder.cancellation());
    let mut cancelled = pin!(cancellation.cancelled());
    poll_fn(|context| match cancelled.as_mut().poll(context) {
        Poll::Ready(()) => Poll::Ready(None),
        Poll::Pending => future.as_mut().poll(context).map(Some),
    })
    .await
}

/// The handle of a running server, for its handler and any async task.
///
/// ```no_run
/// # use mcp_proto_tokio::server::{Event, ServerConfig};
/// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
/// # async fn example() -> Result<(), mcp_proto_tokio::ServeError> {
/// use std::time::Duration;
/// mcp_proto_tokio::serve(&CONFIG, |event, server| match event {
///     Event::Call(call) => server.run(call, |answer| async move {
///         for step in 1..=10u32 {
///             answer.progress(step, Some(10.into()), "working").await;
///             tokio::time::sleep(Duration::from_secs(1)).await;
///         }
///         answer.text("done");
///     }),
///     _ => {}
/// })
/// .await
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ServerHandle {
    shared: Arc<ServerShared>,
    /// One permit for each worker.
    workers: Arc<Semaphore>,
}

impl ServerHandle {
    /// Creates a handle, for an adapter with an event loop of its own. Applications get a handle with each event.
    ///
    /// At most `workers` tasks run at a time. Zero counts as one.
    #[must_use]
    pub fn new(shared: Arc<ServerShared>, workers: usize) -> ServerHandle {
        ServerHandle::with_permits(shared, ServerHandle::permits(workers))
    }

    /// Creates a handle that shares its workers with other handles.
    pub(crate) fn with_permits(shared: Arc<ServerShared>, workers: Arc<Semaphore>) -> ServerHandle {
        ServerHandle { shared, workers }
    }

    /// Creates the permits of `limit` workers. Zero counts as one.
    pub(crate) fn permits(limit: usize) -> Arc<Semaphore> {
        Arc::new(Semaphore::new(limit.clamp(1, Semaphore::MAX_PERMITS)))
    }

    /// Defers a request and responds to it in a task.
    ///
    /// The request is a call, a read, a prompt, a completion, a page of a dynamic list, or a request of an extension.
    /// Copy the needed data first, for example `call.arguments()`, and move the copy into the closure.
    ///
    /// While all [`workers`](crate::Serve::workers) are busy, the request waits. If too many requests
    /// [wait](crate::Serve::waiting), the server refuses the request (-32603). When the timeout of deferred requests
    /// expires, the server responds with an error. [`Responder::cancelled`] then returns, because the response of the
    /// work is no longer needed. The server drops a late response. If the work panics, the request gets an error
    /// response (-32603).
    ///
    /// Blocking code belongs in [`spawn_blocking`](tokio::task::spawn_blocking) within the work.
    pub fn run<F>(&self, request: impl Defer, work: impl FnOnce(Responder) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.start(request, None, work);
    }

    /// Like [`run`](ServerHandle::run) with a timeout of `time`.
    pub fn run_within<F>(
        &self,
        time: Duration,
        request: impl Defer,
        work: impl FnOnce(Responder) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        self.start(request, Some(time), work);
    }

    fn start<F>(
        &self,
        request: impl Defer,
        time: Option<Duration>,
        work: impl FnOnce(Responder) -> F + Send + 'static,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        if let Some(responder) = self.shared.defer(request, time) {
            let workers = Arc::clone(&self.workers);
            // The closure runs inside of the task, so that its panic affects only this request.
            tokio::spawn(async move {
                if let Some(Ok(_permit)) = unless_cancelled(&responder, workers.acquire_owned()).await {
                    let span = responder.span();
                    // The closure itself also runs within the tracing span.
                    span.clone().instrument(async { work(responder).await }).await;
                }
            });
        }
    }

    /// Defers a request without a task, for at most `time`. [`Duration::MAX`] means no limit.
    ///
    /// For example, a request may stay open as a subscription of an extension. Returns `None` if too many requests are
    /// running, or no slot is free: the server then refuses the request (-32603).
    #[must_use]
    pub fn defer(&self, request: impl Defer, time: Duration) -> Option<Responder> {
        self.shared.defer(request, Some(time))
    }

    /// Sends a notification of an extension to a client of the handshake era: see
    /// [`Server::notify`](mcp_proto::Server::notify).
    ///
    /// `params` is a value that serializes to an object, or `()`. Sends nothing if there is no session, or if the
    /// notification is invalid or too long. Over HTTP, use [`Responder::notify`]: this method sends nothing, because
    /// the server has many sessions. May wait while the client does not read.
    pub fn notify<T: Serialize + ?Sized>(
        &self,
        method: &str,
        params: &T,
    ) -> impl Future<Output = ()> + use<'_, T> {
        self.shared.notify(None, method, params)
    }

    /// Sends a notification of an extension to a subscription, identified by the ticket of
    /// [`Event::Listening`](mcp_proto::server::Event::Listening).
    ///
    /// Subscriptions exist only in `2026-07-28`. For `params` and waiting, see [`notify`](ServerHandle::notify). To
    /// notify a request of an extension, use [`Responder::notify`].
    pub fn notify_subscription<T: Serialize + ?Sized>(
        &self,
        ticket: Ticket,
        method: &str,
        params: &T,
    ) -> impl Future<Output = ()> + use<'_, T> {
        self.shared.notify(Some(ticket), method, params)
    }

    /// Notifies the client that a list or a resource has changed. Over HTTP, notifies all clients that receive such
    /// changes.
    pub fn changed(&self, change: Change<'_>) {
        self.shared.changed(change);
    }

    /// Sends the client a request and waits for the response.
    ///
    /// The request is independent of the client's requests. Only the handshake era has such requests. Over HTTP, this
    /// method returns [`RequestError::Invalid`], because the server has many sessions. There, a request must belong to
    /// a request of the client: use [`Responder::request`].
    ///
    /// For example, request the client's roots after the handshake, or when the roots have changed. The timeout is
    /// [`Limits::request_timeout`] of the server. Dropping the future cancels the request.
    ///
    /// ```no_run
    /// # use mcp_proto_tokio::server::{Event, ServerConfig};
    /// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
    /// # async fn example() -> Result<(), mcp_proto_tokio::ServeError> {
    /// use mcp_proto_tokio::input::ListRoots;
    /// mcp_proto_tokio::serve(&CONFIG, |event, server| match event {
    ///     Event::Ready | Event::RootsChanged => {
    ///         let server = server.clone();
    ///         tokio::spawn(async move {
    ///             match server.request(&ListRoots).await {
    ///                 Ok(response) => {
    ///                     response.roots().into_iter().flatten().for_each(|root| eprintln!("{}", root.uri()));
    ///                 }
    ///                 Err(error) => eprintln!("no roots: {error}"),
    ///             }
    ///         });
    ///     }
    ///     _ => {}
    /// })
    /// .await
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`RequestError`].
    ///
    /// [`Limits::request_timeout`]: mcp_proto::server::Limits::request_timeout
    pub fn request<'s>(
        &'s self,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'s> {
        self.shared.request(input)
    }

    /// Sends a log message that belongs to no request.
    ///
    /// Only the handshake era has such messages. Sends nothing if the client does not receive messages of this level.
    /// Over HTTP, use [`Responder::log`]: this method sends nothing, because the server has many sessions. May wait
    /// while the client does not read.
    pub fn log<T: Display>(&self, level: Level, text: T) -> impl Future<Output = ()> + use<'_, T> {
        self.shared.log(level, text.to_string())
    }

    /// Like [`log`](ServerHandle::log), with data that serializes to any JSON value, and the name of the logger.
    ///
    /// Sends nothing if the data does not serialize.
    ///
    /// ```
    /// # use mcp_proto_tokio::{Level, ServerHandle};
    /// # use std::collections::BTreeMap;
    /// async fn report(server: &ServerHandle, rows: usize) {
    ///     server.log_data(Level::Warning, Some("database"), &BTreeMap::from([("rows", rows)])).await;
    /// }
    /// ```
    pub fn log_data<T: Serialize + ?Sized>(
        &self,
        level: Level,
        logger: Option<&str>,
        data: &T,
    ) -> impl Future<Output = ()> + use<'_, T> {
        self.shared.log_data(level, logger, data)
    }

    /// Returns `true` if a client has subscribed to the resource with this URI. A task that watches a file can call
    /// this method to learn whether a subscription remains.
    ///
    /// # Errors
    /// [`RequestError::Closed`]: the connection is closed.
    pub async fn is_watched(&self, uri: &str) -> Result<bool, RequestError> {
        self.shared.is_watched(uri).await
    }

    /// Returns the current time of the server's clock.
    ///
    /// The handler passes this time to [`Call::advance_time`](mcp_proto::server::Call::advance_time) before
    /// [`into_task`](mcp_proto::server::Call::into_task), so that the time to live of the task starts now.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.shared.now()
    }

    /// Updates or ends an MCP task, unless the task has ended.
    ///
    /// `update` runs in the event loop. If `update` returns [`SendError::Busy`], `update` runs again when the
    /// transmit buffer has space. `update` must handle other errors itself, because the server ignores them.
    ///
    /// ```
    /// # use mcp_proto::server::{Call, TaskOptions};
    /// # use mcp_proto_tokio::ServerHandle;
    /// fn measure(mut call: Call<'_>, server: &ServerHandle, random: [u8; 16]) {
    ///     let server = server.clone();
    ///     call.advance_time(server.now());
    ///     match call.into_task(TaskOptions::new(random)) {
    ///         Ok(ticket) => drop(tokio::spawn(async move {
    ///             // … the long work …
    ///             server.update_task(ticket, |task| task.complete(|result| result.text("21.5")));
    ///         })),
    ///         Err(call) => call.text("21.5"),
    ///     }
    /// }
    /// ```
    pub fn update_task(
        &self,
        ticket: TaskTicket,
        update: impl FnMut(Task<'_>) -> Result<(), SendError> + Send + 'static,
    ) {
        self.shared.update_task(ticket, update);
    }

    /// Ends a subscription of `2026-07-28`, identified by the ticket of
    /// [`Event::Listening`](mcp_proto::server::Event::Listening).
    ///
    /// The client first receives pending notifications, then the end of the subscription. Does nothing if the
    /// subscription has ended.
    pub fn end_subscription(&self, ticket: Ticket) {
        self.shared.end_subscription(ticket);
    }

    /// Notifies a client of `2025-11-25` that an elicitation in URL mode is complete: see
    /// [`OpenUrl`](mcp_proto::input::OpenUrl). Clients of other revisions receive nothing. Over HTTP, use
    /// [`Responder::elicitation_complete`]: this method sends nothing, because the server has many sessions. So over
    /// HTTP, no notification follows a call that ended with `require_urls`. The client sends such a call again when its
    /// user is done. May wait while the client does not read.
    pub async fn elicitation_complete(&self, id: &str) {
        self.shared.elicitation_complete(id).await;
    }

    /// Closes the connection or, over HTTP, the whole server. The server refuses new requests, but running requests may
    /// finish within the grace period ([`Limits::grace`](mcp_proto::server::Limits::grace)). Then the function that
    /// serves the connection returns, such as [`Serve::stdio`](crate::Serve::stdio). A listener continues.
    pub fn shutdown(&self) {
        self.shared.shutdown(None);
    }

    /// Like [`shutdown`](ServerHandle::shutdown), but `time` replaces the grace period.
    ///
    /// Requests that do not finish in time get an error response, and their tasks observe a cancellation. The client
    /// has two more seconds to read the last responses.
    pub fn shutdown_within(&self, time: Duration) {
        self.shared.shutdown(Some(time));
    }
}
