//! Requests that are dealt with in tasks of their own.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::Change;
use mcp_proto::{Level, Ticket};
use mcp_proto_handles::{ClientResponse, Defer, RequestError, Responder, ServerShared};

/// A running server, as its handler and any task see it.
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
    desk: Arc<ServerShared>,
}

impl ServerHandle {
    pub(crate) fn new(desk: Arc<ServerShared>) -> ServerHandle {
        ServerHandle { desk }
    }

    /// Lets `work` answer a request in a task of its own: a call, a read, a prompt, a completion. Take out of it what the
    /// work needs first, and move that in: `call.arguments()`, for example.
    ///
    /// If as many run as there may be, the request is refused (-32603): it is the client who knows what can wait. It may take
    /// as long as the server's limit for deferred requests says: then the machine answers. The work hears that nobody waits
    /// any more from [`Responder::cancelled`], and goes on if it does not listen; what it answers then is dropped. If it
    /// panics, the request is answered with an error (-32603).
    ///
    /// What blocks a thread belongs into [`spawn_blocking`](tokio::task::spawn_blocking), in the work.
    pub fn run<F>(&self, request: impl Defer, work: impl FnOnce(Responder) -> F + Send + 'static)
    where
        F: Future<Output = ()> + Send + 'static,
    {
        self.start(request, None, work);
    }

    /// The same for work that may take `time`.
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
        if let Some(responder) = self.desk.accept(request, time) {
            // All of the work is in the task, so that a panic costs nobody else anything.
            tokio::spawn(async move { work(responder).await });
        }
    }

    /// Says that a list or a resource has changed.
    pub fn changed(&self, change: Change<'_>) {
        self.desk.changed(change);
    }

    /// Asks a client of the handshake era for something that belongs to no request, and waits for the answer: for its
    /// roots, when it has connected or they have changed. The server's own limit says how long the client may take
    /// ([`Limits::request_timeout`]). If the future is dropped, the client is told that the question is cancelled.
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
    ///                 Ok(answer) => answer.roots().into_iter().flatten().for_each(|root| eprintln!("{}", root.uri())),
    ///                 Err(why) => eprintln!("no roots: {why}"),
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
    /// There is no answer.
    ///
    /// [`Limits::request_timeout`]: mcp_proto::server::Limits::request_timeout
    pub fn request<'s>(
        &'s self,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'s> {
        self.desk.request(input)
    }

    /// Sends a log message that belongs to no request, to a client of the handshake era that wants it. Waits while
    /// the client does not read.
    pub fn log<T: Display>(&self, level: Level, text: T) -> impl Future<Output = ()> + use<'_, T> {
        self.desk.log(level, text.to_string())
    }

    /// Whether anybody watches the resource with this URI: a task that looks after a file asks when it hears that one
    /// client does not any more.
    ///
    /// # Errors
    /// [`RequestError::Closed`]: the connection is over.
    pub async fn is_watched(&self, uri: &str) -> Result<bool, RequestError> {
        self.desk.is_watched(uri).await
    }

    /// HeaplessLink a subscription of `2026-07-28`, of which [`Event::Listening`](mcp_proto::server::Event::Listening) gave the
    /// ticket. The client is told what it was not told yet, and that this is the end. If it has ended, nothing happens.
    pub fn end_subscription(&self, ticket: Ticket) {
        self.desk.end_subscription(ticket);
    }

    /// Tells a client of `2025-11-25` that what it was sent to a web page for is done: see
    /// [`OpenUrl`](mcp_proto::input::OpenUrl). Others are told nothing. Waits while the client does not read.
    pub async fn elicitation_complete(&self, id: &str) {
        self.desk.elicitation_complete(id).await;
    }

    /// HeaplessLink the connection: new requests are refused, and what runs is finished, for as long as the grace lasts
    /// ([`Limits::grace`](mcp_proto::server::Limits::grace)). [`Serve`](crate::Serve) comes back then.
    pub fn shutdown(&self) {
        self.desk.shutdown(None);
    }

    /// The same with this time in place of the grace. What is not finished by then is answered with an error, and what runs
    /// hears that it is cancelled. A client that does not even read that has two seconds more.
    pub fn shutdown_within(&self, time: Duration) {
        self.desk.shutdown(Some(time));
    }
}
