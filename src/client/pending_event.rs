//! What `poll` decided and `event` will hand out: plain numbers, so that nothing is borrowed in between.

use crate::error::ProtocolError;
use crate::json::Span;
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::revision::Revision;

use crate::client::event::Listed;
use crate::client::lists::List;
use crate::client::method::Method;
use crate::client::server_requests::Context;

/// An event that waits to be handed out, with the places of its parts in the line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PendingEvent {
    ProtocolError(ProtocolError),
    Writable,
    PeerUnresponsive,
    Connected { revision: Revision, result: Span },
    ConnectFailed(FailurePlan),
    Response { ticket: Ticket, method: Method, outcome: OutcomePlan },
    Page { ticket: Ticket, list: List, result: Span, last: bool },
    Progress { ticket: Ticket, params: Span },
    Log { params: Span },
    Changed { listed: Listed, subscription: Option<Ticket> },
    Updated { params: Span, subscription: Option<Ticket> },
    Acknowledged { ticket: Ticket, params: Span },
    ServerRequest { id: Span, params: Option<Span>, context: Context },
    Cancelled { ticket: Ticket, reason: Option<Span> },
    Expired(Ticket),
    InputRequired { ticket: Ticket, result: Span },
    Notification { method: Span, params: Option<Span> },
}

/// How a request ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OutcomePlan {
    /// With its [member](Method::member), if there is one: it need not be looked for again.
    Result {
        result: Span,
        member: Span,
    },
    Error(Span),
    Failed(RequestFailure),
}

/// Why connecting failed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FailurePlan {
    NoRevision,
    /// With the result or the error that said so.
    NoCommonRevision(Span),
    Refused(Span),
    InvalidResponse,
    TimedOut,
    Closed,
}
