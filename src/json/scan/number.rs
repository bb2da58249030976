//! The number part of the scanner.

use super::{ScanErrorKind, Scanner, State};

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
        match (self, byte) {
            (Digits::Sign, b'0') => Some(Digits::Zero),
            (Digits::Sign, b'1'..=b'9') => Some(Digits::Whole),
            (Digits::Zero | Digits::Whole, b'.') => Some(Digits::Point),
            (Digits::Point, b'0'..=b'9') => Some(Digits::Fraction),
            (Digits::Zero | Digits::Whole | Digits::Fraction, b'e' | b'E') => Some(Digits::Exponent),
            (Digits::Exponent, b'+' | b'-') => Some(Digits::ExponentSign),
            (Digits::Exponent | Digits::ExponentSign, b'0'..=b'9') => Some(Digits::Power),
            _ => None,
        }
    }
}

impl Scanner {
    /// A number, from wherever it stands.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn number<'t>(&mut self, digits: Digits, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        if digits == Digits::Whole {
            rest = skip_digits(rest);
        }
        // Most numbers are short integers.
        match rest {
            [b',' | b'}' | b']', ..] if digits.may_end() => {
                self.end_value(rest);
                rest
            }
            _ => self.long_number(digits, rest),
        }
    }

    fn long_number<'t>(&mut self, digits: Digits, rest: &'t [u8]) -> &'t [u8] {
        let mut digits = digits;
        let mut rest = rest;
        loop {
            if matches!(digits, Digits::Whole | Digits::Fraction | Digits::Power) {
                rest = skip_digits(rest);
            }
            let [byte, tail @ ..] = rest else {
                self.state = State::Number(digits);
                return rest;
            };
            match digits.next(*byte) {
                Some(next) => digits = next,
                None if digits.may_end() => {
                    self.end_value(rest);
                    return rest;
                }
                None => return self.fail(ScanErrorKind::Syntax, rest),
            }
            rest = tail;
        }
    }
}

#[cfg_attr(not(target_os = "none"), inline(always))]
fn skip_digits(mut rest: &[u8]) -> &[u8] {
    while let [b'0'..=b'9', tail @ ..] = rest {
        rest = tail;
    }
    rest
}
