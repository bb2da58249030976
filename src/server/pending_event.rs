//! What `poll` decided and `event` will hand out: plain numbers, so that nothing is borrowed in between. The places of its
//! parts in the line take those of the members of the envelope, which nobody asks for any more.

use crate::error::ProtocolError;
use crate::json::Span;
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::revision::Revision;
use crate::server::event::MakeEvent;
use crate::server::inbound_request::PackedContext;

/// An event that waits to be handed out.
#[derive(Debug, Clone, Copy)]
pub(crate) enum PendingEvent {
    ProtocolError(ProtocolError),
    Writable,
    PeerUnresponsive,
    Ready,
    Expired(Ticket),
    OutboundEvent(OutboundEvent),
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
        kept: PackedContext,
        event: MakeEvent,
    },
}

/// Where the parts of an event stand in the line that it is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Spans {
    pub(crate) id: Span,
    /// A string. It is decoded where it stands, and then without its quotes.
    pub(crate) subject: Span,
    pub(crate) arguments: Span,
    pub(crate) meta: Span,
    /// What came back with a request that is sent again.
    pub(crate) responses: Span,
    pub(crate) state: Span,
}

impl Spans {
    pub(crate) const NONE: Spans = Spans::new([Span::EMPTY; 6]);

    pub(crate) const fn new(spans: [Span; 6]) -> Spans {
        let [id, subject, arguments, meta, responses, state] = spans;
        Spans { id, subject, arguments, meta, responses, state }
    }

    pub(crate) fn spans(self) -> [Span; 6] {
        let Spans { id, subject, arguments, meta, responses, state } = self;
        [id, subject, arguments, meta, responses, state]
    }
}

impl PendingEvent {
    /// Whether it is about the line that waits. Others come while an unrelated line waits for room.
    pub(crate) fn holds_line(&self) -> bool {
        match self {
            PendingEvent::Ready
            | PendingEvent::Cancelled(_)
            | PendingEvent::Connected(_)
            | PendingEvent::Listening(_)
            | PendingEvent::Watched { .. }
            | PendingEvent::Request { .. } => true,
            PendingEvent::OutboundEvent(told) => {
                !matches!(told, OutboundEvent::Response { answer: Answer::Failed(_), .. })
            }
            _ => false,
        }
    }
}

/// What becomes of requests of our own.
#[derive(Debug, Clone, Copy)]
pub(crate) enum OutboundEvent {
    RootsChanged,
    Response {
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
    Failed(RequestFailure),
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
    pub(crate) fn can_require_input(self, revision: Revision) -> bool {
        let kind =
            matches!(self, RequestKind::CallTool { .. } | RequestKind::ReadResource | RequestKind::GetPrompt);
        kind && revision >= Revision::V2026_07_28
    }
}
