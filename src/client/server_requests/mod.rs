//! What a server of the handshake era asks of the client, and the right to answer that, now or later.
//!
//! Specification: up to 2025-11-25, *Roots*, *Sampling*, *Elicitation*.

pub(crate) mod check;
mod deferred;
pub(crate) mod input_request;
pub(crate) mod results;

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::StreamId;
use crate::json::{Decimal, Json, SortKey, WriteText, Writer};
use crate::peer::slots::Ticket;
use crate::protocol::revision::Revision;
use crate::rpc::code;
use crate::time::Millis;

pub(crate) use crate::client::server_requests::deferred::{Owed, write_fault};

use crate::client::server_requests::input_request::{InputKind, InputRequest};
use crate::client::server_requests::results::{
    Action, Roots, Sampled, once, write_form, write_object, write_roots, write_sampled,
};

/// What an answer depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    pub(crate) revision: Revision,
    pub(crate) kind: InputKind,
    pub(crate) stream: StreamId,
}

/// Where a request's id and progress token stand.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// In the line that is being dealt with.
    Line { id: &'a [u8], meta: Json<'a>, last: SortKey },
    /// In the slot of a deferred request.
    Slot(Ticket),
}

/// What a token needs of the machine. It hides the machine's own lifetime, so that a token has only one.
pub(crate) trait Answering: Send {
    /// `body` writes the member `result` or `error`, and says whether it is what it should be.
    fn answer(
        &mut self,
        source: &Source<'_>,
        stream: StreamId,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    );
    fn refuse(&mut self, source: &Source<'_>, stream: StreamId, fault: ProtocolError);
    fn progress(
        &mut self,
        source: &mut Source<'_>,
        stream: StreamId,
        progress: Decimal,
        body: &mut dyn FnMut(&mut Writer<'_>),
    ) -> Result<(), SendError>;
    fn defer(&mut self, source: &Source<'_>, context: Context, time: Option<Millis>) -> Option<Ticket>;
}

/// A request of the server's: what it asks for, which stands in the receive buffer, and the right to answer it.
///
/// Every answer consumes it, and none can fail. One that is dropped without an answer gets an error (-32603) at the
/// next poll.
///
/// ```
/// use mcp_proto::client::{ServerRequest, InputRequest};
/// fn answer(asked: ServerRequest<'_>) {
///     match asked.input() {
///         InputRequest::Roots => asked.roots(|roots| roots.add("file:///home/user/project", "Project")),
///         InputRequest::Elicit(form) if form.message() == "Who are you?" => {
///             asked.accept(|content| content.field_string("name", "octocat"));
///         }
///         _ => asked.decline(),
///     }
/// }
/// ```
#[must_use = "a request has to be answered"]
#[derive(Debug)]
pub struct ServerRequest<'a> {
    pub(crate) params: Json<'a>,
    pub(crate) reply: ServerRequestReply<'a>,
}

/// The right to answer a request of the server's. Every answer consumes it, and none can fail: one that does not fit
/// is replaced by a small error, and the next event is a [`ProtocolError`]; so is one that the request did not ask for, or that
/// its revision cannot say.
///
/// Dropping it is no answer: a [deferred](ServerRequest::defer) request stays in flight.
#[must_use = "a request has to be answered"]
pub struct ServerRequestReply<'a> {
    pub(crate) machine: &'a mut (dyn Answering + 'a),
    pub(crate) source: Source<'a>,
    pub(crate) context: Context,
}

impl<'a> ServerRequest<'a> {
    /// What it asks for.
    #[must_use]
    pub fn input(&self) -> InputRequest<'a> {
        InputRequest::from_json(self.reply.context.kind, self.params)
    }

    /// The parameters of the request as they are: an object.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.params
    }

    /// The stream that the request came from, in frame mode.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.reply.stream()
    }

    /// The user agrees: see [`ServerRequestReply::accept`].
    pub fn accept(self, content: impl FnOnce(&mut Writer<'_>)) {
        self.reply.accept(content);
    }

    /// The user says no: see [`ServerRequestReply::decline`].
    pub fn decline(self) {
        self.reply.decline();
    }

    /// The user says nothing: see [`ServerRequestReply::cancel`].
    pub fn cancel(self) {
        self.reply.cancel();
    }

    /// Answers with the roots: see [`ServerRequestReply::roots`].
    pub fn roots(self, roots: impl FnOnce(&mut Roots<'_, '_>)) {
        self.reply.roots(roots);
    }

    /// Answers with what a model has said: see [`ServerRequestReply::sampled`].
    pub fn sampled(self, model: &str, stop_reason: &str, content: impl FnOnce(&mut Sampled<'_, '_>)) {
        self.reply.sampled(model, stop_reason, content);
    }

    /// Answers with a JSON-RPC error.
    pub fn error(self, code: i32, message: impl WriteText) {
        self.reply.error(code, message);
    }

    /// Reports progress now, before the answer: see [`ServerRequestReply::progress`].
    ///
    /// # Errors
    /// It was not asked for, has not grown, or does not fit beside the answer. The request goes on.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        self.reply.progress(progress, total, message)
    }

    /// Leaves the answer for later, for as long as a user takes: [`Client::reply`](crate::Client::reply) gives it for the
    /// ticket. It takes a slot. If that does not happen within `time` (the client's
    /// [`maximum`](crate::client::Timeouts::maximum), if none is given), the machine answers with an error, and says so
    /// by [`Event::Expired`](crate::client::Event::Expired).
    ///
    /// # Errors
    /// The request comes back if no slot is free, or its id does not fit into the text of one.
    pub fn defer(self, time: Option<Millis>) -> Result<Ticket, ServerRequest<'a>> {
        match self.reply.machine.defer(&self.reply.source, self.reply.context, time) {
            Some(ticket) => Ok(ticket),
            None => Err(self),
        }
    }
}

