//! Defers a request, and sets its deadline. `in_flight_hooks.rs` expires the request.

#[cfg(feature = "alloc")]
use crate::peer::request::InboundState;
use crate::peer::slots::Ticket;
use crate::server::reply::Pending;
use crate::server::server_state::ServerState;
use crate::time::Millis;

/// The default timeout of deferred requests in lent slots.
const DEFERRED_TIMEOUT: Millis = Millis::seconds(60);

impl ServerState<'_> {
    /// Restarts the timeout of a deferred request for which the application reports progress. No effect if the
    /// application has set the timeout. Boards without a heap do not link this code.
    #[cfg(feature = "alloc")]
    pub(super) fn restart_timeout(&mut self, ticket: Ticket) {
        let deadline = self.peer.now.plus(self.deferred_timeout());
        let state = self.peer.in_flight.inbound(ticket).map(|inbound| inbound.state);
        if state == Some(InboundState::DeferredWhileActive) {
            self.peer.in_flight.set_deadline(ticket, Some(deadline));
        }
    }

    /// Returns the timeout of a deferred request for which the application sets no timeout.
    pub(super) fn deferred_timeout(&self) -> Millis {
        let default = if self.peer.in_flight.is_lent() { DEFERRED_TIMEOUT } else { Millis(u64::MAX) };
        self.config.limits.deferred_timeout.unwrap_or(default)
    }

    pub(crate) fn defer(&mut self, pending: &Pending<'_>, time: Option<Millis>) -> Option<Ticket> {
        let Pending { source, stream, context } = pending;
        // At most one batch may be open, so a member of a second batch cannot be deferred.
        if context.is_batched() && self.batches.open() {
            return None;
        }
        let timeout = time.unwrap_or_else(|| self.deferred_timeout());
        let ticket = self.peer.defer(source, *stream, *context, Some(timeout))?;
        #[cfg(feature = "alloc")]
        if let Some(inbound) = self.peer.in_flight.inbound_mut(ticket)
            && time.is_none()
        {
            inbound.state = InboundState::DeferredWhileActive;
        }
        self.count_deferred(context.is_batched(), true);
        if let Some(hooks) = self.task_hooks() {
            (hooks.on_deferred)(self, ticket);
        }
        Some(ticket)
    }
}
