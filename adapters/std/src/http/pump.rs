//! A pump for a client over HTTP.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::{Action, Clock, Machine};
use mcp_proto_handles::{HttpFailure, HttpReceived, Wake, lock};

use super::transport::Transport;
use crate::pump::{PumpImpl, PumpStatus, RunOptions};
use crate::sync::{wait, wait_for};

/// Sends each message of a client in an HTTP request, and passes the responses to the client.
pub(super) struct HttpPump {
    transport: Transport,
    /// The failure of the last closed stream, if there was one. Cleared when the pump looks for the next report.
    failure: Option<HttpFailure>,
}

impl HttpPump {
    pub(super) fn new(transport: Transport) -> HttpPump {
        HttpPump { transport, failure: None }
    }
}

impl PumpImpl for HttpPump {
    fn run(&mut self, machine: &mut dyn Machine, clock: Clock, options: RunOptions) -> PumpStatus {
        let reports = Arc::clone(&self.transport.reports);
        loop {
            let now = clock.now();
            let io = match machine.poll(now) {
                Action::Event => return PumpStatus::Event,
                Action::Closed => {
                    self.transport.end_session(clock);
                    return PumpStatus::Closed;
                }
                Action::Io(io) => io,
            };
            let deadline = io.deadline();
            let (transmit, receive) = io.split();
            if let Some(message) = transmit.frame() {
                let length = transmit.bytes().len();
                if self.transport.send(&message) {
                    transmit.sent(length);
                    continue;
                }
            }
            if self.transport.send_due(now) {
                continue;
            }
            let is_ready = receive.is_ready();
            if is_ready {
                let failure = &mut self.failure;
                *failure = None;
                let has_received = self.transport.receive(now, |received| match received {
                    HttpReceived::Message(message, stream) => _ = receive.message(message, stream),
                    HttpReceived::Closed(stream, reason) => {
                        *failure = reason;
                        let _ = receive.stream_closed(stream);
                    }
                    HttpReceived::SessionLost => receive.eof(),
                });
                if has_received {
                    continue;
                }
            }
            let mut queue = lock(&reports.queue);
            if is_ready && queue.has_reports() {
                continue;
            }
            if mem::take(&mut queue.woken) || options.until.is_some_and(|until| until <= now) {
                return PumpStatus::Woken;
            }
            let deadlines = [deadline, options.until, self.transport.next_deadline()];
            match deadlines.into_iter().flatten().min() {
                Some(at) => drop(wait_for(&reports.pump, queue, Duration::from_millis(at.since(now).0))),
                None => drop(wait(&reports.pump, queue)),
            }
        }
    }

    fn wake(&self) -> Wake {
        let reports = Arc::clone(&self.transport.reports);
        Arc::new(move || reports.wake())
    }

    fn has_wakers(&self) -> bool {
        true
    }

    fn failure(&self) -> Option<HttpFailure> {
        self.failure.clone()
    }
}
