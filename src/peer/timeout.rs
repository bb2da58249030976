//! A timeout packed into four bytes. `outbound.rs` starts the timeout of a request, and `slots/deadlines.rs` finds the
//! expired requests.
#![allow(clippy::as_conversions, reason = "mantissa and exponent are cut to their bit widths")]

use crate::platform::cold_path;
use crate::time::Millis;

/// A duration in four bytes, to save memory in the slots of outbound requests and of tasks. The duration is exact up to
/// 18 hours. Longer durations are rounded up, by less than one part in 33 million.
///
/// The low 26 bits are the mantissa. The high 6 bits are the exponent: the number of zero bits that follow the
/// mantissa.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Timeout(u32);

const DIGITS: u32 = 26;

impl Timeout {
    pub(crate) const fn new(span: Millis) -> Timeout {
        let (mut digits, mut zeros) = (span.0, 0u32);
        while digits >> DIGITS != 0 {
            cold_path();
            digits = (digits >> 1).wrapping_add(digits & 1);
            zeros = zeros.wrapping_add(1);
        }
        Timeout(zeros << DIGITS | digits as u32)
    }

    // Loops, because a Cortex-M0 would call a runtime function of the compiler for a variable 64-bit shift.
    pub(crate) const fn millis(self) -> Millis {
        let (mut span, mut zeros) = ((self.0 & ((1 << DIGITS) - 1)) as u64, self.0 >> DIGITS);
        while zeros > 0 {
            cold_path();
            span = span.saturating_add(span);
            zeros = zeros.wrapping_sub(1);
        }
        Millis(span)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeout_is_exact_or_rounded_up() {
        let exact =
            [0, 1, 30_000, 3_600_000, 18 * 3_600_000, (1 << 26) - 1, 1 << 26, 1 << 40, 1 << 63, u64::MAX];
        for span in exact {
            assert_eq!(Timeout::new(Millis(span)).millis(), Millis(span), "{span}");
        }
        for shift in 0..64 {
            for more in [0, 1, 2, 3, 12345, u64::MAX >> 1, u64::MAX - 1] {
                let span = (u64::MAX >> shift).saturating_sub(more >> shift);
                let rounded = Timeout::new(Millis(span)).millis().0;
                assert!(rounded >= span && rounded - span <= span >> 25, "{span} {rounded}");
                assert_eq!(
                    Timeout::new(Millis(rounded)).millis().0,
                    rounded,
                    "{span}: rounding is idempotent"
                );
            }
        }
    }
}
