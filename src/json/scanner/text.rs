//! Scans strings with escapes or UTF-8, and literals; resumable at any byte.
#![allow(clippy::as_conversions, reason = "a unit has at most six bytes, and the letter is ASCII")]

use super::{MemberIndex, ScanErrorKind, Scanner, State, Step};
use crate::json::search::{plain_run, text_run};
use crate::json::skip::split;

/// The length of the longest unit: `\uXXXX`.
pub(super) const UNIT: usize = 6;

/// An indivisible sequence of bytes: an escape, a UTF-8 sequence or a literal.
struct Unit {
    length: u8,
    /// The ASCII character that a `\uXXXX` escape encodes; otherwise 0.
    letter: u8,
    /// Whether the unit is a high surrogate.
    half: bool,
}

/// The unit found; `None` if the bytes end inside the unit. The error holds the index of the wrong byte.
type Found = Result<Option<Unit>, (ScanErrorKind, u8)>;

impl Unit {
    const fn of_length(length: u8) -> Unit {
        Unit { length, letter: 0, half: false }
    }

    /// Returns the unit at the start of `bytes`. After a high surrogate (`behind_half`), only a low surrogate is
    /// valid.
    fn at(bytes: &[u8], behind_half: bool) -> Found {
        match bytes {
            [] | [b'\\'] => Ok(None),
            [b'\\', b'u', digits @ ..] => {
                let Some(unit) = code_unit(digits)? else { return Ok(None) };
                if behind_half != matches!(unit, 0xDC00..=0xDFFF) {
                    return Err((ScanErrorKind::Surrogate, 5));
                }
                let letter = if unit < 0x80 { unit as u8 } else { 0 };
                Ok(Some(Unit { length: UNIT as u8, letter, half: matches!(unit, 0xD800..=0xDBFF) }))
            }
            [b'\\', ..] if behind_half => Err((ScanErrorKind::Surrogate, 1)),
            _ if behind_half => Err((ScanErrorKind::Surrogate, 0)),
            [b'\\', byte, ..] if is_short_escape(*byte) => Ok(Some(Unit::of_length(2))),
            [b'\\', ..] => Err((ScanErrorKind::Syntax, 1)),
            [0x80..=0xFF, ..] => Unit::sequence(bytes),
            [b't', ..] => Unit::word(bytes, b"true"),
            [b'f', ..] => Unit::word(bytes, b"false"),
            _ => Unit::word(bytes, b"null"),
        }
    }

    /// Returns the UTF-8 sequence of one character.
    fn sequence(bytes: &[u8]) -> Found {
        // The length does not matter for an invalid first byte, because `from_utf8` rejects it.
        let length = match bytes {
            [0xF0..=0xFF, ..] => 4,
            [0xE0..=0xEF, ..] => 3,
            _ => 2,
        };
        let (sequence, _) = split(bytes, length.into());
        match core::str::from_utf8(sequence) {
            Ok(_) => Ok(Some(Unit::of_length(length))),
            Err(error) if error.error_len().is_none() => Ok(None),
            // The error position is the start of the sequence.
            Err(_) => Err((ScanErrorKind::Utf8, 0)),
        }
    }

    fn word(bytes: &[u8], word: &[u8]) -> Found {
        match bytes.iter().zip(word).position(|(byte, wanted)| byte != wanted) {
            Some(at) => Err((ScanErrorKind::Syntax, at as u8)),
            None => Ok((bytes.len() >= word.len()).then_some(Unit::of_length(word.len() as u8))),
        }
    }
}

/// Returns the value of the four hexadecimal digits after `\u`; `None` if fewer are available.
fn code_unit(digits: &[u8]) -> Result<Option<u32>, (ScanErrorKind, u8)> {
    let mut value = 0u32;
    for (byte, at) in digits.iter().zip(2..6) {
        let digit = char::from(*byte).to_digit(16).ok_or((ScanErrorKind::Syntax, at))?;
        value = value << 4 | digit;
    }
    Ok((digits.len() >= 4).then_some(value))
}

/// Returns whether a backslash and `byte` form a complete escape.
#[inline]
fn is_short_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
}

impl Scanner {
    /// Scans a string up to its closing quote.
    #[inline(never)]
    pub(super) fn text<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        if self.carried > 0 || self.half {
            let Some(behind) = self.unit(rest) else { return &[] };
            rest = behind;
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
                [b'\\', ..] => {
                    let Some(behind) = self.unit(tail) else { return &[] };
                    behind
                }
                [0x80..=0xFF, ..] => {
                    let (run, behind) = split(tail, text_run(tail));
                    match core::str::from_utf8(run) {
                        Ok(_) => behind,
                        Err(error) => {
                            let wrong = tail.get(error.valid_up_to()..).unwrap_or_default();
                            let Some(behind) = self.unit(wrong) else { return &[] };
                            behind
                        }
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
        let Some(rest) = self.unit(rest) else { return &[] };
        self.state = State::Between(self.end_value(rest));
        rest
    }

    /// Scans a unit that starts in `carry` or at `rest`. After a high surrogate, also scans the low surrogate. Returns
    /// the bytes after the unit. `None` means that the unit is invalid, or that the piece ends inside the unit. In the
    /// latter case, `carry` holds the start of the unit.
    fn unit<'t>(&mut self, rest: &'t [u8]) -> Option<&'t [u8]> {
        let before = usize::from(self.carried);
        let places = self.carry.iter_mut().skip(before);
        let copied = places.zip(rest).map(|(place, byte)| *place = *byte).count();
        let (bytes, _) = split(&self.carry, before.wrapping_add(copied));
        match Unit::at(bytes, self.half) {
            Ok(Some(Unit { length, letter, half })) => {
                (self.carried, self.half) = (0, half);
                self.name.push(letter);
                let behind = rest.get(usize::from(length).wrapping_sub(before)..)?;
                if half { self.unit(behind) } else { Some(behind) }
            }
            Ok(None) => {
                self.carried = bytes.len() as u8;
                None
            }
            Err((kind, at)) => {
                self.position = self.position.wrapping_sub(before).wrapping_add(at.into());
                self.fail(kind, rest);
                None
            }
        }
    }

    /// Records the end of a string; `rest` follows its closing quote.
    fn end_text(&mut self, rest: &[u8]) {
        self.state = if self.depth > u32::from(self.limit) {
            State::Deep
        } else if matches!(self.state, State::Name) {
            if self.depth == 1 {
                self.current = self.name.member();
                let current = self.current;
                self.record(|index| index.name_member(current));
            } else if self.depth == 2 {
                let end = self.at(rest).wrapping_sub(1);
                self.record(|index| index.end_name(end));
            }
            State::Between(Step::Colon)
        } else {
            State::Between(self.end_value(rest))
        };
    }

    /// Adds the start of `text`, up to `tail`, to the partial name of a member. An escape at depth two stops the index.
    /// A short escape or a byte that is not ASCII rules out every [`Member`](super::Member).
    fn add_to_name(&mut self, text: &[u8], tail: &[u8]) {
        let (plain, _) = split(text, text.len().wrapping_sub(tail.len()));
        // Eight letters suffice, because every member name is shorter.
        plain.iter().take(8).for_each(|letter| self.name.push(*letter));
        match tail {
            [] | [b'"', ..] => {}
            // `Scanner::unit` adds the letter of the escape.
            [b'\\', ..] if self.depth == 2 => self.record(MemberIndex::forget),
            [b'\\', b'u', ..] | [b'\\'] => {}
            _ => self.name.push(0),
        }
    }
}
