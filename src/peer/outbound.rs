//! Outbound requests: finds them by id, starts their timers, records progress, writes cancellations.
#![allow(clippy::as_conversions, reason = "a table has at most 2^16 slots")]

use crate::error::ProtocolError;
use crate::framing::outbound_message::Routing;
use crate::json::{Decimal, Json, Writer, text_of};
use crate::peer::lifecycle::State;
use crate::peer::request::{Flags, OutboundState};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::peer::transmit_buffer::Overflow;
use crate::peer::{LineEvent, Peer, Role};
use crate::platform::{cold_path, divide};
use crate::protocol::methods;
use crate::rpc::{begin_notification, issued_number};
use crate::time::Millis;

/// Meaning of an id in a message of the peer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum IssuedId {
    /// The current id of a request that has a slot.
    Request(Ticket),
    /// An id that is reserved for a request without a slot, with this sequence number.
    Other(u64),
    /// An id whose sequence number was used, but which no request in a slot has now. Usually the request with this id
    /// has ended, or was sent again with another id.
    Ended,
    /// Any other id. The machine never issued such an id.
    Unknown,
}

/// Extension, in milliseconds, of a timeout that expired while the application handled an event. In this time, the
/// caller can read the input that has arrived.
pub(crate) const READ_TIME: Millis = Millis(100);

