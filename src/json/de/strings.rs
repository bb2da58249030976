//! Decodes strings and member names.

use super::Decoder;
use crate::json::string::decode_in_place;

impl<'de> Decoder<'de> {
    /// Consumes a string, and decodes it in place. Returns `None` if the next value is not a string. Also returns
    /// `None`, with no text left, if the string is broken.
    #[inline(never)]
    pub(super) fn string(&mut self) -> Option<&'de str> {
        if self.peek() != Some(b'"') {
            return None;
        }
        let (_, rest) = core::mem::take(&mut self.rest).split_first_mut()?;
        let (length, consumed) = decode_in_place(rest);
        let (text, rest) = rest.split_at_mut_checked(consumed)?;
        let [b'"', rest @ ..] = rest else { return None };
        let text = core::str::from_utf8(text.get(..length)?).ok()?;
        self.rest = rest;
        Some(text)
    }
}
