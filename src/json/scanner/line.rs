//! A text inside a longer one: a line, or a value with known containers around it.

use super::{NOWHERE, Scanner, State, Step};
use crate::buffer::find;
use crate::json::skip::value_length;

impl Scanner {
    /// Takes the first line of `bytes` without its newline, and returns its length. A line that does not begin with an
    /// object is not taken.
    #[inline]
    pub(crate) fn begin_line(&mut self, bytes: &[u8]) -> usize {
        let [b'{', ..] = bytes else { return 0 };
        let line = find(b'\n', bytes).and_then(|end| bytes.get(..end)).unwrap_or(bytes);
        self.feed(line);
        line.len()
    }

    /// Whether a whole text was taken, and nothing is open.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.state, State::Between(Step::After)) && self.depth == 0 && self.deep_at == NOWHERE
    }

    /// Returns the length of the value at the start of `bytes`, which stands in that many open containers. Nothing was
    /// scanned before. `None`: it is not complete, wrong or nested too deep.
    pub(crate) fn value_within(&mut self, containers: u8, bytes: &[u8]) -> Option<usize> {
        let limit = self.limit;
        self.limit = limit.checked_sub(containers)?;
        // A newline ends a line, and the value with it.
        let value = bytes.get(..value_length(bytes)).filter(|value| find(b'\n', value).is_none())?;
        self.feed(value);
        self.limit = limit;
        self.is_whole().then_some(value.len())
    }
}
