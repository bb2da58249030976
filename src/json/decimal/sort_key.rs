//! Eight-byte sort key of a decimal number.
#![allow(
    clippy::as_conversions,
    reason = "only a positive exponent is shifted, and a key consists of two 32-bit halves"
)]

use super::Decimal;

/// A sort key: a larger decimal never has a smaller key. Decimals with the same first fifteen digits, or with extreme
/// exponents, may share a key. Peers that read numbers as floats have no more precision.
///
/// The key consists of two 32-bit words, the high word first. A `u64` would add padding to a struct that contains a
/// key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SortKey(u32, u32);

impl SortKey {
    /// The key below the key of every decimal.
    pub(crate) const NONE: SortKey = SortKey(0, 0);

    fn new(key: u64) -> SortKey {
        SortKey((key >> 32) as u32, key as u32)
    }

    fn key(self) -> u64 {
        u64::from(self.0) << 32 | u64::from(self.1)
    }
}

/// Compares the keys as numbers, because a comparison word by word takes more code.
impl PartialOrd for SortKey {
    fn partial_cmp(&self, other: &SortKey) -> Option<core::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for SortKey {
    fn cmp(&self, other: &SortKey) -> core::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

/// The key of zero, and of numbers with extremely small magnitudes. The keys of all other negative numbers are lower.
const ZERO: u64 = 1 << 63;

/// The smallest magnitude with 19 digits.
const LEAST: u64 = 1_000_000_000_000_000_000;

impl Decimal {
    pub(crate) fn sort_key(self) -> SortKey {
        let (mut digits, mut place) = (self.mantissa.unsigned_abs(), i32::from(self.exponent));
        if digits == 0 {
            return SortKey::new(ZERO);
        }
        while digits < LEAST {
            (digits, place) = (digits.wrapping_mul(10), place.wrapping_sub(1));
        }
        // The key has ten bits for the exponent and 53 for the digits.
        let distance = match place.wrapping_add(512) {
            ..=0 => 0,
            place @ 1..=1023 => (place as u64) << 53 | digits.wrapping_sub(LEAST) >> 10,
            _ => ZERO.wrapping_sub(1),
        };
        let key = if self.mantissa < 0 { ZERO.wrapping_sub(distance) } else { ZERO.wrapping_add(distance) };
        SortKey::new(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_order_like_their_numbers() {
        let rising = [
            "-1e32767",
            "-1e300",
            "-9223372036854775808",
            "-2",
            "-1",
            "-0.5",
            "-1e-400",
            "0",
            "1e-400",
            "0.000001",
            "0.1",
            "0.5",
            "0.99999999999999",
            "1",
            "1.00000000000001",
            "9",
            "10",
            "11",
            "99999999999999",
            "123456789012345",
            "123456789012346",
            "999999999999999",
            "1e15",
            "9223372036854775807",
            "1e300",
            "9e500",
            "1e501",
        ];
        let keys = rising.map(|text| Decimal::parse(text).unwrap().sort_key());
        assert!(keys.is_sorted_by(|left, right| left < right), "{keys:?}");
        assert!(SortKey::NONE < keys[0]);
    }

    #[test]
    fn extreme_or_close_numbers_have_equal_keys() {
        for pair in [
            ["1000000000000000000", "1000000000000000001"],
            ["1e600", "1e601"],
            ["9e600", "1e601"],
            ["1e-600", "9e-599"],
            ["0", "9e-600"],
            ["-1e-600", "0"],
        ] {
            let [less, more] = pair.map(|text| Decimal::parse(text).unwrap().sort_key());
            assert_eq!(less, more, "{pair:?}");
        }
    }
}
