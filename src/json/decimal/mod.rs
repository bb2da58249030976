//! Decimal numbers without floating point: progress, priority, temperature.
#![allow(
    clippy::as_conversions,
    reason = "a mantissa has at most 20 digits, and other values are compared or clamped first"
)]

use super::string::text_of;
use super::write_text::{WriteText, debug_prints, prints};
use crate::platform::divide;
use core::cmp::Ordering;

#[cfg(feature = "serde")]
mod decode;
#[cfg(feature = "serde")]
mod encode;
mod sort_key;
pub(crate) use sort_key::SortKey;

/// A decimal number: a sign, a mantissa of 63 bits and a power of ten. `1.0` equals `1`, and `-0` is `0`.
///
/// As an argument of a tool, a `Decimal` is any JSON number. In a structured result, a `Decimal` is also a JSON
/// number. Unlike `f32` and `f64`, a `Decimal` links no floating-point code.
///
/// ```
/// use mcp_proto::Decimal;
/// let half = Decimal::new(5, -1);
/// assert_eq!(Decimal::parse("0.50"), Some(half));
/// assert!(half < Decimal::from(1u8));
/// assert_eq!(half.to_string(), "0.5");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The digits without trailing zeros, so that equal numbers have equal fields. Trailing zeros remain only if the
    /// exponent is at its upper bound.
    mantissa: i64,
    exponent: i16,
}

/// Returns zero.
impl Default for Decimal {
    fn default() -> Self {
        Decimal::ZERO
    }
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal { mantissa: 0, exponent: 0 };

    /// Creates the number `mantissa` times ten to the power of `exponent`.
    #[must_use]
    pub const fn new(mantissa: i64, exponent: i16) -> Decimal {
        if mantissa == 0 {
            return Decimal::ZERO;
        }
        let (mut magnitude, mut exponent) = (mantissa.unsigned_abs(), exponent);
        while let (tenth, 0) = divide(magnitude, 10)
            && let Some(next) = exponent.checked_add(1)
        {
            (magnitude, exponent) = (tenth, next);
        }
        let mantissa = if mantissa < 0 { 0i64.wrapping_sub_unsigned(magnitude) } else { magnitude as i64 };
        Decimal { mantissa, exponent }
    }

    /// Parses a JSON number. Cuts off digits that do not fit, and replaces an exponent out of bounds by the nearest
    /// bound. Returns `None` if the text is not a JSON number.
    #[must_use]
    pub const fn parse(text: &str) -> Option<Decimal> {
        let (negative, rest) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let limit = (i64::MAX as u64).saturating_add(negative as u64);
        let mut sum = Sum { magnitude: 0, exponent: 0, limit, full: false };
        let rest = match rest {
            [b'0', b'0'..=b'9', ..] => return None,
            [b'0'..=b'9', ..] => sum.add_all(rest, false),
            _ => return None,
        };
        let rest = match rest {
            [b'.', fraction @ ..] if matches!(fraction, [b'0'..=b'9', ..]) => sum.add_all(fraction, true),
            _ => rest,
        };
        let (below_one, digits) = match rest {
            [] => (false, b"0".as_slice()),
            [b'e' | b'E', b'-', digits @ ..] => (true, digits),
            [b'e' | b'E', b'+', digits @ ..] | [b'e' | b'E', digits @ ..] => (false, digits),
            _ => return None,
        };
        let Some(power) = power(digits) else { return None };
        let power = if below_one { power.wrapping_neg() } else { power };
        let exponent = match sum.exponent.saturating_add(power) {
            ..=-0x8000 => i16::MIN,
            0x7FFF.. => i16::MAX,
            exponent => exponent as i16,
        };
        let mantissa = if negative {
            0i64.checked_sub_unsigned(sum.magnitude)
        } else {
            0i64.checked_add_unsigned(sum.magnitude)
        };
        match mantissa {
            Some(mantissa) => Some(Decimal::new(mantissa, exponent)),
            None => None,
        }
    }

    /// Returns the mantissa. The number is the mantissa times ten to the power of [`exponent`](Decimal::exponent).
    #[must_use]
    pub const fn mantissa(self) -> i64 {
        self.mantissa
    }

    /// Returns the power of ten.
    #[must_use]
    pub const fn exponent(self) -> i16 {
        self.exponent
    }
}

/// Writes the number as JSON.
impl WriteText for Decimal {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        if self.mantissa < 0 {
            put("-");
        }
        let mut buffer = [0; 20];
        let digits = digits(self.mantissa.unsigned_abs(), &mut buffer);
        // `whole` is the number of digits before the point.
        let whole = i32::from(self.exponent).wrapping_add(digits.len() as i32);
        if !(-6..=19).contains(&whole) {
            return (digits, "e", self.exponent).pieces(put);
        }
        let (before, after) = digits.split_at_checked(whole.max(0) as usize).unwrap_or((digits, ""));
        put(if before.is_empty() { "0" } else { before });
        (0..self.exponent).for_each(|_| put("0"));
        if !after.is_empty() {
            put(".");
            (whole..0).for_each(|_| put("0"));
            put(after);
        }
    }
}

