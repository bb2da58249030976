//! Whether what a host writes is JSON, by the order in which it writes it.

use super::Writer;
use crate::json::FAST;

/// What is open in the value that a host writes, as long as everything came in an order that makes JSON of it. It only
/// spares a look at what was written: what is not sure is scanned. On bare metal it is nothing at all, and everything is
/// scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Order {
    /// One bit for each container, the innermost lowest: set for an object. The highest bit set is above all of them, and the
    /// one below that is for what stands around the value. Zero: it is not sure.
    open: [u64; if FAST { 1 } else { 0 }],
}

/// Around a value: nothing may follow it.
const ALONE: u64 = 0b10;
/// Around members.
const MEMBERS: u64 = 0b11;
const UNSURE: u64 = 0;

impl Order {
    /// Nothing is known of what was written.
    pub(super) const UNKNOWN: Order = Order::of(UNSURE);
    /// One value is to come.
    pub(super) const VALUE: Order = Order::of(ALONE);
    /// The members of an object that is open are to come.
    pub(super) const MEMBERS: Order = Order::of(MEMBERS);

    const fn of(open: u64) -> Order {
        Order { open: [open; if FAST { 1 } else { 0 }] }
    }

    /// A value begins, behind `last`.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn value(&mut self, last: u8) {
        let Some(open) = self.open.first_mut() else { return };
        let fits = match last {
            b':' | b'[' => true,
            0 => *open == ALONE,
            b'{' | b'\n' => false,
            // A comma comes before it, which is right in an array.
            _ => *open > MEMBERS && *open & 1 == 0,
        };
        if !fits {
            *open = UNSURE;
        }
    }

    /// The name of a member begins, behind `last`.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn name(&mut self, last: u8) {
        let Some(open) = self.open.first_mut() else { return };
        if *open & 1 == 0 || last == b':' {
            *open = UNSURE;
        }
    }

    /// A container begins.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn begin(&mut self, is_object: bool) {
        let Some(open) = self.open.first_mut() else { return };
        // More levels than bits: somebody has to look.
        *open = if open.leading_zeros() == 0 || *open == UNSURE {
            UNSURE
        } else {
            *open << 1 | u64::from(is_object)
        };
    }

    /// A container ends, behind `last`.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn end(&mut self, is_object: bool, last: u8) {
        let Some(open) = self.open.first_mut() else { return };
        let fits = *open > MEMBERS && *open & 1 == u64::from(is_object) && last != b':';
        *open = if fits { *open >> 1 } else { UNSURE };
    }

    /// Something else was done.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn lose(&mut self) {
        *self = Order::UNKNOWN;
    }

    /// Whether a value was written, whole and alone, of which the last byte is this.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn is_value(self, last: u8) -> bool {
        FAST && self == Order::VALUE && last != 0
    }

    /// Whether whole members were written, or nothing at all.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn is_members(self, last: u8) -> bool {
        FAST && self == Order::MEMBERS && last != b':'
    }
}

impl Writer<'_> {
    /// Ends a container for each bracket.
    #[cfg(feature = "serde")]
    pub(in crate::json) fn close(&mut self, brackets: &str) {
        for bracket in brackets.bytes() {
            self.order.end(bracket == b'}', self.last);
        }
        self.token(brackets);
    }

    /// The text of a value is written, which nobody has walked through: a container may be nested too deeply.
    pub(super) fn took(&mut self, value: &[u8]) {
        if matches!(value, [] | [b'{' | b'[', ..]) {
            self.order.lose();
        }
    }
}

#[cfg(test)]
mod tests;
