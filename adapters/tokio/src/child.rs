//! A server that is a child process: its streams, and its end.

use std::io;
use std::process::{ExitStatus, Stdio};

use mcp_proto_handles::{Ending, Lines, Stderr};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// A running child. It is killed when it is dropped: end it before.
pub(crate) struct ServerProcess {
    child: Child,
    ending: Ending,
    /// The task that reads its stderr.
    stderr: Option<JoinHandle<()>>,
}

impl ServerProcess {
    pub(crate) fn start(
        command: &mut Command,
        stderr: &Stderr,
        ending: Ending,
    ) -> io::Result<(ServerProcess, ChildStdout, ChildStdin)> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(stderr.stdio()).kill_on_drop(true);
        let mut child = command.spawn()?;
        let (Some(stdout), Some(stdin)) = (child.stdout.take(), child.stdin.take()) else {
            return Err(io::Error::other("the child process has no pipes"));
        };
        let lines = stderr.listener().zip(child.stderr.take());
        let stderr = lines.map(|(on_line, stream)| tokio::spawn(read_lines(stream, on_line)));
        Ok((ServerProcess { child, ending, stderr }, stdout, stdin))
    }

    /// Waits, terminates, kills, in that order, until it has ended, and has said its last on stderr. Its stdin has to be
    /// closed before.
    pub(crate) async fn end(&mut self) -> Option<ExitStatus> {
        let status = self.end_child().await;
        if let Some(stderr) = self.stderr.take() {
            let _ = timeout(Lines::LAST, stderr).await;
        }
        status
    }

    async fn end_child(&mut self) -> Option<ExitStatus> {
        if let Ok(status) = timeout(self.ending.after_close, self.child.wait()).await {
            return status.ok();
        }
        #[cfg(unix)]
        {
            self.terminate();
            if let Ok(status) = timeout(self.ending.after_terminate, self.child.wait()).await {
                return status.ok();
            }
        }
        let _ = self.child.start_kill();
        self.child.wait().await.ok()
    }

    /// It has not been waited for, so that the number is still its own.
    #[cfg(unix)]
    fn terminate(&self) {
        use rustix::process::{Pid, Signal, kill_process};
        let pid = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
    }
}

async fn read_lines(stream: ChildStderr, on_line: Lines) {
    let mut reader = BufReader::new(stream);
    let mut line = Vec::new();
    while let Ok(1..) = (&mut reader).take(Lines::LONGEST).read_until(b'\n', &mut line).await {
        on_line.tell(&line);
        line.clear();
    }
}
