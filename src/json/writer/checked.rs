//! Validation of JSON that the application wrote, if `nesting.rs` did not prove it valid.

use super::nesting::Nesting;
use super::{Mark, Writer};
use crate::json::scanner::{ScanError, Scanner};
use crate::json::{DEPTH_LIMIT, WriteBody};

impl Writer<'_> {
    /// Calls `body` to write members of the open object, and validates the members. Discards invalid members. Skips
    /// validation while the writer only counts, and after an overflow.
    ///
    /// # Errors
    ///
    /// Returns an error if `body` wrote something other than members: keys, each with one value. Also returns an error
    /// if an object with these members is nested deeper than [`DEPTH_LIMIT`].
    pub(crate) fn members_checked(&mut self, body: &mut dyn WriteBody) -> Result<(), ScanError> {
        let mark = self.mark();
        let floor = core::mem::replace(&mut self.floor, self.at);
        self.nesting = Nesting::MEMBERS;
        body.write(self);
        let is_sure = core::mem::replace(&mut self.nesting, Nesting::UNKNOWN).is_members(self.last);
        self.floor = floor;
        if is_sure {
            return Ok(());
        }
        // A comma before the first member belongs to the surrounding object.
        let has_comma = mark.last != b'{' && self.buffer.bytes().get(mark.at) == Some(&b',');
        self.check(mark, mark.at.wrapping_add(has_comma.into()), [b"{", b"}"])
    }

    /// Calls `body` to write one value, and validates the value. Discards an invalid value. Skips validation while
    /// the writer only counts, and after an overflow.
    ///
    /// # Errors
    ///
    /// Returns an error if `body` wrote something other than exactly one JSON value, or a value that is nested deeper
    /// than [`DEPTH_LIMIT`].
    pub(crate) fn value_checked(&mut self, body: &mut dyn WriteBody) -> Result<(), ScanError> {
        let mark = self.mark();
        self.separate();
        // The comma is already written. For `body`, the output starts here, and `body` cannot roll back earlier output.
        let floor = core::mem::replace(&mut self.floor, self.at);
        let from = self.at;
        self.last = 0;
        let around = core::mem::replace(&mut self.nesting, Nesting::VALUE);
        body.write(self);
        let is_sure = core::mem::replace(&mut self.nesting, around).is_value(self.last);
        self.floor = floor;
        if matches!(self.last, b'}' | b']') {
            // The nesting depth of the value is unknown.
            self.nesting.set_unknown();
        }
        if is_sure { Ok(()) } else { self.check(mark, from, [b"", b""]) }
    }

    /// Validates the output since the position `from`, between the brackets `open` and `close`, which may be empty.
    /// Discards the output since `mark` if it is invalid.
    #[cold]
    fn check(&mut self, mark: Mark, from: usize, [open, close]: [&[u8]; 2]) -> Result<(), ScanError> {
        if self.overflowed || self.only_counts {
            return Ok(());
        }
        let mut scanner = Scanner::new(DEPTH_LIMIT);
        for part in [open, self.buffer.bytes().get(from..self.at).unwrap_or_default(), close] {
            scanner.feed(part);
        }
        let checked = scanner.finish();
        if checked.is_err() {
            self.rollback(mark);
        }
        checked
    }
}
