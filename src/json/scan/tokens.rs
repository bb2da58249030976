//! The fast way on hosts: whole tokens, one after the other, with all that is needed for it in registers.
//!
//! Nearly always a whole message is there when it is scanned. The states are for what is not: wherever something is cut,
//! wrong, too deep or just unusual, the pass stops before that token, and they take it, from there. So nothing is scanned
//! twice but the token itself, and what is wrong is found by the states alone.

mod name;

use super::escapes::behind_characters;
use super::inner::Place;
use super::{Inside, Member, NO_NAME, NOWHERE, Scanner, Shape, Span, State};
use crate::json::swar::{FAST, digit_run, digits, plain_end, plain_run};
use name::{VERSION, behind_name, behind_version, member_name, short_name};

/// The kinds of the open containers are in one word: a bit for each, the innermost the lowest, set for an object. Above
/// them are a bit that is not set, for what is outside of all, and one that is, which says how many they are.
const OUTSIDE: u64 = 0b10;
/// In a message that is an object, and in an object that is the value of one of its members.
const MESSAGE: u64 = 0b101;
const INNER: u64 = 0b1011;

/// How deep the pass goes.
const DEEPEST: u32 = u64::BITS - 2;

/// Shorter pieces are left to the states: they are the rest of something, and not worth the beginning.
pub(super) const WORTH_IT: usize = 8;

impl Scanner {
    /// Takes whole tokens at the start of what may be a line and more, and says how many bytes they are. A newline between
    /// tokens ends them, and so does the end of the text: of nearly all lines, what is left is the newline, and nobody has
    /// searched for it.
    #[inline]
    pub(crate) fn begin_line(&mut self, bytes: &[u8]) -> usize {
        if !FAST || bytes.len() < WORTH_IT || !matches!(self.state, State::Name | State::Value) {
            return 0;
        }
        self.position = self.position.wrapping_add(bytes.len());
        let left = self.tokens::<true>(bytes).len();
        self.position = self.position.wrapping_sub(left);
        bytes.len().wrapping_sub(left)
    }

