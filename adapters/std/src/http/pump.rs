//! A pump for a client over HTTP. Threads perform the HTTP requests; the pump itself never blocks on the network.

use std::collections::HashMap;
use std::mem;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::{Action, Buffer, Clock, Machine, Millis, Receive, StreamId};
use mcp_proto_handles::{Wake, lock};
use mcp_proto_http::client::{Begin, Exchange, ExchangeId, Finish, Head, HttpClient};

use super::worker::{Job, Part, Report, Reports, Worker};
use super::{HttpEndpoint, shown};
use crate::pump::{PumpImpl, PumpStatus, RunOptions};
use crate::sync::{wait, wait_for};

/// Exchanges beside those for requests: for responses, notifications, and the stream of the session.
const SPARE_EXCHANGES: usize = 64;
/// Memory for parameters that are header fields.
const TOOL_HEADERS: usize = 1024 * 1024;
/// The longest header field.
const LONGEST_FIELD: usize = 64 * 1024;
/// Threads with open connections that wait for the next request.
const MAX_IDLE: usize = 8;
/// Time for the server to confirm the end of a session.
const END_TIME: Millis = Millis(2_000);

/// Connects a client in message mode with HTTP requests.
pub(super) struct HttpPump {
    endpoint: HttpEndpoint,
    http: HttpClient<'static, Vec<Exchange<'static>>>,
    reports: Arc<Reports>,
    busy: HashMap<ExchangeId, Worker>,
    idle: Vec<Worker>,
    /// The report that the client receives now, and the number of its bytes that the client has received.
    current: Option<(Report, usize)>,
    /// A stream that has closed after its last message.
    closed: Option<StreamId>,
    is_lost: bool,
}

impl HttpPump {
    /// Creates a pump for this number of requests in flight, and for messages of up to `longest` bytes.
    pub(super) fn new(endpoint: HttpEndpoint, requests: usize, longest: usize) -> HttpPump {
        let exchanges = requests.saturating_add(SPARE_EXCHANGES);
        let exchanges = (0..exchanges).map(|_| Exchange::new(Buffer::grown(longest))).collect();
        HttpPump {
            endpoint,
            http: HttpClient::new(exchanges, Buffer::grown(TOOL_HEADERS)),
            reports: Arc::default(),
            busy: HashMap::new(),
            idle: Vec::new(),
            current: None,
            closed: None,
            is_lost: false,
        }
    }

    /// Sends the request of an exchange.
    fn send(&mut self, exchange: ExchangeId, message: Option<&[u8]>) {
        let Some(request) = self.http.request(exchange, message) else { return };
        let (mut scratch, mut fields) = (vec![0; LONGEST_FIELD], Vec::new());
        let written =
            request.fields(&mut scratch, &mut |name, value| fields.push((name.to_owned(), value.to_owned())));
        let body = request.body().unwrap_or_default().to_vec();
        let job = Job { exchange, method: request.method(), fields, body };
        let worker = match (written, self.idle.pop()) {
            (Ok(()), Some(worker)) => Ok(worker),
            (Ok(()), None) => Worker::start(&self.endpoint, &self.reports),
            (Err(error), _) => Err(std::io::Error::other(error)),
        };
        match worker {
            Ok(worker) => {
                worker.perform(job);
                self.busy.insert(exchange, worker);
            }
            Err(error) => {
                *lock(&self.endpoint.error) = Some(error.to_string());
                self.reports.add_end(exchange);
            }
        }
    }

