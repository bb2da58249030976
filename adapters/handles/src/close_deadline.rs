//! The time limit for closing a client, including the exit of a child process.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::lock;

/// The optional time limit for closing a connection. The application may set the limit while the connection closes.
///
/// In the first half of the time, the client writes unsent messages. In the third quarter, the client waits until the
/// child exits by itself. At the end of the third quarter, the client sends SIGTERM on Unix, and kills the child on
/// other systems. At the end of the last quarter, the client kills the child.
#[derive(Debug, Default)]
pub struct CloseDeadline(Mutex<Option<(Instant, Duration)>>);

impl CloseDeadline {
    /// Starts the time limit. Returns the part of the time for unsent messages.
    pub(crate) fn set(&self, time: Duration) -> Duration {
        *lock(&self.0) = Some((Instant::now(), time));
        time / 2
    }

    /// Returns the time until this number of quarters of the limit has passed, or `Duration::MAX` if no limit is set.
    pub fn remaining(&self, quarters: u32) -> Duration {
        let Some((since, time)) = *lock(&self.0) else { return Duration::MAX };
        (time / 4).saturating_mul(quarters).saturating_sub(since.elapsed())
    }
}
