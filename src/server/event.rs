//! What a host hears from a server, and how a decision of `poll` becomes that.

use core::mem;

use crate::fault::Fault;
use crate::inflight::Ticket;
use crate::json::{Span, Str};
use crate::rpc;
use crate::server::Server;
use crate::server::call::{Call, Connected, ListTools};
use crate::server::plan::{Plan, RequestKind};
use crate::server::reply::{Reply, Source};

/// What happened. It borrows the machine until the next poll.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// A client has connected (`initialize`). It was answered.
    Connected(Connected<'a>),
    /// The client has completed the handshake.
    Ready,
    /// A client has begun anew: every request that was in flight is cancelled, and every ticket is gone.
    Restarted,
    /// A tool is called.
    Call(Call<'a>),
    /// The host's own list of tools is asked for.
    ListTools(ListTools<'a>),
    /// The client has cancelled a deferred request: stop working on it. It gets no answer.
    Cancelled {
        /// The request. Its ticket is gone.
        ticket: Ticket,
        /// Why, if the client said so.
        reason: Option<Str<'a>>,
    },
    /// A deferred request took too long; it was answered with an error. Its ticket is gone.
    Expired(Ticket),
    /// There is room again for what was refused as [`NotNow::Busy`](crate::NotNow::Busy).
    Room,
    /// The client does not answer pings.
    Silent,
    /// Something went wrong, and was dealt with.
    Fault(Fault),
}

impl Server<'_> {
    /// What happened, if the last poll said [`Action::Event`](crate::Action::Event).
    pub fn event(&mut self) -> Option<Event<'_>> {
        // The plan is the new client. The host hears of the end of the old one first.
        if mem::take(&mut self.core.restarted) {
            return Some(Event::Restarted);
        }
        let plan = self.plan.take()?;
        self.handed_out = plan.holds_line();
        let Server { input, core, .. } = self;
        let line = input.bytes_mut();
        Some(match plan {
            Plan::Fault(fault) => Event::Fault(fault),
            Plan::Room => Event::Room,
            Plan::Silent => Event::Silent,
            Plan::Ready => Event::Ready,
            Plan::Expired(ticket) => Event::Expired(ticket),
            Plan::Cancelled { ticket, reason } => {
                let reason = (reason != Span::EMPTY).then(|| rpc::view(line, reason).string()).flatten();
                Event::Cancelled { ticket, reason }
            }
            Plan::Connected { revision, info, capabilities } => Event::Connected(Connected {
                revision,
                info: rpc::view(line, info),
                capabilities: rpc::view(line, capabilities),
            }),
            Plan::Request { id, subject, arguments, meta, context } => {
                core.owed = true;
                let parts = [id.range(), subject.range(), arguments.range(), meta.range()];
                let [id, subject, arguments, meta] = line.get_disjoint_mut(parts).unwrap_or_default();
                let name = ::core::str::from_utf8(subject).unwrap_or_default();
                let source = Source::Line { id, meta, last: None };
                let reply = Reply { machine: core, source, context };
                Event::of_request(context.kind, Parts { subject: name, arguments, meta }, reply)
            }
        })
    }
}

impl<'a> Event<'a> {
    /// A request for the host: what it is about stands in `parts`.
    fn of_request(kind: RequestKind, parts: Parts<'a>, reply: Reply<'a>) -> Event<'a> {
        let Parts { subject, arguments, meta } = parts;
        match kind {
            RequestKind::ListTools { first } => Event::ListTools(ListTools { reply, first }),
            RequestKind::CallTool | RequestKind::Machine => {
                Event::Call(Call { name: subject, arguments, meta, reply })
            }
        }
    }
}

/// The parts of a request that a host sees.
struct Parts<'a> {
    /// What it names: a tool, a URI. Decoded.
    subject: &'a str,
    arguments: &'a mut [u8],
    meta: &'a [u8],
}