    /// Whether a whole text is there, and nothing else is open.
    #[inline]
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.state, State::After) && self.depth == 0 && !self.too_deep
    }

    /// Takes tokens as long as they are all there, from a name or from a value that has none, and returns what it did not
    /// take. The state is then that of a token that begins there.
    ///
    /// All is in one loop, so that nothing has to be handed over where an object begins or ends.
    #[inline(never)]
    pub(super) fn tokens<'t, const LINE: bool>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        let mut objects = OUTSIDE;
        // The open member of the message, and where its value starts.
        let (mut member, mut start) = (None, NOWHERE);
        if self.depth > 0 {
            objects = self.kinds();
            if objects == 0 || matches!(self.state, State::Name) == (objects & 1 == 0) {
                return rest;
            }
            member = self.current;
            start = self.start_of(member);
        } else {
            if !matches!(rest, [b'{', ..]) {
                rest = behind_space::<LINE>(rest);
            }
            self.shape = match rest {
                [b'{', ..] => Shape::Object,
                [b'[', ..] => Shape::Array,
                _ => Shape::Other,
            };
            if let [b'{', tail @ ..] = rest
                && let Some(behind) = behind_version(tail)
                && self.limit > 0
            {
                let at = self.at(tail);
                self.note(Member::Jsonrpc, VERSION.map(|offset| at.wrapping_add(offset)));
                (objects, rest) = (MESSAGE, behind);
            }
        }
        let bound = OUTSIDE.wrapping_shl(u32::from(self.limit).min(DEEPEST));
        // Which members are kept besides those of the message, if any, and the open one of them.
        let (mut kept, mut place) = (0, Place::NOWHERE);
        let state = 'tokens: loop {
            if objects == MESSAGE {
                if let Some((found, tail)) = member_name(rest) {
                    (member, rest) = (Some(found), tail);
                } else {
                    rest = behind_space::<LINE>(rest);
                    let Some(tail) = behind_name(rest) else { break State::Name };
                    member = Member::of(between(rest, tail));
                    rest = behind_space::<LINE>(tail);
                    let [b':', tail @ ..] = rest else { break State::Colon };
                    rest = tail;
                }
                if matches!(member, Some(Member::Params | Member::Result)) {
                    self.forget_inner();
                }
                if starts_with_space(rest) {
                    rest = behind_space::<LINE>(rest);
                }
                start = self.at(rest);
            } else if objects & 1 != 0 {
                let (behind, tail) = if let Some(short) = short_name(rest) {
                    short
                } else {
                    if starts_with_space(rest) {
                        rest = behind_space::<LINE>(rest);
                    }
                    let Some(behind) = behind_name(rest) else { break State::Name };
                    let colon = if let [b':', ..] = behind { behind } else { behind_space::<LINE>(behind) };
                    // The states look at the name once more then.
                    let [b':', tail @ ..] = colon else { break State::Name };
                    (behind.len(), tail)
                };
                if objects == kept {
                    place.name = self.at(rest).wrapping_add(1) as u32;
                    place.name_end = self.position.wrapping_sub(behind).wrapping_sub(1) as u32;
                    rest = tail;
                    if starts_with_space(rest) {
                        rest = behind_space::<LINE>(rest);
                    }
                    place.start = self.at(rest) as u32;
                } else {
                    rest = tail;
                }
            }
            rest = 'value: loop {
                break match rest {
                    [b'"', text @ ..] => match behind_text(text) {
                        [b'"', tail @ ..] => tail,
                        stopped => {
                            rest = stopped;
                            (self.in_name, self.name_length) = (false, NO_NAME);
                            break 'tokens State::Text(Inside::Plain);
                        }
                    },
                    [b'{', tail @ ..] if objects < bound => {
                        rest = tail;
                        if !matches!(rest, [b'"', ..]) {
                            rest = behind_space::<LINE>(rest);
                            match rest {
                                [b'"', ..] => {}
                                [b'}', tail @ ..] => break tail,
                                _ => {
                                    objects = objects << 1 | 1;
                                    break 'tokens State::FirstName;
                                }
                            }
                        }
                        if objects == MESSAGE {
                            kept = if self.begin_inner(member) { INNER } else { 0 };
                        }
                        objects = objects << 1 | 1;
                        continue 'tokens;
                    }
                    [b'[', tail @ ..] if objects < bound => {
                        let inside = if starts_with_space(tail) { behind_space::<LINE>(tail) } else { tail };
                        if let [b']', tail @ ..] = inside {
                            break tail;
                        }
                        rest = inside;
                        objects <<= 1;
                        // What is still white space ends a line.
                        if matches!(rest, [] | [b'\n', ..]) {
                            break 'tokens State::FirstValue;
                        }
                        continue 'value;
                    }
                    [b'1'..=b'9', ..] => match behind_number(rest) {
                        Some(tail) => tail,
                        None => break 'tokens State::Value,
                    },
                    [b't', b'r', b'u', b'e', tail @ ..] | [b'n', b'u', b'l', b'l', tail @ ..] => tail,
                    [b'f', b'a', b'l', b's', b'e', tail @ ..] => tail,
                    [b'-' | b'0', ..] => match scalar(rest) {
                        Some(tail) => tail,
                        None => break 'tokens State::Value,
                    },
                    [b' ' | b'\t' | b'\n' | b'\r', ..] => {
                        let behind = behind_space::<LINE>(rest);
                        if behind.len() == rest.len() {
                            break 'tokens State::Value;
                        }
                        rest = behind;
                        continue 'value;
                    }
                    _ => break 'tokens State::Value,
                };
            };
            // A value has ended here, and perhaps some around it.
            loop {
                if objects <= INNER {
                    if objects == kept {
                        place.end = self.at(rest) as u32;
                        kept = if self.keep(place) { kept } else { 0 };
                    } else if objects == MESSAGE {
                        if let Some(member) = member.take() {
                            let end = self.at(rest);
                            self.note(member, [start, end]);
                        }
                    } else if objects == OUTSIDE {
                        break 'tokens State::After;
                    }
                }
                rest = match rest {
                    [b',', tail @ ..] => {
                        rest = tail;
                        continue 'tokens;
                    }
                    [b'}', tail @ ..] if objects & 1 != 0 => tail,
                    [b']', tail @ ..] if objects & 1 == 0 => tail,
                    _ => match behind_space::<LINE>(rest) {
                        [b',', tail @ ..] => {
                            rest = tail;
                            continue 'tokens;
                        }
                        [b'}', tail @ ..] if objects & 1 != 0 => tail,
                        [b']', tail @ ..] if objects & 1 == 0 => tail,
                        wrong => {
                            rest = wrong;
                            break 'tokens State::After;
                        }
                    },
                };
                if objects == kept {
                    self.end_inner(member);
                    kept = 0;
                }
                objects >>= 1;
            }
        };
        // An open value has begun; of one that is expected nothing is known.
        if let Some(member) = member
            && (objects > MESSAGE || matches!(state, State::Text(_)))
        {
            self.note(member, [start, NOWHERE]);
        }
        (self.current, self.state) = (member, state);
        self.set_kinds(objects);
        rest
    }

    /// Where the value of a member stands.
    #[inline(always)]
    fn note(&mut self, member: Member, [start, end]: [usize; 2]) {
        if let Some(slot) = self.members.get_mut(member as usize) {
            *slot = Span { start, end };
        }
    }

    fn start_of(&self, member: Option<Member>) -> usize {
        member.and_then(|member| self.members.get(member as usize)).map_or(NOWHERE, |span| span.start)
    }

    /// The kinds of the open containers, as a word; 0 if they are too many.
    fn kinds(&self) -> u64 {
        if self.depth > DEEPEST {
            return 0;
        }
        let kinds = self.objects.first_chunk().map_or(0, |kinds| u64::from_le_bytes(*kinds));
        let kinds = kinds.reverse_bits().checked_shr(u64::BITS.wrapping_sub(self.depth)).unwrap_or(0);
        OUTSIDE.wrapping_shl(self.depth) | kinds
    }

    #[inline(always)]
    fn set_kinds(&mut self, kinds: u64) {
        // Outside of all, nobody asks.
        if kinds == OUTSIDE {
            self.depth = 0;
            return;
        }
        self.depth = DEEPEST.wrapping_sub(kinds.leading_zeros());
        if let Some(place) = self.objects.first_chunk_mut() {
            *place = kinds.wrapping_shl(u64::BITS.wrapping_sub(self.depth)).reverse_bits().to_le_bytes();
        }
    }
}

