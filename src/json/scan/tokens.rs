//! The fast way on hosts: whole tokens, one after the other, with all that is needed for it in registers.
//!
//! Nearly always a whole message is there when it is scanned. The states are for what is not: wherever something is cut,
//! wrong, too deep or just unusual, the pass stops before that token, and they take it, from there. So nothing is scanned
//! twice but the token itself, and what is wrong is found by the states alone.

use super::escapes::behind_characters;
use super::inner::Place;
use super::{Inside, Member, NO_NAME, NOWHERE, Scanner, Shape, Span, State, skip_space};
use crate::json::swar::{digit_run, digits, plain_bytes, plain_run};
use crate::json::walk::after_prefix;

/// How deep the pass goes: the kinds of so many open containers are in one word.
const DEEPEST: u32 = 64;

/// Shorter pieces are left to the states: they are the rest of something, and not worth the beginning.
pub(super) const WORTH_IT: usize = 8;

/// Where whole tokens end.
struct Stop<'t> {
    rest: &'t [u8],
    depth: u32,
    /// A bit for each open container, the innermost the lowest: set for an object.
    objects: u64,
    /// What begins there, for the states to take; `None`: what was to be passed has ended.
    state: Option<State>,
}

impl Scanner {
    /// Takes tokens as long as they are all there, from a name or from a value that has none, and returns what it did not
    /// take. The state is then that of a token that begins there.
    pub(super) fn tokens<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let (depth, objects) = (self.depth, self.kinds());
        if depth > DEEPEST || matches!(self.state, State::Name) == (objects & 1 == 0) {
            return rest;
        }
        let from = Stop { rest, depth, objects, state: None };
        let stop = match depth {
            0 => self.message(from),
            1 if objects != 0 => self.object::<1>(rest),
            1 => self.nested(from, 0),
            _ => {
                let stop = self.nested(from, 1);
                if stop.state.is_none() {
                    self.member_ends(stop.rest);
                }
                stop
            }
        };
        self.depth = stop.depth;
        self.set_kinds(stop.objects);
        self.state = stop.state.unwrap_or(State::After);
        stop.rest
    }

    /// A whole text.
    fn message<'t>(&mut self, from: Stop<'t>) -> Stop<'t> {
        let rest = skip_space(from.rest);
        self.shape = match rest {
            [] => return Stop { state: Some(State::Value), ..from },
            [b'{', ..] => Shape::Object,
            [b'[', ..] => Shape::Array,
            _ => Shape::Other,
        };
        let names = if let [b'{', tail @ ..] = rest { skip_space(tail) } else { &[] };
        match names {
            [b'"', ..] if self.limit > 0 => self.object::<1>(names),
            _ => self.nested(Stop { rest, ..from }, 0),
        }
    }

    /// The members of the message, or of its parameters or its result, from a name on to the end of the object. Where they
    /// stand is noted; all that is nested deeper is passed at once.
    #[inline(never)]
    fn object<'t, const DEPTH: u32>(&mut self, rest: &'t [u8]) -> Stop<'t> {
        let (mut rest, mut keeps) = (rest, true);
        let state = 'members: loop {
            rest = skip_space(rest);
            let name = self.at(rest).wrapping_add(1);
            let length = if let Some((word, length)) = short_name(rest) {
                if DEPTH == 1 {
                    self.current = Member::of_word(word);
                }
                // The quotes and the colon.
                rest = rest.get(length.wrapping_add(3)..).unwrap_or_default();
                length
            } else {
                let Some(length) = long_name(rest) else { break State::Name };
                if DEPTH == 1 {
                    self.current = rest.get(1..length.wrapping_add(1)).and_then(Member::of);
                }
                rest = skip_space(rest.get(length.wrapping_add(2)..).unwrap_or_default());
                let [b':', tail @ ..] = rest else { break State::Colon };
                rest = tail;
                length
            };
            rest = skip_space(rest);
            if rest.is_empty() {
                break State::Value;
            }
            let start = self.at(rest);
            if DEPTH == 1 {
                self.member_starts(rest);
            }
            let short = rest.split_first_chunk().and_then(|(head, _)| short_value(head));
            rest = if let Some(length) = short {
                rest.get(length..).unwrap_or_default()
            } else if let [b'"', text @ ..] = rest
                && let [b'"', tail @ ..] = behind_plain(text)
            {
                tail
            } else {
                let stop = match rest {
                    [b'{', tail @ ..] if DEPTH == 1 && tail.starts_with(b"\"") && self.begin_inner() => {
                        self.object::<2>(tail)
                    }
                    _ => self.nested(Stop { rest, depth: DEPTH, objects: 0, state: None }, DEPTH),
                };
                if stop.state.is_some() {
                    // What is open around it.
                    let around = 1u64.wrapping_shl(DEPTH).wrapping_sub(1);
                    let objects = stop.objects | around.wrapping_shl(stop.depth.wrapping_sub(DEPTH));
                    return Stop { objects, ..stop };
                }
                stop.rest
            };
            if DEPTH == 1 {
                self.member_ends(rest);
            } else if keeps {
                let [name, start, end] = [name, start, self.at(rest)].map(|at| at as u32);
                keeps = self.keep(Place { name, name_end: name.wrapping_add(length as u32), start, end });
            }
            loop {
                match rest {
                    [b',', tail @ ..] => {
                        rest = tail;
                        continue 'members;
                    }
                    [b'}', tail @ ..] => {
                        if DEPTH == 2 && keeps {
                            self.end_inner();
                        }
                        return Stop { rest: tail, depth: DEPTH.wrapping_sub(1), objects: 0, state: None };
                    }
                    [b' ' | b'\t' | b'\n' | b'\r', tail @ ..] => rest = skip_space(tail),
                    _ => break 'members State::After,
                }
            }
        };
        Stop { rest, depth: DEPTH, objects: 1u64.wrapping_shl(DEPTH).wrapping_sub(1), state: Some(state) }
    }

    /// All that is nested deeper than `outside`: one value, if nothing is yet.
    #[inline(never)]
    fn nested<'t>(&mut self, from: Stop<'t>, outside: u32) -> Stop<'t> {
        let Stop { mut rest, mut depth, mut objects, .. } = from;
        let deepest = u32::from(self.limit).min(DEEPEST);
        let state = 'pass: loop {
            if objects & 1 != 0 {
                if let Some((_, length)) = short_name(rest) {
                    // The quotes and the colon.
                    rest = rest.get(length.wrapping_add(3)..).unwrap_or_default();
                } else {
                    rest = skip_space(rest);
                    let Some(length) = long_name(rest) else { break State::Name };
                    rest = skip_space(rest.get(length.wrapping_add(2)..).unwrap_or_default());
                    let [b':', tail @ ..] = rest else { break State::Colon };
                    rest = tail;
                }
            }
            if let [b' ' | b'\t' | b'\n' | b'\r', tail @ ..] = rest {
                rest = skip_space(tail);
            }
            let short = rest.split_first_chunk().and_then(|(head, _)| short_value(head));
            rest = if let Some(length) = short {
                rest.get(length..).unwrap_or_default()
            } else {
                match rest {
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
                        let inside = skip_space(tail);
                        match inside {
                            [b'}', tail @ ..] if object => tail,
                            [b']', tail @ ..] if !object => tail,
                            _ => {
                                rest = inside;
                                depth = depth.wrapping_add(1);
                                objects = objects << 1 | u64::from(object);
                                match inside {
                                    [b'"', ..] => continue,
                                    _ if object => break State::FirstName,
                                    [] => break State::FirstValue,
                                    _ => continue,
                                }
                            }
                        }
                    }
                    _ => match scalar(rest) {
                        Some(tail) => tail,
                        None => break State::Value,
                    },
                }
            };
            loop {
                if depth == outside {
                    return Stop { rest, depth, objects, state: None };
                }
                match rest {
                    [b',', tail @ ..] => {
                        rest = tail;
                        continue 'pass;
                    }
                    [b'}', tail @ ..] if objects & 1 != 0 => rest = tail,
                    [b']', tail @ ..] if objects & 1 == 0 => rest = tail,
                    [b' ' | b'\t' | b'\n' | b'\r', tail @ ..] => {
                        rest = skip_space(tail);
                        continue;
                    }
                    _ => break 'pass State::After,
                }
                depth = depth.wrapping_sub(1);
                objects >>= 1;
            }
        };
        Stop { rest, depth, objects, state: Some(state) }
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

    #[inline(always)]
    fn member_starts(&mut self, rest: &[u8]) {
        let start = self.at(rest);
        if let Some(member) = self.current
            && let Some(slot) = self.members.get_mut(member as usize)
        {
            *slot = Span { start, end: NOWHERE };
            self.forget_inner_of(member);
        }
    }

    #[inline(always)]
    fn member_ends(&mut self, rest: &[u8]) {
        let end = self.at(rest);
        if let Some(member) = self.current.take()
            && let Some(slot) = self.members.get_mut(member as usize)
        {
            slot.end = end;
        }
    }
}

