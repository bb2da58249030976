//! A pump for a client over HTTP. Each HTTP request has a separate task.

use std::collections::HashMap;
use std::task::{Context, Poll};

use mcp_proto::{Action, Machine, Millis};
use mcp_proto_handles::{Bytes, HttpAction, HttpExchanges, HttpFailure, HttpPart, HttpReport, PumpStatus};
use mcp_proto_http::client::ExchangeId;
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::sender::HttpSender;
use crate::pump::PumpImpl;
use crate::pump_state::PumpState;

/// Maximum number of queued reports.
const MAX_REPORTS: usize = 16;
/// Time limit for the server to confirm the end of a session.
const END_TIME: Millis = Millis(2_000);

/// Sends each message of a client in an HTTP request, and passes the responses to the client.
pub(crate) struct HttpPump {
    state: PumpState,
    exchanges: HttpExchanges,
    tasks: Tasks,
    /// The exchange that ends the session, and its deadline.
    ending: Option<(ExchangeId, Millis)>,
}

impl HttpPump {
    /// Creates a pump whose clock starts at `start`.
    pub(super) fn new(exchanges: HttpExchanges, sender: HttpSender, start: Instant) -> HttpPump {
        let (reporter, reports) = channel(MAX_REPORTS);
        let tasks = Tasks { sender, running: HashMap::new(), reporter, reports };
        HttpPump { state: PumpState::new(start), exchanges, tasks, ending: None }
    }

    /// Ends the session on the server, if there is a session, and waits at most [`END_TIME`] for the confirmation.
    /// Returns [`PumpStatus::Woken`] at the time `until` or after a wake-up, so that the owner can limit the wait. Also
    /// returns this status if [`END_TIME`] expires during the wait: the next call then returns [`PumpStatus::Closed`].
    fn poll_end(
        &mut self,
        context: &mut Context<'_>,
        until: Option<Millis>,
        now: Millis,
    ) -> Poll<PumpStatus> {
        let (exchange, end) = match self.ending {
            Some(ending) => ending,
            None => {
                self.tasks.running.clear();
                let Some((exchange, request)) = self.exchanges.shutdown(now) else {
                    return Poll::Ready(PumpStatus::Closed);
                };
                self.tasks.perform(HttpAction::Send(exchange, request));
                *self.ending.insert((exchange, now.plus(END_TIME)))
            }
        };
        while let Some(report) = self.tasks.poll_report(context) {
            if report.exchange == exchange && matches!(report.part, HttpPart::End(_)) {
                return Poll::Ready(PumpStatus::Closed);
            }
        }
        if end <= now {
            return Poll::Ready(PumpStatus::Closed);
        }
        let deadline = until.map_or(end, |until| until.min(end));
        let is_due =
            self.state.is_woken(context, until, now) || self.state.poll_deadline(context, Some(deadline));
        if is_due { Poll::Ready(PumpStatus::Woken) } else { Poll::Pending }
    }
}

impl PumpImpl for HttpPump {
    fn state(&mut self) -> &mut PumpState {
        &mut self.state
    }

    fn poll(
        &mut self,
        context: &mut Context<'_>,
        machine: &mut dyn Machine,
        _: Millis,
        until: Option<Millis>,
    ) -> Poll<PumpStatus> {
        loop {
            let now = self.state.read_clock();
            let io = match machine.poll(now) {
                Action::Event => return Poll::Ready(PumpStatus::Event),
                Action::Closed => return self.poll_end(context, until, now),
                Action::Io(io) => io,
            };
            let deadline = io.deadline();
            let (transmit, receive) = io.split();
            let next = || self.tasks.poll_report(context);
            if let Some(action) = self.exchanges.step(transmit, receive, now, next) {
                self.tasks.perform(action);
                if self.exchanges.has_refused_response() {
                    return Poll::Ready(PumpStatus::Woken);
                }
                continue;
            }
            if self.state.is_woken(context, until, now) {
                return Poll::Ready(PumpStatus::Woken);
            }
            let deadlines = [deadline, until, self.exchanges.next_deadline()];
            if !self.state.poll_deadline(context, deadlines.into_iter().flatten().min()) {
                return Poll::Pending;
            }
        }
    }

    fn failure(&self) -> Option<HttpFailure> {
        self.exchanges.failure()
    }

    fn take_refused_response(&mut self) -> Option<HttpFailure> {
        self.exchanges.take_refused_response()
    }
}

/// The tasks that perform requests.
struct Tasks {
    sender: HttpSender,
    running: HashMap<ExchangeId, AbortOnDrop>,
    reporter: Sender<HttpReport>,
    reports: Receiver<HttpReport>,
}

impl Tasks {
    fn perform(&mut self, action: HttpAction) {
        match action {
            HttpAction::Send(exchange, request) => self.start(exchange, *request),
            HttpAction::Abort(exchange) => drop(self.running.remove(&exchange)),
            HttpAction::AbortAll => self.running.clear(),
            HttpAction::Continue => {}
        }
    }

    fn start(&mut self, exchange: ExchangeId, request: hyper::Request<Bytes>) {
        let task = tokio::spawn(self.sender.clone().perform(exchange, request, self.reporter.clone()));
        self.running.insert(exchange, AbortOnDrop(task.abort_handle()));
    }

    /// Returns the next report. Returns `None` if no report is queued: the next report then wakes the task.
    fn poll_report(&mut self, context: &mut Context<'_>) -> Option<HttpReport> {
        let Poll::Ready(Some(report)) = self.reports.poll_recv(context) else { return None };
        if let HttpPart::End(_) = report.part {
            self.running.remove(&report.exchange);
        }
        Some(report)
    }
}

/// A task that is aborted when this value is dropped. If the response is incomplete, the abort closes the HTTP
/// connection.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
