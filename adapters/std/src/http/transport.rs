//! HTTP exchanges of a client, performed by threads. Only `end_session` waits for the network.

use std::collections::HashMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::{Clock, Millis, OutboundMessage, Receive, Transmit};
use mcp_proto_handles::{
    HttpAction, HttpEndpoint, HttpExchanges, HttpFailure, HttpPart, HttpReceived, HttpReport, lock,
};
use mcp_proto_http::client::ExchangeId;

use super::worker::{Job, Reports, Worker};
use crate::sync::wait_for;

/// Maximum number of idle threads, which may keep connections open.
const MAX_IDLE: usize = 8;
/// Time limit for the server to confirm the end of a session.
const END_TIME: Millis = Millis(2_000);

/// The HTTP exchanges with one server.
pub(super) struct Transport {
    endpoint: HttpEndpoint,
    exchanges: HttpExchanges,
    pub(super) reports: Arc<Reports>,
    workers: Workers,
}

/// The threads that perform requests.
#[derive(Default)]
struct Workers {
    busy: HashMap<ExchangeId, Worker>,
    idle: Vec<Worker>,
}

impl Workers {
    /// Returns the next report, or `None` if there is no report. At the end of an exchange, its thread becomes idle.
    /// The thread ends instead if the HTTP library has panicked, or if [`MAX_IDLE`] threads are idle.
    fn next_report(&mut self, reports: &Reports) -> Option<HttpReport> {
        let report = reports.take(&mut lock(&reports.queue))?;
        if let HttpPart::End(_) = report.part {
            let worker = self.busy.remove(&report.exchange);
            self.idle.extend(worker.filter(|worker| worker.is_usable() && self.idle.len() < MAX_IDLE));
        }
        Some(report)
    }

    fn abort_all(&mut self) {
        self.busy.drain().for_each(|(_, worker)| worker.abort());
    }
}

impl Transport {
    /// Creates the exchanges for this number of requests in flight, and for messages of up to `longest` bytes.
    /// `attempts` limits the attempts to resume a stream.
    ///
    /// # Errors
    /// The URL is invalid, or needs TLS in a build without TLS.
    pub(super) fn new(
        endpoint: HttpEndpoint,
        requests: usize,
        longest: usize,
        attempts: u32,
    ) -> io::Result<Transport> {
        let exchanges = HttpExchanges::new(&endpoint, cfg!(feature = "https"), requests, longest)?;
        Ok(Transport {
            exchanges: exchanges.max_resumptions(attempts),
            endpoint,
            reports: Arc::default(),
            workers: Workers::default(),
        })
    }

    /// Begins to send a message. Returns `false` if the message has to wait.
    pub(super) fn send(&mut self, message: &OutboundMessage<'_>) -> bool {
        let action = self.exchanges.send(message);
        self.perform(action)
    }

    /// Performs the next due action that needs no new message: see [`HttpExchanges::send_due`]. Returns `false` if
    /// nothing is due.
    pub(super) fn send_due(&mut self, now: Millis) -> bool {
        let action = self.exchanges.send_due(now);
        self.perform(action)
    }

    /// Returns the time at which to call [`send_due`](Transport::send_due) and [`receive`](Transport::receive). Returns
    /// `None` if nothing waits for a time.
    pub(super) fn next_deadline(&self) -> Option<Millis> {
        self.exchanges.next_deadline()
    }

