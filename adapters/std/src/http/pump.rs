//! A pump for a client over HTTP.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::{Action, Machine};
use mcp_proto_handles::{HttpFailure, PumpStatus, Wake, lock};

use super::transport::Transport;
use crate::pump::{PumpClock, PumpImpl, RunOptions};
use crate::sync::{wait, wait_for};

/// Sends the messages of a client in HTTP requests, and passes the messages of the server to the client.
pub(super) struct HttpPump {
    transport: Transport,
}

impl HttpPump {
    pub(super) fn new(transport: Transport) -> HttpPump {
        HttpPump { transport }
    }
}

impl PumpImpl for HttpPump {
    fn run(&mut self, machine: &mut dyn Machine, clock: &mut PumpClock, options: RunOptions) -> PumpStatus {
        let reports = Arc::clone(&self.transport.reports);
        loop {
            let now = clock.read();
            let io = match machine.poll(now) {
                Action::Event => return PumpStatus::Event,
                Action::Closed => {
                    self.transport.end_session(clock.clock);
                    return PumpStatus::Closed;
                }
                Action::Io(io) => io,
            };
            let deadline = io.deadline();
            let (transmit, receive) = io.split();
            let is_ready = receive.is_ready();
            if self.transport.step(transmit, receive, now) {
                if self.transport.has_refused_response() {
                    return PumpStatus::Woken;
                }
                continue;
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
        self.transport.failure()
    }

    fn take_refused_response(&mut self) -> Option<HttpFailure> {
        self.transport.take_refused_response()
    }
}
