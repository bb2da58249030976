//! The number part of the scanner.

use super::{ScanErrorKind, Scanner, State};
use crate::json::swar::FAST;

/// How far a number has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Digits {
    /// `-`
    Sign,
    /// A leading `0`
    Zero,
    /// Digits before the point
    Whole,
    /// The point
    Point,
    /// Digits after the point
    Fraction,
    /// `e`
    Exponent,
    /// `+` or `-` after `e`
    ExponentSign,
    /// Digits after `e`
    Power,
}

impl Digits {
    pub(super) fn may_end(self) -> bool {
        matches!(self, Digits::Zero | Digits::Whole | Digits::Fraction | Digits::Power)
    }

    /// What it has come to with one more byte; `None` if that byte is no part of it.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn next(self, byte: u8) -> Option<Digits> {
        use Digits::{Exponent, ExponentSign, Fraction, Point, Power, Sign, Whole, Zero};
        Some(match (byte, self) {
            (b'0', Sign) => Zero,
            (b'0'..=b'9', Sign | Whole) => Whole,
            (b'0'..=b'9', Point | Fraction) => Fraction,
            (b'0'..=b'9', Exponent | ExponentSign | Power) => Power,
            (b'.', Zero | Whole) => Point,
            (b'e' | b'E', Zero | Whole | Fraction) => Exponent,
            (b'+' | b'-', Exponent) => ExponentSign,
            _ => return None,
        })
    }
}

impl Scanner {
    /// A number, from wherever it stands.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn number<'t>(&mut self, digits: Digits, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        if FAST && digits == Digits::Whole {
            rest = skip_digits(rest);
        }
        // Most numbers are short integers.
        match rest {
            [b',' | b'}' | b']', ..] if FAST && digits.may_end() => {
                self.end_value(rest);
                rest
            }
            _ => self.long_number(digits, rest),
        }
    }

    fn long_number<'t>(&mut self, digits: Digits, rest: &'t [u8]) -> &'t [u8] {
        let mut digits = digits;
        let mut rest = rest;
        while let [byte, tail @ ..] = rest {
            match digits.next(*byte) {
                Some(next) => digits = next,
                None if digits.may_end() => {
                    self.end_value(rest);
                    return rest;
                }
                None => return self.fail(ScanErrorKind::Syntax, rest),
            }
            rest = if FAST { skip_digits_of(digits, tail) } else { tail };
        }
        self.state = State::Number(digits);
        rest
    }
}

/// Skips digits where any number of them may follow.
#[cfg_attr(not(target_os = "none"), inline(always))]
fn skip_digits_of(digits: Digits, rest: &[u8]) -> &[u8] {
    if matches!(digits, Digits::Whole | Digits::Fraction | Digits::Power) { skip_digits(rest) } else { rest }
}

#[cfg_attr(not(target_os = "none"), inline(always))]
fn skip_digits(mut rest: &[u8]) -> &[u8] {
    while let [b'0'..=b'9', tail @ ..] = rest {
        rest = tail;
    }
    rest
}
