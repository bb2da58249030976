//! The strings of a text, and the names of members.

use super::Decoder;
use super::flaw::Flaw;
use crate::json::FAST;
use crate::json::search::text_run;
use crate::json::skip::text_length;
use crate::json::text::decode_in_place;

impl<'de> Decoder<'de> {
    /// A string, from its opening quote.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn string(&mut self) -> Result<&'de str, Flaw<'de>> {
        match self.plain_string() {
            Some(text) => Ok(text),
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

    /// Any string at all, if there is no plain one.
    #[cfg_attr(not(target_os = "none"), inline(never))]
    pub(super) fn string_for(&mut self, expected: &'static str) -> Result<&'de str, Flaw<'de>> {
        let follows = self.rest.first() == Some(&b'"');
        match self.peek() {
            Some(b'"') if FAST && !follows => self.string(),
            Some(b'"') => self.any_string(),
            _ => Err(self.unexpected(expected)),
        }
    }

    /// The name of a member. One that is `likely` need not be checked again, nor decoded.
    pub(super) fn name(&mut self, likely: Option<&'static str>) -> Result<&'de str, Flaw<'de>> {
        match self.plain_text() {
            Some((text, rest)) => {
                self.rest = rest;
                match likely {
                    Some(likely) if likely.as_bytes() == text => Ok(likely),
                    _ => core::str::from_utf8(text).map_err(|_| Flaw::BROKEN),
                }
            }
            None => self.any_string(),
        }
    }

    /// The string that comes next, if it is as nearly all are. It is searched once, for its end and for escapes.
    #[cfg_attr(not(target_os = "none"), inline(never))]
    pub(super) fn plain_string(&mut self) -> Option<&'de str> {
        let (text, rest) = self.plain_text()?;
        // Of text that is not valid nothing is left.
        let text = core::str::from_utf8(text).ok()?;
        self.rest = rest;
        Some(text)
    }

    /// The inside of the string that comes next, if nothing in it is escaped, and what follows it. (Small boards take all
    /// strings in the same way.)
    #[inline(always)]
    fn plain_text(&mut self) -> Option<(&'de [u8], &'de mut [u8])> {
        let [b'"', text @ ..] = &*self.rest else { return None };
        let length = if FAST { text_run(text) } else { return None };
        if text.get(length) != Some(&b'"') {
            return None;
        }
        let (_, text) = core::mem::take(&mut self.rest).split_first_mut()?;
        let (text, rest) = text.split_at_mut_checked(length)?;
        Some((text, rest.get_mut(1..)?))
    }
}

/// Whether two texts of the same length are the same, if they are as short as most names: words that overlap are all of them.
#[inline(always)]
pub(super) fn is_same(left: &[u8], right: &[u8]) -> bool {
    if let (Some(left_first), Some(left_last)) = (left.first_chunk::<8>(), left.last_chunk::<8>()) {
        let ends = Some(left_first) == right.first_chunk() && Some(left_last) == right.last_chunk();
        return ends && left.len() <= 16;
    }
    if let (Some(left_first), Some(left_last)) = (left.first_chunk::<4>(), left.last_chunk::<4>()) {
        return Some(left_first) == right.first_chunk() && Some(left_last) == right.last_chunk();
    }
    // Of up to three bytes, the one in the middle is all that is between.
    let middle = left.len() / 2;
    left.first() == right.first() && left.get(middle) == right.get(middle) && left.last() == right.last()
}
