//! The exchange of a connection in the machines that all connections share.

use std::sync::{Arc, Condvar};

use mcp_proto::Millis;
use mcp_proto::server::Event;
use mcp_proto_http::server::{ExchangeId, Refusal, RequestHead};

use super::serve::HttpShared;
use crate::worker::ServerHandle;

/// The exchange of a connection. Dropping it closes the exchange, even after a panic of the handler.
pub(super) struct OpenExchange<'c, 'i, H> {
    pub(super) shared: &'c HttpShared<'i, H>,
    /// The number of the connection.
    pub(super) number: u64,
    pub(super) id: Option<ExchangeId>,
}

impl<H: Fn(Event<'_>, &ServerHandle) + Sync> OpenExchange<'_, '_, H> {
    /// Begins the exchange with a head, and with the body if it has arrived. `ready` is notified of output.
    ///
    /// # Errors
    /// The refusal is the whole response.
    pub(super) fn begin(
        &mut self,
        request: &RequestHead<'_>,
        body: Option<&Vec<u8>>,
        ready: &Arc<Condvar>,
    ) -> Result<(), Refusal> {
        let mut machines = self.shared.lock();
        let machines = &mut *machines;
        let begun = machines.core.http.begin(request, self.shared.now());
        let id = begun.inspect_err(|_| machines.connections.set_waiting(self.number))?;
        self.id = Some(id);
        machines.waiting.insert(id, Arc::clone(ready));
        if let Some(body) = body {
            machines.connections.set_busy(self.number);
            machines.core.http.body(&mut machines.core.server, id, request, body, true, self.shared.now());
        }
        self.shared.arm(self.shared.run(machines));
        Ok(())
    }

    /// Passes in the whole body. Without it, the machine refuses the request at its deadline.
    pub(super) fn pass_body(&self, request: &RequestHead<'_>, body: Option<&Vec<u8>>) {
        let Some(id) = self.id else { return };
        let mut machines = self.shared.lock();
        let machines = &mut *machines;
        machines.connections.set_busy(self.number);
        if let Some(body) = body {
            machines.core.http.body(&mut machines.core.server, id, request, body, true, self.shared.now());
        }
        self.shared.arm(self.shared.run(machines));
    }

    /// Records that the whole response was sent.
    pub(super) fn end(&mut self) {
        if let Some(id) = self.id.take() {
            let mut machines = self.shared.lock();
            machines.waiting.remove(&id);
            machines.connections.set_waiting(self.number);
        }
    }
}

impl<H> Drop for OpenExchange<'_, '_, H> {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            let mut machines = self.shared.lock();
            machines.waiting.remove(&id);
            machines.core.http.close(id);
            drop(machines);
            // The thread for timers continues the work. The handler must not run here, because it may have panicked.
            self.shared.arm(Some(Millis::ZERO));
        }
    }
}
