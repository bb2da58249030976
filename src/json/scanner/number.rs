//! Number scanning, resumable at any byte.

use super::{Member, ScanErrorKind, Scanner, State};

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
    fn take(self, rest: &[u8]) -> (Digits, &[u8]) {
        let (mut digits, mut rest) = (self, rest);
        while let [byte, tail @ ..] = rest
            && let Some(next) = digits.followed_by(*byte)
        {
            (digits, rest) = (next, tail);
            // The next digits belong to the same part.
            while let Digits::Whole | Digits::Fraction | Digits::Power = digits
                && let [b'0'..=b'9', tail @ ..] = rest
            {
                rest = tail;
            }
        }
        (digits, rest)
    }

    /// Returns the part that `byte` belongs to. Returns `None` if the byte does not continue the number.
    #[inline]
    fn followed_by(self, byte: u8) -> Option<Digits> {
        use Digits::{Exponent, ExponentSign, Fraction, Point, Power, Sign, Start, Whole, Zero};
        match (byte, self) {
            // These arms compare the order of the parts, because a `match` on each part would need an indirect jump.
            (b'0'..=b'9', _) => match self {
                _ if self <= Sign => Some(if byte == b'0' { Zero } else { Whole }),
                Zero => None,
                Whole => Some(Whole),
                _ if self <= Fraction => Some(Fraction),
                _ => Some(Power),
            },
            (b'.', Zero | Whole) => Some(Point),
            (b'e' | b'E', Zero | Whole | Fraction) => Some(Exponent),
            (b'-', Start) => Some(Sign),
            (b'+' | b'-', Exponent) => Some(ExponentSign),
            _ => None,
        }
    }
}

impl Scanner {
    /// Scans a number, or the rest of a saved number. Returns the bytes after the number. Saves the last part, even of
    /// a complete number, so the caller must set the next state.
    // This function is not inlined, because the loop of `Scanner::tokens` would otherwise spill more variables.
    #[inline(never)]
    pub(super) fn take_number<'t>(&mut self, digits: Digits, rest: &'t [u8]) -> &'t [u8] {
        let (digits, rest) = digits.take(rest);
        if self.depth == 1 && self.current == Some(Member::Id) {
            self.integer_id = digits <= Digits::Whole;
        }
        self.state = State::Number(digits);
        rest
    }

    /// Returns whether the saved number may end.
    #[inline]
    pub(super) fn number_may_end(&self) -> bool {
        matches!(self.state, State::Number(digits) if digits.may_end())
    }

    /// Scans the rest of a saved number.
    #[inline(never)]
    pub(super) fn number<'t>(&mut self, digits: Digits, rest: &'t [u8]) -> &'t [u8] {
        let rest = self.take_number(digits, rest);
        if rest.is_empty() {
            return rest;
        }
        if !self.number_may_end() {
            return self.fail(ScanErrorKind::Syntax, rest);
        }
        self.state = State::Between(self.end_value(rest));
        rest
    }
}
