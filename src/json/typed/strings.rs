//! The strings of a text, and the names of members.

use super::Decoder;
use super::flaw::Flaw;
use crate::json::swar::{FAST, text_run};
use crate::json::text::decode_in_place;
use crate::json::walk::text_length;

impl<'de> Decoder<'de> {
    /// A string, from its opening quote.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn string(&mut self) -> Result<&'de str, Flaw<'de>> {
        match self.plain_string() {
            Some(text) => core::str::from_utf8(text).map_err(|_| Flaw::BROKEN),
            None => self.any_string(),
        }
    }

    #[cfg_attr(not(target_os = "none"), inline(never))]
    fn any_string(&mut self) -> Result<&'de str, Flaw<'de>> {
        self.expect(b'"')?;
        let text = self.take(text_length(self.rest));
        if self.take(1) != b"\"" {
            return Err(Flaw::BROKEN);
        }
        let length = decode_in_place(text);
        let text: &'de [u8] = text;
        text.get(..length).and_then(|text| core::str::from_utf8(text).ok()).ok_or(Flaw::BROKEN)
    }

    /// The name of a member. One that is `likely` need not be checked again, nor decoded.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn name(&mut self, likely: Option<&&'static str>) -> Result<&'de str, Flaw<'de>> {
        if !FAST {
            return self.string();
        }
        match self.plain_string() {
            Some(text) => match likely {
                Some(likely) if likely.as_bytes() == text => Ok(likely),
                _ => core::str::from_utf8(text).map_err(|_| Flaw::BROKEN),
            },
            None => self.any_string(),
        }
    }

    /// The string that comes next, if nothing in it is escaped, as in nearly all: it is searched once, for its end and for
    /// escapes. (Small boards take them all in the same way.)
    #[cfg_attr(not(target_os = "none"), inline(never))]
    fn plain_string(&mut self) -> Option<&'de [u8]> {
        let [b'"', text @ ..] = &*self.rest else { return None };
        let length = if FAST { text_run(text) } else { return None };
        if text.get(length) != Some(&b'"') {
            return None;
        }
        self.pass();
        let (text, rest) = core::mem::take(&mut self.rest).split_at_mut_checked(length)?;
        self.rest = rest;
        self.pass();
        Some(text)
    }
}
