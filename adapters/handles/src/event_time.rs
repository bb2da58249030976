//! The current time in an event loop, with fewer readings of the clock than events.

use mcp_proto::Millis;

/// Maximum number of consecutive events without a reading of the clock. If slow events follow quick events, this number
/// limits how far the time lags behind. With three events without a reading, one event in four needs a reading.
const MAX_SKIPPED: u8 = 3;

/// The time after each event of an event loop, with few readings of the clock while events are quick.
///
/// Reading a clock can take a tenth of the time of an event. If a reading equals the last one, the time remains valid
/// for the next three events, unless the event loop waits. While the state machine has a deadline, the clock is read
/// after each event, so that the state machine notices an expired timeout.
#[derive(Debug, Default)]
pub struct EventTime {
    last: Millis,
    /// Number of further events for which `last` is valid.
    valid: u8,
}

impl EventTime {
    /// Records a reading of the clock after a wait, or before work that sets deadlines. Returns the time. The clock is
    /// read again after the next event.
    #[inline]
    pub fn record(&mut self, now: Millis) -> Millis {
        (self.last, self.valid) = (now, 0);
        now
    }

    /// Returns the time after an event. Calls `read` if the last recorded time is no longer valid, or if the state
    /// machine has a deadline.
    #[inline]
    pub fn after_event(&mut self, has_deadline: bool, read: impl FnOnce() -> Millis) -> Millis {
        match self.valid.checked_sub(1) {
            Some(valid) if !has_deadline => self.valid = valid,
            _ => {
                let now = read();
                self.valid = if now == self.last { MAX_SKIPPED } else { 0 };
                self.last = now;
            }
        }
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_is_read_after_each_slow_event() {
        let mut time = EventTime::default();
        for now in (1..10).map(Millis) {
            assert_eq!(time.after_event(false, || now), now);
        }
    }

    #[test]
    fn clock_is_read_while_there_is_a_deadline() {
        let mut time = EventTime::default();
        time.record(Millis(5));
        for now in [5, 5, 900].map(Millis) {
            assert_eq!(time.after_event(true, || now), now);
        }
    }

    #[test]
    fn quick_events_share_a_reading_up_to_the_limit() {
        let mut time = EventTime::default();
        time.record(Millis(5));
        assert_eq!(time.after_event(false, || Millis(5)), Millis(5));
        for _ in 0..MAX_SKIPPED {
            assert_eq!(time.after_event(false, || panic!("the last time is valid")), Millis(5));
        }
        assert_eq!(time.after_event(false, || Millis(9)), Millis(9), "the limit is reached");
        assert_eq!(time.after_event(false, || Millis(10)), Millis(10), "the clock has advanced");
    }

    #[test]
    fn clock_is_read_after_the_first_event_after_a_wait() {
        let mut time = EventTime::default();
        for start in [5, 5, 1000] {
            time.record(Millis(start));
            assert_eq!(time.after_event(false, || Millis(start + 700)), Millis(start + 700));
        }
    }
}
