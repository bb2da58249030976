//! The fast way on hosts: whole tokens, one after the other, with all that is needed for it in registers.
//!
//! Nearly always a whole message is there when it is scanned. The states are for what is not: wherever something is cut,
//! wrong, too deep or just unusual, the pass stops before that token, and they take it, from there. So nothing is scanned
//! twice but the token itself, and what is wrong is found by the states alone.

mod name;
mod usual;

use super::escapes::behind_characters;
use super::{Inside, Member, NO_NAME, NOWHERE, Scanner, Shape, Span, State};
use crate::json::swar::{FAST, digit_run, digits, plain_end, plain_run};
use name::usual_name;

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
        if self.depth > 0 {
            objects = self.kinds();
            if objects == 0 || matches!(self.state, State::Name) == (objects & 1 == 0) {
                return rest;
            }
            self.keep_none();
        } else if let [b'{', tail @ ..] = rest
            && let [b'"', ..] = tail
            && self.limit > 0
        {
            self.shape = Shape::Object;
            (objects, rest) = (MESSAGE, tail);
        } else {
            rest = behind_space::<LINE>(rest);
            self.shape = match rest {
                [b'{', ..] => Shape::Object,
                [b'[', ..] => Shape::Array,
                _ => Shape::Other,
            };
        }
        let bound = OUTSIDE.wrapping_shl(u32::from(self.limit).min(DEEPEST));
        self.state = 'tokens: loop {
            rest = 'value: {
                let begun = if objects == MESSAGE {
                    let usual = self.usual_members(rest, bound);
                    (objects, rest) = (usual.objects, usual.rest);
                    if usual.ends {
                        break 'value rest;
                    }
                    usual.begins
                } else {
                    false
                };
                if objects & 1 != 0 && !begun {
                    if objects != MESSAGE
                        && let Some(tail) = usual_name(rest)
                    {
                        if objects == INNER {
                            let [name, start] = [self.at(rest), self.at(tail)];
                            self.keep([name.wrapping_add(1), start.wrapping_sub(2), start]);
                        }
                        rest = tail;
                    } else if let Some(tail) = self.any_name::<LINE>(rest, objects) {
                        rest = tail;
                    } else {
                        break 'tokens State::Name;
                    }
                }
                loop {
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
                                self.begin_inner();
                            }
                            objects = objects << 1 | 1;
                            continue 'tokens;
                        }
                        [b'[', tail @ ..] if objects < bound => {
                            let inside =
                                if starts_with_space(tail) { behind_space::<LINE>(tail) } else { tail };
                            if let [b']', tail @ ..] = inside {
                                break tail;
                            }
                            rest = inside;
                            objects <<= 1;
                            // What is still white space ends a line.
                            if matches!(rest, [] | [b'\n', ..]) {
                                break 'tokens State::FirstValue;
                            }
                            continue;
                        }
                        _ => match behind_scalar(rest) {
                            Some(tail) => tail,
                            None => {
                                let behind = behind_space::<LINE>(rest);
                                if behind.len() == rest.len() {
                                    break 'tokens State::Value;
                                }
                                rest = behind;
                                continue;
                            }
                        },
                    };
                }
            };
            // Mostly, nothing is to be noted, and more follows.
            if objects > INNER
                && let [b',', tail @ ..] = rest
            {
                rest = tail;
                continue;
            }
            // A value has ended here, and perhaps some around it.
            loop {
                if objects <= INNER {
                    if objects == INNER {
                        self.kept(self.at(rest));
                    } else if objects == MESSAGE {
                        self.end_member(self.at(rest));
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
                if objects == INNER {
                    self.end_inner();
                }
                objects >>= 1;
            }
        };
        self.set_kinds(objects);
        rest
    }

    /// Where the value of a member stands.
    #[inline(always)]
    pub(super) fn note(&mut self, member: Member, [start, end]: [usize; 2]) {
        if let Some(slot) = self.members.get_mut(member as usize) {
            *slot = Span { start, end };
        }
    }

    /// The value of a member of the message begins.
    #[inline(always)]
    pub(super) fn begin_member(&mut self, member: Option<Member>, start: usize) {
        self.current = member;
        if let Some(member) = member {
            self.note(member, [start, NOWHERE]);
        }
    }

    #[inline(always)]
    fn end_member(&mut self, end: usize) {
        if let Some(member) = self.current.take()
            && let Some(slot) = self.members.get_mut(member as usize)
        {
            slot.end = end;
        }
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

/// What follows the printable ASCII that a text begins with, up to a quote or a backslash. Most texts are short: their first
/// word is looked at in place, the rest is a call.
#[inline(always)]
fn behind_plain(text: &[u8]) -> &[u8] {
    match text.split_first_chunk() {
        Some((word, tail)) => match plain_end(u64::from_le_bytes(*word)) {
            Some(length) => text.get(length..).unwrap_or_default(),
            None => behind_words(tail),
        },
        None => behind_words(text),
    }
}

/// The same by one word more. Each of these is small, and needs few registers.
#[inline(never)]
fn behind_words(text: &[u8]) -> &[u8] {
    let Some((word, tail)) = text.split_first_chunk() else { return behind_run(text) };
    match plain_end(u64::from_le_bytes(*word)) {
        Some(length) => text.get(length..).unwrap_or_default(),
        None => match tail {
            [b'"', ..] => tail,
            _ => behind_run(tail),
        },
    }
}

#[inline(never)]
fn behind_run(text: &[u8]) -> &[u8] {
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

/// What follows a number, `true`, `false` or `null`. `None`: it is something else, or may go on in the next piece.
#[inline(always)]
fn behind_scalar(rest: &[u8]) -> Option<&[u8]> {
    match rest {
        [b'1'..=b'9', ..] => behind_number(rest),
        [b't', b'r', b'u', b'e', tail @ ..] | [b'n', b'u', b'l', b'l', tail @ ..] => Some(tail),
        [b'f', b'a', b'l', b's', b'e', tail @ ..] => Some(tail),
        [b'-' | b'0', ..] => number(rest),
        _ => None,
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
    number(rest)
}

/// What follows a number. `None`: it is wrong or may go on in the next piece.
#[inline(never)]
fn number(rest: &[u8]) -> Option<&[u8]> {
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
