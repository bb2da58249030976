//! What somebody holds who deals with a request: the duty to answer it, and the news that nobody waits for it any more.

use std::fmt::Display;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::{Change, Reply};
use mcp_proto::{ClientCapabilities, Decimal, Level, Revision, Ticket};

use crate::outbound_request::{ClientResponse, OutboundRequest, RequestError};
use crate::server_command::{Answer, ServerCommand};
use crate::server_shared::{Place, ServerShared};
use crate::task::{Cancellation, Task};

/// A request that somebody deals with: the duty to answer it.
///
/// If it is dropped without an answer, be it by a panic, the request is answered with an error (-32603).
#[must_use = "the request has to be answered"]
pub struct Responder {
    desk: Arc<ServerShared>,
    ticket: Ticket,
    client: (Revision, ClientCapabilities),
    task: Arc<Task>,
    /// It is given up with the answer.
    place: Option<Place>,
}

impl Responder {
    pub(crate) fn new(
        desk: Arc<ServerShared>,
        ticket: Ticket,
        client: (Revision, ClientCapabilities),
        task: Arc<Task>,
        place: Place,
    ) -> Responder {
        Responder { desk, ticket, client, task, place: Some(place) }
    }

    /// The revision in which the request was made.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.client.0
    }

    /// What the client said it can do.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        self.client.1
    }

    /// Answers a call with one piece of text.
    pub fn text(self, text: impl Display) {
        let text = text.to_string();
        self.answer(move |reply| reply.text(text));
    }

    /// Answers a call with the text of what went wrong: the tool ran and failed. For the model to read.
    pub fn fail(self, why: impl Display) {
        let why = why.to_string();
        self.answer(move |reply| reply.fail(why));
    }

    /// Answers a call with structured content, mirrored as text.
    pub fn structured<T: serde_core::Serialize + Send + 'static>(self, value: T) {
        self.answer(move |reply| reply.structured(&value));
    }

    /// Answers with a JSON-RPC error. Codes of your own should lie outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl Display) {
        let message = message.to_string();
        self.answer(move |reply| reply.error(code, message));
    }

    /// Answers with whatever a [`Reply`] can: with [messages](Reply::messages) to a request for a prompt, with
    /// [contents](Reply::contents) to a read, with [values](Reply::values) to a completion. `answer` is called where the
    /// machine is, as soon as there is room.
    pub fn answer(mut self, answer: impl FnOnce(Reply<'_>) + Send + 'static) {
        self.end(Box::new(answer));
    }

    /// Sends the answer, if none was sent before.
    fn end(&mut self, answer: Answer) {
        if let Some(place) = self.place.take() {
            drop(place);
            self.desk.push(ServerCommand::answer(self.ticket, answer));
        }
    }

    /// Reports progress, if the client asked for it. It must grow each time; `message` may be empty. Waits while the
    /// client does not read. (A `format_args!` cannot be held while a task waits; a `format!` can.)
    pub fn progress<P: Into<Decimal>, M: Display>(
        &self,
        progress: P,
        total: Option<Decimal>,
        message: M,
    ) -> impl Future<Output = ()> + use<'_, P, M> {
        let (progress, message) = (progress.into(), message.to_string());
        let mail = ServerCommand::progress(self.ticket, progress, total, message);
        self.desk.send(mail, Some(&self.task))
    }

    /// Asks a client of the handshake era for something that the answer depends on, and waits for what it says. The
    /// server's own limit says how long it may take ([`Limits::request_timeout`]); but not longer than anybody waits for the answer
    /// to the request. If this future is dropped, the client is told that the question is cancelled.
    ///
    /// In `2026-07-28` servers do not ask: there the request is answered with what it [needs], and made again.
    ///
    /// ```
    /// use mcp_proto::input::{Field, Form};
    /// use mcp_proto_handles::Responder;
    ///
    /// async fn greet(answer: Responder) {
    ///     match answer.request(&Form::new("Who are you?", &[Field::text("name").required()])).await {
    ///         Ok(said) => match said.elicited().and_then(|form| form.field("name")?.string()) {
    ///             Some(name) => answer.text(format_args!("Hello, {name}!")),
    ///             None => answer.text("Hello, whoever you are!"),
    ///         },
    ///         Err(why) => answer.fail(why),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// There is no answer.
    ///
    /// [`Limits::request_timeout`]: mcp_proto::server::Limits::request_timeout
    /// [needs]: mcp_proto::server::Call::require_input
    pub fn request<'r>(
        &'r self,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'r> {
        self.ask_client(input, None)
    }

    /// The same for a question that may take `time`.
    ///
    /// # Errors
    /// There is no answer.
    pub fn request_within<'r>(
        &'r self,
        time: Duration,
        input: &dyn Input,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'r> {
        self.ask_client(input, Some(time))
    }

    fn ask_client<'r>(
        &'r self,
        input: &dyn Input,
        time: Option<Duration>,
    ) -> impl Future<Output = Result<ClientResponse, RequestError>> + use<'r> {
        let question = OutboundRequest::new(input, self.client, time, Some(self.ticket));
        self.desk.put(question, Some(&self.task))
    }

    /// Says that a list or a resource has changed.
    pub fn changed(&self, change: Change<'_>) {
        self.desk.changed(change);
    }

    /// Sends a log message that belongs to this request, if the client wants it. Waits while the client does not read.
    pub fn log<T: Display>(&self, level: Level, text: T) -> impl Future<Output = ()> + use<'_, T> {
        let mail = ServerCommand::log_of(self.ticket, level, text.to_string());
        self.desk.send(mail, Some(&self.task))
    }

    /// Whether nobody waits for the answer any more: it is cancelled, took too long, or the connection is over.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }

    /// Waits until nobody waits for the answer any more: one of the two ends of a `select!`.
    pub async fn cancelled(&self) {
        self.cancellation().cancelled().await;
    }

    /// The same question for other code.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        Cancellation::new(&self.task)
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        let message = "Internal error: the worker ended without an answer";
        self.end(Box::new(move |reply| reply.error(-32603, message)));
    }
}

impl std::fmt::Debug for Responder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Responder").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
