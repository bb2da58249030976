//! Decimal numbers without floating point: progress, priority, temperature.

use core::cmp::Ordering;
use core::fmt;

mod rank;
pub(crate) use rank::Rank;

/// A decimal number: a mantissa of 63 bits and a sign, and a power of ten. `1.0` equals `1`, and `-0` is `0`.
///
/// ```
/// use mcp_proto::json::Decimal;
/// let half = Decimal::new(5, -1);
/// assert_eq!(Decimal::parse("0.50"), Some(half));
/// assert!(half < Decimal::from(1u8));
/// assert_eq!(half.to_string(), "0.5");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// Without zeros at its end, unless the exponent is as large as it can be: so that equal numbers look the same.
    mantissa: i64,
    exponent: i16,
}

/// The longest text: a sign, a zero, a point, seven zeros and 19 digits; or the digits, `e` and an exponent.
const LONGEST: usize = 32;

/// Zero.
impl Default for Decimal {
    fn default() -> Self {
        Decimal::ZERO
    }
}

impl Decimal {
    /// Zero.
    pub const ZERO: Decimal = Decimal { mantissa: 0, exponent: 0 };

    /// `mantissa` times ten to the power of `exponent`.
    #[must_use]
    pub const fn new(mantissa: i64, exponent: i16) -> Decimal {
        if mantissa == 0 {
            return Decimal::ZERO;
        }
        let (mut mantissa, mut exponent) = (mantissa, exponent);
        while mantissa % 10 == 0
            && let Some(next) = exponent.checked_add(1)
        {
            mantissa /= 10;
            exponent = next;
        }
        Decimal { mantissa, exponent }
    }

