//! Worker threads of one connection, or of all connections of a listener, started on demand and reused.

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto_handles::lock;

use crate::responder::Responder;
use crate::sync::wait_for;

/// Time after which an idle worker exits.
const IDLE_TIMEOUT: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 10_000 });

/// Maximum time to wait for the exit of the workers after their connection or listener has closed.
const JOIN_TIMEOUT: Duration = Duration::from_secs(1);

/// Worker threads and the queue of jobs. The queue needs no limit: each job is a deferred request, and each server
/// limits the number of its deferred requests.
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// Signals a new job, or that the pool is closed.
    job_ready: Condvar,
    /// Signals the exit of a thread.
    thread_exited: Condvar,
    limit: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    threads: usize,
    /// Number of threads that wait for a job or were just woken.
    idle: usize,
    is_closed: bool,
}

/// A deferred request, and the work that responds to the request.
pub(crate) struct Job {
    pub(crate) responder: Responder,
    pub(crate) work: Box<dyn FnOnce(Responder) + Send>,
}

impl Pool {
    /// Creates a pool. `limit` is the maximum number of threads; zero counts as one.
    pub(crate) fn new(limit: usize) -> Arc<Pool> {
        let shared = Shared {
            state: Mutex::default(),
            job_ready: Condvar::new(),
            thread_exited: Condvar::new(),
            limit: limit.max(1),
        };
        Arc::new(Pool { shared: Arc::new(shared) })
    }

    /// Runs a job on an idle or new worker. If all workers are busy and their limit is reached, the job waits. A closed
    /// pool drops the job. The drop sends an error response.
    pub(crate) fn run(&self, job: Job) {
        let shared = &self.shared;
        let mut state = lock(&shared.state);
        if state.is_closed {
            drop(state);
            return drop(job);
        }
        state.queue.push_back(job);
        if state.idle >= state.queue.len() || state.threads >= shared.limit {
            shared.job_ready.notify_one();
            return;
        }
        state.threads += 1;
        drop(state);
        let mut worker = WorkerThread { shared: Arc::clone(shared), is_counted: true };
        // If the thread cannot be started, its closure is dropped. The worker's destructor then corrects the count.
        let _ = thread::Builder::new().name("mcp-work".into()).spawn(move || worker.run());
    }

    /// Removes queued jobs whose requests are cancelled.
    pub(crate) fn remove_cancelled(&self) {
        let mut state = lock(&self.shared.state);
        let queue = mem::take(&mut state.queue);
        let (cancelled, active) =
            queue.into_iter().partition::<VecDeque<_>, _>(|job| job.responder.is_cancelled());
        state.queue = active;
        drop(state);
        // Drop the jobs outside of the lock, because their destructors run application code and lock the state of the
        // server.
        drop(cancelled);
    }

    /// Drops the queued jobs and stops the workers. Waits until the workers have exited, but at most `JOIN_TIMEOUT`.
    fn stop(&self) {
        let shared = &self.shared;
        let mut state = lock(&shared.state);
        state.is_closed = true;
        let queue = mem::take(&mut state.queue);
        drop(state);
        drop(queue);
        shared.job_ready.notify_all();
        let start = Instant::now();
        let mut state = lock(&shared.state);
        while state.threads > 0 {
            let left = JOIN_TIMEOUT.saturating_sub(start.elapsed());
            if left.is_zero() {
                // A thread cannot be stopped from outside, so a busy worker exits later, when its work returns.
                return;
            }
            state = wait_for(&shared.thread_exited, state, left);
        }
    }
}

/// The access of a connection or a listener to its workers.
pub(crate) enum PoolGuard {
    /// Workers of one connection, or of all connections of a listener. Dropping this value stops the workers.
    Own(Arc<Pool>),
    /// Workers that this connection shares with others. Dropping this value removes the queued jobs of cancelled
    /// requests.
    Shared(Arc<Pool>),
}

impl PoolGuard {
    pub(crate) fn pool(&self) -> &Arc<Pool> {
        let (PoolGuard::Own(pool) | PoolGuard::Shared(pool)) = self;
        pool
    }

    /// Returns an access to these workers for another connection.
    pub(crate) fn share(&self) -> PoolGuard {
        PoolGuard::Shared(Arc::clone(self.pool()))
    }
}

impl Drop for PoolGuard {
    fn drop(&mut self) {
        match self {
            PoolGuard::Own(pool) => pool.stop(),
            PoolGuard::Shared(pool) => pool.remove_cancelled(),
        }
    }
}

/// One worker thread, counted in the pool. If the last worker panics or its thread cannot be started, the destructor
/// drops the queued jobs.
struct WorkerThread {
    shared: Arc<Shared>,
    is_counted: bool,
}

impl WorkerThread {
    fn run(&mut self) {
        while let Some(Job { responder, work }) = self.next() {
            if !responder.is_cancelled() {
                // If the work panics, dropping its responder sends an error response, and the thread continues.
                let span = responder.span();
                let _ = catch_unwind(AssertUnwindSafe(|| span.in_scope(move || work(responder))));
            }
        }
    }

    /// Waits for a job. If the thread has to exit, stops counting the thread and returns `None`.
    fn next(&mut self) -> Option<Job> {
        let mut state = lock(&self.shared.state);
        let start = Instant::now();
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            let left = IDLE_TIMEOUT.saturating_sub(start.elapsed());
            if state.is_closed || left.is_zero() {
                // Decrement under the same lock, so that `Pool::run` never counts on a thread that exits.
                self.is_counted = false;
                state.threads -= 1;
                return None;
            }
            state.idle += 1;
            state = wait_for(&self.shared.job_ready, state, left);
            state.idle -= 1;
        }
    }
}

impl Drop for WorkerThread {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.threads -= usize::from(self.is_counted);
        let was_last = self.is_counted && state.threads == 0;
        let left = if was_last { mem::take(&mut state.queue) } else { VecDeque::new() };
        drop(state);
        self.shared.thread_exited.notify_all();
        // A dropped job sends an error response.
        drop(left);
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::io::{BufRead, BufReader, Write};
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::channel;

    use mcp_proto::server::{Event, ServerConfig, Tool, Tools};

    use super::*;
    use crate::Serve;

    static TOOLS: Tools = Tools::new(&[Tool::new("who", "{}")]);
    static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);
    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"who"}}"#;

    #[test]
    fn idle_worker_exits_and_new_job_starts_another() {
        struct ExitReport(std::sync::mpsc::Sender<()>);
        impl Drop for ExitReport {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        thread_local! {
            static END: std::cell::RefCell<Option<ExitReport>> = const { std::cell::RefCell::new(None) };
        }
        let (here, there) = UnixStream::pair().unwrap();
        let (ended, end) = channel();
        let server = thread::spawn(move || {
            Serve::new(&CONFIG).workers(1).stream(there, move |event, server| {
                let Event::Call(call) = event else { return };
                let ended = ended.clone();
                server.run(call, move |answer| {
                    END.with(|end| *end.borrow_mut() = Some(ExitReport(ended)));
                    answer.text("me");
                });
            })
        });
        let mut lines = BufReader::new(here.try_clone().unwrap()).lines();
        for _ in 0..3 {
            writeln!(&here, "{CALL}").unwrap();
            assert!(lines.next().unwrap().unwrap().contains("me"));
            end.recv_timeout(Duration::from_secs(20))
                .expect("the idle worker exits while the connection is open");
        }
        drop((here, lines));
        server.join().unwrap().unwrap();
    }
}
