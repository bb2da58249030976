//! Scans the strings and literals that `tokens.rs` does not scan itself; resumable at any byte.
#![allow(clippy::as_conversions, reason = "a unit has at most six bytes, and the letter is ASCII")]

use super::member::PartialName;
use super::{MemberIndex, ScanErrorKind, Scanner, State, Step};
use crate::json::search::{plain_run, text_run};
use crate::json::skip::split;

/// The length of the longest unit: `\uXXXX`.
pub(super) const UNIT: usize = 6;

/// The result of reading a unit: an indivisible sequence of bytes, which is an escape, a UTF-8 sequence or a literal.
enum Unit {
    /// A complete unit of this length.
    Complete(u8),
    /// The bytes end inside the unit.
    Incomplete,
    /// The unit is invalid. The error is at this index.
    Wrong(ScanErrorKind, u8),
}

impl Unit {
    /// Returns the unit at the start of `bytes`, adds the letter of an escape to `name`, and sets `half` after a high
    /// surrogate. After a high surrogate, only a low surrogate is valid.
    fn at(bytes: &[u8], half: &mut bool, name: &mut PartialName) -> Unit {
        match bytes {
            [] | [b'\\'] => Unit::Incomplete,
            [b'\\', b'u', digits @ ..] => Unit::code_unit(digits, half, name),
            [first, ..] if *half => Unit::Wrong(ScanErrorKind::Surrogate, (*first == b'\\').into()),
            [b'\\', byte, ..] if is_short_escape(*byte) => {
                name.push(0);
                Unit::Complete(2)
            }
            [b'\\', ..] => Unit::Wrong(ScanErrorKind::Syntax, 1),
            [0x80..=0xFF, ..] => Unit::sequence(bytes),
            [b't', ..] => Unit::word(bytes, b"true"),
            [b'f', ..] => Unit::word(bytes, b"false"),
            _ => Unit::word(bytes, b"null"),
        }
    }

    /// Like [`at`](Unit::at), for the escape with these hexadecimal digits after `\u`.
    fn code_unit(digits: &[u8], half: &mut bool, name: &mut PartialName) -> Unit {
        let mut value = 0u32;
        for (byte, at) in digits.iter().zip(2..6) {
            let Some(digit) = char::from(*byte).to_digit(16) else {
                return Unit::Wrong(ScanErrorKind::Syntax, at);
            };
            value = value << 4 | digit;
        }
        if digits.len() < 4 {
            return Unit::Incomplete;
        }
        if *half != matches!(value, 0xDC00..=0xDFFF) {
            return Unit::Wrong(ScanErrorKind::Surrogate, 5);
        }
        *half = matches!(value, 0xD800..=0xDBFF);
        name.push(if value < 0x80 { value as u8 } else { 0 });
        Unit::Complete(UNIT as u8)
    }

    /// Returns the UTF-8 sequence of one character.
    fn sequence(bytes: &[u8]) -> Unit {
        // The length does not matter for an invalid first byte, because `from_utf8` rejects it.
        let length = match bytes {
            [0xF0..=0xFF, ..] => 4,
            [0xE0..=0xEF, ..] => 3,
            _ => 2,
        };
        let (sequence, _) = split(bytes, length.into());
        match core::str::from_utf8(sequence) {
            Ok(_) => Unit::Complete(length),
            Err(error) if error.error_len().is_none() => Unit::Incomplete,
            // The error position is the start of the sequence.
            Err(_) => Unit::Wrong(ScanErrorKind::Utf8, 0),
        }
    }

    fn word(bytes: &[u8], word: &[u8]) -> Unit {
        match bytes.iter().zip(word).position(|(byte, wanted)| byte != wanted) {
            Some(at) => Unit::Wrong(ScanErrorKind::Syntax, at as u8),
            None if bytes.len() < word.len() => Unit::Incomplete,
            None => Unit::Complete(word.len() as u8),
        }
    }
}

/// Returns whether a backslash and `byte` form a complete escape.
#[inline]
fn is_short_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
}

