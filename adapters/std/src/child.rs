//! A server that is a child process: its streams, its stderr, and its end.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::sync::lock;

/// A longer line of stderr comes in pieces.
const LINE_LIMIT: u64 = 64 * 1024;

type OnLine = Arc<Mutex<dyn FnMut(&str) + Send>>;

/// What becomes of a child's stderr.
#[derive(Clone)]
pub struct Stderr(Policy);

#[derive(Clone)]
enum Policy {
    Inherit,
    Null,
    Lines(OnLine),
}

impl Stderr {
    /// It goes where the stderr of this process goes.
    #[must_use]
    pub fn inherit() -> Stderr {
        Stderr(Policy::Inherit)
    }

    /// Nobody sees it.
    #[must_use]
    pub fn null() -> Stderr {
        Stderr(Policy::Null)
    }

    /// `on_line` gets it line by line, on a thread of its own.
    #[must_use]
    pub fn lines(on_line: impl FnMut(&str) + Send + 'static) -> Stderr {
        Stderr(Policy::Lines(Arc::new(Mutex::new(on_line))))
    }

    /// The last `limit` lines are kept, to be shown when something goes wrong.
    ///
    /// ```
    /// let (stderr, tail) = mcp_proto_std::Stderr::tail(20);
    /// assert!(tail.lines().is_empty());
    /// # drop(stderr);
    /// ```
    #[must_use]
    pub fn tail(limit: usize) -> (Stderr, StderrTail) {
        let tail = StderrTail { lines: Arc::default() };
        let lines = Arc::clone(&tail.lines);
        let stderr = Stderr::lines(move |line| {
            let mut lines = lock(&lines);
            lines.push_back(line.into());
            if lines.len() > limit {
                lines.pop_front();
            }
        });
        (stderr, tail)
    }
}

impl std::fmt::Debug for Stderr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self.0 {
            Policy::Inherit => "Stderr::inherit",
            Policy::Null => "Stderr::null",
            Policy::Lines(_) => "Stderr::lines",
        })
    }
}

/// The last lines of a child's stderr.
#[derive(Debug, Clone)]
pub struct StderrTail {
    lines: Arc<Mutex<VecDeque<String>>>,
}

impl StderrTail {
    /// What has been kept so far.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        lock(&self.lines).iter().cloned().collect()
    }
}

/// How long a child process may take to end. First its stdin is closed, which a server should take as its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// After its stdin was closed; then it is told to terminate (on Unix: SIGTERM).
    pub after_close: Duration,
    /// After it was told to terminate; then it is killed.
    pub after_terminate: Duration,
}

impl Ending {
    /// Two seconds for each.
    pub const DEFAULT: Ending =
        Ending { after_close: Duration::from_secs(2), after_terminate: Duration::from_secs(2) };
}

impl Default for Ending {
    fn default() -> Self {
        Ending::DEFAULT
    }
}

/// A running child. It is ended when it is dropped: close its stdin before.
pub(crate) struct ServerProcess {
    child: Child,
    ending: Ending,
    /// The thread that reads its stderr.
    stderr: Option<JoinHandle<()>>,
}

/// How long to wait for the last lines of stderr when a child has ended: another process may hold it open.
const LAST_LINES: Duration = Duration::from_secs(1);

impl ServerProcess {
    pub(crate) fn start(
        command: &mut Command,
        stderr: &Stderr,
        ending: Ending,
    ) -> io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(match stderr.0 {
            Policy::Inherit => Stdio::inherit(),
            Policy::Null => Stdio::null(),
            Policy::Lines(_) => Stdio::piped(),
        });
        let mut process = ServerProcess { child: command.spawn()?, ending, stderr: None };
        if let (Policy::Lines(on_line), Some(stream)) = (&stderr.0, process.child.stderr.take()) {
            let on_line = Arc::clone(on_line);
            let thread = thread::Builder::new().name("mcp-stderr".into());
            process.stderr = Some(thread.spawn(move || read_lines(stream, &on_line))?);
        }
        match (process.child.stdout.take(), process.child.stdin.take()) {
            (Some(stdout), Some(stdin)) => Ok((process, stdout, stdin)),
            _ => Err(io::Error::other("the child process has no pipes")),
        }
    }

    /// Waits, terminates, kills, in that order, until it has ended, and has said its last on stderr.
    pub(crate) fn end(&mut self) -> Option<ExitStatus> {
        let status = self.end_child();
        if let Some(stderr) = self.stderr.take() {
            wait_until(LAST_LINES, || stderr.is_finished().then_some(()));
        }
        status
    }

    fn end_child(&mut self) -> Option<ExitStatus> {
        if let Some(status) = self.ended_within(self.ending.after_close) {
            return Some(status);
        }
        #[cfg(unix)]
        {
            self.terminate();
            if let Some(status) = self.ended_within(self.ending.after_terminate) {
                return Some(status);
            }
        }
        let _ = self.child.kill();
        self.child.wait().ok()
    }

    /// It has not been waited for, so that the number is still its own.
    #[cfg(unix)]
    fn terminate(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    fn ended_within(&mut self, time: Duration) -> Option<ExitStatus> {
        wait_until(time, || self.child.try_wait().transpose())?.ok()
    }
}

/// The standard library can wait neither for a child nor for a thread with a limit, so they are asked again and again,
/// ever less often.
fn wait_until<T>(time: Duration, mut done: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(done) = done() {
            return Some(done);
        }
        let left = time.saturating_sub(start.elapsed());
        if left.is_zero() {
            return None;
        }
        thread::sleep(pause.min(left));
        pause = (pause * 2).min(Duration::from_millis(50));
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end();
    }
}

fn read_lines(stream: ChildStderr, on_line: &Mutex<dyn FnMut(&str) + Send>) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut reader).take(LINE_LIMIT).read_until(b'\n', &mut line) {
        let text = String::from_utf8_lossy(&line);
        (lock(on_line))(text.trim_end_matches(['\n', '\r']));
        line.clear();
    }
}
