//! Decodes strings and member names.

use super::Decoder;
use super::error_kind::ErrorKind;
use crate::json::string::decode_in_place;

impl<'de> Decoder<'de> {
    /// Consumes a string, starting at its opening quote, and decodes it in place.
    pub(super) fn string(&mut self) -> Result<&'de str, ErrorKind<'de>> {
        self.peek();
        let (length, consumed) = decode_in_place(self.rest.get_mut(1..).unwrap_or_default());
        let quoted: &'de [u8] = self.take(consumed.wrapping_add(2));
        let text = if let [b'"', text @ .., b'"'] = quoted { text.get(..length) } else { None };
        text.and_then(|text| core::str::from_utf8(text).ok()).ok_or(ErrorKind::BROKEN)
    }

    /// Consumes a string, or returns an error that names `expected` if another value follows.
    pub(super) fn string_for(&mut self, expected: &'static str) -> Result<&'de str, ErrorKind<'de>> {
        match self.peek() {
            Some(b'"') => self.string(),
            _ => Err(self.unexpected(expected)),
        }
    }
}
