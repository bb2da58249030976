//! What `poll` decided and `event` will hand out: plain numbers, so that nothing is borrowed in between. The places of its
//! parts in the line take those of the members of the envelope, which nobody asks for any more.

use crate::fault::Fault;
use crate::inflight::Ticket;
use crate::json::Span;
use crate::outcome::Lost;
use crate::server::event::MakeEvent;
use crate::server::incoming::Kept;
use crate::version::Revision;

/// An event that waits to be handed out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Plan {
    Fault(Fault),
    Room,
    Silent,
    Ready,
    Expired(Ticket),
    Told(Told),
    /// Its reason: `arguments`.
    Cancelled(Ticket),
    /// Who the client is: `arguments`; what it can do: `meta`.
    Connected(Revision),
    Listening(Ticket),
    /// The URI: `subject`. Whether it is watched from now on.
    Watched {
        on: bool,
    },
    Request {
        kept: Kept,
        event: MakeEvent,
    },
}

/// Where the parts of an event stand in the line that it is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Places {
    pub(crate) id: Span,
    /// A string. It is decoded where it stands, and then without its quotes.
    pub(crate) subject: Span,
    pub(crate) arguments: Span,
    pub(crate) meta: Span,
    /// What came back with a request that is sent again.
    pub(crate) responses: Span,
    pub(crate) state: Span,
}

impl Places {
    pub(crate) const NONE: Places = Places::of([Span::EMPTY; 6]);

    pub(crate) const fn of(spans: [Span; 6]) -> Places {
        let [id, subject, arguments, meta, responses, state] = spans;
        Places { id, subject, arguments, meta, responses, state }
    }

    pub(crate) fn spans(self) -> [Span; 6] {
        let Places { id, subject, arguments, meta, responses, state } = self;
        [id, subject, arguments, meta, responses, state]
    }
}

impl Plan {
    /// Whether it is about the line that waits. Others come while an unrelated line waits for room.
    pub(crate) fn holds_line(&self) -> bool {
        match self {
            Plan::Ready
            | Plan::Cancelled(_)
            | Plan::Connected(_)
            | Plan::Listening(_)
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
    Answered {
        ticket: Ticket,
        answer: Answer,
    },
    /// With its parameters: `arguments`.
    Progress(Ticket),
}

/// How a request of our own has ended: with a result or an error, `arguments`, or without.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Answer {
    Result,
    Error,
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
