//! A call that waits for its result.

use mcp_proto_handles::{self as handles, CallError, CallResult, Canceller, Progress, block_on};

/// A call that was sent. Wait for its result, or cancel it, from this or another thread. Dropping it cancels it.
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
#[must_use = "dropping it cancels the call"]
pub struct PendingCall {
    pub(crate) inner: handles::PendingCall,
}

impl PendingCall {
    /// Waits for the result.
    ///
    /// # Errors
    /// There is none.
    pub fn wait(self) -> Result<CallResult, CallError> {
        block_on(self.inner)
    }

    /// Waits for the result, and hears of progress on this thread meanwhile, if the options asked for it.
    ///
    /// # Errors
    /// There is no result.
    pub fn wait_with(mut self, mut on_progress: impl FnMut(Progress)) -> Result<CallResult, CallError> {
        while let Some(progress) = block_on(self.inner.progress()) {
            on_progress(progress);
        }
        self.wait()
    }

    /// Cancels the call. Waiting for it then says so.
    pub fn cancel(&self, reason: &str) {
        self.inner.cancel(reason);
    }

    /// The right to cancel it, for other threads.
    #[must_use]
    pub fn canceller(&self) -> Canceller {
        self.inner.canceller()
    }
}
