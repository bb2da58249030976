//! A server in a child process: start, stderr, termination.

use std::io;
use std::pin::pin;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use mcp_proto_handles::{CloseDeadline, Ending, LineCallback, Stderr, spawn_error};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout};

/// A running child process. Dropping this value kills the process. For an orderly exit, call
/// [`stop`](ServerProcess::stop) before the drop.
pub(crate) struct ServerProcess {
    child: Child,
    ending: Ending,
    /// The task that reads stderr.
    stderr: Option<JoinHandle<()>>,
}

impl ServerProcess {
    pub(crate) fn start(
        command: &mut Command,
        stderr: &Stderr,
        ending: Ending,
    ) -> io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr.stdio()).kill_on_drop(true);
        let mut child =
            command.spawn().map_err(|error| spawn_error(command.as_std().get_program(), &error))?;
        let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(io::Error::other("the child process has no pipes"));
        };
        let lines = stderr.line_callback().zip(child.stderr.take());
        let stderr = lines.map(|(on_line, stream)| tokio::spawn(read_lines(stream, on_line)));
        Ok((ServerProcess { child, ending, stderr }, stdout, stdin))
    }

    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Waits for the child to exit. Returns `None` if the system does not report the exit status. If the child does
    /// not exit in time, terminates and finally kills the child. After the exit, waits up to
    /// [`LineCallback::DRAIN_TIME`] for the last lines on stderr. Close stdin before the call.
    pub(crate) async fn stop(&mut self, deadline: &CloseDeadline) -> Option<ExitStatus> {
        let status = self.stop_child(deadline).await;
        if let Some(stderr) = self.stderr.take() {
            let left = || deadline.remaining(4);
            within(LineCallback::DRAIN_TIME, left, stderr).await;
        }
        status
    }

    async fn stop_child(&mut self, deadline: &CloseDeadline) -> Option<ExitStatus> {
        let left = || deadline.remaining(3);
        if let Some(status) = within(self.ending.after_close, left, self.child.wait()).await {
            return status.ok();
        }
        #[cfg(unix)]
        {
            self.terminate();
            let left = || deadline.remaining(4);
            if let Some(status) = within(self.ending.after_terminate, left, self.child.wait()).await {
                return status.ok();
            }
        }
        let _ = self.child.start_kill();
        self.child.wait().await.ok()
    }

    /// Sends SIGTERM. The process id is still valid, because the child was not reaped yet.
    #[cfg(unix)]
    fn terminate(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

/// Waits for the future. Returns `None` if `time` or the time that `left` returns expires first. The function calls
/// `left` repeatedly, because the close deadline may be set during the wait.
async fn within<T>(
    time: Duration,
    left: impl Fn() -> Duration,
    future: impl Future<Output = T>,
) -> Option<T> {
    const CHECK: Duration = Duration::from_millis(50);
    let mut future = pin!(future);
    let start = Instant::now();
    loop {
        let left = time.saturating_sub(start.elapsed()).min(left());
        if let Ok(output) = timeout(left.min(CHECK), future.as_mut()).await {
            return Some(output);
        }
        if left <= CHECK {
            return None;
        }
    }
}

async fn read_lines(stream: ChildStderr, on_line: LineCallback) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut reader).take(LineCallback::MAX_LINE_LEN).read_until(b'\n', &mut line).await {
        on_line.call(&line);
        line.clear();
    }
}
