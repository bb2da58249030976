//! Settings of a child process: destination of stderr, time limits for the exit.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::signal::lock;

/// The destination of a child process's stderr.
#[derive(Clone)]
pub struct Stderr(Policy);

#[derive(Clone)]
enum Policy {
    Inherit,
    Null,
    Lines(LineCallback),
}

/// The callback that receives a child's stderr line by line.
#[derive(Clone)]
pub struct LineCallback(Arc<Mutex<OnLine>>);

type OnLine = dyn FnMut(&str) + Send;

impl LineCallback {
    /// Maximum line length in bytes, including the newline. A longer line is split.
    pub const MAX_LINE_LEN: u64 = 64 * 1024;

    /// Time to wait for the last lines of an exited child. The wait is limited because another process may keep stderr
    /// open.
    pub const DRAIN_TIME: Duration = Duration::from_secs(1);

    /// Removes line breaks at the end of the line, and calls the callback.
    ///
    /// Catches a panic of the callback, so that the reader continues. Without a reader of its stderr, the child would
    /// block or fail.
    pub fn call(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\n', '\r']);
        let _ = catch_unwind(AssertUnwindSafe(|| (lock(&self.0))(text)));
    }
}

impl Stderr {
    /// Lets the child write to the stderr of this process.
    #[must_use]
    pub fn inherit() -> Stderr {
        Stderr(Policy::Inherit)
    }

    /// Discards the output.
    #[must_use]
    pub fn null() -> Stderr {
        Stderr(Policy::Null)
    }

    /// Passes the output to `on_line`, line by line, on a separate thread or task.
    ///
    /// A line of more than 64 KiB is split. If the callback panics, it still receives the next line.
    #[must_use]
    pub fn lines(on_line: impl FnMut(&str) + Send + 'static) -> Stderr {
        Stderr(Policy::Lines(LineCallback(Arc::new(Mutex::new(on_line)))))
    }

    /// Returns a destination that keeps the last `limit` lines, and a handle that returns these lines. An application
    /// can show the lines in an error message, for example.
    ///
    /// ```
    /// # use mcp_proto_handles::Stderr;
    /// let (stderr, tail) = Stderr::tail(20);
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

impl Stderr {
    /// Returns the configuration of the child's stderr.
    #[doc(hidden)]
    #[must_use]
    pub fn stdio(&self) -> Stdio {
        match self.0 {
            Policy::Inherit => Stdio::inherit(),
            Policy::Null => Stdio::null(),
            Policy::Lines(_) => Stdio::piped(),
        }
    }

    /// Returns the callback, or `None` if the destination has none.
    #[doc(hidden)]
    #[must_use]
    pub fn line_callback(&self) -> Option<LineCallback> {
        match &self.0 {
            Policy::Lines(lines) => Some(lines.clone()),
            Policy::Inherit | Policy::Null => None,
        }
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

/// The last lines of a child's stderr: see [`Stderr::tail`].
#[derive(Debug, Clone)]
pub struct StderrTail {
    lines: Arc<Mutex<VecDeque<String>>>,
}

impl StderrTail {
    /// Returns the stored lines, oldest first.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        lock(&self.lines).iter().cloned().collect()
    }
}

/// Timeouts for the exit of a child process.
///
/// The client first closes the child's stdin. A server should then exit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ending {
    /// Time for the child to exit after stdin is closed. After this time, the client sends SIGTERM on Unix, and kills
    /// the child on other systems.
    pub after_close: Duration,
    /// Time for the child to exit after SIGTERM. After this time, the client kills the child. Has no effect on systems
    /// other than Unix.
    pub after_terminate: Duration,
}

impl Ending {
    /// The default: five seconds after stdin is closed, and two seconds after SIGTERM.
    ///
    /// A server of this project gives running requests two seconds after the end of its input
    /// ([`Limits::grace`](mcp_proto::server::Limits::grace)), and then needs time for its own cleanup.
    pub const DEFAULT: Ending =
        Ending { after_close: Duration::from_secs(5), after_terminate: Duration::from_secs(2) };
}

impl Default for Ending {
    fn default() -> Self {
        Ending::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use mcp_proto::Millis;
    use mcp_proto::server::Limits;

    use super::*;

    #[test]
    fn default_time_after_close_exceeds_the_grace_period_of_a_server() {
        assert!(Millis::from(Ending::DEFAULT.after_close) >= Limits::DEFAULT.grace.plus(Millis::seconds(2)));
    }
}
