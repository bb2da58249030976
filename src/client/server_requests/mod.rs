//! Requests of the server (handshake era), and responses: immediate or deferred.
//!
//! Specification: up to 2025-11-25, *Roots*, *Sampling*, *Elicitation*.

pub(crate) mod check;
pub(crate) mod input_request;
mod other;
pub(crate) mod respond;

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::StreamId;
use crate::json::{Decimal, Json, WriteBody, WriteText, Writer};
use crate::peer::inbound::Source;
use crate::peer::slots::Ticket;
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::code;
use crate::time::Millis;

use crate::client::client_state::ClientState;
use crate::client::server_requests::input_request::{InputKind, InputRequest};
use crate::protocol::elicitation::result::{ElicitAction, write_form};
use crate::protocol::objects::application_json::{once, write_object};
use crate::protocol::roots::{Roots, write_roots};
use crate::protocol::sampling::result::{Sampled, write_sampled};

/// The properties of a request that determine its response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context {
    pub(crate) revision: Revision,
    pub(crate) kind: InputKind,
    pub(crate) stream: StreamId,
}

/// A request of the server that awaits its response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pending<'a> {
    pub(crate) source: Source<'a>,
    pub(crate) context: Context,
    pub(crate) task: Option<RequestTask>,
}

/// The task of a request: see [`ClientConfig::client_tasks`](crate::client::ClientConfig::client_tasks).
#[derive(Debug, Clone, Copy)]
pub(crate) enum RequestTask {
    /// The server requests a task with this time to live, or 0 if the server names no time.
    Requested { ttl: u64 },
    /// The deferred request has become this task.
    Created(Ticket),
}

/// Access to the [`ClientState`] behind a [`ServerRequest`]. The trait object hides the lifetime parameter of the
/// state, so that a request has only one lifetime.
pub(crate) trait StateAccess: Send {
    fn with(&mut self, act: &mut dyn FnMut(&mut ClientState<'_>));
}

impl StateAccess for ClientState<'_> {
    fn with(&mut self, act: &mut dyn FnMut(&mut ClientState<'_>)) {
        act(self);
    }
}

/// A request of the server for input, which needs a response. The parameters borrow the receive buffer.
///
/// Every function that responds consumes the request and cannot fail. If a response does not fit, is not valid, has
/// the wrong kind, or is not possible in the revision, the client sends a short error. The next event is then a
/// [`ProtocolError`].
///
/// If the application drops the request without a response, the client responds with an error (-32603) at the next
/// poll. A dropped [deferred](ServerRequest::defer) request remains in flight.
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
#[must_use = "a request needs a response"]
pub struct ServerRequest<'a> {
    /// The method of an extension. The text is empty for a method that the protocol defines, and for a deferred
    /// request.
    pub(crate) method: &'a str,
    /// Empty for a deferred request.
    pub(crate) params: Json<'a>,
    pub(crate) state: &'a mut (dyn StateAccess + 'a),
    pub(crate) pending: Pending<'a>,
}

