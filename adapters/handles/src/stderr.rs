//! What becomes of a child process: of what it says on stderr, and of itself in the end.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::signal::lock;

/// What becomes of a child's stderr.
#[derive(Clone)]
pub struct Stderr(Policy);

#[derive(Clone)]
enum Policy {
    Inherit,
    Null,
    Lines(Lines),
}

/// Who gets a child's stderr, line by line.
#[derive(Clone)]
pub struct Lines(Arc<Mutex<OnLine>>);

type OnLine = dyn FnMut(&str) + Send;

impl Lines {
    /// A longer line comes in pieces.
    pub const LONGEST: u64 = 64 * 1024;

    /// How long to wait for the last lines of a child that has ended: another process may hold its stderr open.
    pub const LAST: Duration = Duration::from_secs(1);

    /// Hands over a line, with its end or without. Who gets it may panic: somebody has to read on, or the child dies of
    /// the next line.
    pub fn tell(&self, line: &[u8]) {
        let text = String::from_utf8_lossy(line);
        let text = text.trim_end_matches(['\n', '\r']);
        let _ = catch_unwind(AssertUnwindSafe(|| (lock(&self.0))(text)));
    }
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

    /// `on_line` gets it line by line, beside everything else. A line of more than 64 KiB comes in pieces. If it panics,
    /// it gets the next line nevertheless.
    #[must_use]
    pub fn lines(on_line: impl FnMut(&str) + Send + 'static) -> Stderr {
        Stderr(Policy::Lines(Lines(Arc::new(Mutex::new(on_line)))))
    }

    /// The last `limit` lines are kept, to be shown when something goes wrong.
    ///
    /// ```
    /// let (stderr, tail) = mcp_proto_handles::Stderr::tail(20);
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
    /// What the child is given.
    #[doc(hidden)]
    #[must_use]
    pub fn stdio(&self) -> Stdio {
        match self.0 {
            Policy::Inherit => Stdio::inherit(),
            Policy::Null => Stdio::null(),
            Policy::Lines(_) => Stdio::piped(),
        }
    }

    /// Who gets the lines.
    #[doc(hidden)]
    #[must_use]
    pub fn listener(&self) -> Option<Lines> {
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
