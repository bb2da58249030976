//! Assembles lines from pieces of input.

/// Maximum length of a line. The bridge does not track longer lines. If a skipped line is a response, the bridge waits
/// for the whole grace period at the end.
const LONGEST: usize = 1 << 20;

/// The incomplete line at the end of the input.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    line: Vec<u8>,
    too_long: bool,
}

impl Lines {
    /// Appends `bytes`, and passes each complete line to `take`.
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
