//! Number scanning, resumable at any byte.

use super::{ScanErrorKind, Scanner, State, Step};
use crate::json::skip::after_digits;

/// The part of a number that the last byte belongs to, in grammar order.
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
    /// `e`
    Exponent,
    /// `+` or `-` after `e`.
    ExponentSign,
    /// Digits after `e`.
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
        Some(match (byte, self) {
            (b'0', Digits::Start | Digits::Sign) => Digits::Zero,
            (b'1'..=b'9', Digits::Start | Digits::Sign) | (b'0'..=b'9', Digits::Whole) => Digits::Whole,
            (b'0'..=b'9', Digits::Point | Digits::Fraction) => Digits::Fraction,
            (b'0'..=b'9', Digits::Exponent | Digits::ExponentSign | Digits::Power) => Digits::Power,
            (b'-', Digits::Start) => Digits::Sign,
            (b'.', Digits::Zero | Digits::Whole) => Digits::Point,
            (b'e' | b'E', Digits::Zero | Digits::Whole | Digits::Fraction) => Digits::Exponent,
            (b'+' | b'-', Digits::Exponent) => Digits::ExponentSign,
            _ => return None,
        })
    }
}

impl Scanner {
    /// Scans the rest of a saved number.
    #[inline(never)]
    pub(super) fn number<'t>(&mut self, digits: Digits, rest: &'t [u8]) -> &'t [u8] {
        let (digits, rest) = digits.take(rest);
        if rest.is_empty() {
            self.state = State::Number(digits);
        } else if digits.may_end() {
            self.end_value(rest);
            self.state = State::Between(Step::After);
        } else {
            return self.fail(ScanErrorKind::Syntax, rest);
        }
        rest
    }
}
