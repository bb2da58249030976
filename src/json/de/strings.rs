//! Strings and the names of members.

use super::Decoder;
use super::flaw::ErrorKind;
use crate::json::skip::text_length;
use crate::json::string::decode_in_place;

impl<'de> Decoder<'de> {
    /// Takes a string from its opening quote, and decodes it in place.
    pub(super) fn string(&mut self) -> Result<&'de str, ErrorKind<'de>> {
        self.expect(b'"')?;
        let text = self.take(text_length(self.rest));
        if self.take(1) != b"\"" {
            return Err(ErrorKind::BROKEN);
        }
        let length = decode_in_place(text);
        let text: &'de [u8] = text;
        text.get(..length).and_then(|text| core::str::from_utf8(text).ok()).ok_or(ErrorKind::BROKEN)
    }

    /// Takes a string where the type expects one.
    pub(super) fn string_for(&mut self, expected: &'static str) -> Result<&'de str, ErrorKind<'de>> {
        match self.peek() {
            Some(b'"') => self.string(),
            _ => Err(self.unexpected(expected)),
        }
    }
}
