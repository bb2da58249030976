//! Passes events of the server to the handler, between the hooks of the request.

use std::mem;

use mcp_proto::server::Event;
use mcp_proto::{Server, Ticket};

use super::ServerShared;
use crate::hook::{RequestOutcome, refuse};
use crate::request_record::RequestRecord;
use crate::request_span::RequestSpan;
use crate::server_command::ServerCommand;
use crate::signal::lock;

/// The error code of the response to a request that the handler has dropped.
const INTERNAL_ERROR: i32 = -32603;

impl ServerShared {
    /// Passes the event of the server to the handler, unless a hook refuses its request.
    pub fn handle_event(&self, server: &mut Server<'_>, handler: impl FnOnce(Event<'_>)) {
        let is_observed = self.is_observed();
        if is_observed {
            // Discard the status of an earlier response, which would otherwise count for this request.
            let _ = server.take_response_status();
        }
        let Some(event) = server.event() else { return };
        self.observe_event(&event);
        let record = if is_observed { RequestRecord::begin(&event, &self.hooks) } else { None };
        let Some(record) = record else { return handler(event) };
        self.handle_request(record, event, handler);
        let immediate = lock(&self.current).take();
        if let Some(record) = immediate {
            let status = server.take_response_status().map(RequestOutcome::from);
            record.finish(status.unwrap_or(RequestOutcome::Error { code: INTERNAL_ERROR }));
        }
    }

    /// Whether hooks or a subscriber of spans may observe requests.
    pub(super) fn is_observed(&self) -> bool {
        !self.hooks.is_empty() || RequestSpan::is_enabled()
    }

    /// Calls the hooks and the handler. The record stays in `current` unless the handler has deferred the request.
    fn handle_request(
        &self,
        mut record: Box<RequestRecord>,
        event: Event<'_>,
        handler: impl FnOnce(Event<'_>),
    ) {
        let refused = record.before();
        let span = record.span.clone();
        // If the handler has panicked, an earlier record may still be in `current`.
        let earlier = lock(&self.current).replace(record);
        drop(earlier);
        match refused {
            Ok(()) => span.in_scope(|| handler(event)),
            Err(refusal) => refuse(event, &refusal),
        }
    }

    /// Updates the shared state after an event of the server.
    fn observe_event(&self, event: &Event<'_>) {
        match event {
            Event::Cancelled { ticket, .. } => self.cancel_request(*ticket, RequestOutcome::Cancelled),
            Event::Expired(ticket) => self.cancel_request(*ticket, RequestOutcome::TimedOut),
            Event::Response(response) => {
                if let Some(pending) = self.state.with(|state| state.outbound.take(response.ticket())) {
                    pending.complete(response);
                }
            }
            Event::Connected(connected) => {
                self.state.with(|state| state.session = Some((connected.revision(), connected.client())));
            }
            Event::Restarted => {
                let tasks = self.state.update(|state| mem::take(&mut state.tasks));
                tasks.into_iter().for_each(|(_, task)| task.end(RequestOutcome::Closed));
                self.wake_waiters();
            }
            _ => {}
        }
    }

    /// Cancels the task of a request, and its requests to the client.
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
        let shared = ServerShared::new(Arc::new(|| {}), 1, None, hooks);
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
                        let count = || shared.handle_event(&mut server, handle);
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
