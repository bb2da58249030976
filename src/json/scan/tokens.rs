//! The fast way on hosts: whole tokens, one after the other, with all that is needed for it in registers.
//!
//! Nearly always a whole message is there when it is scanned. The states are for what is not: wherever something is cut,
//! wrong, too deep or just unusual, the pass stops before that token, and they take it, from there. So nothing is scanned
//! twice but the token itself, and what is wrong is found by the states alone.

mod name;

use super::escapes::behind_characters;
use super::inner::Place;
use super::{Inside, Member, NO_NAME, NOWHERE, Scanner, Shape, Span, State};
use crate::json::swar::{FAST, digit_run, digits, plain_bytes, plain_run};
use name::{VERSION, behind_name, is_version, member_name};

/// How deep the pass goes: the kinds of so many open containers are in one word.
const DEEPEST: u32 = 64;

/// Shorter pieces are left to the states: they are the rest of something, and not worth the beginning.
pub(super) const WORTH_IT: usize = 8;

impl Scanner {
    /// Takes whole tokens at the start of what may be a line and more, and says how many bytes they are. A newline between
    /// tokens ends them, and so does the end of the text: of nearly all lines, what is left is the newline, and nobody has
    /// searched for it.
    pub(crate) fn begin_line(&mut self, bytes: &[u8]) -> usize {
        if !FAST || bytes.len() < WORTH_IT || !matches!(self.state, State::Name | State::Value) {
            return 0;
        }
        self.position = self.position.wrapping_add(bytes.len());
        let left = self.tokens::<true>(bytes).len();
        self.position = self.position.wrapping_sub(left);
        bytes.len().wrapping_sub(left)
    }

    /// Takes tokens as long as they are all there, from a name or from a value that has none, and returns what it did not
    /// take. The state is then that of a token that begins there.
    ///
    /// All is in one loop, so that nothing has to be handed over where an object begins or ends. The members of the message
    /// are noted at depth one, those of its parameters or its result at depth two.
    #[inline(never)]
    pub(super) fn tokens<'t, const LINE: bool>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let (mut rest, mut depth, mut objects) = (rest, self.depth, self.kinds());
        if depth > DEEPEST || matches!(self.state, State::Name) == (objects & 1 == 0) {
            return rest;
        }
        if depth == 0 {
            rest = behind_space::<LINE>(rest);
            self.shape = match rest {
                [b'{', ..] => Shape::Object,
                [b'[', ..] => Shape::Array,
                [] => return rest,
                _ => Shape::Other,
            };
        }
        let deepest = u32::from(self.limit).min(DEEPEST);
        // The open member of the message, and where its value starts.
        let mut member = self.current;
        let mut start = self.start_of(member);
        // The same of its parameters or its result, if they are kept.
        let (mut place, mut keeps) = (Place::NOWHERE, false);
        let state = 'tokens: loop {
            if objects & 1 != 0 {
                if depth == 1 {
                    if let Some((found, length)) = member_name(rest) {
                        if found == Member::Jsonrpc && is_version(rest) {
                            let at = self.at(rest);
                            self.note(found, VERSION.map(|offset| at.wrapping_add(offset)));
                            rest = rest.get(16..).unwrap_or_default();
                            continue;
                        }
                        member = Some(found);
                        rest = rest.get(length..).unwrap_or_default();
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
                } else {
                    let tail = match behind_name(rest) {
                        Some(tail) => tail,
                        None => {
                            rest = behind_space::<LINE>(rest);
                            let Some(tail) = behind_name(rest) else { break State::Name };
                            tail
                        }
                    };
                    if keeps && depth == 2 {
                        let (name, end) = (self.at(rest), self.at(tail));
                        (place.name, place.name_end) = (name.wrapping_add(1) as u32, end.wrapping_sub(1) as u32);
                    }
                    rest = tail;
                    if !matches!(rest, [b':', ..]) {
                        rest = behind_space::<LINE>(rest);
                    }
                    let [b':', tail @ ..] = rest else { break State::Colon };
                    rest = tail;
                }
            }
            if let [b' ' | b'\t' | b'\n' | b'\r', ..] = rest {
                rest = behind_space::<LINE>(rest);
            }
            match depth {
                1 => start = self.at(rest),
                2 => place.start = self.at(rest) as u32,
                _ => {}
            }
            rest = match rest {
                [b'"', text @ ..] => match behind_text(text) {
                    [b'"', tail @ ..] => tail,
                    stopped => {
                        rest = stopped;
                        (self.in_name, self.name_length) = (false, NO_NAME);
                        break State::Text(Inside::Plain);
                    }
                },
                [bracket @ (b'{' | b'['), tail @ ..] if depth < deepest => {
                    let object = *bracket == b'{';
                    let inside = match tail {
                        [b' ' | b'\t' | b'\n' | b'\r', ..] => behind_space::<LINE>(tail),
                        _ => tail,
                    };
                    match inside {
                        [b'}', tail @ ..] if object => tail,
                        [b']', tail @ ..] if !object => tail,
                        _ => {
                            rest = inside;
                            if depth == 1 && object {
                                keeps = self.begin_inner(member);
                            }
                            depth = depth.wrapping_add(1);
                            objects = objects << 1 | u64::from(object);
                            match inside {
                                [b'"', ..] => continue,
                                _ if object => break State::FirstName,
                                [] => break State::FirstValue,
                                // What is still white space ends a line.
                                [b'\n', ..] => break State::FirstValue,
                                _ => continue,
                            }
                        }
                    }
                }
                [b'1'..=b'9', ..] => match behind_number(rest) {
                    Some(tail) => tail,
                    None => break State::Value,
                },
                [b't', b'r', b'u', b'e', tail @ ..] | [b'n', b'u', b'l', b'l', tail @ ..] => tail,
                [b'f', b'a', b'l', b's', b'e', tail @ ..] => tail,
                [b'-' | b'0', ..] => match scalar(rest) {
                    Some(tail) => tail,
                    None => break State::Value,
                },
                _ => break State::Value,
            };
            // A value has ended here, and perhaps some around it.
            loop {
                match depth {
                    0 => break 'tokens State::After,
                    1 => {
                        if let Some(member) = member.take() {
                            let end = self.at(rest);
                            self.note(member, [start, end]);
                        }
                    }
                    2 if keeps => {
                        place.end = self.at(rest) as u32;
                        keeps = self.keep(place);
                    }
                    _ => {}
                }
                if let [b' ' | b'\t' | b'\n' | b'\r', ..] = rest {
                    rest = behind_space::<LINE>(rest);
                }
                match rest {
                    [b',', tail @ ..] => {
                        rest = tail;
                        continue 'tokens;
                    }
                    [b'}', tail @ ..] if objects & 1 != 0 => rest = tail,
                    [b']', tail @ ..] if objects & 1 == 0 => rest = tail,
                    _ => break 'tokens State::After,
                }
                if keeps && depth == 2 {
                    self.end_inner(member);
                    keeps = false;
                }
                depth = depth.wrapping_sub(1);
                objects >>= 1;
            }
        };
        // An open value has begun; of one that is expected nothing is known.
        if let Some(member) = member
            && (depth > 1 || matches!(state, State::Text(_)))
        {
            self.note(member, [start, NOWHERE]);
        }
        (self.current, self.depth, self.state) = (member, depth, state);
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

