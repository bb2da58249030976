//! A client request in flight, with methods that block.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use mcp_proto_handles::{
    self as handles, CallError, CallResult, Cancellation, Canceller, Notification, Progress, block_on,
    block_on_until,
};

/// A request in flight.
///
/// The request can have any method: for example, a tool call, a read or a prompt. One thread can
/// [wait](PendingRequest::wait) for the result, and any thread can [cancel](PendingRequest::canceller) the request.
/// Dropping this value cancels the request.
///
/// ```no_run
/// # fn example(client: &mcp_proto_std::ClientHandle) -> Result<(), mcp_proto_std::CallError> {
/// use mcp_proto_std::CallOptions;
/// use std::{thread, time::Duration};
///
/// let pending = client.begin_json("slow", r#"{"seconds":60}"#, CallOptions::new())?;
/// let canceller = pending.canceller();
/// thread::spawn(move || {
///     thread::sleep(Duration::from_secs(1));
///     canceller.cancel("not needed any more");
/// });
/// assert_eq!(pending.wait(), Err(mcp_proto_std::CallError::Cancelled));
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use = "dropping it cancels the request"]
pub struct PendingRequest<T> {
    pub(crate) inner: handles::PendingRequest<T>,
}

/// A tool call in flight: see [`PendingRequest`].
pub type PendingCall = PendingRequest<CallResult>;

/// The first response to a call that may become a task: see
/// [`ClientHandle::call_task`](crate::ClientHandle::call_task).
pub type TaskCall = handles::TaskCall<PendingCall>;

impl<T> PendingRequest<T> {
    /// Waits for the result.
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn wait(self) -> Result<T, CallError> {
        block_on(self.inner)
    }

    /// Waits for the result for at most `time`.
    ///
    /// ```no_run
    /// # fn example(client: &mcp_proto_std::ClientHandle) -> Result<(), mcp_proto_std::CallError> {
    /// # use mcp_proto_std::CallOptions;
    /// # use std::time::Duration;
    /// let mut read = client.begin_read("file:///large", CallOptions::new())?;
    /// let contents = loop {
    ///     match read.wait_within(Duration::from_millis(100)) {
    ///         Ok(result) => break result?,
    ///         Err(pending) => read = pending,
    ///     }
    ///     print!(".");
    /// };
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// Returns the request itself if the time expires. The request stays in flight, and the caller can wait for it
    /// again.
    pub fn wait_within(mut self, time: Duration) -> Result<Result<T, CallError>, PendingRequest<T>> {
        match block_on_until(Instant::now().checked_add(time), &mut self.inner) {
            Some(result) => Ok(result),
            None => Err(self),
        }
    }

    /// Waits for the result, or until `cancellation` reports a cancellation. For example, a handler that waits for this
    /// request can pass the cancellation of the request that it handles.
    ///
    /// # Errors
    /// [`CallError::Cancelled`]: the request was cancelled. If `cancellation` reports a cancellation, this method
    /// cancels the request. For other errors see [`CallError`].
    pub fn wait_unless_cancelled(mut self, cancellation: &Cancellation) -> Result<T, CallError> {
        let mut cancelled = pin!(cancellation.cancelled());
        block_on(poll_fn(|context| match Pin::new(&mut self.inner).poll(context) {
            Poll::Ready(result) => Poll::Ready(result),
            Poll::Pending => cancelled.as_mut().poll(context).map(|()| Err(CallError::Cancelled)),
        }))
    }

    /// Waits for the result, and passes progress notifications and the statuses of a task to `on_progress`.
    ///
    /// `on_progress` runs on the calling thread. The server sends progress notifications only with
    /// [`CallOptions::with_progress`](crate::CallOptions::with_progress).
    ///
    /// # Errors
    /// See [`CallError`].
    pub fn wait_with(mut self, mut on_progress: impl FnMut(Progress)) -> Result<T, CallError> {
        while let Some(progress) = block_on(self.inner.progress()) {
            on_progress(progress);
        }
        self.wait()
    }

    /// Waits for the next notification that belongs to this request and is part of an extension. Returns `None` if the
    /// request has ended and no notification is left.
    ///
    /// Only requests that [`begin_request`](crate::ClientHandle::begin_request) starts have such notifications. For
    /// other requests, the method returns `None` immediately.
    pub fn notification(&mut self) -> Option<Notification> {
        block_on(self.inner.notification())
    }

    /// Cancels the request, unless it has ended. `reason` is for the server, and may be empty. After a cancellation,
    /// [`wait`](PendingRequest::wait) returns [`CallError::Cancelled`].
    pub fn cancel(&self, reason: &str) {
        self.inner.cancel(reason);
    }

    /// Drops the request without cancelling it. The client ignores the result of the request.
    ///
    /// A call that has become a task can thus outlive this client: see [`TaskCall`].
    pub fn detach(self) {
        self.inner.detach();
    }

    /// Returns a handle with which any thread can cancel the request.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.inner.canceller()
    }
}
