//! Finds the response to one request in arbitrary input.
//!
//! A partial line may precede the response without a line break. So the search does not parse lines. The search finds
//! the text of the id, and then the next line break.

/// The search for an expected response.
#[derive(Debug)]
pub(crate) struct Answer {
    id: String,
    /// The last received bytes, which may be the beginning of the id. These bytes are always shorter than the id.
    last: Vec<u8>,
    id_came: bool,
}

impl Answer {
    /// Creates a search for this id.
    ///
    /// The id must consist of letters and digits, and must not occur elsewhere in the input.
    pub(crate) fn to(id: String) -> Answer {
        Answer { id, last: Vec::new(), id_came: false }
    }

    /// Returns the bytes after the response and its line break. Returns `None` if the response is not complete.
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