/// A name of eight bytes at most with a colon behind it, as nearly all are, as a word and its length.
#[inline(always)]
fn short_name(rest: &[u8]) -> Option<(u64, usize)> {
    let (head, _) = rest.split_first_chunk::<11>()?;
    let [b'"', text @ ..] = head else { return None };
    let word = u64::from_le_bytes(*text.first_chunk()?);
    let length = plain_bytes(word);
    if text.get(length) != Some(&b'"') || text.get(length.wrapping_add(1)) != Some(&b':') {
        return None;
    }
    // None of ours has eight bytes.
    let kept =
        if length < 8 { 1u64.wrapping_shl((length as u32).wrapping_mul(8)).wrapping_sub(1) } else { 0 };
    Some((word & kept, length))
}

/// The length of any name without escapes.
#[inline(never)]
fn long_name(rest: &[u8]) -> Option<usize> {
    let [b'"', text @ ..] = rest else { return None };
    let behind = behind_plain(text);
    behind.starts_with(b"\"").then(|| text.len().wrapping_sub(behind.len()))
}

/// What follows the printable ASCII that a text begins with, up to a quote or a backslash. Most texts are short: the first
/// words are looked at in place, the rest is a call.
#[inline(never)]
fn behind_plain(text: &[u8]) -> &[u8] {
    let mut rest = text;
    for _ in 0..4 {
        let Some((word, tail)) = rest.split_first_chunk() else { break };
        let length = plain_bytes(u64::from_le_bytes(*word));
        if length < 8 {
            return rest.get(length..).unwrap_or_default();
        }
        rest = tail;
    }
    rest.get(plain_run(rest)..).unwrap_or_default()
}

