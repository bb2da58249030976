//! A server in a child process: start, stderr, termination.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_proto_handles::{CloseDeadline, Ending, LineCallback, Stderr, spawn_error};

/// The timeouts for the exit of a child process.
#[derive(Clone)]
pub(crate) struct ExitPolicy {
    pub(crate) ending: Ending,
    pub(crate) deadline: Arc<CloseDeadline>,
}

/// A running child process. Dropping this value stops the process. The owner closes stdin before the drop, so that the
/// child can exit by itself.
pub(crate) struct ServerProcess {
    child: Child,
    exit: ExitPolicy,
    /// The thread that reads stderr.
    stderr: Option<JoinHandle<()>>,
}

impl ServerProcess {
    pub(crate) fn start(
        command: &mut Command,
        stderr: &Stderr,
        exit: &ExitPolicy,
    ) -> io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(stderr.stdio());
        let mut process = ServerProcess {
            child: command.spawn().map_err(|error| spawn_error(command.get_program(), &error))?,
            exit: exit.clone(),
            stderr: None,
        };
        if let (Some(on_line), Some(stream)) = (stderr.line_callback(), process.child.stderr.take()) {
            let thread = thread::Builder::new().name("mcp-stderr".into());
            process.stderr = Some(thread.spawn(move || read_lines(stream, &on_line))?);
        }
        match (process.child.stdout.take(), process.child.stdin.take()) {
            (Some(stdout), Some(stdin)) => Ok((process, stdout, stdin)),
            _ => Err(io::Error::other("the child process has no pipes")),
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the child to exit. Returns `None` if the system does not report the exit status. If the child does
    /// not exit in time, terminates the child on Unix, and finally kills the child. After the exit, waits up to
    /// [`LineCallback::DRAIN_TIME`] for the last lines on stderr.
    pub(crate) fn stop(&mut self) -> Option<ExitStatus> {
        let status = self.stop_child();
        if let Some(stderr) = self.stderr.take() {
            self.wait(4, LineCallback::DRAIN_TIME, |_| stderr.is_finished().then_some(()));
        }
        status
    }

    fn stop_child(&mut self) -> Option<ExitStatus> {
        if let Some(status) = self.exited_within(3, self.exit.ending.after_close) {
            return Some(status);
        }
        #[cfg(unix)]
        {
            self.terminate();
            if let Some(status) = self.exited_within(4, self.exit.ending.after_terminate) {
                return Some(status);
            }
        }
        let _ = self.child.kill();
        self.child.wait().ok()
    }

    /// Sends SIGTERM. The process id is still valid, because the child was not reaped yet.
    #[cfg(unix)]
    fn terminate(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
    }

    fn exited_within(&mut self, quarters: u32, time: Duration) -> Option<ExitStatus> {
        self.wait(quarters, time, |child| child.try_wait().transpose())?.ok()
    }

    /// Polls `done` with growing pauses, because the standard library has no timed wait for a child or a thread.
    /// Returns `None` if `time`, or this number of quarters of the [`CloseDeadline`], passes first.
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
            let left = time.saturating_sub(start.elapsed()).min(self.exit.deadline.remaining(quarters));
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
        self.stop();
    }
}

fn read_lines(stream: ChildStderr, on_line: &LineCallback) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut reader).take(LineCallback::MAX_LINE_LEN).read_until(b'\n', &mut line) {
        on_line.call(&line);
        line.clear();
    }
}
