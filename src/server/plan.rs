//! What `poll` decided and `event` will hand out: plain numbers, so that nothing is borrowed in between.

use crate::fault::Fault;
use crate::inflight::Ticket;
use crate::json::Span;
use crate::server::change::Changes;
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
    Cancelled { ticket: Ticket, reason: Span },
    Connected { revision: Revision, info: Span, capabilities: Span },
    Listening { ticket: Ticket },
    Watched { uri: Span, on: bool },
    Request { id: Span, subject: Span, arguments: Span, meta: Span, context: Context, event: MakeEvent },
}

impl Plan {
    /// Whether it is about the line that waits. Others come while an unrelated line waits for room.
    pub(crate) fn holds_line(&self) -> bool {
        matches!(
            self,
            Plan::Ready
                | Plan::Cancelled { .. }
                | Plan::Connected { .. }
                | Plan::Listening { .. }
                | Plan::Watched { .. }
                | Plan::Request { .. }
        )
    }
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
    /// `subscriptions/listen`: what it hears of, and what of that was not told yet.
    Listen {
        filter: Changes,
        pending: Changes,
    },
    /// The next page of a list of the host's own, from this entry on.
    List {
        first: u32,
    },
}
