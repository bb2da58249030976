//! Finds the answer to one request among what may be anything, in whatever pieces it comes.
//!
//! Half a line of before may stand right in front of the answer, without a line break: so it is not taken for a line, but
//! for the text of its id and the line break behind it.

/// An answer that is waited for.
#[derive(Debug)]
pub(crate) struct Answer {
    id: String,
    /// What has come last, as much as may be the beginning of the id.
    last: Vec<u8>,
    id_came: bool,
}

impl Answer {
    /// The id is plain letters and digits, and stands nowhere else.
    pub(crate) fn to(id: String) -> Answer {
        Answer { id, last: Vec::new(), id_came: false }
    }

    /// What of the next bytes stands behind the answer and its line break; `None` if that is not there yet.
    pub(crate) fn behind<'b>(&mut self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        for (at, &byte) in bytes.iter().enumerate() {
            if self.id_came && byte == b'\n' {
                return Some(&bytes[at + 1..]);
            }
            self.last.push(byte);
            self.id_came |= self.last == self.id.as_bytes();
            if self.last.len() == self.id.len() {
                self.last.remove(0);
            }
        }
        None
    }
}
