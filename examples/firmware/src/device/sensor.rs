//! A simulated thermometer that the LED warms.

use mcp_proto::Millis;

/// Period in which the temperature changes by at most a tenth of a degree.
const PERIOD: Millis = Millis(1000);
const COLD: i16 = 215;
const WARM: i16 = 400;

/// A temperature in tenths of a degree Celsius: an integer, for boards without floats.
pub(super) struct Sensor {
    tenths: i16,
    next: Millis,
}

impl Sensor {
    pub(super) const fn new() -> Sensor {
        Sensor { tenths: COLD, next: PERIOD }
    }

    pub(super) fn tenths(&self) -> i16 {
        self.tenths
    }

    /// Returns the time of the next possible change.
    pub(super) fn next(&self) -> Millis {
        self.next
    }

    /// Updates the temperature for the time since the last call. Returns whether the temperature has changed.
    pub(super) fn update(&mut self, now: Millis, led: bool) -> bool {
        let before = self.tenths;
        while self.next <= now {
            self.next = self.next.plus(PERIOD);
            let change = match (led, self.tenths) {
                (true, ..WARM) => 1,
                (false, COLD..) if self.tenths > COLD => -1,
                // At its limit the temperature does not change, so the loop skips all periods up to `now`.
                _ => {
                    self.next = now.plus(PERIOD);
                    0
                }
            };
            self.tenths = self.tenths.saturating_add(change);
        }
        self.tenths != before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temperature_rises_with_led_and_falls_without() {
        let mut sensor = Sensor::new();
        assert!(!sensor.update(Millis(999), true));
        assert!(sensor.update(Millis(1000), true));
        assert_eq!(sensor.tenths(), 216);
        assert!(sensor.update(Millis(3_600_000), true));
        assert_eq!(sensor.tenths(), WARM);
        assert!(!sensor.update(Millis(3_600_500), false));
        assert!(sensor.update(Millis(3_601_500), false));
        assert_eq!(sensor.tenths(), WARM - 1);
        assert!(sensor.update(Millis(9_000_000), false));
        assert_eq!(sensor.tenths(), COLD);
    }
}
