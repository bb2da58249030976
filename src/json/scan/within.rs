//! A value of a text of which nothing else is scanned: what stands around it is known.

use super::Scanner;

impl Scanner {
    /// How long the value is that comes next, in so many open containers. Nothing was scanned before. `None`: it is not all there,
    /// it is wrong or too deep, or has to be scanned in the way that always works, from the beginning, after a
    /// [reset](Scanner::reset).
    #[inline]
    pub(crate) fn value_within(&mut self, containers: u8, bytes: &[u8]) -> Option<usize> {
        let limit = self.limit;
        let inside = limit.checked_sub(containers)?;
        self.limit = inside;
        let length = self.begin_line(bytes);
        self.limit = limit;
        self.is_whole().then_some(length)
    }
}
