//! Requests of the server (handshake era), answered at once or later.
//!
//! Specification: up to 2025-11-25, *Roots*, *Sampling*, *Elicitation*.

pub(crate) mod check;
mod deferred;
pub(crate) mod input_request;

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{OutboundMessageKind, StreamId};
use crate::json::{Decimal, Json, SortKey, WriteText, Writer};
use crate::peer::slots::Ticket;
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::code;
use crate::time::Millis;

pub(crate) use crate::client::server_requests::deferred::{CurrentRequest, error_kind, write_fault};

use crate::client::server_requests::input_request::{InputKind, InputRequest};
use crate::protocol::elicitation::result::{Action, write_form};
use crate::protocol::objects::application_json::{once, write_object};
use crate::protocol::roots::{Roots, write_roots};
use crate::protocol::sampling::result::{Sampled, write_sampled};

/// The properties of a request that its answer depends on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    pub(crate) revision: Revision,
    pub(crate) kind: InputKind,
    pub(crate) stream: StreamId,
}

/// The location of a request's id and progress token.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a> {
    /// In the current line.
    Line { id: &'a [u8], meta: Json<'a>, last: SortKey },
    /// In the slot of a deferred request.
    Slot(Ticket),
}

/// The operations of the client that a [`ServerRequestReply`] needs. A trait object hides the client's own lifetime, so
/// that a reply has only one.
pub(crate) trait ReplyHandler: Send {
    /// Sends an answer. `body` writes the member `result` or `error`, and returns whether it is valid.
    fn answer(
        &mut self,
        source: &Source<'_>,
        stream: StreamId,
        kind: OutboundMessageKind,
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

/// A request of the server for input, and the right to answer it. Its parameters borrow the receive buffer.
///
/// Every answer consumes it, and none can fail. If the application drops it without an answer, the client sends an
/// error (-32603) at the next poll.
///
/// ```
/// use mcp_proto::client::{ServerRequest, InputRequest};
/// fn answer(request: ServerRequest<'_>) {
///     match request.input() {
///         InputRequest::Roots => request.roots(|roots| roots.add("file:///home/user/project", "Project")),
///         InputRequest::Elicit(form) if form.message() == "Who are you?" => {
///             request.accept(|content| content.field_string("name", "octocat"));
///         }
///         _ => request.decline(),
///     }
/// }
/// ```
#[must_use = "a request has to be answered"]
#[derive(Debug)]
pub struct ServerRequest<'a> {
    pub(crate) params: Json<'a>,
    pub(crate) reply: ServerRequestReply<'a>,
}

/// The right to answer a request of the server. Every answer consumes it, and none can fail. The client sends a small
/// error instead if the answer does not fit, is of the wrong kind, or cannot be expressed in the revision. The next
/// event is then a [`ProtocolError`].
///
/// Dropping it sends no answer: a [deferred](ServerRequest::defer) request stays in flight.
#[must_use = "a request has to be answered"]
pub struct ServerRequestReply<'a> {
    pub(crate) machine: &'a mut (dyn ReplyHandler + 'a),
    pub(crate) source: Source<'a>,
    pub(crate) context: Context,
}