impl<R: Role> Peer<'_, R> {
    /// Returns the number of ids per sequence number: one for each slot, and [`OTHER_IDS`](Role::OTHER_IDS).
    fn stride(&self) -> u32 {
        (self.in_flight.limit() as u32).saturating_add(R::OTHER_IDS)
    }

    /// Returns the id of an outbound request: `sequence` × [`stride`](Self::stride) + `index` + 1. The first
    /// [`OTHER_IDS`](Role::OTHER_IDS) indices are for requests without a slot. The other indices are for the slots.
    pub(crate) fn id_at(&self, sequence: u64, index: u32) -> u64 {
        sequence.saturating_mul(self.stride().into()).saturating_add(index.into()).saturating_add(1)
    }

    /// Resolves an id in a message of the peer.
    pub(crate) fn find_issued(&self, id: Json<'_>) -> IssuedId {
        issued_number(id).map_or(IssuedId::Unknown, |id| self.find_issued_number(id))
    }

    pub(crate) fn find_issued_number(&self, id: u64) -> IssuedId {
        let Some(id) = id.checked_sub(1) else {
            cold_path();
            return IssuedId::Unknown;
        };
        let (sequence, index) = divide(id, self.stride());
        R::find_issued(self, sequence, index)
    }

    /// Returns the request with this id, if the request has a slot.
    pub(crate) fn find_request(&self, id: Json<'_>) -> Option<Ticket> {
        match self.find_issued(id) {
            IssuedId::Request(ticket) => Some(ticket),
            _ => None,
        }
    }

    /// Returns the request with this id, if the request awaits its response.
    pub(crate) fn find_awaiting(&self, id: Json<'_>) -> Option<Ticket> {
        self.find_request(id).filter(|ticket| self.awaits_response(*ticket))
    }

    pub(crate) fn awaits_response(&self, ticket: Ticket) -> bool {
        self.in_flight.outbound(ticket).is_some_and(|outbound| outbound.state.awaits_response())
    }

    /// Records that a response has arrived, and returns whether the request awaits it. Drops a queued cancellation of
    /// the request.
    pub(crate) fn accept_response(&mut self, ticket: Ticket) -> bool {
        let Some(outbound) = self.in_flight.outbound_mut(ticket) else {
            cold_path();
            return false;
        };
        if outbound.state == OutboundState::CancelPending {
            cold_path();
            outbound.state = OutboundState::Closed;
        }
        outbound.state.awaits_response()
    }

    /// Handles the parameters of `notifications/progress`, and returns the request.
    ///
    /// Progress that has not increased does not restart the timeout.
    ///
    /// # Errors
    ///
    /// The parameters are invalid, the request has ended or awaits no response now, or no request with this token asked
    /// for progress.
    pub(crate) fn record_progress(&mut self, params: Json<'_>) -> Result<Ticket, ProtocolError> {
        let [token, progress] = params.pick(["progressToken", "progress"]);
        let progress = progress.and_then(Json::number).and_then(Decimal::parse);
        let (token, progress) = token.zip(progress).ok_or(ProtocolError::InvalidParams)?;
        let ticket = match self.find_issued(token) {
            IssuedId::Request(ticket) => ticket,
            IssuedId::Ended => return Err(ProtocolError::LateProgress),
            IssuedId::Other(_) | IssuedId::Unknown => return Err(ProtocolError::UnknownProgress),
        };
        let outbound = self.in_flight.outbound_mut(ticket).ok_or(ProtocolError::UnknownProgress)?;
        if !outbound.wants_progress() {
            return Err(ProtocolError::UnknownProgress);
        }
        if outbound.state != OutboundState::AwaitingResponse {
            return Err(ProtocolError::LateProgress);
        }
        if progress.sort_key() > outbound.last_progress {
            outbound.last_progress = progress.sort_key();
            let extends = R::PROGRESS_EXTENDS && outbound.flags.has(Flags::PROGRESS_EXTENDS);
            if extends && outbound.flags.has(Flags::RUNNING) {
                let deadline = outbound.deadline_from(self.now);
                self.in_flight.set_deadline(ticket, Some(deadline));
            }
        }
        Ok(ticket)
    }

    /// Sets the deadline of a request as if its timeout started now.
    pub(crate) fn restart_timeout(&mut self, ticket: Ticket) {
        if let Some(outbound) = self.in_flight.outbound(ticket) {
            let deadline = outbound.deadline_from(self.now);
            self.in_flight.set_deadline(ticket, Some(deadline));
        }
    }

    /// Starts the timeout of a sent request, unless the timeout runs already. Returns whether this call started the
    /// timeout.
    pub(crate) fn start_timeout(&mut self, ticket: Ticket) -> bool {
        let Some(outbound) = self.in_flight.outbound_mut(ticket) else {
            cold_path();
            return false;
        };
        let is_sent = matches!(outbound.state, OutboundState::AwaitingResponse | OutboundState::NeedsInput)
            && !outbound.flags.has(Flags::RUNNING);
        if is_sent {
            let deadline = outbound.start_timeout(self.now);
            self.in_flight.set_deadline(ticket, Some(deadline));
        }
        is_sent
    }

    /// Handles the expired deadline of a request: starts its timeout, or returns its failure. Returns `None` if this
    /// call started the timeout, or if the request has ended.
    ///
    /// If the deadline expired while the application handled an event, the response may be unread. The request then
    /// gets [`READ_TIME`], and this function returns `None`. A running timeout is extended only once, and never while
    /// the connection is draining.
    pub(crate) fn handle_deadline(&mut self, ticket: Ticket) -> Option<RequestFailure> {
        if self.start_timeout(ticket) {
            return None;
        }
        let is_draining = self.lifecycle.state() == State::Draining;
        let may_be_unread = self.line_event == LineEvent::Handled && !is_draining;
        let outbound = self.in_flight.outbound_mut(ticket)?;
        match outbound.state {
            OutboundState::Failed(failure) => Some(failure),
            OutboundState::AwaitingResponse if may_be_unread && !outbound.flags.has(Flags::EXTENDED) => {
                outbound.flags.add(Flags::EXTENDED);
                self.in_flight.set_deadline(ticket, Some(self.now.plus(READ_TIME)));
                None
            }
            _ => Some(RequestFailure::TimedOut),
        }
    }

    /// Fails a request. A later poll reports the failure.
    pub(crate) fn fail_request(&mut self, ticket: Ticket, failure: RequestFailure) {
        self.in_flight.set_state(ticket, OutboundState::Failed(failure));
        self.in_flight.set_deadline(ticket, Some(Millis::ZERO));
    }

    /// Sets the state of a request, and removes its deadline. `state` must be a [closed](OutboundState::is_closed)
    /// state.
    pub(crate) fn close_request(&mut self, ticket: Ticket, state: OutboundState) {
        self.in_flight.set_state(ticket, state);
        self.in_flight.set_deadline(ticket, None);
    }

    /// Queues the cancellation of a request. Omits a reason that does not fit into the slot's text.
    pub(crate) fn queue_cancellation(&mut self, ticket: Ticket, reason: &str) {
        self.close_request(ticket, OutboundState::CancelPending);
        self.in_flight.set_text_after(ticket, 0, b"");
        self.in_flight.set_text_after(ticket, 0, reason.as_bytes());
        self.in_flight.enqueue(ticket);
    }

    /// Writes `notifications/cancelled` in a message of at most `space` bytes. If `reason` is `None`, the slot's text
    /// is the reason. Omits an empty reason.
    pub(crate) fn write_cancellation(
        &mut self,
        ticket: Ticket,
        id: u64,
        routing: Routing,
        reason: Option<&str>,
        space: usize,
    ) -> Result<(), Overflow> {
        let Peer { output, in_flight, .. } = self;
        let reason = reason.unwrap_or_else(|| text_of(in_flight.text(ticket)));
        output.send(routing, space, &mut |out: &mut Writer<'_>| {
            begin_notification(out, methods::CANCELLED.name);
            out.field_unsigned("requestId", id);
            if !reason.is_empty() {
                out.field_string("reason", reason);
            }
            out.token("}}");
        })
    }
}
