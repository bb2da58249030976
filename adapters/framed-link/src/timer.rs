//! The time after which a frame is repeated, from measured round trips.

use mcp_proto::Millis;

/// The assumed duration of a round trip before the first measurement, in milliseconds.
const FIRST_ROUND_TRIP: u32 = 40;
/// Time that is added to the doubled round trip for the time limit, in milliseconds.
const MARGIN: u32 = 20;
/// Maximum time between two repetitions, in milliseconds.
const MAX_LIMIT: u32 = 2000;

/// The timer of the frame that waits for an answer.
#[derive(Debug, Clone)]
pub(crate) struct Timer {
    /// The mean round trip, in milliseconds.
    round_trip: u32,
    /// The time limit in milliseconds, which doubles with each repetition until a round trip is measured.
    limit: u32,
    /// The time at which the frame was written. `None` if no frame waits for an answer.
    started: Option<Millis>,
}

impl Timer {
    pub(crate) const fn new() -> Timer {
        Timer { round_trip: FIRST_ROUND_TRIP, limit: 2 * FIRST_ROUND_TRIP + MARGIN, started: None }
    }

    pub(crate) fn start(&mut self, now: Millis) {
        self.started = Some(now);
    }

    /// Stops the timer, because the answer has arrived. `is_measured` is `false` after a repetition, because the
    /// answer may belong to either copy of the frame.
    pub(crate) fn answered(&mut self, now: Millis, is_measured: bool) {
        let Some(started) = self.started.take().filter(|_| is_measured) else { return };
        let measured = u32::try_from(now.since(started).0).unwrap_or(MAX_LIMIT).min(MAX_LIMIT);
        self.round_trip = self.round_trip.saturating_mul(3).saturating_add(measured).div_ceil(4);
        self.limit = self.round_trip.saturating_mul(2).saturating_add(MARGIN).min(MAX_LIMIT);
    }

    /// Stops the timer without a measurement.
    pub(crate) fn stop(&mut self) {
        self.started = None;
    }

    pub(crate) fn deadline(&self) -> Option<Millis> {
        self.started.map(|started| started.plus(Millis(self.limit.into())))
    }

    /// Returns whether the time limit has passed. If so, doubles the time limit and stops the timer.
    pub(crate) fn take_expired(&mut self, now: Millis) -> bool {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return false;
        }
        self.limit = self.limit.saturating_mul(2).min(MAX_LIMIT);
        self.started = None;
        true
    }
}