    /// Reads a number as JSON writes it. Digits past those that fit are cut off, an exponent past the bounds becomes
    /// the bound. `None` if it is not a JSON number.
    #[must_use]
    pub fn parse(text: &str) -> Option<Decimal> {
        let (negative, rest) = match text.as_bytes() {
            [b'-', rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let limit = (i64::MAX as u64).saturating_add(u64::from(negative));
        let mut sum = Sum { magnitude: 0, exponent: 0, limit, full: false };
        let (whole, rest) = digits_of(rest);
        match whole {
            [] | [b'0', _, ..] => return None,
            _ => whole.iter().for_each(|digit| sum.add(*digit, false)),
        }
        let rest = match rest {
            [b'.', rest @ ..] => {
                let (fraction, rest) = digits_of(rest);
                if fraction.is_empty() {
                    return None;
                }
                fraction.iter().for_each(|digit| sum.add(*digit, true));
                rest
            }
            _ => rest,
        };
        let power = match rest {
            [] => 0,
            [b'e' | b'E', b'-', digits @ ..] => power(digits)?.wrapping_neg(),
            [b'e' | b'E', b'+', digits @ ..] | [b'e' | b'E', digits @ ..] => power(digits)?,
            _ => return None,
        };
        let exponent = sum.exponent.saturating_add(power);
        let exponent = exponent.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16;
        let mantissa = if negative {
            0i64.checked_sub_unsigned(sum.magnitude)?
        } else {
            0i64.checked_add_unsigned(sum.magnitude)?
        };
        Some(Decimal::new(mantissa, exponent))
    }

    /// The mantissa: the number is this times ten to the power of [`exponent`](Decimal::exponent).
    #[must_use]
    pub const fn mantissa(self) -> i64 {
        self.mantissa
    }

    /// The power of ten.
    #[must_use]
    pub const fn exponent(self) -> i16 {
        self.exponent
    }

    /// The number as JSON writes it.
    pub(crate) fn text(self) -> DecimalText {
        let mut buffer = [0; 20];
        let digits = digits(self.mantissa.unsigned_abs(), &mut buffer);
        let mut text = DecimalText { bytes: [0; LONGEST], length: 0 };
        if self.mantissa < 0 {
            text.push(b"-");
        }
        // How many digits stand before the point.
        let whole = i32::from(self.exponent).saturating_add(digits.len() as i32);
        match whole {
            _ if self.exponent >= 0 && whole <= 19 => {
                text.push(digits);
                (0..self.exponent).for_each(|_| text.push(b"0"));
            }
            1..=19 if self.exponent < 0 => {
                let (before, after) = digits.split_at_checked(whole as usize).unwrap_or((digits, b""));
                text.push(before);
                text.push(b".");
                text.push(after);
            }
            -6..=0 => {
                text.push(b"0.");
                (whole..0).for_each(|_| text.push(b"0"));
                text.push(digits);
            }
            _ => {
                text.push(digits);
                text.push(if self.exponent < 0 { b"e-" } else { b"e" });
                let mut buffer = [0; 20];
                text.push(self::digits(u64::from(self.exponent.unsigned_abs()), &mut buffer));
            }
        }
        text
    }
}

/// A number written out.
pub(crate) struct DecimalText {
    bytes: [u8; LONGEST],
    length: usize,
}

impl DecimalText {
    fn push(&mut self, more: &[u8]) {
        let free = self.bytes.iter_mut().skip(self.length);
        free.zip(more).for_each(|(place, byte)| *place = *byte);
        self.length = self.length.saturating_add(more.len()).min(LONGEST);
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The digits read so far.
struct Sum {
    magnitude: u64,
    exponent: i64,
    /// The most that fits.
    limit: u64,
    /// No more digits fit: further ones are cut.
    full: bool,
}

impl Sum {
    fn add(&mut self, digit: u8, fraction: bool) {
        let next = self.magnitude.checked_mul(10).and_then(|sum| sum.checked_add(u64::from(digit & 0x0F)));
        match next {
            Some(next) if next <= self.limit && !self.full => {
                self.magnitude = next;
                self.exponent = self.exponent.saturating_sub(i64::from(fraction));
            }
            _ => {
                self.full = true;
                self.exponent = self.exponent.saturating_add(i64::from(!fraction));
            }
        }
    }
}

fn digits_of(bytes: &[u8]) -> (&[u8], &[u8]) {
    let length = bytes.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(bytes.len());
    bytes.split_at_checked(length).unwrap_or((bytes, b""))
}

/// The value of an exponent's digits, saturating.
fn power(digits: &[u8]) -> Option<i64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0i64, |value, digit| {
        let digit = digit.is_ascii_digit().then_some(digit & 0x0F)?;
        Some(value.saturating_mul(10).saturating_add(i64::from(digit)))
    })
}

/// The decimal digits of `value`, at the end of `buffer`: no formatting machinery is linked for it.
pub(crate) fn digits(value: u64, buffer: &mut [u8; 20]) -> &[u8] {
    let mut rest = value;
    let mut start = buffer.len();
    for place in buffer.iter_mut().rev() {
        *place = b'0' | (rest % 10) as u8;
        rest /= 10;
        start = start.wrapping_sub(1);
        if rest == 0 {
            break;
        }
    }
    buffer.get(start..).unwrap_or_default()
}

/// An integer to be printed. What the machine says by itself needs no other: a host that prints no integers does not
/// link the formatting machinery for them, which is larger than all of this.
#[derive(Clone, Copy)]
pub(crate) struct Digits(pub(crate) u64);

impl Digits {
    pub(crate) fn of(count: usize) -> Digits {
        Digits(count as u64)
    }
}

impl fmt::Display for Digits {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(core::str::from_utf8(digits(self.0, &mut [0; 20])).unwrap_or_default())
    }
}

/// The order of the numbers, exact.
impl Ord for Decimal {
    fn cmp(&self, other: &Decimal) -> Ordering {
        let sign = self.mantissa.signum();
        match sign.cmp(&other.mantissa.signum()) {
            Ordering::Equal if sign < 0 => magnitude(other).cmp(&magnitude(self)),
            Ordering::Equal => magnitude(self).cmp(&magnitude(other)),
            order => order,
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Decimal) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Where the first digit stands, and 19 digits from there: these compare like the numbers without their signs.
fn magnitude(decimal: &Decimal) -> (i32, u64) {
    let digits = decimal.mantissa.unsigned_abs();
    let Some(most) = digits.checked_ilog10() else { return (i32::MIN, 0) };
    let scale = 10u64.checked_pow(18u32.saturating_sub(most)).unwrap_or(1);
    (i32::from(decimal.exponent).saturating_add(most as i32), digits.wrapping_mul(scale))
}

impl fmt::Display for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(core::str::from_utf8(self.text().as_bytes()).unwrap_or_default())
    }
}

/// The same as the number.
impl fmt::Debug for Decimal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

macro_rules! from {
    ($($integer:ty),*) => {$(
        impl From<$integer> for Decimal {
            fn from(value: $integer) -> Decimal {
                Decimal::new(i64::from(value), 0)
            }
        }
    )*};
}
from!(u8, u16, u32, i32, i64);

/// Past what fits, the last digit is cut off.
impl From<u64> for Decimal {
    fn from(value: u64) -> Decimal {
        match i64::try_from(value) {
            Ok(value) => Decimal::new(value, 0),
            Err(_) => Decimal::new((value / 10) as i64, 1),
        }
    }
}

#[cfg(test)]
mod tests;