impl Scanner {
    /// Scans the rest of a string, up to its closing quote, an error or the end of the piece.
    #[inline(never)]
    pub(super) fn text<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        if self.carried > 0 || self.half {
            rest = self.unit(rest);
        }
        loop {
            let Some(tail) = rest.get(plain_run(rest)..) else { return &[] };
            if matches!(self.state, State::Name) {
                self.add_to_name(rest, tail);
            }
            rest = match tail {
                [b'"', tail @ ..] => {
                    self.end_text(tail);
                    return tail;
                }
                [b'\\', byte, tail @ ..] if is_short_escape(*byte) => tail,
                [b'\\', ..] => self.unit(tail),
                [0x80..=0xFF, ..] => {
                    let (run, behind) = split(tail, text_run(tail));
                    match core::str::from_utf8(run) {
                        Ok(_) => behind,
                        Err(error) => self.unit(tail.get(error.valid_up_to()..).unwrap_or_default()),
                    }
                }
                [] => return tail,
                _ => return self.fail(ScanErrorKind::Control, tail),
            };
        }
    }

    /// Scans `true`, `false` or `null`.
    #[inline(never)]
    pub(super) fn literal<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let rest = self.unit(rest);
        if self.carried == 0 && self.is_valid() {
            self.state = State::Between(self.end_value(rest));
        }
        rest
    }

    /// Scans a unit that starts in `carry` or at `rest`. After a high surrogate, also scans the low surrogate. Returns
    /// the bytes after the unit. Returns no bytes if the unit is invalid, or if the piece ends inside the unit. In the
    /// latter case, `carry` holds the start of the unit.
    fn unit<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let before = usize::from(self.carried);
        let places = self.carry.iter_mut().skip(before);
        let copied = places.zip(rest).map(|(place, byte)| *place = *byte).count();
        let (bytes, _) = split(&self.carry, before.wrapping_add(copied));
        match Unit::at(bytes, &mut self.half, &mut self.name) {
            Unit::Complete(length) => {
                self.carried = 0;
                let behind = rest.get(usize::from(length).wrapping_sub(before)..).unwrap_or_default();
                if self.half { self.unit(behind) } else { behind }
            }
            Unit::Incomplete => {
                self.carried = bytes.len() as u8;
                &[]
            }
            Unit::Wrong(kind, at) => {
                self.position = self.position.wrapping_sub(before).wrapping_add(at.into());
                self.fail(kind, rest);
                &[]
            }
        }
    }

    /// Records the end of a string; `rest` follows its closing quote.
    fn end_text(&mut self, rest: &[u8]) {
        self.state = if self.depth > u32::from(self.limit) {
            State::Deep
        } else if matches!(self.state, State::Name) {
            if self.depth == 1 {
                self.name_member(self.name.member());
            } else if self.depth == 2 {
                let end = self.at(rest).wrapping_sub(1);
                self.record(|index| index.end_name(end));
            }
            State::Between(Step::Colon)
        } else {
            State::Between(self.end_value(rest))
        };
    }

    /// At depth one, adds the start of `text`, up to `tail`, to the partial name. A short escape or a byte that is not
    /// ASCII then rules out every [`Member`](super::Member). At depth two, an escape leaves the index unknown.
    // Not inlined, because the loop over escapes would otherwise spill more variables.
    #[inline(never)]
    fn add_to_name(&mut self, text: &[u8], tail: &[u8]) {
        if self.depth == 1 {
            let (plain, _) = split(text, text.len().wrapping_sub(tail.len()));
            plain.iter().for_each(|letter| self.name.push(*letter));
            match tail {
                // `Scanner::unit` adds the letter of the escape.
                [] | [b'"', ..] | [b'\\', b'u', ..] | [b'\\'] => {}
                _ => self.name.push(0),
            }
        } else if let (2, [b'\\', ..]) = (self.depth, tail) {
            self.record(MemberIndex::forget);
        }
    }
}
