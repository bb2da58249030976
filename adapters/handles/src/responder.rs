//! A deferred request: respond to it, or observe its cancellation.

use std::fmt::Display;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::rpc::code;
use mcp_proto::server::{Change, Reply};
use mcp_proto::{ClientCapabilities, Decimal, Level, Revision, SendError, Ticket};

use crate::cancellation::Cancellation;
use crate::chunk_writer::ChunkWriter;
use crate::outbound_request::{ClientResponse, RequestError};
use crate::promise::Promise;
use crate::request_link::RequestLink;
use crate::request_span::RequestSpan;
use crate::server_command::{NO_RESPONSE, PANICKED, ReplyFn, ServerCommand};
use crate::server_shared::{RequestPermit, ServerShared};

/// A deferred request: respond to it, or observe its cancellation.
///
/// Dropping the responder without a response, even during a panic, sends an error response (-32603). The message of the
/// error says whether the thread panicked.
#[must_use = "the request needs a response"]
pub struct Responder {
    link: RequestLink,
    /// The permit of a running request. `None` after the response was queued.
    permit: Option<RequestPermit>,
    /// Whether a chunked response may be open.
    is_chunked: bool,
}

impl Responder {
    pub(crate) fn new(link: RequestLink, permit: RequestPermit) -> Responder {
        Responder { link, permit: Some(permit), is_chunked: false }
    }

