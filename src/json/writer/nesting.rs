//! Tracks the order of writer calls, so that most valid output needs no scan by `checked.rs`.

use super::Writer;

/// The open containers of a value, while the order of calls guarantees valid JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Nesting {
    /// The kinds of the open containers, one bit each: set for an object. The lowest bit is the innermost container.
    /// The highest set bit is a sentinel; the bit below it stands for the container around the value. Zero is
    /// the unknown state: the output must be scanned.
    open: u32,
}

impl Nesting {
    /// The unknown state: the output must be scanned.
    pub(super) const UNKNOWN: Nesting = Nesting { open: 0 };
    /// The initial state for exactly one value.
    pub(super) const VALUE: Nesting = Nesting { open: 0b10 };
    /// The initial state for members of an open object.
    pub(super) const MEMBERS: Nesting = Nesting { open: 0b11 };

    /// Records the start of a value after the byte `last`. Returns whether the value needs a comma.
    #[inline]
    pub(super) fn value(&mut self, last: u8) -> bool {
        // A comma is needed after the same bytes as in `needs_comma`; one `match` decides both results.
        let (fits, needs_comma) = match last {
            b':' | b'[' => return false,
            0 => (*self == Nesting::VALUE, false),
            b'{' | b'\n' => (false, false),
            // Of all values, only the elements of an array have a comma before them.
            _ => (self.open > Nesting::MEMBERS.open && self.open & 1 == 0, true),
        };
        if !fits {
            self.set_unknown();
        }
        needs_comma
    }

    /// Records the name of a member after the byte `last`. Returns whether the name needs a comma.
    #[inline]
    pub(super) fn name(&mut self, last: u8) -> bool {
        if self.open & 1 == 0 || last == b':' {
            self.set_unknown();
        }
        needs_comma(last)
    }

    /// Records the start of a container.
    pub(super) fn begin(&mut self, is_object: bool) {
        let fits = self.open.leading_zeros() > 0 && self.open > 0;
        self.open = if fits { self.open << 1 | u32::from(is_object) } else { 0 };
    }

    /// Records the end of a container after the byte `last`.
    pub(super) fn end(&mut self, is_object: bool, last: u8) {
        let fits = self.open > Nesting::MEMBERS.open && self.open & 1 == u32::from(is_object) && last != b':';
        self.open = if fits { self.open >> 1 } else { 0 };
    }

    /// Marks the open containers as unknown.
    pub(super) fn set_unknown(&mut self) {
        *self = Nesting::UNKNOWN;
    }

    /// Returns whether the output is known to be exactly one value. `last` is the last byte of the output.
    pub(super) fn is_value(self, last: u8) -> bool {
        self == Nesting::VALUE && last != 0
    }

    /// Returns whether the output is known to consist of complete members, or to be empty. `last` is the last byte of
    /// the output.
    pub(super) fn is_members(self, last: u8) -> bool {
        self == Nesting::MEMBERS && last != b':'
    }
}

/// Returns whether the next name or value needs a comma after the byte `last`.
#[inline]
pub(super) fn needs_comma(last: u8) -> bool {
    !matches!(last, 0 | b'{' | b'[' | b':' | b'\n')
}

impl Writer<'_> {
    /// Writes closing brackets, and ends one container for each bracket.
    #[cfg(feature = "serde")]
    pub(in crate::json) fn close(&mut self, brackets: &str) {
        for bracket in brackets.bytes() {
            self.nesting.end(bracket == b'}', self.last);
        }
        self.token(brackets);
    }
}
