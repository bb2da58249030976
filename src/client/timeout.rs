//! Timeouts in half the room that other spans take: every slot keeps one.
#![allow(clippy::as_conversions, reason = "digits and their place are cut to the bits that they have")]

use crate::time::Millis;

/// A span of time in four bytes: up to 18 hours as it is, beyond that rounded up, by less than one part in 33 million.
///
/// 26 bits of digits, and above them the number of zeros behind these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeout(u32);

const DIGITS: u32 = 26;

impl Timeout {
    /// No time at all.
    pub(crate) const ZERO: Timeout = Timeout(0);

    pub(crate) const fn new(span: Millis) -> Timeout {
        let mut zeros = u64::BITS.saturating_sub(DIGITS).saturating_sub(span.0.leading_zeros());
        let mut digits = span.0 >> zeros;
        if digits << zeros != span.0 {
            digits = digits.wrapping_add(1);
            // All digits were the highest: now there is one more.
            let more = (digits >> DIGITS) as u32;
            (digits, zeros) = (digits >> more, zeros.wrapping_add(more));
        }
        Timeout(zeros << DIGITS | digits as u32)
    }

    pub(crate) const fn millis(self) -> Millis {
        let (digits, zeros) = ((self.0 & ((1 << DIGITS) - 1)) as u64, self.0 >> DIGITS);
        Millis(if digits.leading_zeros() < zeros { u64::MAX } else { digits << zeros })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_kept_as_they_are_or_rounded_up_a_little() {
        let exact =
            [0, 1, 30_000, 3_600_000, 18 * 3_600_000, (1 << 26) - 1, 1 << 26, 1 << 40, 1 << 63, u64::MAX];
        for span in exact {
            assert_eq!(Timeout::new(Millis(span)).millis(), Millis(span), "{span}");
        }
        for shift in 0..64 {
            for more in [0, 1, 2, 3, 12345, u64::MAX >> 1, u64::MAX - 1] {
                let span = (u64::MAX >> shift).saturating_sub(more >> shift);
                let kept = Timeout::new(Millis(span)).millis().0;
                assert!(kept >= span && kept - span <= span >> 25, "{span} {kept}");
                assert_eq!(Timeout::new(Millis(kept)).millis().0, kept, "{span}: what was rounded stays");
            }
        }
    }
}
