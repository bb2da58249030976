//! What a worker holds: the duty to answer one request, and the news that nobody waits for it any more.

use std::fmt::Display;
use std::time::Duration;

use mcp_proto::input::Input;
use mcp_proto::server::{Change, Reply};
use mcp_proto::{ClientCapabilities, Decimal, Level, Revision};
use mcp_proto_handles::{self as handles, Cancellation, Cancelled, ClientResponse, RequestError, block_on};

/// A request that a worker deals with: the duty to answer it.
///
/// If it is dropped without an answer, be it by a panic, the request is answered with an error (-32603).
#[must_use = "the request has to be answered"]
pub struct Responder {
    inner: handles::Responder,
}

impl Responder {
    pub(crate) fn new(inner: handles::Responder) -> Responder {
        Responder { inner }
    }

    /// The revision in which the request was made.
    #[must_use]
    pub fn revision(&self) -> Revision {
        self.inner.revision()
    }

    /// What the client said it can do.
    #[must_use]
    pub fn client(&self) -> ClientCapabilities {
        self.inner.client()
    }

    /// Answers a call with one piece of text.
    pub fn text(self, text: impl Display) {
        self.inner.text(text);
    }

    /// Answers a call with the text of what went wrong: the tool ran and failed. For the model to read.
    pub fn fail(self, why: impl Display) {
        self.inner.fail(why);
    }

    /// Answers a call with structured content, mirrored as text.
    pub fn structured<T: serde_core::Serialize + Send + 'static>(self, value: T) {
        self.inner.structured(value);
    }

    /// Answers with a JSON-RPC error. Codes of your own should lie outside of -32768 to -32000.
    pub fn error(self, code: i32, message: impl Display) {
        self.inner.error(code, message);
    }

    /// Answers with whatever a [`Reply`] can: with [messages](Reply::messages) to a request for a prompt, with
    /// [contents](Reply::contents) to a read, with [values](Reply::values) to a completion. `answer` runs on the thread of the server, as soon as there is room.
    pub fn answer(self, answer: impl FnOnce(Reply<'_>) + Send + 'static) {
        self.inner.answer(answer);
    }

    /// Reports progress, if the client asked for it. It must grow each time; `message` may be empty. Waits while the
    /// client does not read.
    pub fn progress(&self, progress: impl Into<Decimal>, total: Option<Decimal>, message: impl Display) {
        block_on(self.inner.progress(progress, total, message));
    }

    /// Asks a client of the handshake era for something that the answer depends on, and waits for what it says. The
    /// server's own limit says how long it may take ([`Limits::request_timeout`]); but not longer than anybody waits for the answer
    /// to the request, so people need one that [`run_within`] has more time for.
    ///
    /// In `2026-07-28` servers do not ask: there the request is answered with what it [needs], and made again.
    ///
    /// ```no_run
    /// # fn example(call: mcp_proto::server::Call<'_>, server: &mcp_proto_std::ServerHandle) {
    /// use mcp_proto::input::{Field, Form};
    ///
    /// server.run(call, |answer| {
    ///     match answer.request(&Form::new("Who are you?", &[Field::text("name").required()])) {
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
    /// [`Limits::request_timeout`]: mcp_proto::server::Limits::request_timeout
    /// [`run_within`]: crate::ServerHandle::run_within
    /// [needs]: mcp_proto::server::Call::require_input
    pub fn request(&self, input: &dyn Input) -> Result<ClientResponse, RequestError> {
        block_on(self.inner.request(input))
    }

    /// The same for a question that may take `time`.
    ///
    /// # Errors
    /// There is no answer.
    pub fn request_within(&self, time: Duration, input: &dyn Input) -> Result<ClientResponse, RequestError> {
        block_on(self.inner.request_within(time, input))
    }

    /// Says that a list or a resource has changed.
    pub fn changed(&self, change: Change<'_>) {
        self.inner.changed(change);
    }

    /// Sends a log message that belongs to this request, if the client wants it. Waits while the client does not read.
    pub fn log(&self, level: Level, text: impl Display) {
        block_on(self.inner.log(level, text));
    }

    /// Whether nobody waits for the answer any more: it is cancelled, took too long, or the connection is over.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.inner.is_cancelled()
    }

    /// Sleeps, but not longer than anybody waits for the answer.
    ///
    /// # Errors
    /// It is cancelled.
    pub fn sleep_unless_cancelled(&self, time: Duration) -> Result<(), Cancelled> {
        self.cancellation().sleep(time)
    }

    /// The same question for other code and other threads.
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
