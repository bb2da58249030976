//! Assembles lines from pieces of input.

/// Maximum length of a line. Longer lines are skipped. At worst, the bridge then waits for the grace period at the
/// end.
const LONGEST: usize = 1 << 20;

/// The incomplete line at the end of the input.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    line: Vec<u8>,
    too_long: bool,
}

impl Lines {
    /// Passes each line that `bytes` completes to `take`.
    pub(crate) fn feed(&mut self, bytes: &[u8], mut take: impl FnMut(&[u8])) {
        for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
            self.too_long |= self.line.len() + piece.len() > LONGEST;
            if !self.too_long {
                self.line.extend_from_slice(piece);
            }
            if piece.ends_with(b"\n") {
                if !self.too_long {
                    take(&self.line);
                }
                self.line.clear();
                self.too_long = false;
            }
        }
    }
}
