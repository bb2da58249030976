//! The handle of a running server: worker threads, notifications, shutdown.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::{Change, Task, TaskTicket};
use mcp_proto::{Level, Millis, SendError, Ticket};
use mcp_proto_handles::{ClientResponse, Defer, RequestError, ServerShared, block_on};
use serde_core::Serialize;

use crate::pool::{Job, Pool};
use crate::responder::Responder;

/// The handle of a running server, for its handler and other threads.
///
/// ```no_run
/// # use mcp_proto_std::server::{Event, ServerConfig};
/// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
/// use std::time::Duration;
/// mcp_proto_std::serve(&CONFIG, |event, server| match event {
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
    shared: Arc<ServerShared>,
    pool: Arc<Pool>,
}

impl ServerHandle {
    pub(crate) fn new(shared: Arc<ServerShared>, pool: Arc<Pool>) -> ServerHandle {
        ServerHandle { shared, pool }
    }

    /// Defers a request and responds to it on a worker thread.
    ///
    /// The request is a call, a read, a prompt, a completion, a page of a dynamic list, or a request of an extension.
    /// Copy the needed data first, for example `call.arguments()`, and move the copy into the closure.
    ///
    /// [`workers`](crate::Serve::workers) is the maximum number of threads. Threads start on demand, are reused, and
    /// exit after ten idle seconds. If all threads are busy, the request waits. If too many requests
    /// [wait](crate::Serve::waiting), the server refuses the request (-32603). While the work runs, the server
    /// handles pings and cancellations. If the work panics, the request gets an error response (-32603), and the
    /// worker continues.
    ///
    /// The timeout of deferred requests includes the time in which a request waits for a thread. When the timeout
    /// expires, the server responds with an error, and the work observes a cancellation.
    pub fn run(&self, request: impl Defer, work: impl FnOnce(Responder) + Send + 'static) {
        self.start(request, None, work);
    }

