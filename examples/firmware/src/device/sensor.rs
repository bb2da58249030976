//! A thermometer that is not there: the LED warms it.

use mcp_proto::Millis;

/// How often it moves, by a tenth of a degree.
const PERIOD: Millis = Millis(1000);
const COLD: i16 = 215;
const WARM: i16 = 400;

/// A temperature in tenths of a degree Celsius. Boards without floats count in tenths.
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

    /// When it may move.
    pub(super) fn next(&self) -> Millis {
        self.next
    }

    /// What has happened since the last time. `true`: the temperature is another one.
    pub(super) fn pass(&mut self, now: Millis, led: bool) -> bool {
        let before = self.tenths;
        while self.next <= now {
            self.next = self.next.plus(PERIOD);
            let change = match (led, self.tenths) {
                (true, ..WARM) => 1,
                (false, COLD..) if self.tenths > COLD => -1,
                // It stays as it is, however long nobody has looked.
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
    fn the_led_warms_it_and_without_it_gets_cold() {
        let mut sensor = Sensor::new();
        assert!(!sensor.pass(Millis(999), true));
        assert!(sensor.pass(Millis(1000), true));
        assert_eq!(sensor.tenths(), 216);
        assert!(sensor.pass(Millis(3_600_000), true));
        assert_eq!(sensor.tenths(), WARM);
        assert!(!sensor.pass(Millis(3_600_500), false));
        assert!(sensor.pass(Millis(3_601_500), false));
        assert_eq!(sensor.tenths(), WARM - 1);
        assert!(sensor.pass(Millis(9_000_000), false));
        assert_eq!(sensor.tenths(), COLD);
    }
}
