//! A new connection to the same server: subscriptions go on, everything else ends.
//!
//! Specification: 2026-07-28, *Subscriptions*, *Transports*: after a reconnect the client subscribes anew.

use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::revision::Era;

use crate::client::Client;
use crate::client::client_state::ClientState;
use crate::client::method::Method;
use crate::client::outbound_request::{Stage, UNANSWERED};
use crate::client::pending_event::{OutcomePlan, PendingEvent};

impl Client<'_> {
    /// A new connection on the same buffers, to the same server or one like it. It connects by itself.
    ///
    /// [Subscriptions](Client::listen) that were open go on under their tickets: they are sent again as soon as the
    /// server is connected, and acknowledged again. What changed in between is not told. One whose filter could not be
    /// kept ends as [`RequestFailure::Closed`], and so does every one if the server is of the handshake era now. What else was in
    /// flight ends as [`RequestFailure::Closed`], too;
    /// [`is_retryable`](crate::client::Response::is_retryable) says whether sending it again is safe.
    ///
    /// Subscriptions of the handshake era (`resources/subscribe`) end with the connection without a word: subscribe anew.
    pub fn reconnect(&mut self) {
        self.input.reset();
        self.core.leave_connection();
        self.core.begin_again();
        self.plan = self.plan.take().and_then(PendingEvent::without_line);
        self.holds_line = false;
        self.grace_ends = None;
        self.ending = 0;
    }
}

impl PendingEvent {
    /// What is left of an event that was not fetched when its line is gone: the end of a request.
    fn without_line(self) -> Option<PendingEvent> {
        Some(match self {
            PendingEvent::Response { ticket, method, outcome } => {
                let lost =
                    if let OutcomePlan::Failed(lost) = outcome { lost } else { RequestFailure::Closed };
                PendingEvent::Response { ticket, method, outcome: OutcomePlan::Failed(lost) }
            }
            PendingEvent::Page { ticket, list, last: true, .. } => {
                let outcome = OutcomePlan::Failed(RequestFailure::Closed);
                PendingEvent::Response { ticket, method: Method::List(list), outcome }
            }
            PendingEvent::Cancelled { ticket, .. } => PendingEvent::Cancelled { ticket, reason: None },
            PendingEvent::Expired(ticket) => PendingEvent::Expired(ticket),
            _ => return None,
        })
    }
}

impl ClientState<'_> {
    /// Keeps a subscription for the next connection. `false`: it is none, or its filter could not be kept.
    pub(crate) fn keep(&mut self, ticket: Ticket) -> bool {
        let has_filter = !self.in_flight.text(ticket).is_empty();
        let Some(outgoing) = self.in_flight.get_mut(ticket) else { return false };
        let keeps = has_filter && outgoing.is_subscription();
        if keeps {
            // No answer is for this any more.
            (outgoing.sequence, outgoing.stage) = (UNANSWERED, Stage::Kept);
            self.in_flight.set_deadline(ticket, None);
        }
        keeps
    }

    /// The connection is over: subscriptions are kept, and the rest ends with the next polls.
    fn leave_connection(&mut self) {
        self.in_flight.unqueue_all();
        let mut next = 0;
        while let Some(ticket) = self.in_flight.first_from(next) {
            next = ticket.slot.saturating_add(1);
            let Some(outgoing) = self.in_flight.get(ticket).copied() else { continue };
            match outgoing.stage {
                Stage::Cancelled | Stage::Over | Stage::Expired => self.in_flight.release(ticket),
                Stage::ServerRequest => {
                    self.in_flight.forget_id(ticket);
                    self.end_list(ticket, RequestFailure::Closed);
                }
                Stage::Failed(_) => {}
                _ if self.keep(ticket) => {}
                _ => self.end_list(ticket, RequestFailure::Closed),
            }
        }
    }

    /// The new connection is there: subscriptions are sent again, as there is room.
    pub(crate) fn listen_again(&mut self) {
        let mut next = 0;
        while let Some(ticket) = self.in_flight.first_from(next) {
            next = ticket.slot.saturating_add(1);
            match self.in_flight.get(ticket).map(|outgoing| outgoing.stage) {
                Some(Stage::Kept) if self.era() == Some(Era::Stateless) => {
                    self.set_stage(ticket, Stage::Relisten);
                    self.in_flight.queue(ticket);
                }
                Some(Stage::Kept) => self.end_list(ticket, RequestFailure::Closed),
                _ => {}
            }
        }
    }
}