    /// Like [`run`](ServerHandle::run) with a timeout of `time`.
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
        let Some(responder) = self.shared.defer(request, time) else { return };
        self.pool.run(Job { responder: Responder::new(responder), work: Box::new(work) });
    }

    /// Defers a request without a worker thread, for at most `time`. [`Duration::MAX`] means no limit.
    ///
    /// For example, a request that stays open as a subscription of an extension occupies no thread. Returns `None` if
    /// too many requests are running, or no slot is free: the server then refuses the request (-32603).
    #[must_use]
    pub fn defer(&self, request: impl Defer, time: Duration) -> Option<Responder> {
        self.shared.defer(request, Some(time)).map(Responder::new)
    }

    /// Sends a notification of an extension to a client of the handshake era: see
    /// [`Server::notify`](mcp_proto::Server::notify).
    ///
    /// `params` is a value that serializes to an object, or `()`. Sends nothing if there is no session, or `params` is
    /// not valid. Over HTTP, use [`Responder::notify`]: this method sends nothing, because the server has many
    /// sessions. May wait while the client does not read.
    pub fn notify<T: Serialize + ?Sized>(&self, method: &str, params: &T) {
        block_on(self.shared.notify(None, method, params));
    }

    /// Sends a notification of an extension to a subscription, identified by the ticket of
    /// [`Event::Listening`](mcp_proto::server::Event::Listening).
    ///
    /// Such subscriptions (`subscriptions/listen`) exist only in `2026-07-28`. For `params` and waiting, see
    /// [`notify`](ServerHandle::notify). To send a notification that belongs to a request of an extension, use
    /// [`Responder::notify`].
    pub fn notify_subscription<T: Serialize + ?Sized>(&self, ticket: Ticket, method: &str, params: &T) {
        block_on(self.shared.notify(Some(ticket), method, params));
    }

    /// Notifies the client, from any thread, that a list or a resource has changed. Over HTTP, notifies all clients
    /// that receive such changes.
    pub fn changed(&self, change: Change<'_>) {
        self.shared.changed(change);
    }

    /// Sends the client a request and waits for the response.
    ///
    /// The request is independent of the client's requests. Only the handshake era has such requests. Over HTTP, this
    /// method returns [`RequestError::Invalid`], because the server has many sessions. There, the request must belong
    /// to a request of the client, such as a call: use [`Responder::request`].
    ///
    /// For example, request the client's roots after the handshake, or when the roots have changed. On the handler's
    /// own thread, the method returns [`RequestError::Invalid`], because the handler's event loop receives the
    /// response. The timeout is [`Limits::request_timeout`] of the server.
    ///
    /// ```no_run
    /// # use mcp_proto_std::server::{Event, ServerConfig};
    /// # static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0");
    /// use mcp_proto_std::input::ListRoots;
    /// mcp_proto_std::serve(&CONFIG, |event, server| match event {
    ///     Event::Ready | Event::RootsChanged => {
    ///         let server = server.clone();
    ///         std::thread::spawn(move || match server.request(&ListRoots) {
    ///             Ok(response) => response.roots().into_iter().flatten().for_each(|root| eprintln!("{}", root.uri())),
    ///             Err(error) => eprintln!("no roots: {error}"),
    ///         });
    ///     }
    ///     _ => {}
    /// })?;
    /// # Ok::<(), mcp_proto_std::ServeError>(())
    /// ```
    ///
    /// # Errors
    /// See [`RequestError`].
    ///
    /// [`Limits::request_timeout`]: mcp_proto::server::Limits::request_timeout
    pub fn request(&self, input: &dyn Input) -> Result<ClientResponse, RequestError> {
        block_on(self.shared.request(input))
    }

    /// Sends a log message that belongs to no request.
    ///
    /// Only the handshake era has such messages. Sends nothing if the client does not receive messages of this level.
    /// Over HTTP, use [`Responder::log`]: this method sends nothing, because the server has many sessions. May wait
    /// while the client does not read.
    pub fn log(&self, level: Level, text: impl Display) {
        block_on(self.shared.log(level, text.to_string()));
    }

    /// Like [`log`](ServerHandle::log), with data that serializes to any JSON value, and the name of the logger.
    ///
    /// Sends nothing if the data does not serialize.
    ///
    /// ```
    /// # use mcp_proto_std::{Level, ServerHandle};
    /// # use std::collections::BTreeMap;
    /// fn report(server: &ServerHandle, rows: usize) {
    ///     server.log_data(Level::Warning, Some("database"), &BTreeMap::from([("rows", rows)]));
    /// }
    /// ```
    pub fn log_data<T: Serialize + ?Sized>(&self, level: Level, logger: Option<&str>, data: &T) {
        block_on(self.shared.log_data(level, logger, data));
    }

    /// Closes the connection or, over HTTP, the whole server. Running requests may finish within the server's grace
    /// period.
    pub fn shutdown(&self) {
        self.shared.shutdown(None);
    }

    /// Like [`shutdown`](ServerHandle::shutdown), but running requests have `time` to finish. The server refuses new
    /// requests.
    ///
    /// Requests that do not finish in time get an error response. The function that runs the server returns at most
    /// three seconds after the end of `time`. The client has two of these seconds to read the last responses, and the
    /// workers have one second to notice their cancellation.
    ///
    /// [`Stop`](crate::Stop) stops a server from outside, even before its first event.
    pub fn shutdown_within(&self, time: Duration) {
        self.shared.shutdown(Some(time));
    }

    /// Returns `true` if a client has subscribed to the resource with this URI.
    ///
    /// A worker that watches a file can call this method to learn whether a subscription remains. On the handler's own
    /// thread, this method fails, because the handler's event loop computes the result.
    ///
    /// # Errors
    /// Returns [`RequestError::Closed`] if the connection is closed, and [`RequestError::Invalid`] on the handler's
    /// thread.
    pub fn is_watched(&self, uri: &str) -> Result<bool, RequestError> {
        block_on(self.shared.is_watched(uri))
    }

    /// Returns the current time of the server's clock.
    ///
    /// The handler passes this time to [`Call::advance_time`](mcp_proto::server::Call::advance_time) before
    /// [`into_task`](mcp_proto::server::Call::into_task), so that the time to live of the task starts now.
    #[must_use]
    pub fn now(&self) -> Millis {
        self.shared.now()
    }

    /// Updates or ends an MCP task from any thread, unless the task has ended.
    ///
    /// `update` runs in the event loop. If `update` returns [`SendError::Busy`], `update` runs again when the
    /// transmit buffer has space. `update` must handle other errors itself, because the server ignores them.
    ///
    /// ```
    /// # use mcp_proto_std::server::{Call, TaskOptions};
    /// # use mcp_proto_std::ServerHandle;
    /// fn measure(mut call: Call<'_>, server: &ServerHandle, random: [u8; 16]) {
    ///     let server = server.clone();
    ///     call.advance_time(server.now());
    ///     match call.into_task(TaskOptions::new(random)) {
    ///         Ok(ticket) => drop(std::thread::spawn(move || {
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
    /// [`Responder::elicitation_complete`]: this method sends nothing, because the server has many sessions. The method
    /// of `Responder` works only until its call ends. Over HTTP, the server therefore cannot send this notification
    /// after a call that ended with [`require_urls`](mcp_proto::server::Call::require_urls). The client sends such a
    /// call again when its user is done. May wait while the client does not read.
    pub fn elicitation_complete(&self, id: &str) {
        block_on(self.shared.elicitation_complete(id));
    }
}

impl std::fmt::Debug for ServerHandle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ServerHandle").finish_non_exhaustive()
    }
}
