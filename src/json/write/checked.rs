//! What a host writes is checked, as far as the order in which it was written does not say that it is right.

use super::order::Order;
use super::{Mark, Writer};
use crate::buffer::Room;
use crate::json::DEPTH_LIMIT;
use crate::json::scanner::{ScanError, Scanner, scan};

impl Writer<'_> {
    /// Lets `body` write members of the object that is open, and checks them.
    ///
    /// # Errors
    ///
    /// What `body` wrote are not members: keys, each with one value.
    pub(crate) fn members_checked(&mut self, body: &mut dyn FnMut(&mut Writer<'_>)) -> Result<(), ScanError> {
        let mark = self.mark();
        let floor = core::mem::replace(&mut self.floor, self.at);
        self.order = Order::MEMBERS;
        body(self);
        let is_sure = core::mem::replace(&mut self.order, Order::UNKNOWN).is_members(self.last);
        self.floor = floor;
        if is_sure || self.overflowed || matches!(self.room, Room::Measure) {
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

    /// Lets `body` write one value, and checks it. Nothing is left of one that is wrong. While it only counts, nothing
    /// is checked; after an overflow neither, because nobody sends that.
    ///
    /// # Errors
    ///
    /// What `body` wrote is not exactly one JSON value.
    pub(crate) fn value_checked(&mut self, body: &mut dyn FnMut(&mut Writer<'_>)) -> Result<(), ScanError> {
        let mark = self.mark();
        self.separate();
        // The comma is written: the value begins as if it were the first thing, and cannot roll back what is before.
        let floor = core::mem::replace(&mut self.floor, self.at);
        let from = self.at;
        self.last = 0;
        let around = core::mem::replace(&mut self.order, Order::VALUE);
        body(self);
        let is_sure = core::mem::replace(&mut self.order, around).is_value(self.last);
        self.floor = floor;
        if matches!(self.last, b'}' | b']') {
            // How deep it goes nobody has counted, for what is around it.
            self.order.lose();
        }
        if is_sure { Ok(()) } else { self.check_value(from, mark) }
    }

    /// Looks at the value that was written from there on: on hosts seldom, and away from what is done for each.
    #[cfg_attr(not(target_os = "none"), cold)]
    #[cfg_attr(not(target_os = "none"), inline(never))]
    fn check_value(&mut self, from: usize, mark: Mark) -> Result<(), ScanError> {
        if self.overflowed || matches!(self.room, Room::Measure) {
            return Ok(());
        }
        let checked = scan(self.room.bytes().get(from..self.at).unwrap_or_default());
        if checked.is_err() {
            self.rollback(mark);
        }
        checked.map(|_| ())
    }
}
