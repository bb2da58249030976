//! Lines of what only comes in pieces.

/// A line that is longer is not looked at: what it is costs the grace at the end, and nothing else.
const LONGEST: usize = 1 << 20;

/// The line that is coming in.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    line: Vec<u8>,
    too_long: bool,
}

impl Lines {
    /// Gives each line that is whole now to `take`.
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
