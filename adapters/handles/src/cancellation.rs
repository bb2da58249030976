//! Cancellation of a request, observable from other threads and tasks.

use std::fmt::{self, Display};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::block_on::block_on_until;
use crate::hook::RequestOutcome;
use crate::request_record::RequestRecord;
use crate::request_span::RequestSpan;
use crate::signal::{Signal, lock};

/// The error of an operation that ended because its request was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cancelled;

impl Display for Cancelled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the request was cancelled")
    }
}

impl std::error::Error for Cancelled {}

/// An observer of one request's cancellation. Clones observe the same request.
///
/// The peer that sent the request can cancel it. The request is also cancelled if its timeout expires, the session
/// restarts, or the connection closes.
#[derive(Debug, Clone)]
pub struct Cancellation {
    task: Arc<Task>,
}

impl Cancellation {
    pub(crate) fn new(task: &Arc<Task>) -> Cancellation {
        Cancellation { task: Arc::clone(task) }
    }

    /// Returns whether the request is cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.task.is_cancelled()
    }

    /// Waits until the request is cancelled. The wait may never end, so use this future as one branch of a `select!`.
    pub async fn cancelled(&self) {
        self.task.cancelled.wait_until(|cancelled| cancelled.then_some(())).await;
    }

    /// Sleeps for `time`, or until the request is cancelled. This method blocks the thread: in async code, wait for
    /// [`cancelled`](Cancellation::cancelled) and a timer instead.
    ///
    /// # Errors
    /// [`Cancelled`]: the request was cancelled first.
    pub fn sleep(&self, time: Duration) -> Result<(), Cancelled> {
        match block_on_until(Instant::now().checked_add(time), self.cancelled()) {
            Some(()) => Err(Cancelled),
            None => Ok(()),
        }
    }
}

/// The cancellation state of one request, and the record of the request for hooks and tracing.
#[derive(Debug, Default)]
pub(crate) struct Task {
    cancelled: Signal<bool>,
    record: Mutex<Option<Box<RequestRecord>>>,
    /// Whether the request has or had a record. A request without a record needs no lock.
    is_observed: bool,
}

impl Task {
    pub(crate) fn new(record: Option<Box<RequestRecord>>) -> Task {
        let is_observed = record.is_some();
        Task { cancelled: Signal::default(), record: Mutex::new(record), is_observed }
    }

    pub(crate) fn take_record(&self) -> Option<Box<RequestRecord>> {
        if self.is_observed { lock(&self.record).take() } else { None }
    }

    /// Returns the span of the request. Returns an empty span if the request has no record, or the record was taken.
    pub(crate) fn span(&self) -> RequestSpan {
        if !self.is_observed {
            return RequestSpan::default();
        }
        lock(&self.record).as_ref().map(|record| record.span.clone()).unwrap_or_default()
    }

    /// Cancels the request, and ends its record.
    pub(crate) fn end(&self, outcome: RequestOutcome) {
        self.cancel();
        if let Some(record) = self.take_record() {
            record.finish(outcome);
        }
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        self.cancelled.with(|cancelled| *cancelled)
    }

    pub(crate) fn cancel(&self) {
        self.cancelled.update(|cancelled| *cancelled = true);
    }
}
