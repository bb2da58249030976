//! Whether anybody still waits for what somebody works at.

use std::fmt::{self, Display};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::block::block_on_until;
use crate::signal::Signal;

/// Nobody waits for the answer any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request was cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// Whether a request is cancelled, for anybody to ask and to wait for.
#[derive(Debug, Clone)]
pub struct Cancellation {
    task: Arc<Task>,
}

impl Cancellation {
    pub(crate) fn new(task: &Arc<Task>) -> Cancellation {
        Cancellation { task: Arc::clone(task) }
    }

    /// Whether it is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }

    /// Waits until it is cancelled, for as long as that takes: one of the two ends of a `select!`.
    pub async fn cancelled(&self) {
        self.task.cancelled.until(|cancelled| cancelled.then_some(())).await;
    }

    /// Sleeps, but not longer than until it is cancelled. This blocks the thread: in async code, wait for
    /// [`cancelled`](Cancellation::cancelled) and a timer instead.
    ///
    /// # Errors
    /// It is cancelled.
    pub fn sleep(&self, time: Duration) -> Result<(), Cancelled> {
        match block_on_until(Instant::now().checked_add(time), self.cancelled()) {
            Some(()) => Err(Cancelled),
            None => Ok(()),
        }
    }
}

/// What one party works at while another waits.
#[derive(Debug, Default)]
pub(crate) struct Task {
    cancelled: Signal<bool>,
}

impl Task {
    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.look(|cancelled| *cancelled)
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.change(|cancelled| *cancelled = true);
    }
}
