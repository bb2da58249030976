//! The handle of a running server: tasks, notifications, shutdown.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::Change;
use mcp_proto::{Level, Ticket};
use mcp_proto_handles::{ClientResponse, Defer, RequestError, Responder, ServerShared};

/// The handle of a running server, for its handler and any task.
///
/// ```no_run
/// # use mcp_proto::server::{Event, ServerConfig};
/// # static INFO: ServerConfig = ServerConfig::new("example", "1.0.0");
/// # async fn example() -> Result<(), mcp_proto_tokio::ServeError> {
/// use std::time::Duration;
/// mcp_proto_tokio::serve(&INFO, |event, server| match event {
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
}

impl ServerHandle {
    /// Creates a handle, for an adapter with an event loop of its own. Applications get a handle with each event.
    #[must_use]
    pub fn new(shared: Arc<ServerShared>) -> ServerHandle {
        ServerHandle { shared }
    }

    /// Defers a request and responds to it in a task.
    ///
    /// The request is a call, a read, a prompt or a completion. Copy the needed data first, for example
    /// `call.arguments()`, and move the copy into the closure.
    ///
    /// If the limit of running requests is reached, the server refuses the request (-32603). When the timeout of
    /// deferred requests expires, the server responds to the request. [`Responder::cancelled`] then returns, because
    /// the response is no longer needed. The server drops a late response. If the work panics, the request gets an
    /// error response (-32603).
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
            // The closure runs inside of the task, so that its panic affects only this request.
            tokio::spawn(async move { work(responder).await });
        }
    }

    /// Notifies the client that a list or a resource has changed.
    pub fn changed(&self, change: Change<'_>) {
        self.shared.changed(change);
    }

    /// Sends the client a request and waits for the response.
    ///
    /// The request belongs to no other request. Only the handshake era has such requests.
    ///
    /// For example, request the client's roots after the handshake, or when the roots have changed. The timeout is
    /// [`Limits::request_timeout`] of the server. Dropping the future cancels the request.
    ///
    /// ```no_run
    /// # use mcp_proto::server::{Event, ServerConfig};
    /// # static INFO: ServerConfig = ServerConfig::new("example", "1.0.0");
    /// # async fn example() -> Result<(), mcp_proto_tokio::ServeError> {
    /// use mcp_proto::input::ListRoots;
    /// mcp_proto_tokio::serve(&INFO, |event, server| match event {
    ///     Event::Ready | Event::RootsChanged => {
    ///         let server = server.clone();
    ///         tokio::spawn(async move {
    ///             match server.request(&ListRoots).await {
    ///                 Ok(response) => response.roots().into_iter().flatten().for_each(|root| eprintln!("{}", root.uri())),
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
    /// Only the handshake era has such messages. Sends nothing if the client did not request this level. Waits while
    /// the client does not read.
    pub fn log<T: Display>(&self, level: Level, text: T) -> impl Future<Output = ()> + use<'_, T> {
        self.shared.log(level, text.to_string())
    }

    /// Whether a client has subscribed to the resource with this URI. A task that watches a file can call this method
    /// to learn whether a subscription remains.
    ///
    /// # Errors
    /// [`RequestError::Closed`]: the connection is closed.
    pub async fn is_watched(&self, uri: &str) -> Result<bool, RequestError> {
        self.shared.is_watched(uri).await
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
    /// [`OpenUrl`](mcp_proto::input::OpenUrl). Clients of other revisions receive nothing. Waits while the
    /// client does not read.
    pub async fn elicitation_complete(&self, id: &str) {
        self.shared.elicitation_complete(id).await;
    }

    /// Closes the connection. The server refuses new requests, but running requests may finish within the grace period
    /// ([`Limits::grace`](mcp_proto::server::Limits::grace)). [`Serve`](crate::Serve) then returns.
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
