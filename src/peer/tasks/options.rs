//! `TaskOptions`: the id, the time to live and the polling interval of a new task.

use crate::json::{Json, Kind};
use crate::peer::tasks::id::Random;
use crate::protocol::objects::view::duration;
use crate::time::Millis;

/// Options of a task: randomness for its id, its time to live, and the interval of polls.
///
/// ```
/// use mcp_proto::{Millis, server::TaskOptions};
/// let random = [7; 16]; // From a cryptographic generator.
/// let options = TaskOptions::new(random).ttl(Millis::seconds(600)).poll_interval(Millis::seconds(5));
/// ```
#[derive(Clone, Copy)]
pub struct TaskOptions {
    pub(crate) random: Random,
    ttl: Millis,
    longest_ttl: Millis,
    pub(crate) poll_interval: Millis,
}

impl TaskOptions {
    /// Creates options with 128 random bits for the id.
    ///
    /// The id can be the only protection of a task, so the bits must be unguessable. The default time to live is five
    /// minutes, and the default polling interval is one second.
    #[must_use]
    pub const fn new(random: [u8; 16]) -> TaskOptions {
        let (ttl, longest_ttl) = (Millis::seconds(300), Millis::seconds(3600));
        TaskOptions { random, ttl, longest_ttl, poll_interval: Millis::seconds(1) }
    }

    /// Returns the time to live of a task. `requested` is the time that the peer requests, or 0 if the peer requests
    /// none.
    pub(crate) fn ttl_for(&self, requested: u64) -> Millis {
        match requested {
            0 => self.ttl,
            requested => Millis(requested).min(self.longest_ttl),
        }
    }

    /// Replaces the random bits, so that several tasks can share the other options.
    #[must_use]
    pub const fn with_random(mut self, random: [u8; 16]) -> Self {
        self.random = random;
        self
    }

    /// Sets the time from the creation to the removal of the task, in milliseconds. `u64::MAX` is unlimited.
    ///
    /// In `2025-11-25`, the peer may request another time, which [`longest_ttl`](TaskOptions::longest_ttl) limits.
    #[must_use]
    pub const fn ttl(mut self, time: Millis) -> Self {
        self.ttl = time;
        self
    }

    /// Limits the time to live that the peer may request. The default is one hour.
    #[must_use]
    pub const fn longest_ttl(mut self, time: Millis) -> Self {
        self.longest_ttl = time;
        self
    }

    /// Sets the time that the peer should wait between polls, in milliseconds. With 0, the task suggests no interval.
    #[must_use]
    pub const fn poll_interval(mut self, time: Millis) -> Self {
        self.poll_interval = time;
        self
    }
}

/// Prints no randomness, because the id is a secret.
impl core::fmt::Debug for TaskOptions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TaskOptions")
            .field("ttl", &self.ttl)
            .field("poll_interval", &self.poll_interval)
            .finish_non_exhaustive()
    }
}

/// The time after which a deferred call automatically becomes a task, and the options of this task: see
/// [`Tasks::automatic`](crate::server::Tasks::automatic).
#[derive(Debug, Clone, Copy)]
pub(crate) struct AutomaticTasks {
    pub(crate) after: Millis,
    pub(crate) options: fn() -> TaskOptions,
}

/// Returns the time to live in the member `task` of a request (`2025-11-25`). Returns 0 if the member has no valid time
/// to live, and `None` if the member is not an object.
pub(crate) fn requested_ttl(task: Json<'_>) -> Option<u64> {
    (task.kind() == Kind::Object).then(|| task.get("ttl").and_then(duration).map_or(0, |Millis(ttl)| ttl))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requested_ttl_is_a_json_integer() {
        for (task, expected) in [
            (r#"{"ttl":60000}"#, Some(60_000)),
            (r#"{"ttl":60000.0}"#, Some(60_000)),
            (r#"{"ttl":18446744073709551616}"#, Some(u64::MAX)),
            (r#"{"ttl":null}"#, Some(0)),
            ("{}", Some(0)),
            ("60000", None),
        ] {
            assert_eq!(requested_ttl(Json::trusted(task.as_bytes())), expected, "{task}");
        }
    }
}