    /// Passes a part of a response to the client. Stores the rest of the part that the client has not received.
    fn receive(&mut self, report: Report, done: usize, receive: Receive<'_>, now: Millis) {
        let Report { exchange, part } = report;
        match part {
            Part::Head { status, fields } => match self.http.head(exchange, status, &*fields) {
                Head::Body | Head::Refused => {
                    if status >= 300 {
                        *lock(&self.endpoint.error) =
                            Some(format!("{}: status {status}", shown(&self.endpoint.url)));
                    }
                }
                Head::SessionLost => self.is_lost = true,
                Head::Unknown => self.abort(exchange),
            },
            Part::Bytes(bytes) => {
                let step = self.http.body(exchange, bytes.get(done..).unwrap_or_default());
                let done = done.saturating_add(step.consumed);
                if let Some(inbound) = step.message {
                    let _ = receive.message(inbound.message, inbound.stream);
                }
                if done < bytes.len() {
                    self.current = Some((Report { exchange, part: Part::Bytes(bytes) }, done));
                }
            }
            Part::End => {
                let worker = self.busy.remove(&exchange);
                self.idle.extend(worker.filter(|_| self.idle.len() < MAX_IDLE));
                match self.http.finish(exchange, now) {
                    Finish::Ended | Finish::Continues => {}
                    Finish::Close(exchange) => self.abort(exchange),
                    Finish::Closed(stream) => self.closed = Some(stream),
                    Finish::Message(inbound) => {
                        self.closed = Some(inbound.stream);
                        let _ = receive.message(inbound.message, inbound.stream);
                    }
                }
            }
        }
    }

    fn abort(&mut self, exchange: ExchangeId) {
        if let Some(worker) = self.busy.remove(&exchange) {
            worker.abort();
        }
    }

    /// Tells the server that the session has ended, and waits for its confirmation.
    fn end_session(&mut self, clock: Clock) {
        self.busy.drain().for_each(|(_, worker)| worker.abort());
        let now = clock.now();
        self.http.shutdown(now);
        let Some(exchange) = self.http.poll(now) else { return };
        self.send(exchange, None);
        let until = now.plus(END_TIME);
        let mut queue = lock(&self.reports.queue);
        loop {
            match self.reports.take(&mut queue) {
                Some(Report { exchange: ended, part: Part::End }) if ended == exchange => return,
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

impl PumpImpl for HttpPump {
    fn run(&mut self, machine: &mut dyn Machine, clock: Clock, options: RunOptions) -> PumpStatus {
        loop {
            let now = clock.now();
            let io = match machine.poll(now) {
                Action::Event => return PumpStatus::Event,
                Action::Closed => {
                    self.end_session(clock);
                    return PumpStatus::Closed;
                }
                Action::Io(io) => io,
            };
            let deadline =
                io.deadline().into_iter().chain(options.until).chain(self.http.next_deadline()).min();
            let (transmit, receive) = io.split();
            // Without a session, the server would process requests whose responses cannot arrive.
            if !self.is_lost
                && let Some(message) = transmit.frame()
            {
                let length = transmit.bytes().len();
                match self.http.begin(&message) {
                    Begin::Busy => {}
                    Begin::Drop => {
                        transmit.sent(length);
                        continue;
                    }
                    Begin::Close(exchange) => {
                        transmit.sent(length);
                        self.abort(exchange);
                        continue;
                    }
                    Begin::Send(exchange) => {
                        self.send(exchange, Some(message.message()));
                        transmit.sent(length);
                        continue;
                    }
                }
            }
            if let Some(exchange) = self.http.poll(now) {
                self.send(exchange, None);
                continue;
            }
            let mut queue = lock(&self.reports.queue);
            if receive.is_ready() {
                if let Some(stream) = self.closed.take() {
                    let _ = receive.stream_closed(stream);
                    continue;
                }
                let next = self.current.take();
                if let Some((report, done)) = next.or_else(|| Some((self.reports.take(&mut queue)?, 0))) {
                    drop(queue);
                    self.receive(report, done, receive, now);
                    continue;
                }
                if mem::take(&mut self.is_lost) {
                    receive.eof();
                    continue;
                }
            }
            if mem::take(&mut queue.woken) || options.until.is_some_and(|until| until <= now) {
                return PumpStatus::Woken;
            }
            match deadline {
                Some(at) => drop(wait_for(&self.reports.pump, queue, Duration::from_millis(at.since(now).0))),
                None => drop(wait(&self.reports.pump, queue)),
            }
        }
    }

    fn wake(&self) -> Wake {
        let reports = Arc::clone(&self.reports);
        Arc::new(move || {
            lock(&reports.queue).woken = true;
            reports.pump.notify_one();
        })
    }

    fn has_wakers(&self) -> bool {
        true
    }
}

impl Drop for HttpPump {
    fn drop(&mut self) {
        self.reports.close();
        self.busy.drain().for_each(|(_, worker)| worker.abort());
    }
}