impl<'a> ServerRequest<'a> {
    /// The requested input.
    #[must_use]
    pub fn input(&self) -> InputRequest<'a> {
        InputRequest::from_json(self.reply.context.kind, self.params)
    }

    /// The raw parameters, an object.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.params
    }

    /// The stream of the request, in message mode.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.reply.stream()
    }

    /// The user accepts: see [`ServerRequestReply::accept`].
    pub fn accept(self, content: impl FnOnce(&mut Writer<'_>)) {
        self.reply.accept(content);
    }

    /// The user declines: see [`ServerRequestReply::decline`].
    pub fn decline(self) {
        self.reply.decline();
    }

    /// The user dismisses the request: see [`ServerRequestReply::cancel`].
    pub fn cancel(self) {
        self.reply.cancel();
    }

    /// Answers with the roots: see [`ServerRequestReply::roots`].
    pub fn roots(self, roots: impl FnOnce(&mut Roots<'_, '_>)) {
        self.reply.roots(roots);
    }

    /// Answers with a model's message: see [`ServerRequestReply::sampled`].
    pub fn sampled(self, model: &str, stop_reason: &str, content: impl FnOnce(&mut Sampled<'_, '_>)) {
        self.reply.sampled(model, stop_reason, content);
    }

    /// Answers with a JSON-RPC error.
    pub fn error(self, code: i32, message: impl WriteText) {
        self.reply.error(code, message);
    }

    /// Reports progress before the answer: see [`ServerRequestReply::progress`].
    ///
    /// # Errors
    /// The request has no progress token, the progress has not grown, or it does not fit beside the answer. The request
    /// stays open.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        self.reply.progress(progress, total, message)
    }

    /// Defers the answer, for as long as a user needs. [`Client::reply`](crate::Client::reply) returns the right to
    /// answer for the ticket. A deferred request occupies a slot. It expires after `time`, or after the client's
    /// [`maximum`](crate::client::Timeouts::maximum) if `time` is `None`. The client then answers with an error and
    /// emits [`Event::Expired`](crate::client::Event::Expired).
    ///
    /// # Errors
    /// Returns the request if no slot is free, or its id does not fit into the text of a slot.
    pub fn defer(self, time: Option<Millis>) -> Result<Ticket, ServerRequest<'a>> {
        match self.reply.machine.defer(&self.reply.source, self.reply.context, time) {
            Some(ticket) => Ok(ticket),
            None => Err(self),
        }
    }
}

impl ServerRequestReply<'_> {
    /// The stream of the request, in message mode.
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.context.stream
    }

    /// The user has submitted the form, whose fields `content` writes, names and values; or agrees to open the URL, and
    /// `content` is not called.
    ///
    /// Values are strings, numbers and booleans, and from `2025-11-25` on arrays of strings.
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

    /// Accepts a form with fields of any type that serializes to an object.
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
            InputKind::Roots | InputKind::Sample => self.refuse_wrong_kind(),
        }
    }

    /// The user declines. If the request is not an elicitation, the answer is an error (-1).
    pub fn decline(self) {
        match self.context.kind {
            InputKind::Form | InputKind::Url => self.action(Action::Decline),
            InputKind::Roots | InputKind::Sample => self.error(code::USER_REJECTED, "The user said no"),
        }
    }

    /// The user has dismissed the request without a choice. If the request is not an elicitation, the answer is an
    /// error (-1).
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
            return self.refuse_wrong_kind();
        }
        let mut roots = Some(roots);
        self.result(&mut |out| write_roots(out, &mut roots));
    }

    /// Answers with a model's message: the model's name, the stop reason (`endTurn`, `stopSequence`, `maxTokens`,
    /// `toolUse`, or another; omitted if empty), and the content blocks.
    pub fn sampled(self, model: &str, stop_reason: &str, content: impl FnOnce(&mut Sampled<'_, '_>)) {
        if self.context.kind != InputKind::Sample {
            return self.refuse_wrong_kind();
        }
        let revision = self.context.revision;
        let mut content = Some(content);
        self.result(&mut |out| write_sampled(out, revision, model, stop_reason, &mut content));
    }

    /// Answers with a JSON-RPC error.
    pub fn error(self, code: i32, message: impl WriteText) {
        let ServerRequestReply { machine, source, context } = self;
        let kind = OutboundMessageKind::Error { code };
        machine.answer(&source, context.stream, kind, &mut |out| {
            out.key("error");
            out.begin_object();
            out.field_integer("code", code.into());
            out.key("message");
            out.display(&message);
            out.end_object();
            true
        });
    }

    /// Reports progress, if the request has a progress token. The progress must grow each time.
    ///
    /// # Errors
    /// [`SendError::NotWanted`]: the request has no progress token, or the progress has not grown.
    /// [`SendError::Unwritable`]: the notification does not fit beside the answer that has to follow. In both cases the
    /// request stays open.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        let messages = self.context.revision.has(WireFeature::ProgressMessages);
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
        machine.answer(&source, context.stream, OutboundMessageKind::Result, &mut |out| {
            out.key("result");
            out.begin_object();
            let valid = members(out);
            out.end_object();
            valid
        });
    }

    fn refuse_wrong_kind(self) {
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