    /// Returns the revision of the request.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.link.client.0
    }

    /// Returns the capabilities that the client declared.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        self.link.client.1
    }

    /// Returns the user of the request, or `None` if there is none: see [`Call::user`](mcp_proto::server::Call::user).
    #[must_use]
    pub fn user(&self) -> Option<u64> {
        self.link.user
    }

    /// Responds to a call with one text block.
    pub fn text(self, text: impl Display) {
        let text = text.to_string();
        self.answer(move |reply| reply.text(text));
    }

    /// Responds to a call with a tool failure, explained for the model (`isError`).
    pub fn fail(self, reason: impl Display) {
        let reason = reason.to_string();
        self.answer(move |reply| reply.fail(reason));
    }

    /// Responds to a call with structured content, and repeats the content as text.
    pub fn structured<T: serde_core::Serialize + Send + 'static>(self, value: T) {
        self.answer(move |reply| reply.structured(&value));
    }

    /// Responds to a request of an extension with a result that serializes to an object.
    pub fn result<T: serde_core::Serialize + Send + 'static>(self, value: T) {
        self.answer(move |reply| reply.result_value(&value));
    }

    /// Responds with a JSON-RPC error. Application codes should lie outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl Display) {
        let message = message.to_string();
        self.answer(move |reply| reply.error(code, message));
    }

    /// Responds with any method of [`Reply`].
    ///
    /// Use [messages](Reply::messages) for a prompt, [contents](Reply::contents) for a read, and
    /// [values](Reply::values) for a completion. The event loop of the server calls `answer` when the transmit buffer
    /// has space. If the request has ended, the event loop drops `answer` without a call.
    pub fn answer(mut self, answer: impl FnOnce(Reply<'_>) + Send + 'static) {
        self.respond(Box::new(answer));
    }

    /// Responds with content that the returned writer takes in chunks. The content may be larger than the transmit
    /// buffer: see [`Call::chunked`](mcp_proto::server::Call::chunked). Except over HTTP, the future first waits until
    /// no other chunked response is open.
    ///
    /// Except over HTTP, all other messages wait for the end of the chunked response. So between two chunks, the queue
    /// accepts notifications of all senders without a limit. Between two chunks, the caller must also not wait for a
    /// response to its own request to the client: the client would receive that request only after the chunked
    /// response.
    ///
    /// While the response is open, the timeout is
    /// [`Limits::deferred_timeout`](mcp_proto::server::Limits::deferred_timeout), and every chunk restarts the timeout.
    /// The returned future must be awaited to the end: if the future is dropped, the request fails.
    ///
    /// ```
    /// # use mcp_proto::server::ChunkedContent;
    /// # use mcp_proto_handles::Responder;
    ///
    /// async fn log(responder: Responder, lines: impl Iterator<Item = String>) {
    ///     match responder.chunked(|reply| reply.chunked(ChunkedContent::Text)).await {
    ///         Ok(mut writer) => {
    ///             for line in lines {
    ///                 if writer.text(line).await.is_err() {
    ///                     return;
    ///                 }
    ///             }
    ///             writer.end();
    ///         }
    ///         // For example, the server also serves HTTP+SSE, which has no chunked responses.
    ///         Err((responder, _)) => responder.text(lines.collect::<String>()),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// Returns the responder with the error of `open`, such as an error of [`Reply::chunked`]. The error is
    /// [`SendError::Gone`] if the request has ended or `open` has opened no response, and [`SendError::Invalid`] if
    /// `open` has panicked. The error is [`SendError::Busy`] on the thread of the event loop, which cannot wait.
    #[allow(clippy::result_large_err, reason = "the responder is the request, which must not be lost")]
    pub async fn chunked(
        mut self,
        open: impl FnOnce(Reply<'_>) -> Result<Ticket, SendError> + Send + 'static,
    ) -> Result<ChunkWriter, (Responder, SendError)> {
        if self.link.shared.is_owner() {
            return Err((self, SendError::Busy));
        }
        self.is_chunked = true;
        let (outcome, result) = Promise::new(SendError::Gone);
        self.push(ServerCommand::open_chunks(self.link.ticket, Box::new(open), outcome));
        match result.wait_until(|result| result.take()).await {
            Ok(()) => Ok(ChunkWriter::new(self)),
            Err(error) => {
                self.is_chunked = false;
                Err((self, error))
            }
        }
    }

    #[cfg(feature = "derive")]
    pub(crate) fn link(&self) -> &RequestLink {
        &self.link
    }

    pub(crate) fn ticket(&self) -> Ticket {
        self.link.ticket
    }

    pub(crate) fn shared(&self) -> &Arc<ServerShared> {
        &self.link.shared
    }

    pub(crate) fn push(&self, command: ServerCommand) {
        self.link.shared.push(command);
    }

    /// Queues the end of a chunked response, unless a response was queued before. `failure` is the reason if the
    /// response ends as a failure.
    pub(crate) fn end_chunks(&mut self, failure: Option<String>) {
        self.finish(|ticket| ServerCommand::end_chunks(ticket, failure));
    }

    /// Queues the response, unless one was queued before.
    fn respond(&mut self, reply_fn: ReplyFn) {
        self.finish(|ticket| ServerCommand::reply(ticket, reply_fn));
    }

    /// Queues the last command of the request, unless one was queued before.
    fn finish(&mut self, command: impl FnOnce(Ticket) -> ServerCommand) {
        if let Some(permit) = self.permit.take() {
            drop(permit);
            self.link.shared.push(command(self.link.ticket));
        }
    }

    /// Sends a progress notification, if the client requested progress.
    ///
    /// `progress` must increase with each call; `message` may be empty. Waits while the queue of commands is full, for
    /// example because the client does not read. Does not wait on the thread of the event loop, or if the request is
    /// [cancelled](Responder::is_cancelled). Except over HTTP, does not wait between the chunks of a response either.
    /// Pass a `format!` as the message, because a `format_args!` cannot be held across an await point.
    pub fn progress<P: Into<Decimal>, M: Display>(
        &self,
        progress: P,
        total: Option<Decimal>,
        message: M,
    ) -> impl Future<Output = ()> + use<'_, P, M> {
        self.link.progress(progress, total, message)
    }

    /// Sends the client a request of the handshake era, and waits for the response.
    ///
    /// The timeout is [`Limits::request_timeout`] of the server. The request ends no later than the deferred request.
    /// Dropping the future cancels the request to the client.
    ///
    /// In `2026-07-28`, a server sends no requests. Instead, the server's response lists the [required input], and the
    /// client sends its own request again with that input.
    ///
    /// ```
    /// # use mcp_proto::input::{Field, Form};
    /// # use mcp_proto_handles::Responder;
    ///
    /// async fn greet(answer: Responder) {
    ///     match answer.request(&Form::new("Who are you?", &[Field::text("name").required()])).await {
    ///         Ok(response) => match response.elicited().and_then(|form| form.field("name")?.string()) {
    ///             Some(name) => answer.text(format_args!("Hello, {name}!")),
    ///             None => answer.text("Hello!"),
    ///         },
    ///         Err(error) => answer.fail(error),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// See [`RequestError`].
    ///
    /// [`Limits::request_timeout`]: mcp_proto::server::Limits::request_timeout
    /// [required input]: mcp_proto::server::Call::require_input
    pub fn request<'r>(
        &'r self,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'r> {
        self.link.send_request(input, None)
    }

    /// Like [`request`](Responder::request) with a timeout of `time`.
    ///
    /// # Errors
    /// See [`RequestError`].
    pub fn request_within<'r>(
        &'r self,
        time: Duration,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'r> {
        self.link.send_request(input, Some(time))
    }

    /// Sends a notification of an extension that belongs to this request: see
    /// [`Server::notify_subscription`](mcp_proto::Server::notify_subscription).
    ///
    /// `params` is a value that serializes to an object, or `()`. Sends nothing if the request has ended, or `params`
    /// is not valid. Waits like [`progress`](Responder::progress).
    pub fn notify<T: serde_core::Serialize + ?Sized>(
        &self,
        method: &str,
        params: &T,
    ) -> impl Future<Output = ()> + use<'_, T> {
        let command = ServerCommand::notify(Some(self.link.ticket), method, params);
        self.link.shared.send_notification(command, Some(&self.link.task))
    }

    /// Notifies the client that a list or a resource has changed. Over HTTP, notifies all clients that receive such
    /// changes. Never waits.
    pub fn changed(&self, change: Change<'_>) {
        self.link.shared.changed(change);
    }

    /// Sends a log message that belongs to this request.
    ///
    /// Sends nothing if the client does not receive messages of this level. Waits like
    /// [`progress`](Responder::progress).
    pub fn log<T: Display>(&self, level: Level, text: T) -> impl Future<Output = ()> + use<'_, T> {
        self.link.log(level, text)
    }

    /// Like [`log`](Responder::log), with data that serializes to any JSON value, and the name of the logger.
    ///
    /// Sends nothing if the data does not serialize.
    pub fn log_data<T: serde_core::Serialize + ?Sized>(
        &self,
        level: Level,
        logger: Option<&str>,
        data: &T,
    ) -> impl Future<Output = ()> + use<'_, T> {
        let command = ServerCommand::log(Some(self.link.ticket), level, logger, data);
        self.link.shared.send_notification(command, Some(&self.link.task))
    }

    /// Notifies the client of this request that an elicitation in URL mode is complete: see
    /// [`OpenUrl`](mcp_proto::input::OpenUrl).
    ///
    /// Only clients of `2025-11-25` receive the notification. Waits like [`progress`](Responder::progress).
    pub async fn elicitation_complete(&self, id: &str) {
        let command = ServerCommand::elicitation_complete(Some(self.link.ticket), id.into());
        self.link.shared.send(command, Some(&self.link.task)).await;
    }

    /// Closes the HTTP connection of this request, and keeps the request: a long call then needs no connection.
    ///
    /// The client connects again after the retry time of the server, and receives all messages that it has missed. The
    /// method has an effect only over HTTP, if the server has a replay buffer, in a session of `2025-11-25`. Clients of
    /// other revisions would not connect again. See the section "Sending Messages to the Server" of the Streamable HTTP
    /// transport in the specification of `2025-11-25`.
    pub fn release_connection(&self) {
        self.link.shared.push(ServerCommand::release_connection(self.link.ticket));
    }

    /// Returns whether the client no longer waits for the response.
    ///
    /// Returns `true` if the client cancelled the request, its timeout expired, the session restarted, or the
    /// connection is closed.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.link.task.is_cancelled()
    }

    /// Waits until the request is cancelled: see [`Cancellation::cancelled`].
    pub async fn cancelled(&self) {
        self.link.cancellation().cancelled().await;
    }

    /// Returns the span of the request, for an adapter that runs the work.
    #[doc(hidden)]
    #[must_use]
    pub fn span(&self) -> RequestSpan {
        self.link.task.span()
    }

    /// Returns an observer of the request's cancellation. The observer may be moved to another thread or task.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.link.cancellation()
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        let message = if thread::panicking() { PANICKED } else { NO_RESPONSE };
        if self.is_chunked {
            self.end_chunks(Some(message.into()));
        } else {
            self.respond(Box::new(move |reply| reply.error(code::INTERNAL_ERROR, message)));
        }
    }
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Responder").field("ticket", &self.link.ticket).finish_non_exhaustive()
    }
}
