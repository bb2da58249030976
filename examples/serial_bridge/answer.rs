//! Finds the answer to one request among what may be anything, in whatever pieces it comes.
//!
//! Half a line of before may stand right in front of the answer, without a line break: so it is not taken for a line, but
//! for the text of its id and the line break behind it.

/// An answer that is waited for.
#[derive(Debug)]
pub(crate) struct Answer {
    id: Vec<u8>,
    /// What has come last, as much as may be the beginning of the id.
    last: Vec<u8>,
    found: bool,
    line_ends: bool,
    whole: bool,
}

impl Answer {
    /// The id is letters and digits only, and stands nowhere else.
    pub(crate) fn to(id: &str) -> Answer {
        Answer { id: id.into(), last: Vec::new(), found: false, line_ends: true, whole: false }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.line_ends = byte == b'\n';
            self.whole |= self.found && self.line_ends;
            self.last.push(byte);
            self.found |= self.last == self.id;
            if self.last.len() >= self.id.len() {
                self.last.remove(0);
            }
        }
    }

    /// All of it, and its line break.
    pub(crate) fn is_there(&self) -> bool {
        self.whole
    }

    /// Nothing has come behind the last line break.
    pub(crate) fn ends_a_line(&self) -> bool {
        self.line_ends
    }
}
