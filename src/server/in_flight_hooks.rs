//! `InFlightHooks`: finds and ends requests in flight, expires deadlines, writes queued errors and cancellations.
//!
//! The server calls this module only through [`InFlightHooks`], so that a server without slots does not link the
//! module.

use crate::error::ProtocolError;
use crate::framing::outbound_message::StreamId;
use crate::json::Json;
use crate::peer::inbound::Source;
use crate::peer::request::{Inbound, Request};
use crate::peer::slots::Ticket;
use crate::server::Ending;
use crate::server::outbound_hooks::{OUTBOUND_HOOKS, OutboundHooks};
use crate::server::pending_event::PendingEvent;
use crate::server::reply::Pending;
use crate::server::server_state::{RequestTable, ServerState};
use crate::time::Millis;

/// Hooks of requests in flight. A server has these hooks once the caller has set the slots, or has called
/// `Server::replace_session`.
pub(crate) struct InFlightHooks {
    find: fn(&RequestTable<'_>, Json<'_>, StreamId) -> Option<Ticket>,
    id: for<'t> fn(&'t RequestTable<'_>, Ticket) -> &'t [u8],
    next_deadline: fn(&RequestTable<'_>) -> Option<Millis>,
    release: fn(&mut ServerState<'_>, Ticket),
    clear: fn(&mut RequestTable<'_>),
    expire: fn(&mut ServerState<'_>) -> bool,
    write_queued: fn(&mut ServerState<'_>),
    /// Hooks of outbound requests. `None` until the server sends a request or `Server::replace_session` is called.
    outbound: Option<&'static OutboundHooks>,
}

/// The hooks of a server without outbound requests.
pub(crate) static INBOUND: InFlightHooks = InFlightHooks::new(None);

/// The hooks of a server that has sent a request or replaced its session.
pub(crate) static WITH_OUTBOUND: InFlightHooks = InFlightHooks::new(Some(OUTBOUND_HOOKS));

impl InFlightHooks {
    const fn new(outbound: Option<&'static OutboundHooks>) -> InFlightHooks {
        InFlightHooks {
            find: |table, id, owner| table.find(id, owner),
            id: |table, ticket| table.id_or_text(ticket),
            next_deadline: |table| table.next_deadline(),
            release,
            clear: |table| table.clear(),
            expire,
            write_queued,
            outbound,
        }
    }
}

impl ServerState<'_> {
    /// Returns the hooks of outbound requests. Returns `None` if the server has neither sent a request nor replaced its
    /// session since its creation or last reset.
    pub(crate) fn outbound_hooks(&self) -> Option<&'static OutboundHooks> {
        self.in_flight_hooks?.outbound
    }

    /// Finds the request of `owner` with this id: see [`InFlight::find`](crate::peer::slots::InFlight::find). Returns
    /// `None` if no such request is in flight.
    pub(crate) fn find_in_flight(&self, id: Json<'_>, owner: StreamId) -> Option<Ticket> {
        let hooks = self.in_flight_hooks.filter(|_| self.peer.in_flight.len() > 0)?;
        (hooks.find)(&self.peer.in_flight, id, owner)
    }

    /// Returns the earliest deadline of the requests in flight, or `None` if no request has a deadline. A deadline at
    /// the maximum time does not count.
    pub(crate) fn in_flight_deadline(&self) -> Option<Millis> {
        (self.in_flight_hooks?.next_deadline)(&self.peer.in_flight)
    }

    /// Releases the slot of a request.
    pub(crate) fn end_in_flight(&mut self, ticket: Ticket) {
        if let Some(hooks) = self.in_flight_hooks {
            (hooks.release)(self, ticket);
        }
    }

    /// Releases all slots.
    pub(crate) fn clear_in_flight(&mut self) {
        if let Some(hooks) = self.in_flight_hooks {
            (hooks.clear)(&mut self.peer.in_flight);
        }
    }

    /// Handles one expired deadline. Returns `false` if no deadline has expired.
    pub(crate) fn expire_in_flight(&mut self) -> bool {
        self.peer.in_flight.len() > 0 && self.in_flight_hooks.is_some_and(|hooks| (hooks.expire)(self))
    }

    /// Writes queued messages while the output has space. The queue holds errors of expired requests, ends of chunked
    /// responses, and cancellations of outbound requests.
    pub(crate) fn write_queued(&mut self) {
        // While a batch is in the line, the server collects the responses to its members. An error for a member of an
        // earlier batch, which awaits deferred responses, cannot be collected at the same time. So the queue waits.
        if self.peer.in_flight.has_queued()
            && !self.batches.in_line()
            && let Some(hooks) = self.in_flight_hooks
        {
            (hooks.write_queued)(self);
        }
    }
}

/// Returns the id of a request as JSON text. The text is empty if the request has no id.
pub(crate) fn id_of<'i>(
    source: &Source<'i>,
    table: &'i RequestTable<'_>,
    hooks: Option<&InFlightHooks>,
) -> &'i [u8] {
    match (source, hooks) {
        (Source::Line { id, .. }, _) => id,
        (Source::Slot(ticket), Some(hooks)) => (hooks.id)(table, *ticket),
        (Source::Slot(_), None) => b"",
    }
}

fn release(state: &mut ServerState<'_>, ticket: Ticket) {
    let batched = state.peer.in_flight.inbound(ticket).is_some_and(Inbound::is_batched);
    state.count_deferred(batched, false);
    state.peer.in_flight.release(ticket);
}

fn expire(state: &mut ServerState<'_>) -> bool {
    let over = match state.ending {
        Ending::Grace => state.ending_deadline <= state.peer.now,
        ending => ending == Ending::Flushing,
    };
    // After the grace period every deadline counts as expired. Subscriptions have no deadline, and end when draining
    // starts.
    let by = if over { Millis(u64::MAX) } else { state.peer.now };
    let Some(ticket) = state.peer.in_flight.due(by) else { return false };
    if state.poll_chunks(ticket) {
        return true;
    }
    let is_outbound = state.peer.in_flight.outbound(ticket).is_some();
    if let Some(hooks) = state.outbound_hooks().filter(|_| is_outbound) {
        (hooks.on_deadline)(state, ticket);
        return true;
    }
    state.peer.expire(ticket);
    state.pending_event = Some(PendingEvent::Expired(ticket));
    true
}

fn write_queued(state: &mut ServerState<'_>) {
    while let Some(ticket) = state.peer.in_flight.queue_front()
        && state.peer.reserve_response()
    {
        match state.peer.in_flight.get(ticket) {
            Some(Request::Inbound(inbound)) if inbound.chunks().is_some() => _ = state.poll_chunks(ticket),
            Some(Request::Inbound(inbound)) => {
                let pending = Pending::in_slot(ticket, inbound);
                state.write_error_response(&pending, ProtocolError::TimedOut, None);
            }
            Some(Request::Outbound(_)) => {
                if let Some(hooks) = state.outbound_hooks() {
                    (hooks.write_cancelled)(state, ticket);
                }
            }
            None => {}
        }
        state.peer.in_flight.dequeue();
        state.end_in_flight(ticket);
    }
}
