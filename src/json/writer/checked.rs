//! Validation of what a caller writes, unless the order of its calls proves it.

use super::order::Nesting;
use super::{Mark, Writer};
use crate::buffer::BufferMut;
use crate::json::DEPTH_LIMIT;
use crate::json::scanner::{ScanError, Scanner, scan};

impl Writer<'_> {
    /// Lets `body` write members of the open object, and validates them.
    ///
    /// # Errors
    ///
    /// What `body` wrote are not members: keys, each with one value.
    pub(crate) fn members_checked(&mut self, body: &mut dyn FnMut(&mut Writer<'_>)) -> Result<(), ScanError> {
        let mark = self.mark();
        let floor = core::mem::replace(&mut self.floor, self.at);
        self.order = Nesting::MEMBERS;
        body(self);
        let is_sure = core::mem::replace(&mut self.order, Nesting::UNKNOWN).is_members(self.last);
        self.floor = floor;
        if is_sure || self.overflowed || matches!(self.room, BufferMut::Measure) {
            return Ok(());
        }
        let written = self.room.bytes().get(mark.at..self.at).unwrap_or_default();
        let mut scanner = Scanner::new(DEPTH_LIMIT);
        scanner.feed(b"{");
        let members = match written {
            [b',', members @ ..] if mark.last != b'{' => members,
            members => members,
        };
        scanner.feed(members);
        scanner.feed(b"}");
        let checked = scanner.finish();
        if checked.is_err() {
            self.rollback(mark);
        }
        checked.map(|_| ())
    }

    /// Lets `body` write one value, and validates it. A wrong one is taken back. While the writer only counts, and after
    /// an overflow, nothing is validated.
    ///
    /// # Errors
    ///
    /// What `body` wrote is not exactly one JSON value.
    pub(crate) fn value_checked(&mut self, body: &mut dyn FnMut(&mut Writer<'_>)) -> Result<(), ScanError> {
        let mark = self.mark();
        self.separate();
        // The comma is written. The value begins like the first one, and cannot roll back what is before.
        let floor = core::mem::replace(&mut self.floor, self.at);
        let from = self.at;
        self.last = 0;
        let around = core::mem::replace(&mut self.order, Nesting::VALUE);
        body(self);
        let is_sure = core::mem::replace(&mut self.order, around).is_value(self.last);
        self.floor = floor;
        if matches!(self.last, b'}' | b']') {
            // Its depth is unknown to the containers around it.
            self.order.lose();
        }
        if is_sure { Ok(()) } else { self.check_value(from, mark) }
    }

    /// Validates the value that was written from `from` on.
    #[cold]
    fn check_value(&mut self, from: usize, mark: Mark) -> Result<(), ScanError> {
        if self.overflowed || matches!(self.room, BufferMut::Measure) {
            return Ok(());
        }
        let checked = scan(self.room.bytes().get(from..self.at).unwrap_or_default());
        if checked.is_err() {
            self.rollback(mark);
        }
        checked.map(|_| ())
    }
}
