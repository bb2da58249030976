//! Threads that perform HTTP requests, one at a time each.

use std::io::{ErrorKind, Read};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;

use mcp_proto_handles::lock;
use mcp_proto_http::HeaderFields;
use mcp_proto_http::client::{ExchangeId, Method};
use ureq::Agent;
use ureq::http::{self, HeaderMap};

use super::{HttpEndpoint, shown};
use crate::sync::wait;

/// The number of bytes that a thread reads at a time.
const READ_SIZE: usize = 16 * 1024;
/// The number of bytes from all threads that may wait for the pump.
const MAX_QUEUED: usize = 1024 * 1024;

/// A request for a thread to perform.
pub(super) struct Job {
    pub(super) exchange: ExchangeId,
    pub(super) method: Method,
    pub(super) fields: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// A part of a response.
pub(super) struct Report {
    pub(super) exchange: ExchangeId,
    pub(super) part: Part,
}

pub(super) enum Part {
    Head { status: u16, fields: Box<Fields> },
    Bytes(Vec<u8>),
    End,
}

/// The header fields of a response.
pub(super) struct Fields(HeaderMap);

impl HeaderFields for Fields {
    fn field(&self, name: &str) -> Option<&[u8]> {
        self.0.get(name).map(http::HeaderValue::as_bytes)
    }
}

/// The queue from the threads to the pump.
#[derive(Default)]
pub(super) struct Reports {
    pub(super) queue: Mutex<Queue>,
    /// Wakes the pump.
    pub(super) pump: Condvar,
    /// Wakes threads that wait for space in the queue.
    workers: Condvar,
}

#[derive(Default)]
pub(super) struct Queue {
    reports: std::collections::VecDeque<Report>,
    bytes: usize,
    pub(super) woken: bool,
    is_closed: bool,
}

impl Reports {
    /// Takes the next report. `queue` is locked.
    pub(super) fn take(&self, queue: &mut Queue) -> Option<Report> {
        let report = queue.reports.pop_front()?;
        if let Part::Bytes(bytes) = &report.part {
            queue.bytes -= bytes.len();
            self.workers.notify_all();
        }
        Some(report)
    }

    /// Reports the end of an exchange whose request cannot be sent.
    pub(super) fn add_end(&self, exchange: ExchangeId) {
        self.add(exchange, Part::End);
    }

    /// Makes all threads end.
    pub(super) fn close(&self) {
        lock(&self.queue).is_closed = true;
        self.workers.notify_all();
    }

    /// Adds a report. Waits for space. Returns `false` if the pump is closed.
    fn add(&self, exchange: ExchangeId, part: Part) -> bool {
        let mut queue = lock(&self.queue);
        if let Part::Bytes(bytes) = &part {
            while queue.bytes > MAX_QUEUED && !queue.is_closed {
                queue = wait(&self.workers, queue);
            }
            queue.bytes += bytes.len();
        }
        queue.reports.push_back(Report { exchange, part });
        self.pump.notify_one();
        !queue.is_closed
    }
}

/// A thread with connections of its own.
pub(super) struct Worker {
    jobs: Sender<Job>,
    agent: Agent,
}

impl Worker {
    pub(super) fn start(endpoint: &HttpEndpoint, reports: &Arc<Reports>) -> std::io::Result<Worker> {
        let config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .accept("")
            .timeout_connect(Some(endpoint.connect_timeout))
            .build();
        let agent: Agent = config.into();
        let (jobs, receiver) = channel();
        let (endpoint, reports, thread_agent) = (endpoint.clone(), Arc::clone(reports), agent.clone());
        thread::Builder::new()
            .name("mcp-http".into())
            .spawn(move || run(&thread_agent, &endpoint, &receiver, &reports))?;
        Ok(Worker { jobs, agent })
    }

    /// Performs a request. Only for an idle thread.
    pub(super) fn perform(&self, job: Job) {
        // The thread ends only after this sender is dropped.
        let _ = self.jobs.send(job);
    }

    /// Closes the connection of the current request, and ends the thread.
    pub(super) fn abort(self) {
        self.agent.shutdown();
    }
}

fn run(agent: &Agent, endpoint: &HttpEndpoint, jobs: &Receiver<Job>, reports: &Reports) {
    for job in jobs {
        let exchange = job.exchange;
        if let Err(error) = perform(agent, endpoint, job, reports) {
            *lock(&endpoint.error) = Some(format!("{}: {error}", shown(&endpoint.url)));
        }
        if !reports.add(exchange, Part::End) {
            return;
        }
    }
}

/// Performs one request, and reports its response.
fn perform(agent: &Agent, endpoint: &HttpEndpoint, job: Job, reports: &Reports) -> Result<(), ureq::Error> {
    let Job { exchange, method, fields, body } = job;
    let mut request = http::Request::builder().method(method.as_str()).uri(&endpoint.url);
    for (name, value) in fields.iter().chain(&endpoint.fields) {
        request = request.header(name, value.as_bytes());
    }
    let response = match method {
        Method::Post => agent.run(request.body(body)?)?,
        Method::Get | Method::Delete => agent.run(request.body(())?)?,
    };
    let (head, body) = response.into_parts();
    let fields = Box::new(Fields(head.headers));
    reports.add(exchange, Part::Head { status: head.status.as_u16(), fields });
    let mut body = body.into_reader();
    let mut buffer = vec![0; READ_SIZE];
    loop {
        match body.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(n) => {
                if !reports.add(exchange, Part::Bytes(buffer.get(..n).unwrap_or_default().to_vec())) {
                    return Ok(());
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}
