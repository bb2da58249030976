//! What `poll` decided and `event` will hand out: plain numbers, so that nothing is borrowed in between.

use crate::fault::Fault;
use crate::inflight::Ticket;
use crate::json::Span;
use crate::outcome::Lost;
use crate::server::event::MakeEvent;
use crate::server::reply::Context;
use crate::version::Revision;

/// An event that waits to be handed out, with the places of its parts in the line.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    Fault(Fault),
    Room,
    Silent,
    Ready,
    Expired(Ticket),
    Told(Told),
    Cancelled {
        ticket: Ticket,
        reason: Span,
    },
    Connected {
        revision: Revision,
        info: Span,
        capabilities: Span,
    },
    Listening {
        ticket: Ticket,
    },
    Watched {
        uri: Span,
        on: bool,
    },
    Request {
        id: Span,
        subject: Span,
        arguments: Span,
        meta: Span,
        /// What came back with a request that is sent again.
        responses: Span,
        state: Span,
        context: Context,
        event: MakeEvent,
    },
}

impl Plan {
    /// Whether it is about the line that waits. Others come while an unrelated line waits for room.
    pub(crate) fn holds_line(&self) -> bool {
        match self {
            Plan::Ready
            | Plan::Cancelled { .. }
            | Plan::Connected { .. }
            | Plan::Listening { .. }
            | Plan::Watched { .. }
            | Plan::Request { .. } => true,
            Plan::Told(told) => !matches!(told, Told::Answered { answer: Answer::Lost(_), .. }),
            _ => false,
        }
    }
}

/// What becomes of requests of our own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Told {
    RootsChanged,
    Answered { ticket: Ticket, answer: Answer },
    Progress { ticket: Ticket, params: Span },
}

/// How a request of our own has ended.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    Result(Span),
    Error(Span),
    Lost(Lost),
}

/// What a request asks for, as far as its answer depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// Answered by the machine itself.
    Machine,
    CallTool {
        /// Whether a result without a structured value gets an empty one.
        pads: bool,
    },
    ReadResource,
    GetPrompt,
    Complete,
    /// `subscriptions/listen`.
    Listen,
    /// The next page of a list of the host's own.
    List,
}

impl RequestKind {
    /// Whether the client may be asked to send the request again, with more.
    pub(crate) fn can_round_trip(self, revision: Revision) -> bool {
        let kind =
            matches!(self, RequestKind::CallTool { .. } | RequestKind::ReadResource | RequestKind::GetPrompt);
        kind && revision >= Revision::V2026_07_28
    }
}
