//! The event chosen by `poll`, stored as numbers and positions in the receive buffer.
//!
//! Nothing is borrowed between `poll` and `event`. The line decoder stores the spans of the event's parts. These spans
//! replace the spans of the message's members, which are no longer needed.

use crate::error::ProtocolError;
use crate::json::Span;
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::peer::tasks::table::TaskTicket;
use crate::protocol::revision::{Revision, WireFeature};
use crate::server::argument_chunks::PendingArgument;
use crate::server::change_set::ChangeSet;
use crate::server::chunks::ChunkState;
use crate::server::event::{MakeEvent, MakeFeatureEvent};
use crate::server::request_context::Context;

/// The event that `Server::event` returns next.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PendingEvent {
    ProtocolError(ProtocolError),
    Writable,
    PeerUnresponsive,
    Ready,
    Expired(Ticket),
    OutboundEvent(OutboundEvent),
    Task(TaskEvent),
    /// A chunk of a streamed argument, or the abort of its chunks.
    Argument(PendingArgument),
    /// The client cancelled this request. The span `arguments` is the reason, or is missing.
    Cancelled(Ticket),
    /// The server cancelled this request, because its stream or its session has closed.
    StreamClosed(Ticket),
    /// The span `arguments` is `clientInfo`, the span `meta` is `capabilities`.
    Connected(Revision),
    /// An event that a feature defines and that needs no response. `ticket` belongs to a subscription, or is
    /// `Ticket::NONE`.
    Feature {
        event: MakeFeatureEvent,
        ticket: Ticket,
    },
    Request {
        context: Context,
        event: MakeEvent,
    },
}

/// The spans of an event's parts in its line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spans {
    pub(crate) id: Span,
    /// The name of a tool or prompt, a URI, or the method of an extension. After the string is decoded in place, the
    /// span excludes the quotes.
    pub(crate) subject: Span,
    pub(crate) arguments: Span,
    pub(crate) meta: Span,
    /// The `inputResponses` of a request. If the event exposes all parameters, this span is that of the parameters.
    pub(crate) responses: Span,
    pub(crate) state: Span,
}

impl Spans {
    pub(crate) const NONE: Spans = Spans::new([Span::MISSING; 6]);

    pub(crate) const fn new(spans: [Span; 6]) -> Spans {
        let [id, subject, arguments, meta, responses, state] = spans;
        Spans { id, subject, arguments, meta, responses, state }
    }

    pub(crate) fn into_array(self) -> [Span; 6] {
        let Spans { id, subject, arguments, meta, responses, state } = self;
        [id, subject, arguments, meta, responses, state]
    }
}

/// An event about outbound requests.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OutboundEvent {
    RootsChanged,
    Response {
        ticket: Ticket,
        kind: ResponseKind,
    },
    /// The span `arguments` is the parameters.
    Progress(Ticket),
}

/// An event about a task.
#[derive(Debug, Clone, Copy)]
pub(crate) enum TaskEvent {
    Cancelled(TaskTicket),
    Expired(TaskTicket),
    /// The client's responses to input requests. The span `arguments` is the object of responses. `accepted` has one
    /// bit for each of the first 32 members. A set bit means that the member responds to an open input request.
    Responses {
        ticket: TaskTicket,
        accepted: u32,
    },
    /// The outcome of an input request that the server has sent.
    Response {
        ticket: TaskTicket,
        kind: ResponseKind,
    },
    /// A request or subscription in flight awaits the result of the task in this slot of the table. The application
    /// keeps the result.
    Result {
        receiver: Ticket,
        task: [u8; 2],
    },
}

/// The outcome of an outbound request. For `Result` and `Error`, the span `arguments` is the result or the error.
#[derive(Debug, Clone, Copy)]
pub(crate) enum ResponseKind {
    Result,
    Error,
    Failed(RequestFailure),
}

/// The kind of an inbound request. The kind determines which responses are valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// A request to which the server responds by itself. A `subscriptions/listen` or `resources/subscribe` also has
    /// this kind if the application decides about the request.
    Internal,
    CallTool {
        /// Whether to add empty structured content if the result has none.
        pad_structured: bool,
        /// Whether the call has become a task, or must become one. Such a call sends no log messages, because they
        /// would need the metadata of the task.
        is_task: bool,
    },
    ReadResource,
    GetPrompt,
    Complete,
    /// A request with a method of an extension.
    Extension,
    /// `subscriptions/listen`.
    Listen {
        filter: ChangeSet,
        pending: ChangeSet,
    },
    /// A page of a dynamic list. `first` is the index of the first entry. The index has the form of bytes, because
    /// bytes need no alignment in a slot.
    List {
        first: [u8; 4],
    },
    /// A request for the result of the task in this slot of the task table. `is_requested` is whether the server has
    /// requested the result from the application by an event.
    TaskResult {
        task: [u8; 2],
        is_requested: bool,
    },
    /// A request whose response the application writes in chunks.
    Chunked(ChunkState),
}

impl RequestKind {
    /// Returns whether the kind and the revision of the request permit a response that requires input. Also returns
    /// `true` for a call that becomes a task, although such a call cannot require input.
    pub(crate) fn can_require_input(self, revision: Revision) -> bool {
        let kind =
            matches!(self, RequestKind::CallTool { .. } | RequestKind::ReadResource | RequestKind::GetPrompt);
        kind && revision.has(WireFeature::InputRequired)
    }
}
