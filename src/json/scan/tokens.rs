//! The fast way on hosts: whole tokens, one after the other, with all that is needed for it in registers.
//!
//! Nearly always a whole message is there when it is scanned. The states are for what is not: wherever something is cut,
//! wrong, too deep or just unusual, the pass stops before that token, and they take it, from there. So nothing is scanned
//! twice but the token itself, and what is wrong is found by the states alone.

use super::escapes::behind_characters;
use super::{Inside, Member, NO_NAME, NOWHERE, Scanner, Shape, Span, State, skip_space};
use crate::json::swar::{digit_run, digits, plain_bytes, plain_run};
use crate::json::walk::{after_prefix, split};

/// How deep the pass goes: the kinds of so many open containers are in one word.
const DEEPEST: u32 = 64;

/// Shorter pieces are left to the states: they are the rest of something, and not worth the beginning.
pub(super) const WORTH_IT: usize = 8;

impl Scanner {
    /// Takes tokens as long as they are all there, from a name or from a value that has none, and returns what it did not
    /// take. The state is then that of a token that begins there.
    #[inline(never)]
    pub(super) fn tokens<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let mut depth = self.depth;
        // A bit for each open container, the innermost the lowest: set for an object.
        let mut objects = self.kinds();
        if depth > DEEPEST || matches!(self.state, State::Name) == (objects & 1 == 0) {
            return rest;
        }
        let deepest = u32::from(self.limit).min(DEEPEST);
        let mut rest = rest;
        self.state = 'pass: loop {
            if objects & 1 != 0 {
                if let Some((word, tail)) = short_name(rest) {
                    if depth == 1 {
                        self.current = Member::of_word(word);
                    }
                    rest = tail;
                } else {
                    rest = skip_space(rest);
                    let Some((name, tail)) = other_name(rest) else { break State::Name };
                    if depth == 1 {
                        self.current = Member::of(name);
                    }
                    rest = skip_space(tail);
                    match rest {
                        [b':', tail @ ..] => rest = tail,
                        _ => break State::Colon,
                    }
                }
            }
            if let [b' ' | b'\t' | b'\n' | b'\r', tail @ ..] = rest {
                rest = skip_space(tail);
            }
            if depth == 1 && !rest.is_empty() {
                self.member_starts(rest);
            }
            let short = rest.split_first_chunk().and_then(|(head, _)| short_value(head));
            rest = if let Some(length) = short {
                rest.get(length..).unwrap_or_default()
            } else {
                match rest {
                    [b'"', text @ ..] => match behind_plain(text) {
                        [b'"', tail @ ..] => tail,
                        stopped => match behind_characters(stopped) {
                            [b'"', tail @ ..] => tail,
                            stopped => {
                                rest = stopped;
                                (self.in_name, self.name_length) = (false, NO_NAME);
                                break State::Text(Inside::Plain);
                            }
                        },
                    },
                    [bracket @ (b'{' | b'['), tail @ ..] if depth < deepest => {
                        let object = *bracket == b'{';
                        if depth == 0 {
                            self.shape = if object { Shape::Object } else { Shape::Array };
                        }
                        depth = depth.wrapping_add(1);
                        objects = objects << 1 | u64::from(object);
                        rest = skip_space(tail);
                        match rest {
                            [b'"', ..] => continue,
                            // It ends below.
                            [b'}', ..] if object => rest,
                            [b']', ..] if !object => rest,
                            _ if object => break State::FirstName,
                            [] => break State::FirstValue,
                            _ => continue,
                        }
                    }
                    _ => match scalar(rest) {
                        Some(tail) => tail,
                        None => break State::Value,
                    },
                }
            };
            // A value has ended, or a container ends that has none.
            if depth == 1 {
                self.member_ends(rest);
            }
            loop {
                match rest {
                    [b',', tail @ ..] if depth > 0 => {
                        rest = tail;
                        continue 'pass;
                    }
                    [b'}', tail @ ..] if objects & 1 != 0 => rest = tail,
                    [b']', tail @ ..] if objects & 1 == 0 && depth > 0 => rest = tail,
                    [b' ' | b'\t' | b'\n' | b'\r', tail @ ..] => {
                        rest = skip_space(tail);
                        continue;
                    }
                    _ => break 'pass State::After,
                }
                depth = depth.wrapping_sub(1);
                objects >>= 1;
                if depth == 1 {
                    self.member_ends(rest);
                }
            }
        };
        self.depth = depth;
        self.set_kinds(objects);
        rest
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

/// A name of eight bytes at most with a colon behind it, as nearly all are: the name as a word, and what follows the colon.
#[inline(always)]
fn short_name(rest: &[u8]) -> Option<(u64, &[u8])> {
    let (head, _) = rest.split_first_chunk::<11>()?;
    let [b'"', text @ ..] = head else { return None };
    let word = u64::from_le_bytes(*text.first_chunk()?);
    let length = plain_bytes(word);
    if text.get(length) != Some(&b'"') || text.get(length.wrapping_add(1)) != Some(&b':') {
        return None;
    }
    let kept = word & (1u64.wrapping_shl((length as u32).wrapping_mul(8))).wrapping_sub(1);
    Some((if length < 8 { kept } else { 0 }, rest.get(length.wrapping_add(3)..)?))
}

/// Any name without escapes, and what follows its closing quote.
#[inline(never)]
fn other_name(rest: &[u8]) -> Option<(&[u8], &[u8])> {
    let [b'"', text @ ..] = rest else { return None };
    let [b'"', tail @ ..] = behind_plain(text) else { return None };
    Some((split(text, text.len().wrapping_sub(tail.len()).wrapping_sub(1)).0, tail))
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
