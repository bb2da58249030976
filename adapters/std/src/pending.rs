//! A request that waits for its result.

use std::time::{Duration, Instant};

use mcp_proto_handles::{
    self as handles, CallError, CallResult, Canceller, Progress, block_on, block_on_until,
};

/// A request that was sent: a call, a read, a prompt, anything. Wait for its result, or cancel it, from this or another
/// thread. Dropping it cancels it.
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

/// A call that was sent: see [`PendingRequest`].
pub type PendingCall = PendingRequest<CallResult>;

impl<T> PendingRequest<T> {
    /// Waits for the result.
    ///
    /// # Errors
    /// There is none.
    pub fn wait(self) -> Result<T, CallError> {
        block_on(self.inner)
    }

    /// Waits for the result for this time at most. `Err`: it has not come, and can be waited for again.
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
    /// The request itself, which goes on.
    pub fn wait_within(mut self, time: Duration) -> Result<Result<T, CallError>, PendingRequest<T>> {
        match block_on_until(Instant::now().checked_add(time), &mut self.inner) {
            Some(result) => Ok(result),
            None => Err(self),
        }
    }

    /// Waits for the result, and hears of progress on this thread meanwhile, if the options asked for it.
    ///
    /// # Errors
    /// There is no result.
    pub fn wait_with(mut self, mut on_progress: impl FnMut(Progress)) -> Result<T, CallError> {
        while let Some(progress) = block_on(self.inner.progress()) {
            on_progress(progress);
        }
        self.wait()
    }

    /// Cancels the request. Waiting for it then says so.
    pub fn cancel(&self, reason: &str) {
        self.inner.cancel(reason);
    }

    /// The right to cancel it, for other threads.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.inner.canceller()
    }
}