impl<'a> ServerRequest<'a> {
    /// Returns the requested input. For a [deferred](ServerRequest::defer) request, returns only the kind of the input,
    /// because the client stores neither the parameters nor the method of an extension.
    #[must_use]
    pub fn input(&self) -> InputRequest<'a> {
        InputRequest::from_json(self.pending.context.kind, self.method, self.params)
    }

    /// Returns the raw parameters, an object. The object is empty for a request without parameters, and for a
    /// [deferred](ServerRequest::defer) request.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.params
    }

    /// Returns the stream of the request. Without message mode, or if the request has become a task, the stream is
    /// [`StreamId::NONE`].
    #[must_use]
    pub fn stream(&self) -> StreamId {
        self.pending.context.stream
    }

    /// Returns whether the server requests a [task](crate::client::ClientConfig::client_tasks) as the response, or the
    /// request has become a task. The server then fetches a result later.
    #[must_use]
    pub fn is_task(&self) -> bool {
        self.pending.task.is_some()
    }

    /// Defers the response, for example until the user has decided. The application responds later through
    /// [`Client::reply`](crate::Client::reply). A deferred request occupies a slot.
    ///
    /// The request expires after `time`, or after the client's [`maximum`](crate::client::Timeouts::maximum) if `time`
    /// is `None`. The client then responds with an error and emits [`Event::Expired`](crate::client::Event::Expired).
    ///
    /// A request that becomes a [task](crate::client::ClientConfig::client_tasks) frees its slot at once. Such a
    /// request ignores `time`, and expires after the time to live of the task.
    ///
    /// # Errors
    /// Returns the request itself if no slot is free, or if the id of the request does not fit into the text of a slot.
    /// Also returns a request that is deferred already. Also returns a request for which the server requests a task, if
    /// the table of tasks is full or the response with the task does not fit.
    pub fn defer(self, time: Option<Millis>) -> Result<Ticket, ServerRequest<'a>> {
        let mut ticket = None;
        self.state.with(&mut |state| ticket = state.defer(&self.pending, time));
        ticket.ok_or(self)
    }

    /// Responds that the user has submitted the form, or agrees to open the URL.
    ///
    /// For a form, `content` writes the field names and values. For a URL, the client does not call `content`.
    ///
    /// Each value must be a string, a number or a boolean or, from `2025-11-25` on, an array of strings.
    pub fn accept(self, content: impl FnOnce(&mut Writer<'_>)) {
        let revision = self.pending.context.revision;
        let mut content = once(content);
        match self.pending.context.kind {
            InputKind::Form => self.write_result(&mut |out: &mut Writer<'_>| {
                write_form(out, revision, &mut |out: &mut Writer<'_>| write_object(out, &mut content))
            }),
            InputKind::Url => self.action(ElicitAction::Accept),
            _ => self.refuse_wrong_kind(),
        }
    }

    /// Responds that the user declines. If the request is not an elicitation, the response is an error (-1).
    pub fn decline(self) {
        match self.pending.context.kind {
            InputKind::Form | InputKind::Url => self.action(ElicitAction::Decline),
            _ => self.error(code::USER_REJECTED, "The user said no"),
        }
    }

    /// Responds that the user has dismissed the request. If the request is not an elicitation, the response is an error
    /// (-1).
    pub fn cancel(self) {
        match self.pending.context.kind {
            InputKind::Form | InputKind::Url => self.action(ElicitAction::Cancel),
            _ => self.error(code::USER_REJECTED, "The user gave no answer"),
        }
    }

    /// Responds with the roots. The closure `roots` adds each root.
    pub fn roots(self, roots: impl FnOnce(&mut Roots<'_, '_>)) {
        if self.pending.context.kind != InputKind::Roots {
            return self.refuse_wrong_kind();
        }
        let mut roots = Some(roots);
        self.write_result(&mut |out: &mut Writer<'_>| write_roots(out, &mut roots));
    }

    /// Responds with a model's message. `model` is the name of the model, and `content` writes the content blocks.
    /// `stop_reason` is `endTurn`, `stopSequence`, `maxTokens`, `toolUse` or another reason. The client omits an empty
    /// `stop_reason`.
    pub fn sampled(self, model: &str, stop_reason: &str, content: impl FnOnce(&mut Sampled<'_, '_>)) {
        if self.pending.context.kind != InputKind::Sample {
            return self.refuse_wrong_kind();
        }
        let revision = self.pending.context.revision;
        let mut content = Some(content);
        self.write_result(&mut |out: &mut Writer<'_>| {
            write_sampled(out, revision, model, stop_reason, &mut content)
        });
    }

    /// Responds with a JSON-RPC error.
    pub fn error(self, code: i32, message: impl WriteText) {
        self.write_error(code, &message, &mut |_: &mut Writer<'_>| true);
    }

    /// Reports progress, if the request has a progress token. The progress must increase with each call.
    ///
    /// # Errors
    /// [`SendError::NotWanted`]: the request has no progress token, its slot has no space for the token, the request
    /// has become a task, or the progress has not increased. [`SendError::Unwritable`]: the notification would leave
    /// too little space for a response. In both cases, the request remains open.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        let Pending { source, context, .. } = &mut self.pending;
        let message = if context.revision.has(WireFeature::ProgressMessages) { message } else { "" };
        let (progress, mut outcome) = (progress.into(), Ok(()));
        self.state.with(&mut |state| {
            let reserved = state.min_reply_size();
            outcome = state.peer.write_progress(source, context.stream, reserved, progress, total, message);
        });
        outcome
    }

    /// If `error` contains a code, responds with an error, otherwise with a result. `body` writes the members, except
    /// the code.
    pub(super) fn respond(self, error: Option<i32>, body: &mut dyn WriteBody) {
        self.state.with(&mut |state| state.respond(&self.pending, error, body));
    }

    fn action(self, action: ElicitAction) {
        self.write_result(&mut |out: &mut Writer<'_>| {
            action.write(out);
        });
    }

    pub(super) fn write_result(self, members: &mut dyn WriteBody) {
        self.respond(None, members);
    }

    pub(super) fn refuse_wrong_kind(self) {
        self.state.with(&mut |state| state.refuse(&self.pending, ProtocolError::InvalidReply));
    }
}

impl core::fmt::Debug for ServerRequest<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let ServerRequest { method, params, pending, .. } = self;
        f.debug_struct("ServerRequest")
            .field("method", method)
            .field("params", params)
            .field("pending", pending)
            .finish_non_exhaustive()
    }
}
