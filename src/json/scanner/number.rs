//! Number scanning, resumable at any byte.
#![allow(clippy::as_conversions, reason = "a small enum value widens to `usize`")]

use super::{ScanErrorKind, Scanner, State};
use crate::json::skip::after_digits;

/// The part of a number that contains the last byte. The variants are in grammar order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Digits {
    /// The position before the first byte.
    Start,
    /// `-`
    Sign,
    /// A leading `0`.
    Zero,
    /// Digits before the point.
    Whole,
    /// The point.
    Point,
    /// Digits after the point.
    Fraction,
    /// `e` or `E`.
    Exponent,
    /// `+` or `-` after the `e` or `E`.
    ExponentSign,
    /// Digits of the exponent.
    Power,
}

impl Digits {
    /// Returns whether a number may end here.
    #[inline]
    pub(super) fn may_end(self) -> bool {
        matches!(self, Digits::Zero | Digits::Whole | Digits::Fraction | Digits::Power)
    }

    /// Consumes the bytes that continue the number. Returns the last part and the bytes after the number.
    #[inline]
    pub(super) fn take(self, rest: &[u8]) -> (Digits, &[u8]) {
        let (mut digits, mut rest) = (self, rest);
        while let [byte, tail @ ..] = rest
            && let Some(next) = digits.followed_by(*byte)
        {
            let repeats = matches!(next, Digits::Whole | Digits::Fraction | Digits::Power);
            (digits, rest) = (next, if repeats { after_digits(tail) } else { tail });
        }
        (digits, rest)
    }

    /// Returns the part that `byte` belongs to. Returns `None` if the byte does not continue the number.
    #[inline]
    fn followed_by(self, byte: u8) -> Option<Digits> {
        let column = match byte {
            b'1'..=b'9' => 0,
            b'0' => 1,
            b'.' => 2,
            b'e' | b'E' => 3,
            b'-' => 4,
            b'+' => 5,
            _ => return None,
        };
        *NEXT.get(self as usize)?.get(column)?
    }
}

/// The transition table. Rows: the current part. Columns: `1` to `9`, `0`, `.`, `e` or `E`, `-`, `+`.
const NEXT: [[Option<Digits>; 6]; 9] = {
    use Digits::{Exponent, ExponentSign, Fraction, Point, Power, Sign, Whole, Zero};
    [
        [Some(Whole), Some(Zero), None, None, Some(Sign), None],
        [Some(Whole), Some(Zero), None, None, None, None],
        [None, None, Some(Point), Some(Exponent), None, None],
        [Some(Whole), Some(Whole), Some(Point), Some(Exponent), None, None],
        [Some(Fraction), Some(Fraction), None, None, None, None],
        [Some(Fraction), Some(Fraction), None, Some(Exponent), None, None],
        [Some(Power), Some(Power), None, None, Some(ExponentSign), Some(ExponentSign)],
        [Some(Power), Some(Power), None, None, None, None],
        [Some(Power), Some(Power), None, None, None, None],
    ]
};

impl Scanner {
    /// Scans the rest of a saved number.
    #[inline(never)]
    pub(super) fn number<'t>(&mut self, digits: Digits, rest: &'t [u8]) -> &'t [u8] {
        let (digits, rest) = digits.take(rest);
        if rest.is_empty() {
            self.state = State::Number(digits);
        } else if digits.may_end() {
            self.state = State::Between(self.end_value(rest));
        } else {
            return self.fail(ScanErrorKind::Syntax, rest);
        }
        rest
    }
}
