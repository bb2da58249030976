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
        if digits == Digits::Start
            && let [b'-', tail @ ..] = rest
        {
            (digits, rest) = (Digits::Sign, tail);
        }
        if digits <= Digits::Sign {
            match rest {
                [b'0', tail @ ..] => (digits, rest) = (Digits::Zero, tail),
                [b'1'..=b'9', tail @ ..] => (digits, rest) = (Digits::Whole, tail),
                _ => return (digits, rest),
            }
        }
        if digits == Digits::Whole {
            rest = after_digits(rest);
        }
        match rest {
            [b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-', ..] => digits.take_fraction(rest),
            _ => (digits, rest),
        }
    }

    /// Consumes the fraction and the exponent.
    #[inline(never)]
    fn take_fraction(self, rest: &[u8]) -> (Digits, &[u8]) {
        let (mut digits, mut rest) = (self, rest);
        if (digits == Digits::Zero || digits == Digits::Whole)
            && let [b'.', tail @ ..] = rest
        {
            (digits, rest) = (Digits::Point, tail);
        }
        if (digits == Digits::Point || digits == Digits::Fraction)
            && let [b'0'..=b'9', tail @ ..] = rest
        {
            (digits, rest) = (Digits::Fraction, after_digits(tail));
        }
        if digits != Digits::Point
            && digits <= Digits::Fraction
            && let [b'e' | b'E', tail @ ..] = rest
        {
            (digits, rest) = (Digits::Exponent, tail);
        }
        if digits == Digits::Exponent
            && let [b'+' | b'-', tail @ ..] = rest
        {
            (digits, rest) = (Digits::ExponentSign, tail);
        }
        if digits >= Digits::Exponent
            && let [b'0'..=b'9', tail @ ..] = rest
        {
            (digits, rest) = (Digits::Power, after_digits(tail));
        }
        (digits, rest)
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
