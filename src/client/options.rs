//! Options of a request: timeouts, progress, log level, `_meta`, task.

use crate::error::SendError;
use crate::json::{Json, Kind};
use crate::protocol::level::Level;
use crate::protocol::meta;
use crate::time::Millis;

/// Options of a request: timeouts, progress, log level, additional `_meta` and task.
///
/// ```
/// use mcp_proto::{Level, Millis, client::Options};
/// let patient = Options::DEFAULT.timeout(Millis::seconds(5)).with_progress().log_level(Level::Info);
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Options<'o> {
    /// The timeout. `None` selects [`Timeouts::request`](crate::client::Timeouts::request).
    pub timeout: Option<Millis>,
    /// The maximum duration. `None` selects [`Timeouts::maximum`](crate::client::Timeouts::maximum).
    pub maximum: Option<Millis>,
    /// Whether the client requests progress notifications.
    pub progress: bool,
    /// Whether the timeout is independent of progress.
    pub ignore_progress: bool,
    /// The minimum level of log messages for this request. With `None`, the request names no level.
    pub log_level: Option<Level>,
    /// Additional members of `_meta`: the JSON text of an object. `None` adds no members.
    pub meta: Option<&'o str>,
    /// The time to live of the task that the call should become (`2025-11-25`), in milliseconds. `None` requests no
    /// task.
    pub task: Option<Millis>,
}

impl<'o> Options<'o> {
    /// The client's timeouts, no progress, no log level, no additional `_meta`, and no task.
    pub const DEFAULT: Options<'o> = Options {
        timeout: None,
        maximum: None,
        progress: false,
        ignore_progress: false,
        log_level: None,
        meta: None,
        task: None,
    };

    /// Sets the timeout. If the client [requests progress](Options::with_progress), each notification of increased
    /// progress restarts the timeout, unless [`ignore_progress`](Options::ignore_progress) is set.
    #[must_use]
    pub const fn timeout(mut self, time: Millis) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Sets the maximum duration. Progress does not extend this duration. For a list, the duration includes all pages.
    #[must_use]
    pub const fn maximum(mut self, time: Millis) -> Self {
        self.maximum = Some(time);
        self
    }

    /// Removes the timeout and the maximum duration. Use this function for a request that stays open, such as a
    /// subscription of an extension.
    #[must_use]
    pub const fn without_timeout(self) -> Self {
        self.timeout(Millis::MAX).maximum(Millis::MAX)
    }

    /// Requests progress notifications.
    #[must_use]
    pub const fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Makes the timeout independent of progress.
    #[must_use]
    pub const fn ignore_progress(mut self) -> Self {
        self.ignore_progress = true;
        self
    }

    /// Requests log messages of at least this level for this request. The request contains the level only in
    /// `2026-07-28`. A server that does not declare `logging` may ignore the level. In earlier revisions,
    /// [`Client::set_log_level`](crate::Client::set_log_level) sets the level for all requests.
    #[must_use]
    pub const fn log_level(mut self, level: Level) -> Self {
        self.log_level = Some(level);
        self
    }

    /// Sets the additional members of `_meta`: a JSON object, such as `{"traceparent":"00-…"}`. The client repeats
    /// these members when it requests a further page of a list, [resumes](crate::Client::resume) a request, or renews a
    /// [subscription](crate::Client::listen) on the next connection. The client therefore stores these members in the
    /// text of the slot: see [`Client::in_flight`](crate::Client::in_flight).
    ///
    /// The function that sends the request returns [`SendError::Invalid`] if `object` is not a JSON object, or has a
    /// member that the client itself writes. A list fails with [`SendError::Unwritable`] if `object` does not fit into
    /// the text.
    #[must_use]
    pub const fn meta(mut self, object: &'o str) -> Self {
        self.meta = Some(object);
        self
    }

    /// Requests a task (`2025-11-25`), which the server keeps for `ttl` milliseconds. With [`Millis::MAX`], the server
    /// chooses this time to live.
    ///
    /// Pass this option only for tools whose [`task_support`](crate::client::ToolView::task_support) is not
    /// `Forbidden`. If the server does not declare tasks, or the [configuration](crate::client::ClientConfig::tasks)
    /// does not enable them, the call is an ordinary call. In `2026-07-28` the option has no effect, because the server
    /// decides which calls become tasks.
    #[must_use]
    pub const fn task(mut self, ttl: Millis) -> Self {
        self.task = Some(ttl);
        self
    }

    /// Validates and returns the additional members of `_meta`. Returns `Ok(None)` if the application set none.
    #[inline]
    pub(crate) fn members(&self) -> Result<Option<Json<'o>>, SendError> {
        self.meta.map(Options::parse_members).transpose()
    }

    #[cold]
    #[inline(never)]
    fn parse_members(text: &str) -> Result<Json<'_>, SendError> {
        let json = Json::parse(text.as_bytes()).map_err(|_| SendError::Invalid)?;
        let is_ours = |name: crate::json::Str<'_>| meta::OF_REQUESTS.iter().any(|own| name == **own);
        if json.kind() != Kind::Object || json.members().any(|(name, _)| is_ours(name)) {
            return Err(SendError::Invalid);
        }
        Ok(json)
    }
}

/// The members of `_meta` that belong to one request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meta<'m> {
    pub(crate) token: Option<u64>,
    pub(crate) level: Option<Level>,
    /// The additional members of the application.
    pub(crate) more: Option<Json<'m>>,
}
