//! The event chosen by `poll`, stored as positions in the receive buffer.

use crate::error::ProtocolError;
use crate::json::Span;
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::revision::Revision;

use crate::client::chunks::PendingChunk;
use crate::client::event::Listed;
use crate::client::lists::List;
use crate::client::method_properties::Method;
use crate::client::server_requests::Context;

/// The event that the next call of `Client::event` returns. The event stores spans of the line, so that the event
/// borrows nothing between calls.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PendingEvent {
    ProtocolError(ProtocolError),
    Writable,
    Chunk(PendingChunk),
    PeerUnresponsive,
    Connected { revision: Revision, result: Span },
    ConnectFailed(PendingFailure),
    Response(PendingResponse),
    Page { ticket: Ticket, list: List, result: Span, last: bool },
    Progress { ticket: Ticket, params: Span },
    Log { params: Span },
    Changed { listed: Listed, subscription: Option<Ticket> },
    Updated { params: Span, subscription: Option<Ticket> },
    Acknowledged { ticket: Ticket, params: Span },
    ServerRequest { id: Span, method: Span, params: Span, context: Context },
    Cancelled { ticket: Ticket, reason: Span },
    Expired(Ticket),
    InputRequired { ticket: Ticket, result: Span },
    Task { ticket: Ticket, task: Span },
    Notification { method: Span, params: Span, subscription: Option<Ticket> },
}

/// The end of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PendingResponse {
    pub(crate) ticket: Ticket,
    pub(crate) method: Method,
    pub(crate) outcome: PendingOutcome,
}

/// The outcome of a request.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PendingOutcome {
    /// A result. `member` is the span of its [required member](Method::member). The span is missing if the method or
    /// the result has no such member.
    Result {
        result: Span,
        member: Span,
        /// Whether the result ends a task. The scanner's index may then belong to the task, and not to the result.
        is_nested: bool,
    },
    Error(Span),
    Failed(RequestFailure),
}

/// The reason of a failed connection attempt: see [`ConnectFailure`](crate::client::ConnectFailure).
#[derive(Debug, Clone, Copy)]
pub(crate) enum PendingFailure {
    NoRevision,
    /// Contains the server's result.
    NoCommonRevision(Span),
    Refused(Span),
    InvalidResponse,
    ResponseTooLong {
        limit: usize,
    },
    TimedOut,
    Closed,
}
