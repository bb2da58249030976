//! A deferred request on a worker thread: respond to it, or observe its cancellation.

use std::fmt::Display;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::{Change, Reply};
use mcp_proto::{ClientCapabilities, Decimal, Level, Revision, SendError, Ticket};
use mcp_proto_handles::{
    self as handles, Cancellation, Cancelled, ClientResponse, RequestError, RequestSpan, block_on,
};

use crate::chunk_writer::ChunkWriter;

/// A deferred request on a worker thread: respond to it, or observe its cancellation.
///
/// Dropping the responder without a response, even during a panic, sends an error response (-32603). The message of the
/// error says whether the thread panicked.
#[must_use = "the request needs a response"]
pub struct Responder {
    inner: handles::Responder,
}

impl Responder {
    pub(crate) fn new(inner: handles::Responder) -> Responder {
        Responder { inner }
    }

    #[cfg(feature = "derive")]
    pub(crate) fn into_inner(self) -> handles::Responder {
        self.inner
    }

    /// Returns the revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.inner.revision()
    }

    /// Returns the capabilities that the client declared.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        self.inner.client()
    }

    /// Returns the user of the request, or `None` if there is none: see [`Call::user`](mcp_proto::server::Call::user).
    #[must_use]
    pub fn user(&self) -> Option<u64> {
        self.inner.user()
    }

    /// Responds to a call with one text block.
    pub fn text(self, text: impl Display) {
        self.inner.text(text);
    }

    /// Responds to a call with a tool failure, explained for the model (`isError`).
    pub fn fail(self, reason: impl Display) {
        self.inner.fail(reason);
    }

    /// Responds to a call with structured content, and repeats the content as text.
    pub fn structured<T: serde_core::Serialize + Send + 'static>(self, value: T) {
        self.inner.structured(value);
    }

    /// Responds to a request of an extension with a result that serializes to an object.
    pub fn result<T: serde_core::Serialize + Send + 'static>(self, value: T) {
        self.inner.result(value);
    }

    /// Responds with a JSON-RPC error. Application codes should lie outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl Display) {
        self.inner.error(code, message);
    }

    /// Responds with any method of [`Reply`].
    ///
    /// Use [messages](Reply::messages) for a prompt, [contents](Reply::contents) for a read, and
    /// [values](Reply::values) for a completion. The event loop of the server calls `answer` when the transmit buffer
    /// has space. If the request has ended, the event loop drops `answer` without a call.
    pub fn answer(self, answer: impl FnOnce(Reply<'_>) + Send + 'static) {
        self.inner.answer(answer);
    }

    /// Opens a response in chunks, and returns the writer of the chunks. The content may be larger than the transmit
    /// buffer: see [`Call::chunked`](mcp_proto::server::Call::chunked). Except over HTTP, the method waits until no
    /// other chunked response is open.
    ///
    /// While the response is open, the timeout of the request is
    /// [`Limits::deferred_timeout`](mcp_proto::server::Limits::deferred_timeout), and every chunk restarts the timeout.
    ///
    /// Except over HTTP, all other messages wait for the end of the chunked response. Between two chunks, the
    /// notifications of all senders are then queued without a limit. Between two chunks, the worker must also not wait
    /// for a response to its own request to the client: the client would receive that request only after the chunked
    /// response.
    ///
    /// ```no_run
    /// # fn example(call: mcp_proto_std::server::Call<'_>, server: &mcp_proto_std::ServerHandle) {
    /// use mcp_proto_std::server::ChunkedContent;
    ///
    /// server.run(call, |responder| match responder.chunked(|reply| reply.chunked(ChunkedContent::Text)) {
    ///     Ok(mut writer) => {
    ///         for line in 0..1_000_000 {
    ///             if writer.text(format!("{line} ")).is_err() {
    ///                 return;
    ///             }
    ///         }
    ///         writer.end();
    ///     }
    ///     Err((responder, error)) => responder.fail(error),
    /// });
    /// # }
    /// ```
    ///
    /// # Errors
    /// Returns the responder with the error of `open`, such as [`SendError::Unsupported`] if the server also serves
    /// HTTP+SSE. The error is [`SendError::Gone`] if the request has ended or `open` has opened no response, and
    /// [`SendError::Invalid`] if `open` has panicked. The error is [`SendError::Busy`] on the server's own thread,
    /// which cannot wait.
    #[allow(clippy::result_large_err, reason = "the responder is the request, which must not be lost")]
    pub fn chunked(
        self,
        open: impl FnOnce(Reply<'_>) -> Result<Ticket, SendError> + Send + 'static,
    ) -> Result<ChunkWriter, (Responder, SendError)> {
        match block_on(self.inner.chunked(open)) {
            Ok(writer) => Ok(ChunkWriter::new(writer)),
            Err((inner, error)) => Err((Responder { inner }, error)),
        }
    }

    /// Sends a progress notification, if the client requested progress.
    ///
    /// `progress` must increase with each call; `message` may be empty. May wait while the client does not read.
    pub fn progress(&self, progress: impl Into<Decimal>, total: Option<Decimal>, message: impl Display) {
        block_on(self.inner.progress(progress, total, message));
    }

    /// Sends the client a request of the handshake era (revisions until `2025-11-25`), and waits for the response.
    ///
    /// The timeout is [`Limits::request_timeout`] of the server. The request ends no later than the deferred request.
    /// If a user has to respond, give the deferred request more time with [`run_within`].
    ///
    /// In `2026-07-28`, a server sends no requests. Instead, its response lists the [required input], and the client
    /// sends its request again with that input.
    ///
    /// ```no_run
    /// # fn example(call: mcp_proto_std::server::Call<'_>, server: &mcp_proto_std::ServerHandle) {
    /// use mcp_proto_std::input::{Field, Form};
    ///
    /// server.run(call, |answer| {
    ///     match answer.request(&Form::new("Who are you?", &[Field::text("name").required()])) {
    ///         Ok(response) => match response.elicited().and_then(|form| form.field("name")?.string()) {
    ///             Some(name) => answer.text(format_args!("Hello, {name}!")),
    ///             None => answer.text("Hello!"),
    ///         },
    ///         Err(error) => answer.fail(error),
    ///     }
    /// });
    /// # }
    /// ```
    ///
    /// # Errors
    /// See [`RequestError`].
    ///
    /// [`Limits::request_timeout`]: mcp_proto::server::Limits::request_timeout
    /// [`run_within`]: crate::ServerHandle::run_within
    /// [required input]: mcp_proto::server::Call::require_input
    pub fn request(&self, input: &dyn Input) -> Result<ClientResponse, RequestError> {
        block_on(self.inner.request(input))
    }

    /// Like [`request`](Responder::request) with a timeout of `time`.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub fn request_within(&self, time: Duration, input: &dyn Input) -> Result<ClientResponse, RequestError> {
        block_on(self.inner.request_within(time, input))
    }

    /// Sends a notification that belongs to this request and is part of an extension: see
    /// [`Server::notify_subscription`](mcp_proto::Server::notify_subscription).
    ///
    /// `params` is a value that serializes to an object, or `()`. Sends nothing if the request has ended, or `params`
    /// is not valid. May wait while the client does not read.
    pub fn notify<T: serde_core::Serialize + ?Sized>(&self, method: &str, params: &T) {
        block_on(self.inner.notify(method, params));
    }

    /// Notifies the client that a list or a resource has changed. Over HTTP, notifies all clients that receive such
    /// changes.
    pub fn changed(&self, change: Change<'_>) {
        self.inner.changed(change);
    }

    /// Sends a log message that belongs to this request.
    ///
    /// Sends nothing if the client does not receive messages of this level. May wait while the client does not read.
    pub fn log(&self, level: Level, text: impl Display) {
        block_on(self.inner.log(level, text));
    }

    /// Like [`log`](Responder::log), with data that serializes to any JSON value, and the name of the logger.
    ///
    /// Sends nothing if the data does not serialize.
    pub fn log_data<T: serde_core::Serialize + ?Sized>(&self, level: Level, logger: Option<&str>, data: &T) {
        block_on(self.inner.log_data(level, logger, data));
    }

    /// Notifies the request's client that an elicitation in URL mode is complete: see
    /// [`OpenUrl`](mcp_proto::input::OpenUrl).
    ///
    /// Only clients of `2025-11-25` receive the notification. May wait while the client does not read.
    pub fn elicitation_complete(&self, id: &str) {
        block_on(self.inner.elicitation_complete(id));
    }

    /// Closes the HTTP connection of this request, and keeps the request: a long call then needs no connection.
    ///
    /// The client connects again after [`HttpTimes::retry`], and receives all messages that it has missed. Works only
    /// over HTTP, in a session of `2025-11-25`. Clients of other revisions do not know how to continue.
    ///
    /// [`HttpTimes::retry`]: mcp_proto_http::server::HttpTimes::retry
    pub fn release_connection(&self) {
        self.inner.release_connection();
    }

    /// Returns `true` if the client no longer waits for the response.
    ///
    /// For example, the request was cancelled, its timeout expired, or the connection is closed.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }

    /// Sleeps for `time`, or until the request is cancelled.
    ///
    /// # Errors
    /// [`Cancelled`]: the request was cancelled before the end of `time`.
    pub fn sleep_unless_cancelled(&self, time: Duration) -> Result<(), Cancelled> {
        self.cancellation().sleep(time)
    }

    /// Returns the `tracing` span of the request.
    pub(crate) fn span(&self) -> RequestSpan {
        self.inner.span()
    }

    /// Returns an observer of the request's cancellation. The observer works on any thread.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.inner.cancellation()
    }
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.inner.fmt(f)
    }
}
