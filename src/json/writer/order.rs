//! Tracks nesting, so that well-formed output of a caller needs no validation pass.

use super::Writer;

/// The open containers of a value, as long as the calls came in an order that makes JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nesting {
    /// One bit for each container, the innermost lowest: set for an object. The highest set bit is a sentinel, and the
    /// bit below stands for the surroundings of the value. Zero: unknown, the output has to be scanned.
    open: u32,
}

impl Nesting {
    /// The output has to be scanned.
    pub(super) const UNKNOWN: Nesting = Nesting { open: 0 };
    /// One value is expected, and nothing may follow it.
    pub(super) const VALUE: Nesting = Nesting { open: 0b10 };
    /// Members of an open object are expected.
    pub(super) const MEMBERS: Nesting = Nesting { open: 0b11 };

    /// A value begins, behind `last`.
    pub(super) fn value(&mut self, last: u8) {
        let fits = match last {
            b':' | b'[' => true,
            0 => *self == Nesting::VALUE,
            b'{' | b'\n' => false,
            // A comma comes before it, which is right in an array.
            _ => self.open > Nesting::MEMBERS.open && self.open & 1 == 0,
        };
        if !fits {
            self.lose();
        }
    }

    /// The name of a member begins, behind `last`.
    pub(super) fn name(&mut self, last: u8) {
        if self.open & 1 == 0 || last == b':' {
            self.lose();
        }
    }

    /// A container begins.
    pub(super) fn begin(&mut self, is_object: bool) {
        let has_room = self.open.leading_zeros() > 0 && self.open > 0;
        self.open = if has_room { self.open << 1 | u32::from(is_object) } else { 0 };
    }

    /// A container ends, behind `last`.
    pub(super) fn end(&mut self, is_object: bool, last: u8) {
        let fits = self.open > Nesting::MEMBERS.open && self.open & 1 == u32::from(is_object) && last != b':';
        self.open = if fits { self.open >> 1 } else { 0 };
    }

    /// The output can no longer be known.
    pub(super) fn lose(&mut self) {
        *self = Nesting::UNKNOWN;
    }

    /// Whether exactly one value was written, whose last byte is `last`.
    pub(super) fn is_value(self, last: u8) -> bool {
        self == Nesting::VALUE && last != 0
    }

    /// Whether whole members were written, or nothing at all.
    pub(super) fn is_members(self, last: u8) -> bool {
        self == Nesting::MEMBERS && last != b':'
    }
}

impl Writer<'_> {
    /// Ends one container for each bracket.
    #[cfg(feature = "serde")]
    pub(in crate::json) fn close(&mut self, brackets: &str) {
        for bracket in brackets.bytes() {
            self.order.end(bracket == b'}', self.last);
        }
        self.token(brackets);
    }
}
