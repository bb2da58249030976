//! What `poll` decided and `event` will hand out: plain numbers, so that nothing is borrowed in between.

use crate::fault::Fault;
use crate::inflight::Ticket;
use crate::json::Span;
use crate::outcome::Lost;
use crate::version::Revision;

use super::asked::Context;
use super::event::Listed;
use super::lists::List;
use super::method::Method;

/// An event that waits to be handed out, with the places of its parts in the line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    Fault(Fault),
    Room,
    Silent,
    Connected { revision: Revision, result: Span },
    Failed(FailurePlan),
    Finished { ticket: Ticket, method: Method, outcome: OutcomePlan },
    Page { ticket: Ticket, list: List, result: Span, last: bool },
    Progress { ticket: Ticket, params: Span },
    Log { params: Span },
    Changed { listed: Listed, subscription: Option<Ticket> },
    Updated { params: Span, subscription: Option<Ticket> },
    Acknowledged { ticket: Ticket, params: Span },
    Asked { id: Span, params: Option<Span>, context: Context },
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
    Lost(Lost),
}

/// Why connecting failed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FailurePlan {
    NoRevision,
    /// With the result or the error that said so.
    NoCommonRevision(Span),
    Refused(Span),
    InvalidAnswer,
    TimedOut,
    Closed,
}
