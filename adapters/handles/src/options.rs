//! How long a request may take, and what to hear of it meanwhile.

use std::time::Duration;

use mcp_proto::client::Options;
use mcp_proto::{Level, Millis};

/// How long a request may take, and whether to hear of its progress.
///
/// ```
/// use mcp_proto_handles::CallOptions;
/// use std::time::Duration;
/// let patient = CallOptions::new().timeout(Duration::from_secs(300)).with_progress();
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CallOptions {
    pub(crate) timeout: Duration,
    maximum: Duration,
    progress: bool,
    level: Option<Level>,
}

impl CallOptions {
    /// One minute without an answer or progress, ten minutes in all, and no progress.
    #[must_use]
    pub const fn new() -> CallOptions {
        CallOptions {
            timeout: Duration::from_secs(60),
            maximum: Duration::from_secs(600),
            progress: false,
            level: None,
        }
    }

    /// How long to wait for an answer. Progress starts the time anew.
    #[must_use]
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// How long to wait in all, whatever progress is made.
    #[must_use]
    pub const fn maximum(mut self, time: Duration) -> Self {
        self.maximum = time;
        self
    }

    /// Asks for progress.
    #[must_use]
    pub const fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Asks for log messages about the request, of this level and above (`2026-07-28`): [`Notification::Log`](crate::Notification::Log).
    /// Before, [`ClientHandle::set_log_level`](crate::ClientHandle::set_log_level) is for all requests.
    #[must_use]
    pub const fn log_level(mut self, level: Level) -> Self {
        self.level = Some(level);
        self
    }

    pub(crate) fn machine(&self) -> Options<'static> {
        let mut options = Options::DEFAULT.timeout(millis(self.timeout)).maximum(millis(self.maximum));
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

pub(crate) fn millis(time: Duration) -> Millis {
    Millis(u64::try_from(time.as_millis()).unwrap_or(u64::MAX))
}
