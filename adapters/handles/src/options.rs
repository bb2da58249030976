//! Timeouts and other options of a client request.

use std::time::Duration;

use mcp_proto::Level;
use mcp_proto::client::Options;

/// Timeouts and other options of a client request.
///
/// ```
/// # use mcp_proto_handles::CallOptions;
/// use std::time::Duration;
/// let options = CallOptions::new().timeout(Duration::from_secs(300)).with_progress();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CallOptions {
    pub(crate) timeout: Duration,
    maximum: Option<Duration>,
    progress: bool,
    level: Option<Level>,
    task: Option<Duration>,
}

/// The maximum total time of a request whose options set none. The maximum of a task is `TaskLimits::maximum`.
const DEFAULT_MAXIMUM: Duration = Duration::from_secs(600);

impl CallOptions {
    /// Creates the default options.
    ///
    /// A request expires after one minute without a response or progress, or after ten minutes in total. A task expires
    /// after [`TaskLimits::maximum`](mcp_proto::client::TaskLimits::maximum), by default one hour. The client requests
    /// no progress notifications.
    #[must_use]
    pub const fn new() -> CallOptions {
        CallOptions {
            timeout: Duration::from_secs(60),
            maximum: None,
            progress: false,
            level: None,
            task: None,
        }
    }

    /// Sets the timeout for a response. If progress is [requested](CallOptions::with_progress), each notification of
    /// increased progress restarts the timeout.
    #[must_use]
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Sets the maximum total time, regardless of progress. For a call that becomes a task,
    /// [`TaskLimits::maximum`](mcp_proto::client::TaskLimits::maximum) applies instead. For a
    /// [resumed](crate::ClientHandle::resume_task) task, that limit applies only if this method is not called.
    #[must_use]
    pub const fn maximum(mut self, time: Duration) -> Self {
        self.maximum = Some(time);
        self
    }

    /// Removes the timeout and the maximum total time. Useful for a request that stays open, such as a subscription of
    /// an extension.
    #[must_use]
    pub const fn without_timeout(self) -> Self {
        self.timeout(Duration::MAX).maximum(Duration::MAX)
    }

    /// Requests progress notifications.
    #[must_use]
    pub const fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Requests log messages of this level and above about this request.
    ///
    /// The messages arrive as [`Notification::Log`](crate::Notification::Log). The option applies to `2026-07-28`. A
    /// server that does not declare `logging` may ignore the level. In earlier revisions,
    /// [`ClientHandle::set_log_level`](crate::ClientHandle::set_log_level) applies to all requests.
    #[must_use]
    pub const fn log_level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    /// Requests that the call becomes a task (`2025-11-25`), which the server keeps for this time.
    ///
    /// Pass this option for tools that support tasks. The option has no effect in other revisions, with a server
    /// without tasks, or with a connector without [`tasks`](crate::ClientSettings::tasks).
    #[must_use]
    pub const fn task(mut self, ttl: Duration) -> Self {
        self.task = Some(ttl);
        self
    }

    /// Requests a task. If [`task`](CallOptions::task) was not called, the server chooses the time to live.
    pub(crate) fn or_task(mut self) -> Self {
        self.task.get_or_insert(Duration::MAX);
        self
    }

    /// Returns the options of the core client. `resumes_task` means that the request resumes a task.
    pub(crate) fn client_options(&self, resumes_task: bool) -> Options<'static> {
        let default = (!resumes_task).then_some(DEFAULT_MAXIMUM);
        let mut options = Options::DEFAULT.timeout(self.timeout.into());
        options.maximum = self.maximum.or(default).map(Into::into);
        if let Some(ttl) = self.task {
            options = options.task(ttl.into());
        }
        if let Some(level) = self.level {
            options = options.log_level(level);
        }
        if self.progress { options.with_progress() } else { options }
    }
}

impl Default for CallOptions {
    fn default() -> Self {
        CallOptions::new()
    }
}
