//! Threads that perform HTTP requests. A thread performs one request at a time.

use std::io::{ErrorKind, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use mcp_proto_handles::{Bytes, HttpEndpoint, HttpPart, HttpReport, lock};
use mcp_proto_http::client::ExchangeId;
use ureq::Agent;
use ureq::http;

use crate::sync::wait;

/// The maximum number of bytes that a thread reads at a time.
const READ_SIZE: usize = 16 * 1024;
/// The number of queued bytes above which the threads wait until the pump or the relay takes reports.
const MAX_QUEUED: usize = 1024 * 1024;

/// A request for a thread to perform.
pub(super) struct Job {
    pub(super) exchange: ExchangeId,
    pub(super) request: Box<http::Request<Bytes>>,
}

/// The queue of reports from the threads to their consumer: the pump (`HttpPump`) or the relay (`http::relay`).
#[derive(Default)]
pub(super) struct Reports {
    pub(super) queue: Mutex<Queue>,
    /// Wakes the pump or the relay.
    pub(super) pump: Condvar,
    /// Wakes threads that wait for space in the queue.
    workers: Condvar,
}

#[derive(Default)]
pub(super) struct Queue {
    reports: std::collections::VecDeque<HttpReport>,
    bytes: usize,
    pub(super) woken: bool,
    is_closed: bool,
}

impl Queue {
    pub(super) fn has_reports(&self) -> bool {
        !self.reports.is_empty()
    }
}

impl Reports {
    /// Takes the next report, or returns `None` if the queue is empty. `queue` must be the locked queue of these
    /// reports.
    pub(super) fn take(&self, queue: &mut Queue) -> Option<HttpReport> {
        let report = queue.reports.pop_front()?;
        if let HttpPart::Bytes(bytes) = &report.part {
            queue.bytes -= bytes.len();
            self.workers.notify_all();
        }
        Some(report)
    }

    /// Reports the end of an exchange whose request cannot be sent.
    pub(super) fn add_failure(&self, exchange: ExchangeId, reason: String) {
        self.add(exchange, HttpPart::End(Some(reason)));
    }

    /// Wakes the thread that waits for reports.
    pub(super) fn wake(&self) {
        lock(&self.queue).woken = true;
        self.pump.notify_one();
    }

    /// Closes the queue. A busy thread ends when the thread next reports bytes of a body, or the end of its exchange.
    pub(super) fn close(&self) {
        lock(&self.queue).is_closed = true;
        self.workers.notify_all();
    }

    /// Adds a report. Before a report with bytes, waits until the queue has space or is closed. Returns `false` if the
    /// queue is closed.
    fn add(&self, exchange: ExchangeId, part: HttpPart) -> bool {
        let mut queue = lock(&self.queue);
        if let HttpPart::Bytes(bytes) = &part {
            while queue.bytes > MAX_QUEUED && !queue.is_closed {
                queue = wait(&self.workers, queue);
            }
            queue.bytes += bytes.len();
        }
        queue.reports.push_back(HttpReport { exchange, part });
        self.pump.notify_one();
        !queue.is_closed
    }
}

/// A thread with connections of its own.
pub(super) struct Worker {
    jobs: Sender<Job>,
    agent: Agent,
    /// Whether the HTTP library has panicked. The agent may then be unusable because of poisoned locks.
    has_panicked: Arc<AtomicBool>,
}

impl Worker {
    pub(super) fn start(endpoint: &HttpEndpoint, reports: &Arc<Reports>) -> std::io::Result<Worker> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .accept("")
            .timeout_connect(Some(endpoint.connect_time()))
            .build();
        Worker::with_agent(config.into(), reports, perform)
    }

    fn with_agent(agent: Agent, reports: &Arc<Reports>, perform: Perform) -> std::io::Result<Worker> {
        let (jobs, receiver) = channel();
        let (reports, thread_agent) = (Arc::clone(reports), agent.clone());
        let has_panicked = Arc::new(AtomicBool::new(false));
        let thread_panicked = Arc::clone(&has_panicked);
        thread::Builder::new()
            .name("mcp-http".into())
            .spawn(move || run(&thread_agent, &receiver, &reports, &thread_panicked, perform))?;
        Ok(Worker { jobs, agent, has_panicked })
    }

    /// Performs a request. The thread must be idle.
    pub(super) fn perform(&self, job: Job) {
        // The thread ends only after this sender is dropped or the reports are closed.
        let _ = self.jobs.send(job);
    }

    /// Returns whether the thread can perform another request. Call this method only after the end of an exchange.
    pub(super) fn is_usable(&self) -> bool {
        !self.has_panicked.load(Ordering::Acquire)
    }

    /// Closes the connection of the current request, and ends the thread.
    pub(super) fn abort(self) {
        // After a panic of the HTTP library, `shutdown` may panic at a poisoned lock. The thread is not used again.
        let _ = catch_unwind(AssertUnwindSafe(|| self.agent.shutdown()));
    }
}

/// A function that performs one request, and reports its response.
type Perform = fn(&Agent, Job, &Reports) -> Result<(), ureq::Error>;

fn run(agent: &Agent, jobs: &Receiver<Job>, reports: &Reports, has_panicked: &AtomicBool, perform: Perform) {
    for job in jobs {
        let exchange = job.exchange;
        // A panic of the HTTP library fails only this exchange.
        let failure = match catch_unwind(AssertUnwindSafe(|| perform(agent, job, reports))) {
            Ok(result) => result.err().map(|error| error.to_string()),
            Err(_) => {
                has_panicked.store(true, Ordering::Release);
                Some("the HTTP library panicked".into())
            }
        };
        if !reports.add(exchange, HttpPart::End(failure)) {
            return;
        }
    }
}

/// Performs one request, and reports its response.
fn perform(agent: &Agent, job: Job, reports: &Reports) -> Result<(), ureq::Error> {
    let (head, body) = job.request.into_parts();
    let response = match head.method {
        http::Method::POST => agent.run(http::Request::from_parts(head, &body[..]))?,
        _ => agent.run(http::Request::from_parts(head, ()))?,
    };
    let (head, body) = response.into_parts();
    reports.add(job.exchange, HttpPart::Head(Box::new(head)));
    let mut body = body.into_reader();
    let mut buffer = vec![0; READ_SIZE];
    loop {
        match body.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => {
                let bytes = Bytes::copy_from_slice(buffer.get(..n).unwrap_or_default());
                if !reports.add(job.exchange, HttpPart::Bytes(bytes)) {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a thread whose HTTP library panics in each request.
    pub(in crate::http) fn panicking_worker(reports: &Arc<Reports>) -> Worker {
        Worker::with_agent(Agent::new_with_defaults(), reports, |_, _, _| panic!("test")).unwrap()
    }
}
