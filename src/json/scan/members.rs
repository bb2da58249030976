//! The fast lane: members of objects one after the other, as long as they look the way nearly all do. Whatever does
//! not is left to the states, which know everything.

use super::{Member, Scanner, State, skip_space};
use crate::json::swar::{WORDS, plain_run, short_plain_text};

impl Scanner {
    /// Members from behind the opening quote of a name.
    pub(super) fn members<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        if !WORDS {
            self.name();
            return rest;
        }
        let mut rest = rest;
        loop {
            let Some(tail) = self.simple_name(rest) else {
                self.name();
                return rest;
            };
            let [b':', tail @ ..] = tail else {
                self.state = State::Colon;
                return tail;
            };
            let tail = if let [b' ', ..] = tail { after_space(tail) } else { tail };
            if let [b'{', b'"', names @ ..] = tail
                && self.depth < u32::from(self.limit)
            {
                if self.depth == 1 {
                    self.note_start(b'{', self.at(tail));
                }
                self.open(true, tail);
                rest = names;
                continue;
            }
            let Some(after) = self.simple_value(tail) else {
                self.state = State::Value;
                return tail;
            };
            match self.next_name(after) {
                Ok(next) => rest = next,
                Err(after) => return after,
            }
        }
    }

    /// A name that is all there and has no escapes: what follows its closing quote.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn simple_name<'t>(&mut self, rest: &'t [u8]) -> Option<&'t [u8]> {
        let (member, length) = match short_plain_text(rest) {
            Some((word, length)) => (Member::of_word(word), length),
            None => (None, plain_run(rest)),
        };
        let [b'"', tail @ ..] = rest.get(length..)? else { return None };
        if self.depth == 1 {
            // A short name at the very end of the piece was not looked up.
            if rest.len() < 8 {
                return None;
            }
            self.current = member;
        }
        Some(tail)
    }

    /// A string, integer or literal that is all there: what follows it.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn simple_value<'t>(&mut self, rest: &'t [u8]) -> Option<&'t [u8]> {
        let after = match rest {
            [b'"', text @ ..] => match text.get(plain_run(text)..) {
                Some([b'"', after @ ..]) => after,
                _ => return None,
            },
            [b'1'..=b'9', digits @ ..] => {
                let mut after = digits;
                while let [b'0'..=b'9', tail @ ..] = after {
                    after = tail;
                }
                match after {
                    [b',' | b'}', ..] => after,
                    _ => return None,
                }
            }
            [b't', b'r', b'u', b'e', after @ ..] => after,
            [b'f', b'a', b'l', b's', b'e', after @ ..] => after,
            _ => return None,
        };
        if self.depth == 1 && self.current.is_some() {
            let here = self.at(rest);
            self.note_start(0, here);
        }
        self.end_value(after);
        Some(after)
    }

    /// From behind a value to behind the opening quote of the next name; `Err`: what follows if there is none.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn next_name<'t>(&mut self, after: &'t [u8]) -> Result<&'t [u8], &'t [u8]> {
        let mut after = after;
        loop {
            after = match after {
                [b',', b'"', rest @ ..] => return Ok(rest),
                [b',', b' ', rest @ ..] => match after_space(rest) {
                    [b'"', rest @ ..] => return Ok(rest),
                    _ => return Err(after),
                },
                [b'}', rest @ ..] => self.close(rest),
                _ => return Err(after),
            };
            if !self.in_object() {
                return Err(after);
            }
        }
    }
}

/// What follows white space. A call on purpose: without it the compiler computes both ways and takes one, and the next
/// load has to wait for that; a branch is predicted.
#[inline(never)]
fn after_space(rest: &[u8]) -> &[u8] {
    skip_space(rest)
}