#[inline(always)]
fn starts_with_space(rest: &[u8]) -> bool {
    matches!(rest, [b' ' | b'\t' | b'\n' | b'\r', ..])
}

/// What a name is, between its quotes, given what follows it.
fn between<'t>(rest: &'t [u8], tail: &[u8]) -> &'t [u8] {
    rest.get(1..rest.len().wrapping_sub(tail.len()).wrapping_sub(1)).unwrap_or_default()
}

/// What follows white space, of which a newline is none if it ends the text.
#[inline(never)]
fn behind_space<const LINE: bool>(mut rest: &[u8]) -> &[u8] {
    loop {
        rest = match rest {
            [b' ' | b'\t' | b'\r', tail @ ..] => tail,
            [b'\n', tail @ ..] if !LINE => tail,
            _ => return rest,
        };
    }
}

/// What follows the printable ASCII that a text begins with, up to a quote or a backslash. Most texts are short: so many of
/// their words are looked at in place, the rest is a call.
#[inline(always)]
fn behind_plain<const WORDS: usize>(text: &[u8]) -> &[u8] {
    let mut rest = text;
    for _ in 0..WORDS {
        let Some((word, tail)) = rest.split_first_chunk() else { break };
        if let Some(length) = plain_end(u64::from_le_bytes(*word)) {
            return rest.get(length..).unwrap_or_default();
        }
        rest = tail;
    }
    behind_long_plain(rest)
}

#[inline(never)]
fn behind_long_plain(text: &[u8]) -> &[u8] {
    text.get(plain_run(text)..).unwrap_or_default()
}

/// What follows the characters that a text begins with.
#[inline(always)]
fn behind_text(text: &[u8]) -> &[u8] {
    match behind_plain::<3>(text) {
        end @ [b'"', ..] => end,
        stopped => behind_characters(stopped),
    }
}

/// What follows a number that begins with another digit than 0. Most are whole and short.
#[inline(always)]
fn behind_number(rest: &[u8]) -> Option<&[u8]> {
    if let Some(head) = rest.first_chunk::<9>() {
        let length = digits(u64::from_le_bytes(*head.first_chunk()?));
        if matches!(head.get(length)?, b',' | b'}' | b']') {
            return rest.get(length..);
        }
    }
    scalar(rest)
}

/// What follows a number. `None`: it is wrong or may go on in the next piece.
#[inline(never)]
fn scalar(rest: &[u8]) -> Option<&[u8]> {
    let digits = if let [b'-', digits @ ..] = rest { digits } else { rest };
    match digits {
        [b'0', tail @ ..] => behind_digits(tail),
        [b'1'..=b'9', ..] => behind_digits(digits.get(digit_run(digits)..)?),
        _ => None,
    }
}

/// The same from behind the digits before the point.
#[inline(always)]
fn behind_digits(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [] => None,
        [b'.' | b'e' | b'E', ..] => fraction(rest),
        _ => Some(rest),
    }
}

/// The same from the point or the exponent on.
fn fraction(rest: &[u8]) -> Option<&[u8]> {
    let rest = match rest {
        [b'.', digits @ ..] => some_digits(digits)?,
        _ => rest,
    };
    let rest = match rest {
        [b'e' | b'E', b'+' | b'-', digits @ ..] | [b'e' | b'E', digits @ ..] => some_digits(digits)?,
        _ => rest,
    };
    (!rest.is_empty()).then_some(rest)
}

/// What follows one digit and more.
#[inline(always)]
fn some_digits(digits: &[u8]) -> Option<&[u8]> {
    let length = digit_run(digits);
    if length > 0 { digits.get(length..) } else { None }
}

#[cfg(test)]
mod tests;
