//! What the handler of a server, and any other thread, may do with it: above all, let workers deal with requests.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::Change;
use mcp_proto::{Level, Ticket};
use mcp_proto_handles::{ClientResponse, Defer, RequestError, ServerShared, block_on};

use crate::pool::{Job, Pool};
use crate::responder::Responder;

/// A running server, as its handler and any other thread see it.
///
/// ```no_run
/// # use mcp_proto::server::{Event, ServerConfig};
/// # static INFO: ServerConfig = ServerConfig::new("example", "1.0.0");
/// use std::time::Duration;
/// mcp_proto_std::serve(&INFO, |event, server| match event {
///     Event::Call(call) => server.run(call, |answer| {
///         for step in 1..=10u32 {
///             answer.progress(step, Some(10.into()), "working");
///             if answer.sleep_unless_cancelled(Duration::from_secs(1)).is_err() {
///                 return;
///             }
///         }
///         answer.text("done");
///     }),
///     _ => {}
/// })?;
/// # Ok::<(), mcp_proto_std::ServeError>(())
/// ```
#[derive(Clone)]
pub struct ServerHandle {
    desk: Arc<ServerShared>,
    pool: Arc<Pool>,
}

impl ServerHandle {
    pub(crate) fn new(desk: Arc<ServerShared>, pool: Arc<Pool>) -> ServerHandle {
        ServerHandle { desk, pool }
    }

    /// Lets a worker answer a request: a call, a read, a prompt, a completion. Take out of it what the work needs first,
    /// and move that in: `call.arguments()`, for example.
    ///
    /// Workers are threads, at most so many as [`workers`](crate::Serve::workers) says. They are started when they are
    /// needed, used again, and end when they had nothing to do for ten seconds. If all of them work, the request waits
    /// for one; if too many [wait](crate::Serve::waiting), it is refused (-32603). Either way pings and cancellations are
    /// dealt with. A worker that panics answers -32603, and goes on to the next request.
    ///
    /// It may take as long as the server's limit for deferred requests says, with the time that it has waited: then the
    /// machine answers, and the work hears that it is cancelled.
    pub fn run(&self, request: impl Defer, work: impl FnOnce(Responder) + Send + 'static) {
        self.start(request, None, work);
    }

    /// The same for work that may take `time`.
    pub fn run_within(
        &self,
        time: Duration,
        request: impl Defer,
        work: impl FnOnce(Responder) + Send + 'static,
    ) {
        self.start(request, Some(time), work);
    }

    fn start(
        &self,
        request: impl Defer,
        time: Option<Duration>,
        work: impl FnOnce(Responder) + Send + 'static,
    ) {
        let Some(responder) = self.desk.accept(request, time) else { return };
        self.pool.run(Job { responder: Responder::new(responder), work: Box::new(work) });
    }

    /// Says that a list or a resource has changed, from any thread.
    pub fn changed(&self, change: Change<'_>) {
        self.desk.changed(change);
    }

    /// Asks a client of the handshake era for something that belongs to no request, and waits for the answer: for its
    /// roots, when it has connected or they have changed. This is for any thread but the handler's, which has to hear
    /// the answer. The server's own limit says how long the client may take ([`Limits::request_timeout`]).
    ///
    /// ```no_run
    /// # use mcp_proto::server::{Event, ServerConfig};
    /// # static INFO: ServerConfig = ServerConfig::new("example", "1.0.0");
    /// use mcp_proto::input::ListRoots;
    /// mcp_proto_std::serve(&INFO, |event, server| match event {
    ///     Event::Ready | Event::RootsChanged => {
    ///         let server = server.clone();
    ///         std::thread::spawn(move || match server.request(&ListRoots) {
    ///             Ok(answer) => answer.roots().into_iter().flatten().for_each(|root| eprintln!("{}", root.uri())),
    ///             Err(why) => eprintln!("no roots: {why}"),
    ///         });
    ///     }
    ///     _ => {}
    /// })?;
    /// # Ok::<(), mcp_proto_std::ServeError>(())
    /// ```
    ///
    /// # Errors
    /// There is no answer.
    ///
    /// [`Limits::request_timeout`]: mcp_proto::server::Limits::request_timeout
    pub fn request(&self, input: &dyn Input) -> Result<ClientResponse, RequestError> {
        block_on(self.desk.request(input))
    }

    /// Sends a log message that belongs to no request, to a client of the handshake era that wants it. Waits while
    /// the client does not read.
    pub fn log(&self, level: Level, text: impl Display) {
        block_on(self.desk.log(level, text.to_string()));
    }

    /// Ends the connection: what is on its way is finished, for as long as the grace lasts.
    pub fn shutdown(&self) {
        self.desk.shutdown(None);
    }

    /// The same with this time: new requests are refused, and what runs is finished. What is not finished by then is
    /// answered with an error. The server returns three seconds later at the most, whatever workers and client do: the
    /// client has two of them to read the last answers, and the workers one to notice that they are cancelled.
    ///
    /// To end a server from outside, even before it has an event, there is [`Stop`](crate::Stop).
    pub fn shutdown_within(&self, time: Duration) {
        self.desk.shutdown(Some(time));
    }

    /// Whether anybody watches the resource with this URI: a worker that looks after a file asks when it hears that one
    /// client does not any more. This is for any thread but the handler's, which has to let the server look.
    ///
    /// # Errors
    /// [`RequestError::Closed`]: the connection is over. [`RequestError::Invalid`]: this is the handler's thread.
    pub fn is_watched(&self, uri: &str) -> Result<bool, RequestError> {
        block_on(self.desk.is_watched(uri))
    }

    /// Ends a subscription of `2026-07-28`, of which [`Event::Listening`](mcp_proto::server::Event::Listening) gave the
    /// ticket. The client is told what it was not told yet, and that this is the end. If it has ended, nothing happens.
    pub fn end_subscription(&self, ticket: Ticket) {
        self.desk.end_subscription(ticket);
    }

    /// Tells a client of `2025-11-25` that what it was sent to a web page for is done: see
    /// [`OpenUrl`](mcp_proto::input::OpenUrl). Others are told nothing. Waits while the client does not read.
    pub fn elicitation_complete(&self, id: &str) {
        block_on(self.desk.elicitation_complete(id));
    }
}

impl std::fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerHandle").finish_non_exhaustive()
    }
}
