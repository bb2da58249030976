//! A server that is a child process: its streams, and its end.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_proto_handles::{Ending, Lines, Stderr, lock};

/// How long the end of a connection may take, if its host has said so. It may say so while it ends.
///
/// What is unsent may take half of it, then the child may end by itself until three quarters of it are over, and take the
/// rest to be terminated.
#[derive(Default)]
pub(crate) struct Deadline(Mutex<Option<(Instant, Duration)>>);

impl Deadline {
    /// From now on. What comes back is for what is unsent.
    pub(crate) fn set(&self, time: Duration) -> Duration {
        *lock(&self.0) = Some((Instant::now(), time));
        time / 2
    }

    /// What is left of so many quarters.
    fn left(&self, quarters: u32) -> Duration {
        let Some((since, time)) = *lock(&self.0) else { return Duration::MAX };
        (time / 4).saturating_mul(quarters).saturating_sub(since.elapsed())
    }
}

/// How a child process is ended.
#[derive(Clone)]
pub(crate) struct Way {
    pub(crate) ending: Ending,
    pub(crate) deadline: Arc<Deadline>,
}

/// A running child. It is ended when it is dropped: close its stdin before.
pub(crate) struct ServerProcess {
    child: Child,
    way: Way,
    /// The thread that reads its stderr.
    stderr: Option<JoinHandle<()>>,
}

impl ServerProcess {
    pub(crate) fn start(
        command: &mut Command,
        stderr: &Stderr,
        way: &Way,
    ) -> io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(stderr.stdio());
        let mut process = ServerProcess { child: command.spawn()?, way: way.clone(), stderr: None };
        if let (Some(on_line), Some(stream)) = (stderr.listener(), process.child.stderr.take()) {
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
            self.wait(4, Lines::LAST, |_| stderr.is_finished().then_some(()));
        }
        status
    }

    fn end_child(&mut self) -> Option<ExitStatus> {
        if let Some(status) = self.ended_within(3, self.way.ending.after_close) {
            return Some(status);
        }
        #[cfg(unix)]
        {
            self.terminate();
            if let Some(status) = self.ended_within(4, self.way.ending.after_terminate) {
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

    fn ended_within(&mut self, quarters: u32, time: Duration) -> Option<ExitStatus> {
        self.wait(quarters, time, |child| child.try_wait().transpose())?.ok()
    }

    /// The standard library can wait neither for a child nor for a thread with a limit, so they are asked again and again,
    /// ever less often.
    fn wait<T>(
        &mut self,
        quarters: u32,
        time: Duration,
        mut done: impl FnMut(&mut Child) -> Option<T>,
    ) -> Option<T> {
        let start = Instant::now();
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(done) = done(&mut self.child) {
                return Some(done);
            }
            let left = time.saturating_sub(start.elapsed()).min(self.way.deadline.left(quarters));
            if left.is_zero() {
                return None;
            }
            thread::sleep(pause.min(left));
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.end();
    }
}

fn read_lines(stream: ChildStderr, on_line: &Lines) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut reader).take(Lines::LONGEST).read_until(b'\n', &mut line) {
        on_line.tell(&line);
        line.clear();
    }
}