/// The digits read so far.
struct Sum {
    magnitude: u64,
    exponent: i32,
    /// The largest magnitude that fits.
    limit: u64,
    /// Whether a digit did not fit. Further digits are cut off.
    full: bool,
}

impl Sum {
    /// Adds all digits at the start of `text`. Returns the rest.
    const fn add_all<'a>(&mut self, text: &'a [u8], fraction: bool) -> &'a [u8] {
        let mut rest = text;
        while let [digit @ b'0'..=b'9', tail @ ..] = rest {
            self.add(*digit, fraction);
            rest = tail;
        }
        rest
    }

    const fn add(&mut self, digit: u8, fraction: bool) {
        // A checked multiplication would take much flash on 32-bit targets.
        let next = self.magnitude.wrapping_mul(10).wrapping_add((digit & 0x0F) as u64);
        if self.magnitude <= i64::MAX as u64 / 10 && next <= self.limit && !self.full {
            self.magnitude = next;
            self.exponent = self.exponent.saturating_sub(fraction as i32);
        } else {
            self.full = true;
            self.exponent = self.exponent.saturating_add(!fraction as i32);
        }
    }
}

/// Returns the value of an exponent's digits. A value that is far out of bounds loses its last digits. Returns
/// `None` if a byte is not a digit, or there are no digits.
const fn power(digits: &[u8]) -> Option<i32> {
    let (mut value, mut rest) = (0i32, digits);
    while let [digit @ b'0'..=b'9', tail @ ..] = rest {
        if value < 100_000_000 {
            value = value.wrapping_mul(10).wrapping_add((*digit & 0x0F) as i32);
        }
        rest = tail;
    }
    if digits.is_empty() || !rest.is_empty() { None } else { Some(value) }
}

/// Writes the decimal digits of `value` to the end of `buffer`, and returns the digits. Links no formatting machinery.
pub(crate) fn digits(value: u64, buffer: &mut [u8; 20]) -> &str {
    text_of(digit_bytes(value, buffer))
}

/// Writes the decimal digits of `value` to the end of `buffer`, and returns the digits as bytes.
pub(crate) fn digit_bytes(value: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let (mut rest, mut start) = (value, buffer.len());
    for place in buffer.iter_mut().rev() {
        let digit;
        (rest, digit) = divide(rest, 10);
        *place = b'0' | digit as u8;
        start = start.wrapping_sub(1);
        if rest == 0 {
            break;
        }
    }
    buffer.get(start..).unwrap_or_default()
}

/// Writes a text to `buffer`, and returns the text. Returns an empty text if the text does not fit.
#[cfg(feature = "serde")]
fn text_in<'b>(text: &dyn WriteText, buffer: &'b mut [u8]) -> &'b str {
    let mut length = 0usize;
    text.pieces(&mut |piece| {
        buffer.iter_mut().skip(length).zip(piece.bytes()).for_each(|(place, byte)| *place = byte);
        length = length.saturating_add(piece.len());
    });
    text_of(buffer.get(..length).unwrap_or_default())
}

/// Compares by exact numeric value.
impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let sign = self.mantissa.signum();
        match sign.cmp(&other.mantissa.signum()) {
            Ordering::Equal if sign < 0 => compare(other, self),
            Ordering::Equal => compare(self, other),
            order => order,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Compares magnitudes by the position of the first digit, then digit by digit. Equal numbers have equal digits,
/// because trailing zeros occur only with the largest exponent.
fn compare(left: &Decimal, right: &Decimal) -> Ordering {
    let place =
        |decimal: &Decimal, digits: &str| i32::from(decimal.exponent).saturating_add(digits.len() as i32);
    let (mut buffer, mut other) = ([0; 20], [0; 20]);
    let left_digits = digits(left.mantissa.unsigned_abs(), &mut buffer);
    let right_digits = digits(right.mantissa.unsigned_abs(), &mut other);
    place(left, left_digits).cmp(&place(right, right_digits)).then_with(|| left_digits.cmp(right_digits))
}

prints!(Decimal);
debug_prints!(Decimal);

macro_rules! from {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Decimal {
            fn from(value: $integer) -> Decimal {
                Decimal::new(i64::from(value), 0)
            }
        }
    )*};
}
from!(u8, u16, u32, i8, i16, i32, i64);

/// Converts an integer. Cuts off the last digit if the number does not fit in 63 bits.
impl From<u64> for Decimal {
    fn from(value: u64) -> Decimal {
        match i64::try_from(value) {
            Ok(value) => Decimal::new(value, 0),
            Err(_) => Decimal::new(divide(value, 10).0 as i64, 1),
        }
    }
}

/// Converts an index or a count, such as an index of `enumerate`.
impl From<usize> for Decimal {
    fn from(value: usize) -> Decimal {
        Decimal::from(value as u64)
    }
}

#[cfg(test)]
mod tests;
