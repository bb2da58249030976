//! The worker threads of one server: started when there is work, used again, and ended.

use std::collections::VecDeque;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto_handles::lock;

use crate::responder::Responder;
use crate::sync::wait_for;

/// An idle worker ends after this time. A server runs for days, and is busy for seconds.
const IDLE: Duration = Duration::from_millis(if cfg!(test) { 50 } else { 10_000 });

/// How long workers may take to end when their connection is over. They have heard that they are cancelled.
const LAST_STEPS: Duration = Duration::from_secs(1);

/// Threads that work, and what waits for one of them. How much may wait is not its business: a place was given to each
/// piece of work before.
pub(crate) struct Pool {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    /// There is work, or an end.
    work: Condvar,
    /// A thread has ended.
    left: Condvar,
    limit: usize,
}

#[derive(Default)]
struct State {
    queue: VecDeque<Job>,
    threads: usize,
    /// Threads that wait for work, or were just woken.
    idle: usize,
    over: bool,
}

/// A request, and how it is dealt with.
pub(crate) struct Job {
    pub(crate) responder: Responder,
    pub(crate) work: Box<dyn FnOnce(Responder) + Send>,
}

impl Pool {
    /// So many threads at most; one at least.
    pub(crate) fn new(limit: usize) -> Arc<Pool> {
        let shared = Shared {
            state: Mutex::default(),
            work: Condvar::new(),
            left: Condvar::new(),
            limit: limit.max(1),
        };
        Arc::new(Pool { shared: Arc::new(shared) })
    }

    /// Lets a worker do it: one that is idle, a new one, or the first that has time.
    pub(crate) fn run(&self, job: Job) {
        let shared = &self.shared;
        let mut state = lock(&shared.state);
        if state.over {
            drop(state);
            return drop(job);
        }
        state.queue.push_back(job);
        if state.idle >= state.queue.len() || state.threads >= shared.limit {
            shared.work.notify_one();
            return;
        }
        state.threads += 1;
        drop(state);
        let mut seat = Seat { shared: Arc::clone(shared), taken: true };
        // If no thread can be started, its seat is dropped with the closure.
        let _ = thread::Builder::new().name("mcp-work".into()).spawn(move || seat.work());
    }

    /// Forgets what waits for a worker and nobody waits for any more.
    pub(crate) fn sweep(&self) {
        let mut state = lock(&self.shared.state);
        let queue = mem::take(&mut state.queue);
        let (gone, wanted) =
            queue.into_iter().partition::<VecDeque<_>, _>(|job| job.responder.is_cancelled());
        state.queue = wanted;
        drop(state);
        // Its own end looks at the desk, and runs what the host has written.
        drop(gone);
    }

    /// Ends the workers when it is dropped, and waits for them a while.
    pub(crate) fn end_on_drop(self: &Arc<Pool>) -> EndOnDrop {
        EndOnDrop(Arc::clone(self))
    }
}

/// Ends the workers of a connection.
pub(crate) struct EndOnDrop(Arc<Pool>);

impl Drop for EndOnDrop {
    fn drop(&mut self) {
        let shared = &self.0.shared;
        let mut state = lock(&shared.state);
        state.over = true;
        let queue = mem::take(&mut state.queue);
        drop(state);
        drop(queue);
        shared.work.notify_all();
        let start = Instant::now();
        let mut state = lock(&shared.state);
        while state.threads > 0 {
            let left = LAST_STEPS.saturating_sub(start.elapsed());
            if left.is_zero() {
                // Nobody can end a thread from outside. It ends when its work does.
                return;
            }
            state = wait_for(&shared.left, state, left);
        }
    }
}

/// The right to be one of the threads. If the last one is lost, nobody is there for what waits.
struct Seat {
    shared: Arc<Shared>,
    taken: bool,
}

impl Seat {
    fn work(&mut self) {
        while let Some(Job { responder, work }) = self.next() {
            if !responder.is_cancelled() {
                // Whatever happens to the work, its request is answered, and its thread goes on.
                let _ = catch_unwind(AssertUnwindSafe(move || work(responder)));
            }
        }
    }

    /// Waits for work. `None`: this thread is not needed any more, and does not count.
    fn next(&mut self) -> Option<Job> {
        let mut state = lock(&self.shared.state);
        let start = Instant::now();
        loop {
            if let Some(job) = state.queue.pop_front() {
                return Some(job);
            }
            let left = IDLE.saturating_sub(start.elapsed());
            if state.over || left.is_zero() {
                // Not later: work that comes now has to find the place of this thread free.
                self.taken = false;
                state.threads -= 1;
                return None;
            }
            state.idle += 1;
            state = wait_for(&self.shared.work, state, left);
            state.idle -= 1;
        }
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let mut state = lock(&self.shared.state);
        state.threads -= usize::from(self.taken);
        let is_lost = self.taken && state.threads == 0;
        let left = if is_lost { mem::take(&mut state.queue) } else { VecDeque::new() };
        drop(state);
        self.shared.left.notify_all();
        // What is dropped is answered with an error.
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
    static INFO: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);
    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}},"name":"who"}}"#;

    #[test]
    fn an_idle_worker_ends_and_another_one_is_started_when_there_is_work() {
        struct Ends(std::sync::mpsc::Sender<()>);
        impl Drop for Ends {
            fn drop(&mut self) {
                let _ = self.0.send(());
            }
        }
        thread_local! {
            static END: std::cell::RefCell<Option<Ends>> = const { std::cell::RefCell::new(None) };
        }
        let (here, there) = UnixStream::pair().unwrap();
        let (ended, end) = channel();
        let server = thread::spawn(move || {
            Serve::new(&INFO).workers(1).stream(there, move |event, server| {
                let Event::Call(call) = event else { return };
                let ended = ended.clone();
                server.run(call, move |answer| {
                    END.with(|end| *end.borrow_mut() = Some(Ends(ended)));
                    answer.text("me");
                });
            })
        });
        let mut lines = BufReader::new(here.try_clone().unwrap()).lines();
        for _ in 0..3 {
            writeln!(&here, "{CALL}").unwrap();
            assert!(lines.next().unwrap().unwrap().contains("me"));
            end.recv_timeout(Duration::from_secs(20)).expect("it ends, though its connection does not");
        }
        drop((here, lines));
        server.join().unwrap().unwrap();
    }
}