    /// The kinds of the open containers, the innermost in the lowest bit.
    fn kinds(&self) -> u64 {
        if self.depth == 0 {
            return 0;
        }
        let kinds = self.objects.first_chunk().map_or(0, |kinds| u64::from_le_bytes(*kinds));
        kinds.reverse_bits().wrapping_shr(DEEPEST.wrapping_sub(self.depth))
    }

    fn set_kinds(&mut self, kinds: u64) {
        if self.depth == 0 {
            return;
        }
        let kinds = kinds.wrapping_shl(DEEPEST.wrapping_sub(self.depth)).reverse_bits();
        if let Some(place) = self.objects.first_chunk_mut() {
            *place = kinds.to_le_bytes();
        }
    }
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

/// What follows the printable ASCII that a text begins with, up to a quote or a backslash. Most texts are short: their
/// words are looked at in place, the rest is a call.
#[inline(always)]
fn behind_plain(text: &[u8]) -> &[u8] {
    let mut rest = text;
    for _ in 0..3 {
        let Some((word, tail)) = rest.split_first_chunk() else { break };
        let length = plain_bytes(u64::from_le_bytes(*word));
        if length < 8 {
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
    match behind_plain(text) {
        end @ [b'"', ..] => end,
        stopped => behind_characters(stopped),
    }
}

/// What follows a number that begins with another digit than 0. Most are whole and short.
#[inline(always)]
fn behind_number(rest: &[u8]) -> Option<&[u8]> {
    if let Some(head) = rest.first_chunk::<9>() {
        let length = digits(u64::from_le_bytes(*head.first_chunk()?));
        if !matches!(head.get(length)?, b'0'..=b'9' | b'.' | b'e' | b'E') {
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
