//! What a host hears from a server, and how a decision of `poll` becomes that.

use core::mem;

use crate::fault::Fault;
use crate::inflight::Ticket;
use crate::json::{Span, Str};
use crate::rpc;
use crate::server::Server;
use crate::server::call::{Call, Connected, ListTools};
use crate::server::listen::Listening;
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
    /// A client listens to changes (`2026-07-28`). It was told to which.
    Listening(Listening<'a>),
    /// The client of the session watches the resource with this URI from now on. It was answered.
    Subscribed(&'a str),
    /// It watches the resource no more; others still may ([`Server::is_watched`]).
    Unsubscribed(&'a str),
    /// The client has cancelled a deferred request: stop working on it. It gets no answer. Or it was a subscription,
    /// which hears nothing any more.
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
            Plan::Listening { ticket } => {
                Event::Listening(Listening { ticket, in_flight: &core.in_flight, watches: &core.watches })
            }
            Plan::Watched { uri, on } => {
                let uri = text_at(line, uri);
                if on { Event::Subscribed(uri) } else { Event::Unsubscribed(uri) }
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
            RequestKind::CallTool | RequestKind::Machine | RequestKind::Listen { .. } => {
                Event::Call(Call { name: subject, arguments, meta, reply })
            }
        }
    }
}

/// A text that was decoded where it stands.
fn text_at(line: &[u8], place: Span) -> &str {
    line.get(place.range()).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or_default()
}

/// The parts of a request that a host sees.
struct Parts<'a> {
    /// What it names: a tool, a URI. Decoded.
    subject: &'a str,
    arguments: &'a mut [u8],
    meta: &'a [u8],
}