/// What follows the characters that a text begins with.
#[inline(always)]
fn behind_text(text: &[u8]) -> &[u8] {
    match behind_plain(text) {
        end @ [b'"', ..] => end,
        stopped => behind_characters(stopped),
    }
}

/// The length of a short value that needs no closer look: a string of eight bytes at most, a whole number, a literal.
#[inline(always)]
fn short_value(head: &[u8; 12]) -> Option<usize> {
    match head {
        [b'"', text @ ..] => {
            let length = plain_bytes(u64::from_le_bytes(*text.first_chunk()?));
            (text.get(length) == Some(&b'"')).then(|| length.wrapping_add(2))
        }
        [b'1'..=b'9', ..] => {
            let length = digits(u64::from_le_bytes(*head.first_chunk()?));
            matches!(head.get(length), Some(b',' | b'}' | b']')).then_some(length)
        }
        [b't', b'r', b'u', b'e', ..] | [b'n', b'u', b'l', b'l', ..] => Some(4),
        [b'f', b'a', b'l', b's', b'e', ..] => Some(5),
        _ => None,
    }
}

/// What follows a number or a literal. `None`: it is wrong or may go on in the next piece.
#[inline(never)]
fn scalar(rest: &[u8]) -> Option<&[u8]> {
    let digits = if let [b'-', digits @ ..] = rest { digits } else { rest };
    match digits {
        [b'0', tail @ ..] => behind_digits(tail),
        [b'1'..=b'9', ..] => behind_digits(digits.get(digit_run(digits)..)?),
        _ => [&b"true"[..], b"false", b"null"].into_iter().find_map(|literal| after_prefix(rest, literal)),
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