    /// Passes the next message, or the end of a stream or of the session, to `take`, or handles a report that contains
    /// neither. Returns `false` if there is nothing to receive. At the end of the session, closes the connections of
    /// all exchanges.
    pub(super) fn receive(&mut self, now: Millis, take: impl FnOnce(HttpReceived<'_>)) -> bool {
        let action = self.exchanges.receive(now, || self.workers.next_report(&self.reports), take);
        self.perform(action)
    }

    /// Moves one message between the client and the server, or handles one report: see [`HttpExchanges::step`]. Returns
    /// `false` if there is nothing to do.
    pub(super) fn step(&mut self, transmit: Transmit<'_>, receive: Receive<'_>, now: Millis) -> bool {
        let next = || self.workers.next_report(&self.reports);
        let action = self.exchanges.step(transmit, receive, now, next);
        self.perform(action)
    }

    /// Returns the failure of the last closed stream: see [`HttpExchanges::failure`].
    pub(super) fn failure(&self) -> Option<HttpFailure> {
        self.exchanges.failure()
    }

    /// Returns the failure of a refused response: see [`HttpExchanges::take_refused_response`].
    pub(super) fn take_refused_response(&mut self) -> Option<HttpFailure> {
        self.exchanges.take_refused_response()
    }

    /// Returns whether a response was refused: see [`HttpExchanges::has_refused_response`].
    pub(super) fn has_refused_response(&self) -> bool {
        self.exchanges.has_refused_response()
    }

    /// Performs an action. Returns `false` if there is none.
    fn perform(&mut self, action: Option<HttpAction>) -> bool {
        match action {
            Some(HttpAction::Send(exchange, request)) => self.start(Job { exchange, request }),
            Some(HttpAction::Abort(exchange)) => {
                if let Some(worker) = self.workers.busy.remove(&exchange) {
                    worker.abort();
                }
            }
            Some(HttpAction::AbortAll) => self.workers.abort_all(),
            Some(HttpAction::Continue) => {}
            None => return false,
        }
        true
    }

    fn start(&mut self, job: Job) {
        let exchange = job.exchange;
        let worker = self.workers.idle.pop().map_or_else(|| Worker::start(&self.endpoint, &self.reports), Ok);
        match worker {
            Ok(worker) => {
                worker.perform(job);
                self.workers.busy.insert(exchange, worker);
            }
            Err(error) => self.reports.add_failure(exchange, error.to_string()),
        }
    }

    /// Aborts all requests. Then ends the session on the server, if there is one, and waits at most [`END_TIME`] for
    /// the confirmation.
    pub(super) fn end_session(&mut self, clock: Clock) {
        self.workers.abort_all();
        let now = clock.now();
        let Some((exchange, request)) = self.exchanges.shutdown(now) else { return };
        self.start(Job { exchange, request });
        let until = now.plus(END_TIME);
        let mut queue = lock(&self.reports.queue);
        loop {
            match self.reports.take(&mut queue) {
                Some(HttpReport { exchange: ended, part: HttpPart::End(_) }) if ended == exchange => return,
                Some(_) => {}
                None if clock.now() >= until => return,
                None => {
                    let left = Duration::from_millis(until.since(clock.now()).0);
                    queue = wait_for(&self.reports.pump, queue, left);
                }
            }
        }
    }
}

impl Drop for Transport {
    fn drop(&mut self) {
        self.reports.close();
        self.workers.abort_all();
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};
    use std::net::TcpListener;
    use std::thread;

    use mcp_proto::{OutboundMessageKind, Relation, StreamId};

    use super::super::worker::tests::panicking_worker;
    use super::*;
    use crate::sync::wait;

    /// Sends a ping, and returns the failure of its exchange.
    fn ping(transport: &mut Transport) -> String {
        let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        let relation = Relation::Request(StreamId(1));
        assert!(transport.send(&OutboundMessage::new(ping, OutboundMessageKind::Request, relation)));
        let reports = Arc::clone(&transport.reports);
        let mut failure = None;
        while failure.is_none() {
            let queue = lock(&reports.queue);
            drop(if queue.has_reports() { queue } else { wait(&reports.pump, queue) });
            transport.receive(Millis(0), |received| match received {
                HttpReceived::Closed(_, reason) => failure = reason,
                received => panic!("{received:?}"),
            });
        }
        failure.unwrap().to_string()
    }

    #[test]
    fn thread_is_not_used_again_after_a_panic() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let endpoint = HttpEndpoint::new(format!("http://{}/mcp", listener.local_addr().unwrap()));
        let server = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = Vec::new();
            while !request.ends_with(b"}") {
                let mut bytes = [0; 1024];
                let n = stream.read(&mut bytes).unwrap();
                request.extend(&bytes[..n]);
            }
            stream.write_all(b"HTTP/1.1 418 I'm a teapot\r\nContent-Length: 0\r\n\r\n").unwrap();
        });
        let mut transport = Transport::new(endpoint, 4, 1024, 8).unwrap();
        transport.workers.idle.push(panicking_worker(&transport.reports));
        let failure = ping(&mut transport);
        assert!(failure.contains("the HTTP library panicked"), "{failure}");
        let failure = ping(&mut transport);
        assert!(failure.contains("418"), "{failure}");
        server.join().unwrap();
    }
}
