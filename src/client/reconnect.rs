//! Reconnecting: subscriptions continue, all other requests fail.
//!
//! Specification: 2026-07-28, *Subscriptions*, *Transports*: the client subscribes again after a reconnect.

use crate::json::Span;
use crate::peer::request::{InboundState, OutboundState, Request};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::revision::WireFeature;

use crate::client::Client;
use crate::client::client_state::ClientState;
use crate::client::method_properties::Method;
use crate::client::pending_event::{PendingEvent, PendingOutcome};
use crate::client::request_data::NO_SEQUENCE;

impl Client<'_> {
    /// Starts a new connection on the same buffers. The new connection may lead to the same server or to an equivalent
    /// server. The client connects by itself.
    ///
    /// The tickets of open [subscriptions](Client::listen) remain valid. After connecting, the client sends each
    /// subscription again, and the server acknowledges the subscription again. The client does not report changes that
    /// occur between the two connections. A subscription fails with [`RequestFailure::Closed`] if the slot could not
    /// store its filter. All subscriptions fail with this reason if the new server belongs to the handshake era.
    ///
    /// Every other request of the application also fails with [`RequestFailure::Closed`].
    /// [`is_retryable`](crate::client::Response::is_retryable) returns whether the application may send the request
    /// again. [Deferred](crate::client::ServerRequest::defer) requests of the server are
    /// [cancelled](crate::client::Event::Cancelled).
    ///
    /// Subscriptions of the handshake era (`resources/subscribe`) end with the connection, without an event. The
    /// application subscribes again.
    pub fn reconnect(&mut self) {
        self.input.reset();
        self.state.end_connection();
        self.state.reset_connection();
        self.pending_event = self.pending_event.take().and_then(PendingEvent::without_line);
        self.grace_deadline = None;
        self.next_ended_slot = 0;
    }
}

impl PendingEvent {
    /// Converts a pending event whose line was dropped. Returns an event if the pending event ends a request, and
    /// `None` otherwise.
    fn without_line(self) -> Option<PendingEvent> {
        Some(match self {
            PendingEvent::Response { ticket, method, outcome } => {
                let failure = if let PendingOutcome::Failed(failure) = outcome {
                    failure
                } else {
                    RequestFailure::Closed
                };
                PendingEvent::Response { ticket, method, outcome: PendingOutcome::Failed(failure) }
            }
            PendingEvent::Page { ticket, list, last: true, .. } => {
                let outcome = PendingOutcome::Failed(RequestFailure::Closed);
                PendingEvent::Response { ticket, method: Method::List(list), outcome }
            }
            PendingEvent::Cancelled { ticket, .. } => {
                PendingEvent::Cancelled { ticket, reason: Span::MISSING }
            }
            PendingEvent::Expired(ticket) => PendingEvent::Expired(ticket),
            _ => return None,
        })
    }
}

impl ClientState<'_> {
    /// Parks a subscription for the next connection. Returns `false` if the request is not an open subscription, or if
    /// the slot has no stored filter.
    pub(crate) fn park_subscription(&mut self, ticket: Ticket) -> bool {
        let has_filter = !self.peer.in_flight.text(ticket).is_empty();
        let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) else { return false };
        let can_park = has_filter && outbound.is_subscription();
        if can_park {
            // No response matches this sequence number.
            (outbound.data.sequence, outbound.state) = (NO_SEQUENCE, OutboundState::Parked);
            self.peer.in_flight.set_deadline(ticket, None);
        }
        can_park
    }

    /// Ends the requests of the old connection. Parks subscriptions, and releases requests whose end the client has
    /// reported. The next polls report the end of all other requests.
    fn end_connection(&mut self) {
        self.peer.in_flight.clear_queue();
        let mut next = 0;
        while let Some(ticket) = self.peer.in_flight.first_from(next) {
            next = ticket.slot.saturating_add(1);
            match self.peer.in_flight.get(ticket).copied() {
                Some(Request::Inbound(inbound)) => match inbound.state {
                    InboundState::Deferred => self.peer.drop_deferred(ticket),
                    InboundState::Expired => self.peer.in_flight.release(ticket),
                    InboundState::Dropped => {}
                },
                Some(Request::Outbound(outbound)) => match outbound.state {
                    OutboundState::CancelPending | OutboundState::Closed => {
                        self.peer.in_flight.release(ticket);
                    }
                    OutboundState::Failed(_) => {}
                    _ if self.park_subscription(ticket) => {}
                    _ => self.peer.fail_request(ticket, RequestFailure::Closed),
                },
                None => {}
            }
        }
    }

    /// Queues parked subscriptions for the new connection.
    pub(crate) fn resubscribe(&mut self) {
        let mut next = 0;
        while let Some(ticket) = self.peer.in_flight.first_from(next) {
            next = ticket.slot.saturating_add(1);
            match self.peer.in_flight.outbound(ticket).map(|outbound| outbound.state) {
                Some(OutboundState::Parked) if self.has(WireFeature::Subscriptions) => {
                    self.peer.in_flight.set_state(ticket, OutboundState::Resubscribe);
                    self.peer.in_flight.enqueue(ticket);
                }
                Some(OutboundState::Parked) => self.peer.fail_request(ticket, RequestFailure::Closed),
                _ => {}
            }
        }
    }
}
