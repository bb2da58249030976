//! The clock of an event loop.

use std::time::{Duration, Instant};

use mcp_proto::{Clock, Millis};

/// The clock of an event loop, at most two milliseconds late.
///
/// The loop needs the time of each event. A comparison of instants costs less than a conversion to milliseconds, so the
/// clock converts once per millisecond.
pub(crate) struct EventClock {
    clock: Clock,
    now: Millis,
    /// The instant at which `now` expires.
    until: Instant,
}

impl EventClock {
    pub(crate) fn new(clock: Clock) -> EventClock {
        EventClock { clock, now: clock.now(), until: Instant::now() }
    }

    pub(crate) fn now(&mut self) -> Millis {
        let instant = Instant::now();
        if instant >= self.until {
            self.now = self.clock.now();
            self.until = instant.checked_add(Duration::from_millis(1)).unwrap_or(instant);
        }
        self.now
    }
}
