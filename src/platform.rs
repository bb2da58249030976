//! Division where there may be no instruction for it.
#![allow(clippy::as_conversions, reason = "a rest is less than its divisor, which has 32 bits")]

use crate::json::FAST;

/// How often `by` goes into `value`, and what is left over; by zero: nothing and nothing.
pub(crate) const fn divide(value: u64, by: u32) -> (u64, u32) {
    if !FAST && by != 0 {
        return bit_by_bit(value, by);
    }
    match (value.checked_div(by as u64), value.checked_rem(by as u64)) {
        (Some(quotient), Some(rest)) => (quotient, rest as u32),
        _ => (0, 0),
    }
}

/// What would be linked for a division on small processors is larger than all that needs one here.
const fn bit_by_bit(value: u64, by: u32) -> (u64, u32) {
    let (mut quotient, mut rest, mut bits) = (value, 0u32, u64::BITS);
    while bits > 0 {
        // Beyond 32 bits it is at least `by` in any case.
        let beyond = rest >> 31 != 0;
        rest = rest << 1 | (quotient >> 63) as u32;
        quotient <<= 1;
        if beyond || rest >= by {
            rest = rest.wrapping_sub(by);
            quotient |= 1;
        }
        bits = bits.wrapping_sub(1);
    }
    (quotient, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_give_the_same() {
        for value in [0, 1, 9, 10, 99, 12_345, u64::from(u32::MAX), u64::MAX / 3, u64::MAX] {
            for by in [1, 2, 3, 10, 255, 1 << 31, u32::MAX] {
                let right = (value / u64::from(by), (value % u64::from(by)) as u32);
                assert_eq!(divide(value, by), right, "{value} {by}");
                assert_eq!(bit_by_bit(value, by), right, "{value} {by}");
            }
        }
        assert_eq!(divide(7, 0), (0, 0));
    }
}