impl ServerRequestReply<'_> {
    /// The stream that the request came from, in frame mode.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.context.stream
    }

    /// The user has filled in the form, whose fields `content` writes, names and values; or agrees to open the address,
    /// and `content` is not asked.
    ///
    /// Values are text, numbers, `true` and `false`, and from `2025-11-25` on arrays of texts.
    pub fn accept(self, content: impl FnOnce(&mut Writer<'_>)) {
        let revision = self.context.revision;
        let mut content = Some(content);
        self.accept_dyn(&mut |out| {
            write_form(out, revision, &mut |out| match content.take() {
                Some(content) => write_object(out, &mut once(content)),
                None => false,
            })
        });
    }

    /// The same with fields of any type that serializes to an object.
    #[cfg(feature = "serde")]
    pub fn accept_value<T: serde_core::Serialize + ?Sized>(self, content: &T) {
        let revision = self.context.revision;
        self.accept_dyn(&mut |out| {
            write_form(out, revision, &mut |out| out.serialize(content).is_ok() || out.overflowed())
        });
    }

    fn accept_dyn(self, form: &mut dyn FnMut(&mut Writer<'_>) -> bool) {
        match self.context.kind {
            InputKind::Form => self.result(form),
            InputKind::Url => self.action(Action::Accept),
            InputKind::Roots | InputKind::Sample => self.not_asked_for(),
        }
    }

    /// The user says no. To what is no elicitation this is an error (-1).
    pub fn decline(self) {
        match self.context.kind {
            InputKind::Form | InputKind::Url => self.action(Action::Decline),
            InputKind::Roots | InputKind::Sample => self.error(code::USER_REJECTED, "The user said no"),
        }
    }

    /// The user has closed the question without an answer. To what is no elicitation this is an error (-1).
    pub fn cancel(self) {
        match self.context.kind {
            InputKind::Form | InputKind::Url => self.action(Action::Cancel),
            InputKind::Roots | InputKind::Sample => {
                self.error(code::USER_REJECTED, "The user gave no answer");
            }
        }
    }

    /// Answers with the roots, which `roots` adds one by one.
    pub fn roots(self, roots: impl FnOnce(&mut Roots<'_, '_>)) {
        if self.context.kind != InputKind::Roots {
            return self.not_asked_for();
        }
        let mut roots = Some(roots);
        self.result(&mut |out| write_roots(out, &mut roots));
    }

    /// Answers with what a model has said: its name, why it stopped (`endTurn`, `stopSequence`, `maxTokens`, `toolUse`,
    /// or another; left out if it is empty), and the content, piece by piece.
    pub fn sampled(self, model: &str, stop_reason: &str, content: impl FnOnce(&mut Sampled<'_, '_>)) {
        if self.context.kind != InputKind::Sample {
            return self.not_asked_for();
        }
        let revision = self.context.revision;
        let mut content = Some(content);
        self.result(&mut |out| write_sampled(out, revision, model, stop_reason, &mut content));
    }

    /// Answers with a JSON-RPC error.
    pub fn error(self, code: i32, message: impl WriteText) {
        let ServerRequestReply { machine, source, context } = self;
        machine.answer(&source, context.stream, &mut |out| {
            out.key("error");
            out.begin_object();
            out.field_integer("code", code.into());
            out.key("message");
            out.display(&message);
            out.end_object();
            true
        });
    }

    /// Reports progress, if the request asked for it. It must grow each time.
    ///
    /// # Errors
    /// [`SendError::NotWanted`]: the request did not ask, or it has not grown. [`SendError::Unwritable`]: it does not fit
    /// beside the answer that is still to come. Either way the request goes on.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        let messages = self.context.revision >= Revision::V2025_03_26;
        self.machine.progress(&mut self.source, self.context.stream, progress.into(), &mut |out| {
            if let Some(total) = total {
                out.key("total");
                out.decimal(total);
            }
            if messages && !message.is_empty() {
                out.field_string("message", message);
            }
        })
    }

    fn action(self, action: Action) {
        self.result(&mut |out| {
            action.write(out);
            true
        });
    }

    fn result(self, members: &mut dyn FnMut(&mut Writer<'_>) -> bool) {
        let ServerRequestReply { machine, source, context } = self;
        machine.answer(&source, context.stream, &mut |out| {
            out.key("result");
            out.begin_object();
            let valid = members(out);
            out.end_object();
            valid
        });
    }

    fn not_asked_for(self) {
        let ServerRequestReply { machine, source, context } = self;
        machine.refuse(&source, context.stream, ProtocolError::InvalidReply);
    }
}

impl core::fmt::Debug for ServerRequestReply<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ServerRequestReply")
            .field("source", &self.source)
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}
