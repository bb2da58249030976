//! Strings with escapes or UTF-8, literals, and their remainders in the next piece.
#![allow(clippy::as_conversions, reason = "a unit and a name are short, and the letter is ASCII")]

use super::{Member, NO_NAME, ScanErrorKind, Scanner, State, Step};
use crate::json::search::{plain_run, text_run};
use crate::json::skip::split;

/// The longest unit: a surrogate pair as two escapes.
pub(super) const UNIT: usize = 12;

/// Bytes of which either all are valid or none: an escape, a UTF-8 sequence or a literal.
struct Unit {
    length: usize,
    /// The ASCII character of an escape `\uXXXX`, otherwise 0.
    letter: u8,
}

impl Unit {
    const fn of_length(length: usize) -> Unit {
        Unit { length, letter: 0 }
    }

    /// The unit at the start of `bytes`; `None` if it may go on behind them.
    ///
    /// # Errors
    ///
    /// What is wrong, and at which byte.
    fn at(bytes: &[u8]) -> Result<Option<Unit>, (ScanErrorKind, usize)> {
        match bytes {
            [] | [b'\\'] => Ok(None),
            [b'\\', b'u', ..] => Unit::code_units(bytes),
            [b'\\', byte, ..] if is_short_escape(*byte) => Ok(Some(Unit::of_length(2))),
            [b'\\', ..] => Err((ScanErrorKind::Syntax, 1)),
            [0x80..=0xFF, ..] => Unit::sequence(bytes),
            [b't', ..] => Unit::word(bytes, b"true"),
            [b'f', ..] => Unit::word(bytes, b"false"),
            _ => Unit::word(bytes, b"null"),
        }
    }

    /// `\uXXXX`, or two of them that are a surrogate pair.
    fn code_units(bytes: &[u8]) -> Result<Option<Unit>, (ScanErrorKind, usize)> {
        match code_unit(bytes, 2)? {
            None => Ok(None),
            Some(0xD800..=0xDBFF) => match bytes.get(6..).unwrap_or_default() {
                [] | [b'\\'] => Ok(None),
                [b'\\', b'u', ..] => match code_unit(bytes, 8)? {
                    None => Ok(None),
                    Some(0xDC00..=0xDFFF) => Ok(Some(Unit::of_length(12))),
                    Some(_) => Err((ScanErrorKind::Surrogate, 11)),
                },
                [b'\\', ..] => Err((ScanErrorKind::Surrogate, 7)),
                _ => Err((ScanErrorKind::Surrogate, 6)),
            },
            Some(0xDC00..=0xDFFF) => Err((ScanErrorKind::Surrogate, 5)),
            Some(letter @ 0..=0x7F) => Ok(Some(Unit { length: 6, letter: letter as u8 })),
            Some(_) => Ok(Some(Unit::of_length(6))),
        }
    }

    /// The UTF-8 sequence of one character.
    fn sequence(bytes: &[u8]) -> Result<Option<Unit>, (ScanErrorKind, usize)> {
        let length = bytes.first().map_or(0, |lead| lead.leading_ones() as usize);
        let (sequence, _) = split(bytes, length);
        match core::str::from_utf8(sequence) {
            Ok(_) => Ok(Some(Unit::of_length(length))),
            Err(error) if error.error_len().is_none() => Ok(None),
            // The error is the whole sequence.
            Err(_) => Err((ScanErrorKind::Utf8, 0)),
        }
    }

    fn word(bytes: &[u8], word: &[u8]) -> Result<Option<Unit>, (ScanErrorKind, usize)> {
        match bytes.iter().zip(word).position(|(byte, wanted)| byte != wanted) {
            Some(at) => Err((ScanErrorKind::Syntax, at)),
            None => Ok((bytes.len() >= word.len()).then_some(Unit::of_length(word.len()))),
        }
    }
}

/// The value of four hexadecimal digits at `start`; `None` if fewer are there.
fn code_unit(bytes: &[u8], start: usize) -> Result<Option<u32>, (ScanErrorKind, usize)> {
    let mut value = 0u32;
    for at in start..start.wrapping_add(4) {
        let Some(byte) = bytes.get(at) else { return Ok(None) };
        let digit = char::from(*byte).to_digit(16).ok_or((ScanErrorKind::Syntax, at))?;
        value = value << 4 | digit;
    }
    Ok(Some(value))
}

/// Whether a backslash and `byte` are a whole escape.
#[inline]
fn is_short_escape(byte: u8) -> bool {
    matches!(byte, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't')
}

impl Scanner {
    /// Takes a string up to its closing quote.
    #[inline(never)]
    pub(super) fn text<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        if self.carried > 0 {
            let Some(behind) = self.unit(rest) else { return &[] };
            rest = behind;
        }
        loop {
            let tail = rest.get(plain_run(rest)..).unwrap_or_default();
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

    /// Takes `true`, `false` or `null`.
    #[inline(never)]
    pub(super) fn literal<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let Some(rest) = self.unit(rest) else { return &[] };
        self.end_value(rest);
        self.state = State::Between(Step::After);
        rest
    }

    /// Takes a unit that begins in `carry` or at `rest`. `None`: it is wrong, or the piece ends inside of it and `carry`
    /// keeps it.
    fn unit<'t>(&mut self, rest: &'t [u8]) -> Option<&'t [u8]> {
        let before = usize::from(self.carried);
        let places = self.carry.iter_mut().skip(before);
        let copied = places.zip(rest).map(|(place, byte)| *place = *byte).count();
        let (bytes, _) = split(&self.carry, before.wrapping_add(copied));
        match Unit::at(bytes) {
            Ok(Some(Unit { length, letter })) => {
                self.carried = 0;
                if matches!(self.state, State::Name) {
                    self.push_letter(letter);
                }
                rest.get(length.wrapping_sub(before)..)
            }
            Ok(None) => {
                self.carried = bytes.len() as u8;
                None
            }
            Err((kind, at)) => {
                self.position = self.position.wrapping_sub(before).wrapping_add(at);
                self.fail(kind, rest);
                None
            }
        }
    }

    /// A string has ended just before `rest`.
    fn end_text(&mut self, rest: &[u8]) {
        self.state = if self.depth > u32::from(self.limit) {
            State::Deep
        } else if matches!(self.state, State::Name) {
            if self.depth == 1 {
                self.current = self.name.get(..usize::from(self.name_length)).and_then(Member::of);
            } else if self.depth == 2 {
                self.index.end_name(self.at(rest).wrapping_sub(1));
            }
            State::Between(Step::Colon)
        } else {
            self.end_value(rest);
            State::Between(Step::After)
        };
    }

    /// Collects what a name has between `text` and `tail`, and looks at what follows.
    fn add_to_name(&mut self, text: &[u8], tail: &[u8]) {
        let (plain, _) = split(text, text.len().wrapping_sub(tail.len()));
        for byte in plain.iter().take(UNIT) {
            self.push_letter(*byte);
        }
        match tail {
            [b'\\', ..] if self.depth == 2 => self.index.forget(),
            [] | [b'"', ..] | [b'\\', b'u', ..] | [b'\\'] => {}
            _ => self.name_length = NO_NAME,
        }
    }

    /// Collects a letter of a name as long as it can be a [`Member`]; 0 is none of its letters.
    fn push_letter(&mut self, letter: u8) {
        match self.name.get_mut(usize::from(self.name_length)) {
            Some(place) => {
                *place = letter;
                self.name_length = self.name_length.wrapping_add(1);
            }
            None => self.name_length = NO_NAME,
        }
    }
}
