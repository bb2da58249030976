//! A server process, with messages on its stdin and stdout.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::rpc::Message;

use crate::routes::Routes;

/// Time limit for a process to exit after the end of its input.
const EXIT_TIME: Duration = Duration::from_secs(2);

pub(crate) struct ServerProcess {
    child: Mutex<Child>,
    input: Mutex<Option<ChildStdin>>,
    routes: Mutex<Routes>,
    /// The time of the last message to the process.
    used: Mutex<Instant>,
    is_ended: AtomicBool,
}

/// A request in flight. Dropping this value ends the exchange of the request.
///
/// If the process is shared and has not responded, dropping this value also sends a cancellation.
pub(crate) struct Pending {
    process: Arc<ServerProcess>,
    number: u64,
    pub(crate) messages: Receiver<Vec<u8>>,
}

impl ServerProcess {
    /// Starts a process. With `is_shared`, several clients may share the process.
    pub(crate) fn start(command: &[String], is_shared: bool) -> io::Result<Arc<ServerProcess>> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut child =
            Command::new(program).args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let process = Arc::new(ServerProcess {
            child: Mutex::new(child),
            input: Mutex::new(input),
            is_ended: AtomicBool::new(false),
            routes: Mutex::new(Routes::new(is_shared)),
            used: Mutex::new(Instant::now()),
        });
        let reader = Arc::clone(&process);
        thread::spawn(move || {
            let lines = output.into_iter().flat_map(|output| BufReader::new(output).split(b'\n'));
            for line in lines.map_while(Result::ok) {
                lock(&reader.routes).route(line.trim_ascii());
            }
            // End the process first, so that no exchange takes the end of the process for a cancellation.
            reader.end();
            lock(&reader.routes).close();
        });
        Ok(process)
    }

    /// Passes a request on to the process. If the process no longer reads, ends the process and the exchange.
    pub(crate) fn request(self: &Arc<Self>, request: &Message<'_>) -> Pending {
        let (sender, messages) = channel();
        let (number, text) = lock(&self.routes).add(request, sender);
        let pending = Pending { process: Arc::clone(self), number, messages };
        if self.write(&text).is_err() {
            self.end();
            lock(&self.routes).remove(number);
        }
        pending
    }

    /// Opens the event stream of the session.
    pub(crate) fn listen(&self) -> Receiver<Vec<u8>> {
        let (sender, messages) = channel();
        lock(&self.routes).listen(sender);
        messages
    }

    /// Ends the exchange of a cancelled request.
    pub(crate) fn cancel(&self, id: &[u8]) {
        lock(&self.routes).cancel(id);
    }

    /// Writes one message as a line. Replaces line breaks with blanks. The replacement keeps the meaning, because JSON
    /// has line breaks only between tokens.
    pub(crate) fn write(&self, message: &[u8]) -> io::Result<()> {
        *lock(&self.used) = Instant::now();
        let mut line: Vec<u8> =
            message.iter().map(|byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { *byte }).collect();
        line.push(b'\n');
        match &mut *lock(&self.input) {
            Some(input) => input.write_all(&line).and_then(|()| input.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    pub(crate) fn last_used(&self) -> Instant {
        *lock(&self.used)
    }

    pub(crate) fn is_running(&self) -> bool {
        !self.is_ended.load(Ordering::Relaxed)
    }

    /// Closes the input of the process, so that the process exits. A thread kills a process that does not exit in time.
    pub(crate) fn end(self: &Arc<Self>) {
        if self.is_ended.swap(true, Ordering::Relaxed) {
            return;
        }
        let process = Arc::clone(self);
        thread::spawn(move || {
            // If the process does not read, a blocked writer may hold the lock. Killing the process ends that write.
            if let Ok(mut input) = process.input.try_lock() {
                *input = None;
            }
            let start = Instant::now();
            while start.elapsed() < EXIT_TIME {
                if !matches!(lock(&process.child).try_wait(), Ok(None)) {
                    return;
                }
                thread::sleep(Duration::from_millis(20));
            }
            let _ = lock(&process.child).kill();
            let _ = lock(&process.child).wait();
        });
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        let cancellation = lock(&self.process.routes).remove(self.number);
        if let Some(cancellation) = cancellation {
            let _ = self.process.write(&cancellation);
        }
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
