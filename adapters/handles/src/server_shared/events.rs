//! Passes server events to the handler, and calls the request hooks before and after the handler.

use std::mem;

use mcp_proto::rpc::code;
use mcp_proto::server::{Event, Response};
use mcp_proto::{ClientCapabilities, Revision, Server, Ticket};

use super::ServerShared;
use crate::hook::{Refusal, RequestOutcome, refuse};
use crate::request_record::RequestRecord;
use crate::request_span::RequestSpan;
use crate::server_command::ServerCommand;
use crate::signal::lock;

impl ServerShared {
    /// Passes the next event of the server to the handler, unless a hook refuses the request of the event. Returns
    /// `true` for an event that cancels deferred requests: a cancellation, an expired timeout, or a restart of the
    /// session.
    pub fn handle_event(&self, server: &mut Server<'_>, handler: impl FnOnce(Event<'_>)) -> bool {
        if self.is_observed() {
            // Discard the status of an earlier response, which would otherwise count for this request.
            let _ = server.take_response_status();
        }
        // `begin_event` borrows the event within its `Option`, because unwrapping the `Option` would copy the event.
        let event = server.event();
        let ends_requests =
            matches!(event, Some(Event::Cancelled { .. } | Event::Expired(_) | Event::Restarted));
        let request = event.as_ref().and_then(|event| self.begin_event(event));
        {
            let _entered = request.as_ref().and_then(|request| Some(request.as_ref().ok()?.enter()));
            match (&request, event) {
                (Some(Err(refusal)), event) => refuse(event, refusal),
                (_, Some(event)) => handler(event),
                (_, None) => {}
            }
        }
        if request.is_some() {
            self.finish_request(server);
        }
        ends_requests
    }

    /// Returns whether hooks or a subscriber of spans may observe requests.
    pub(super) fn is_observed(&self) -> bool {
        !self.hooks.is_empty() || RequestSpan::is_enabled()
    }

    /// Updates the shared state for an event, and calls [`RequestHook::before`](crate::RequestHook::before) for its
    /// request. Returns the span of the request, or the refusal of a hook. Returns `None` if the event is not a
    /// request, or if nothing observes the request.
    #[inline]
    fn begin_event(&self, event: &Event<'_>) -> Option<Result<RequestSpan, Refusal>> {
        self.observe_event(event);
        if self.is_observed() { self.begin_request(event) } else { None }
    }

    fn begin_request(&self, event: &Event<'_>) -> Option<Result<RequestSpan, Refusal>> {
        let mut record = RequestRecord::begin(event, &self.hooks)?;
        let request = record.before().map(|()| record.span.clone());
        // If the handler has panicked, an earlier record may still be in `current`.
        let earlier = lock(&self.current).replace(record);
        drop(earlier);
        Some(request)
    }

    /// Ends the record of the current request, unless the handler has deferred the request.
    fn finish_request(&self, server: &mut Server<'_>) {
        let immediate = lock(&self.current).take();
        if let Some(record) = immediate {
            let status = server.take_response_status().map(RequestOutcome::from);
            record.finish(status.unwrap_or(RequestOutcome::Error { code: code::INTERNAL_ERROR }));
        }
    }

    /// Ends the record of the current request after a panic of the handler, unless the handler has deferred the
    /// request.
    #[cfg(feature = "http-server")]
    pub(crate) fn drop_record(&self) {
        let record = lock(&self.current).take();
        drop(record);
    }

    /// Updates the shared state for an event of the server.
    #[inline]
    fn observe_event(&self, event: &Event<'_>) {
        match event {
            Event::Cancelled { ticket, .. } => self.cancel_request(*ticket, RequestOutcome::Cancelled),
            Event::Expired(ticket) => self.cancel_request(*ticket, RequestOutcome::TimedOut),
            Event::Response(response) => self.complete_outbound(response),
            Event::Connected(connected) => self.set_session(connected.revision(), connected.client()),
            Event::Restarted => self.cancel_all(),
            _ => {}
        }
    }

    fn complete_outbound(&self, response: &Response<'_>) {
        if let Some(pending) = self.state.with(|state| state.outbound.take(response.ticket())) {
            pending.complete(response);
        }
    }

    fn set_session(&self, revision: Revision, client: ClientCapabilities) {
        self.state.with(|state| state.session = Some((revision, client)));
    }

    fn cancel_all(&self) {
        let tasks = self.state.update(|state| mem::take(&mut state.tasks));
        tasks.into_iter().for_each(|(_, task)| task.end(RequestOutcome::Closed));
        self.wake_waiters();
    }

    /// Cancels the [`Task`](crate::cancellation::Task) of a deferred request. Also cancels the requests to the client
    /// that belong to the deferred request.
    fn cancel_request(&self, ticket: Ticket, outcome: RequestOutcome) {
        let (task, outbound) = self.state.with(|state| {
            (state.tasks.take(ticket), state.outbound.take_all(|pending| pending.during == Some(ticket)))
        });
        if let Some(task) = task {
            task.end(outcome);
        }
        for (ticket, pending) in outbound {
            pending.cancel();
            self.push(ServerCommand::cancel(ticket));
        }
        self.wake_waiters();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
    use mcp_proto::{Action, Buffer, Millis, Server};

    use crate::hook::RequestHook;
    use crate::server_shared::ServerShared;

    static TOOLS: Tools = Tools::new(&[Tool::new("echo", "{}")]);
    static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);
    const CALL: &[u8] = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"echo"}}
"#;

    struct Nothing;

    impl RequestHook for Nothing {}

    /// Returns the number of allocations for one call, after the buffers have grown.
    fn allocations(hooks: Vec<Arc<dyn RequestHook>>) -> u64 {
        let shared = ServerShared::new(Arc::new(|| {}), || Millis(0), 1, None, hooks);
        let mut server = Server::new(&CONFIG, Buffer::grown(65_536), Buffer::grown(65_536)).unwrap();
        let mut counted = 0;
        for _ in 0..3 {
            let mut rest = CALL;
            loop {
                match server.poll(Millis(0)) {
                    Action::Event => {
                        let handle = |event: Event<'_>| {
                            if let Event::Call(call) = event {
                                call.text("x");
                            }
                        };
                        let count = || _ = shared.handle_event(&mut server, handle);
                        counted = allocation_counter::measure(count).count_total;
                    }
                    Action::Io(io) => {
                        let (transmit, mut receive) = io.split();
                        let sent = transmit.bytes().len();
                        if sent > 0 {
                            transmit.sent(sent);
                            break;
                        }
                        let length = rest.len().min(receive.space().len());
                        receive.space()[..length].copy_from_slice(&rest[..length]);
                        rest = &rest[length..];
                        receive.filled(length);
                    }
                    Action::Closed => panic!("closed"),
                }
            }
        }
        counted
    }

    #[test]
    fn call_without_observers_allocates_nothing() {
        assert_eq!(allocations(Vec::new()), 0);
        assert!(allocations(vec![Arc::new(Nothing)]) > 0, "the measurement counts");
    }
}
