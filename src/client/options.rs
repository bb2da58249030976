//! What a host may say about a request: how long to wait, what to hear of it, and what else goes with it.

use crate::error::SendError;
use crate::json::{Json, Kind};
use crate::protocol::level::Level;
use crate::protocol::meta;
use crate::time::Millis;

/// How long to wait for an answer, what to hear until then, and what goes into `_meta`.
///
/// ```
/// use mcp_proto::{Level, Millis, client::Options};
/// let patient = Options::DEFAULT.timeout(Millis::seconds(5)).with_progress().log_level(Level::Info);
/// ```
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Options<'o> {
    /// How long to wait; `None`: as long as the client does ([`Timeouts::request`](crate::client::Timeouts::request)).
    pub timeout: Option<Millis>,
    /// How long to wait at most; `None`: as long as the client does ([`Timeouts::maximum`](crate::client::Timeouts::maximum)).
    pub maximum: Option<Millis>,
    /// Whether to ask for progress.
    pub progress: bool,
    /// Whether progress does not start the time anew.
    pub ignore_progress: bool,
    /// Which log messages to ask for.
    pub log_level: Option<Level>,
    /// More members for `_meta`.
    pub meta: Option<&'o str>,
}

impl<'o> Options<'o> {
    /// The client's own times, no progress, no log messages, and nothing more in `_meta`.
    pub const DEFAULT: Options<'o> = Options {
        timeout: None,
        maximum: None,
        progress: false,
        ignore_progress: false,
        log_level: None,
        meta: None,
    };

    /// Waits this long, in milliseconds. Progress starts it anew.
    #[must_use]
    pub const fn timeout(mut self, time: Millis) -> Self {
        self.timeout = Some(time);
        self
    }

    /// Waits this long at most, in milliseconds, whatever progress is made; for a list, all its pages included.
    #[must_use]
    pub const fn maximum(mut self, time: Millis) -> Self {
        self.maximum = Some(time);
        self
    }

    /// Asks for progress.
    #[must_use]
    pub const fn with_progress(mut self) -> Self {
        self.progress = true;
        self
    }

    /// Progress does not start the time anew.
    #[must_use]
    pub const fn ignore_progress(mut self) -> Self {
        self.ignore_progress = true;
        self
    }

    /// Asks for log messages about this request, of this level and above. It is part of the request in `2026-07-28`, if
    /// the server declared `logging`; before, [`Client::set_log_level`](crate::Client::set_log_level) is for all of them.
    #[must_use]
    pub const fn log_level(mut self, level: Level) -> Self {
        self.log_level = Some(level);
        self
    }

    /// More members for `_meta`: a JSON object, such as `{"traceparent":"00-…"}`. What the machine itself says there
    /// cannot be among them. It goes with every page of a list, and with a request that is
    /// [sent again](crate::Client::resume), so it is kept in the text of the slot: see
    /// [`Client::in_flight`](crate::Client::in_flight).
    ///
    /// What is no such object makes the request [`SendError::Unwritable`].
    #[must_use]
    pub const fn meta(mut self, object: &'o str) -> Self {
        self.meta = Some(object);
        self
    }

    /// The members of `_meta` that the host wants.
    pub(crate) fn members(&self) -> Result<Option<Json<'o>>, SendError> {
        let Some(text) = self.meta else { return Ok(None) };
        let json = Json::parse(text.as_bytes()).map_err(|_| SendError::Unwritable)?;
        let is_ours = |name: crate::json::Str<'_>| meta::OF_REQUESTS.iter().any(|own| name == **own);
        if json.kind() != Kind::Object || json.members().any(|(name, _)| is_ours(name)) {
            return Err(SendError::Unwritable);
        }
        Ok(Some(json))
    }
}

/// What goes into `_meta` of a request, beside who asks and in which revision.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Meta<'m> {
    pub(crate) token: Option<u64>,
    pub(crate) level: Option<Level>,
    /// The host's own members.
    pub(crate) more: Option<Json<'m>>,
}
