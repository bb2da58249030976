//! A server that is a child process: its streams, and its end.

use std::io::{self, BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use mcp_proto_handles::{Ending, Stderr, lock};

/// A longer line of stderr comes in pieces.
const LINE_LIMIT: u64 = 64 * 1024;

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
        command.stderr(stderr.stdio());
        let mut process = ServerProcess { child: command.spawn()?, ending, stderr: None };
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
