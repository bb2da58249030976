//! What a worker holds: the duty to answer one request, and the news that nobody waits for it any more.

use std::fmt::Display;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use mcp_proto::input::Input;
use mcp_proto::server::{Change, Reply};
use mcp_proto::{ClientCapabilities, Decimal, Level, Revision, Ticket};

use crate::ask::{AskError, ClientAnswer};
use crate::desk::{Answer, Desk, Mail, Place};
use crate::sync::{lock, wait_for};

/// A request that a worker deals with: the duty to answer it.
///
/// If it is dropped without an answer, be it by a panic, the request is answered with an error (-32603).
#[must_use = "the request has to be answered"]
pub struct Responder {
    desk: Arc<Desk>,
    ticket: Ticket,
    client: (Revision, ClientCapabilities),
    cancellation: Cancellation,
    /// It is given up with the answer.
    place: Option<Place>,
}

impl Responder {
    pub(crate) fn new(
        desk: Arc<Desk>,
        ticket: Ticket,
        client: (Revision, ClientCapabilities),
        task: Arc<Task>,
        place: Place,
    ) -> Responder {
        Responder { desk, ticket, client, cancellation: Cancellation { task }, place: Some(place) }
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
    pub fn structured<T: serde::Serialize + Send + 'static>(self, value: T) {
        self.answer(move |reply| reply.structured(&value));
    }

    /// Answers with a JSON-RPC error. Codes of your own should lie outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl Display) {
        let message = message.to_string();
        self.answer(move |reply| reply.error(code, message));
    }

    /// Answers with whatever a [`Reply`] can: with [messages](Reply::messages) to a request for a prompt, with
    /// [contents](Reply::contents) to a read, with [values](Reply::values) to a completion. `answer` runs on the thread of the server, as soon as there is room.
    pub fn answer(mut self, answer: impl FnOnce(Reply<'_>) + Send + 'static) {
        self.end(Box::new(answer));
    }

    /// Sends the answer, if none was sent before.
    fn end(&mut self, answer: Answer) {
        if let Some(place) = self.place.take() {
            drop(place);
            self.desk.push(Mail::Answer(self.ticket, answer));
        }
    }

    /// Reports progress, if the client asked for it. It must grow each time; `message` may be empty. Waits while the
    /// client does not read.
    pub fn progress(&self, progress: impl Into<Decimal>, total: Option<Decimal>, message: impl Display) {
        let (progress, message) = (progress.into(), message.to_string());
        let mail = Mail::Progress { ticket: self.ticket, progress, total, message };
        self.desk.send(mail, Some(&self.cancellation.task));
    }

    /// Asks a client of the handshake era for something that the answer depends on, and waits for what it says. The
    /// server's own limit says how long it may take ([`Limits::asked`]); but not longer than anybody waits for the answer
    /// to the request, so people need one that [`run_within`] has more time for.
    ///
    /// In `2026-07-28` servers do not ask: there the request is answered with what it [needs], and made again.
    ///
    /// ```no_run
    /// # fn example(call: mcp_proto::server::Call<'_>, server: &mcp_proto_std::ServerHandle) {
    /// use mcp_proto::input::{Field, Form};
    ///
    /// server.run(call, |answer| {
    ///     match answer.ask(&Form::new("Who are you?", &[Field::text("name").required()])) {
    ///         Ok(said) => match said.elicited().and_then(|form| form.field("name")?.string()) {
    ///             Some(name) => answer.text(format_args!("Hello, {name}!")),
    ///             None => answer.text("Hello, whoever you are!"),
    ///         },
    ///         Err(why) => answer.fail(why),
    ///     }
    /// });
    /// # }
    /// ```
    ///
    /// # Errors
    /// There is no answer.
    ///
    /// [`Limits::asked`]: mcp_proto::server::Limits::asked
    /// [`run_within`]: crate::ServerHandle::run_within
    /// [needs]: mcp_proto::server::Call::needs_input
    pub fn ask(&self, input: &dyn Input) -> Result<ClientAnswer, AskError> {
        self.ask_client(input, None)
    }

    /// The same for a question that may take `time`.
    ///
    /// # Errors
    /// There is no answer.
    pub fn ask_within(&self, time: Duration, input: &dyn Input) -> Result<ClientAnswer, AskError> {
        self.ask_client(input, Some(time))
    }

    fn ask_client(&self, input: &dyn Input, time: Option<Duration>) -> Result<ClientAnswer, AskError> {
        self.desk.ask(input, self.client, time, Some(self.ticket), Some(&self.cancellation.task))
    }

    /// Says that a list or a resource has changed.
    pub fn changed(&self, change: Change<'_>) {
        self.desk.send(Mail::changed(change), Some(&self.cancellation.task));
    }

    /// Sends a log message that belongs to this request, if the client wants it. Waits while the client does not read.
    pub fn log(&self, level: Level, text: impl Display) {
        let mail = Mail::LogOf { ticket: self.ticket, level, text: text.to_string() };
        self.desk.send(mail, Some(&self.cancellation.task));
    }

    /// Whether nobody waits for the answer any more: it is cancelled, took too long, or the connection is over.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancellation.is_cancelled()
    }

    /// Sleeps, but not longer than anybody waits for the answer.
    ///
    /// # Errors
    /// It is cancelled.
    pub fn sleep_unless_cancelled(&self, time: Duration) -> Result<(), Cancelled> {
        self.cancellation.sleep(time)
    }

    /// The same question for other code and other threads.
    #[must_use]
    pub fn cancellation(&self) -> Cancellation {
        self.cancellation.clone()
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

/// Nobody waits for the answer any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl Display for Cancelled {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("the request was cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// Whether a request is cancelled, for any thread to ask and to wait for.
#[derive(Debug, Clone)]
pub struct Cancellation {
    task: Arc<Task>,
}

impl Cancellation {
    pub(crate) fn of(task: &Arc<Task>) -> Cancellation {
        Cancellation { task: Arc::clone(task) }
    }

    /// Whether it is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }

    /// Sleeps, but not longer than until it is cancelled.
    ///
    /// # Errors
    /// It is cancelled.
    pub fn sleep(&self, time: Duration) -> Result<(), Cancelled> {
        let start = Instant::now();
        let mut cancelled = lock(&self.task.cancelled);
        loop {
            if *cancelled {
                return Err(Cancelled);
            }
            let left = time.saturating_sub(start.elapsed());
            if left.is_zero() {
                return Ok(());
            }
            cancelled = wait_for(&self.task.changed, cancelled, left);
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Task {
    cancelled: Mutex<bool>,
    changed: Condvar,
}

impl Task {
    pub(crate) fn is_cancelled(&self) -> bool {
        *lock(&self.cancelled)
    }

    pub(crate) fn cancel(&self) {
        *lock(&self.cancelled) = true;
        self.changed.notify_all();
    }
}
