//! The names of members.

use super::{INNER, MESSAGE, behind_plain, behind_space, behind_words, plain_end};
use crate::json::scan::{Member, Scanner};
use crate::json::swar::short_plain_text;

/// What follows a name and its colon, without white space around them. In the window are a short name and what follows it.
#[inline(always)]
pub(super) fn usual_name(rest: &[u8]) -> Option<&[u8]> {
    let [b'"', text @ ..] = rest.first_chunk::<12>()? else { return None };
    let tail = if let Some(length) = plain_end(u64::from_le_bytes(*text.first_chunk()?)) {
        if *text.get(length..)?.first_chunk()? != *b"\":" {
            return None;
        }
        rest.get(length.wrapping_add(3)..)?
    } else {
        let [b'"', b':', tail @ ..] = behind_words(rest.get(9..)?) else { return None };
        tail
    };
    matches!(tail, [b'!'..=u8::MAX, ..]).then_some(tail)
}

impl Scanner {
    /// The same with white space, too: up to a value that begins. What may be asked for later is noted.
    #[inline(never)]
    pub(super) fn any_name<'t, const LINE: bool>(
        &mut self,
        rest: &'t [u8],
        objects: u64,
    ) -> Option<&'t [u8]> {
        let [b'"', text @ ..] = behind_space::<LINE>(rest) else { return None };
        let end @ [b'"', tail @ ..] = behind_plain(text) else { return None };
        let [b':', tail @ ..] = behind_space::<LINE>(tail) else { return None };
        let tail = behind_space::<LINE>(tail);
        if matches!(tail, [] | [b'\n', ..]) {
            return None;
        }
        if objects == MESSAGE {
            let member = match short_plain_text(text) {
                Some((word, _)) => Member::of_word(word),
                None => Member::from_name(text.get(..text.len().wrapping_sub(end.len()))?),
            };
            self.forget_inner_of(member);
            self.begin_member(member, self.at(tail));
        } else if objects == INNER {
            self.keep([self.at(text), self.at(end), self.at(tail)]);
        }
        Some(tail)
    }
}
