//! `ResultArray`: an array in a result, with elements that the application writes.

use crate::json::Writer;

/// State of an array in a result. The first element opens the array. The first other member after an element closes the
/// array. Before the first element and after the last, the application can write other members of the result.
#[derive(Debug)]
pub(crate) struct ResultArray {
    key: &'static str,
    position: Position,
    pub(crate) count: usize,
    /// Whether the result is valid so far. The result is not valid if an element is not valid or follows the closed
    /// array. Users of this type add conditions for the other members.
    pub(crate) valid: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Before,
    Inside,
    After,
}

impl ResultArray {
    pub(crate) fn new(key: &'static str) -> ResultArray {
        ResultArray { key, position: Position::Before, count: 0, valid: true }
    }

    /// Creates the state of an array that is already open.
    pub(crate) fn within() -> ResultArray {
        ResultArray { key: "", position: Position::Inside, count: 0, valid: true }
    }

    /// Returns whether the array is not open yet.
    pub(crate) fn not_begun(&self) -> bool {
        self.position == Position::Before
    }

    /// Opens the array if necessary. The next value becomes an element. If the array is closed, returns `false` and
    /// marks the result as not valid.
    pub(crate) fn element(&mut self, out: &mut Writer<'_>) -> bool {
        match self.position {
            Position::Before => {
                out.begin_array_at(self.key);
                self.position = Position::Inside;
            }
            Position::Inside => {}
            Position::After => {
                self.valid = false;
                return false;
            }
        }
        self.count = self.count.saturating_add(1);
        true
    }

    /// Closes the array if it is open. The next value becomes a member of the result.
    pub(crate) fn member(&mut self, out: &mut Writer<'_>) {
        if self.position == Position::Inside {
            out.end_array();
            self.position = Position::After;
        }
    }

    /// Completes the array. Opens the array if necessary, and then closes it.
    pub(crate) fn end(&mut self, out: &mut Writer<'_>) {
        if self.position == Position::Before {
            out.begin_array_at(self.key);
            self.position = Position::Inside;
        }
        self.member(out);
    }
}
