//! Outbound requests: their ids, responses, timeouts, progress and cancellation.
#![allow(clippy::as_conversions, reason = "a table has at most 2^16 slots")]

use crate::framing::outbound_message::Routing;
use crate::json::{Decimal, Json, text_of};
use crate::peer::request::{OutboundState, Progress, Timer};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::peer::transmit_buffer::Overflow;
use crate::peer::{Peer, Role};
use crate::platform::divide;
use crate::rpc::issued_number;
use crate::time::Millis;

/// Returns the token and the value of `notifications/progress`, or `None` if the parameters are not valid.
pub(crate) fn parse_progress(params: Json<'_>) -> Option<(Json<'_>, Decimal)> {
    let [token, progress] = params.pick(["progressToken", "progress"]);
    Some((token?, progress.and_then(Json::number).and_then(Decimal::parse)?))
}

impl<R: Role> Peer<'_, R> {
    /// The number of ids per round.
    fn stride(&self) -> u32 {
        (self.in_flight.limit() as u32).saturating_add(R::OTHER_IDS)
    }

    /// The id of an outbound request, starting at 1. A round has one id for each place: the slots, and
    /// [`OTHER_IDS`](Role::OTHER_IDS) before them.
    pub(crate) fn id_at(&self, round: u64, place: u32) -> u64 {
        round.saturating_mul(self.stride().into()).saturating_add(place.into()).saturating_add(1)
    }

    /// Decodes an id into its round and place, whether or not it was issued.
    pub(crate) fn locate_id(&self, id: Json<'_>) -> Option<(u64, u32)> {
        self.locate_number(issued_number(id)?)
    }

    /// Decodes the number of an id into its round and place.
    pub(crate) fn locate_number(&self, id: u64) -> Option<(u64, u32)> {
        Some(divide(id.checked_sub(1)?, self.stride()))
    }

    /// Returns whether a response to this request is expected. If not, it needs no cancellation any more.
    pub(crate) fn accept_response(&mut self, ticket: Ticket) -> bool {
        let Some(outbound) = self.in_flight.outbound_mut(ticket) else { return false };
        if outbound.state == OutboundState::CancelPending {
            outbound.state = OutboundState::Closed;
        }
        outbound.state.awaits_response()
    }

    /// Records progress of a request. Returns `false` if the request expects none.
    ///
    /// Progress that does not grow is reported, but does not restart the timeout.
    pub(crate) fn record_progress(&mut self, ticket: Ticket, progress: Decimal) -> bool {
        let Some(outbound) = self.in_flight.outbound_mut(ticket) else { return false };
        if !outbound.wants_progress() || outbound.state != OutboundState::AwaitingResponse {
            return false;
        }
        if progress.rank() > outbound.last_progress {
            outbound.last_progress = progress.rank();
            if outbound.progress == Progress::ExtendsTimeout && outbound.timer == Timer::Running {
                let deadline = outbound.deadline_from(self.now);
                self.in_flight.set_deadline(ticket, Some(deadline));
            }
        }
        true
    }

    /// Handles the deadline of a request: starts its timeout, or returns its failure.
    pub(crate) fn handle_deadline(&mut self, ticket: Ticket) -> Option<RequestFailure> {
        let outbound = self.in_flight.outbound_mut(ticket)?;
        match outbound.state {
            OutboundState::Failed(failure) => Some(failure),
            OutboundState::AwaitingResponse | OutboundState::NeedsInput
                if outbound.timer != Timer::Running =>
            {
                let deadline = outbound.start_timeout(self.now);
                self.in_flight.set_deadline(ticket, Some(deadline));
                None
            }
            _ => Some(RequestFailure::TimedOut),
        }
    }

    /// Fails a request: the next poll reports it.
    pub(crate) fn fail_request(&mut self, ticket: Ticket, failure: RequestFailure) {
        self.in_flight.set_state(ticket, OutboundState::Failed(failure));
        self.in_flight.set_deadline(ticket, Some(Millis::ZERO));
    }

    /// Queues the cancellation of a request, with the reason if it fits into the slot's text.
    pub(crate) fn queue_cancellation(&mut self, ticket: Ticket, reason: &str) {
        self.in_flight.set_state(ticket, OutboundState::CancelPending);
        self.in_flight.set_deadline(ticket, None);
        if !self.in_flight.set_text(ticket, [reason.as_bytes(), b""]) {
            self.in_flight.set_text(ticket, [b"", b""]);
        }
        self.in_flight.enqueue(ticket);
    }

    /// Writes `notifications/cancelled` for the request with this id, in a message of at most `space` bytes. Without
    /// `reason`, the slot's text is the reason.
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
        output.compact();
        output.write(routing, space, &mut |out| {
            out.token(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#);
            out.unsigned(id);
            if !reason.is_empty() {
                out.field_string("reason", reason);
            }
            out.token("}}");
        })
    }
}
