//! The string part of the scanner: escapes, surrogate pairs, UTF-8.

use super::{NO_NAME, ScanErrorKind, Scanner, State};
use crate::json::swar::{FAST, plain_run, text_run};
use crate::json::walk::split;

/// What was begun inside a string when a piece ended.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partial {
    /// Nothing.
    None,
    /// A backslash.
    Escape,
    /// `\u` and so many hexadecimal digits with that value; after the first half of a surrogate pair or not.
    Hex { half: bool, digits: u8, value: u16 },
    /// The first half of a surrogate pair.
    Half,
    /// The first half of a pair and a backslash.
    HalfEscape,
    /// So many bytes of a UTF-8 sequence, so many left, the next one in that range.
    Sequence { seen: u8, left: u8, from: u8, to: u8 },
}

impl Scanner {
    /// A string, after its opening quote.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn text<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        // The common case first: it ends after one plain run.
        if FAST
            && self.name_length == NO_NAME
            && let Some([b'"', tail @ ..]) = rest.get(plain_run(rest)..)
        {
            self.end_text(tail);
            return tail;
        }
        self.runs(rest)
    }

    /// Run after run, up to the closing quote or the end of the piece.
    #[inline(never)]
    fn runs<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        self.state = State::Text(Partial::None);
        while !rest.is_empty() {
            let (run, tail) = split(rest, plain_run(rest));
            self.add_to_name(run);
            rest = match tail {
                [b'"', tail @ ..] => {
                    self.end_text(tail);
                    return tail;
                }
                [b'\\', b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', tail @ ..] if FAST => {
                    self.name_length = NO_NAME;
                    tail
                }
                [b'\\', tail @ ..] => {
                    self.state = State::Text(Partial::Escape);
                    self.escape(tail)
                }
                [0..=0x1F, ..] => return self.fail(ScanErrorKind::Control, tail),
                [_, ..] => {
                    self.name_length = NO_NAME;
                    self.beyond_ascii(tail)
                }
                [] => tail,
            };
        }
        rest
    }

    /// Goes on with a string at the start of a piece.
    pub(super) fn resume_text<'t>(&mut self, partial: Partial, rest: &'t [u8]) -> &'t [u8] {
        let rest = match partial {
            Partial::None => rest,
            Partial::Sequence { seen, left, from, to } => self.sequence(seen, left, from, to, rest),
            _ => self.escape(rest),
        };
        if rest.is_empty() { rest } else { self.runs(rest) }
    }

    /// An escape, byte by byte, from wherever it stands to its end or the end of the piece.
    fn escape<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        while let (State::Text(partial), [byte, tail @ ..]) = (self.state, rest) {
            let next = match (partial, byte) {
                (Partial::None | Partial::Sequence { .. }, _) => return rest,
                (Partial::Escape, b'u') => Partial::Hex { half: false, digits: 0, value: 0 },
                (Partial::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                    // These are in no name of ours.
                    self.name_length = NO_NAME;
                    Partial::None
                }
                (Partial::Escape, _) => return self.fail(ScanErrorKind::Syntax, rest),
                (Partial::Half, b'\\') => Partial::HalfEscape,
                (Partial::HalfEscape, b'u') => Partial::Hex { half: true, digits: 0, value: 0 },
                (Partial::Half | Partial::HalfEscape, _) => return self.fail(ScanErrorKind::Surrogate, rest),
                (Partial::Hex { half, digits, value }, _) => {
                    let Some(digit) = char::from(*byte).to_digit(16) else {
                        return self.fail(ScanErrorKind::Syntax, rest);
                    };
                    let value = value << 4 | digit as u16;
                    if digits < 3 {
                        Partial::Hex { half, digits: digits.wrapping_add(1), value }
                    } else if let Some(next) = self.code_unit(half, value) {
                        next
                    } else {
                        return self.fail(ScanErrorKind::Surrogate, rest);
                    }
                }
            };
            self.state = State::Text(next);
            rest = tail;
        }
        rest
    }

    /// What an escaped code unit is followed by, if it may stand there.
    fn code_unit(&mut self, half: bool, value: u16) -> Option<Partial> {
        match value {
            // A zero would look like the padding of the word.
            1..=0x7F if !half => {
                self.add_to_name(&[value as u8]);
                return Some(Partial::None);
            }
            _ => self.name_length = NO_NAME,
        }
        match value {
            0xDC00..=0xDFFF => half.then_some(Partial::None),
            0xD800..=0xDBFF => (!half).then_some(Partial::Half),
            _ => (!half).then_some(Partial::None),
        }
    }

    /// A run that begins with a byte past ASCII: checked at once up to the next quote, backslash or control character,
    /// or one character.
    fn beyond_ascii<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        if FAST {
            let (run, tail) = split(rest, text_run(rest));
            let Err(error) = core::str::from_utf8(run) else { return tail };
            let wrong = rest.get(error.valid_up_to()..).unwrap_or_default();
            if error.error_len().is_some() || !tail.is_empty() {
                return self.fail(ScanErrorKind::Utf8, wrong);
            }
            // The piece ends inside a sequence.
            return self.begin_sequence(wrong);
        }
        self.begin_sequence(rest)
    }

    /// A character past ASCII.
    fn begin_sequence<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let [lead, tail @ ..] = rest else { return rest };
        let (left, from, to) = match lead {
            0xC2..=0xDF => (1, 0x80, 0xBF),
            0xE0 => (2, 0xA0, 0xBF),
            0xED => (2, 0x80, 0x9F),
            0xE1..=0xEF => (2, 0x80, 0xBF),
            0xF0 => (3, 0x90, 0xBF),
            0xF1..=0xF3 => (3, 0x80, 0xBF),
            0xF4 => (3, 0x80, 0x8F),
            _ => return self.fail(ScanErrorKind::Utf8, rest),
        };
        self.sequence(1, left, from, to, tail)
    }

    /// The next bytes of a UTF-8 sequence.
    fn sequence<'t>(&mut self, seen: u8, left: u8, from: u8, to: u8, rest: &'t [u8]) -> &'t [u8] {
        let (mut seen, mut left, mut from, mut to) = (seen, left, from, to);
        let mut rest = rest;
        while left > 0 {
            let [byte, tail @ ..] = rest else { break };
            if !(from..=to).contains(byte) {
                // The error is the sequence, so it stands where that began.
                self.position = self.position.wrapping_sub(seen.into());
                return self.fail(ScanErrorKind::Utf8, rest);
            }
            (seen, left, from, to) = (seen.wrapping_add(1), left.wrapping_sub(1), 0x80, 0xBF);
            rest = tail;
        }
        let partial = if left == 0 { Partial::None } else { Partial::Sequence { seen, left, from, to } };
        self.state = State::Text(partial);
        rest
    }

    /// Collects the name of a member, as long as it can be one of ours.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn add_to_name(&mut self, decoded: &[u8]) {
        if self.name_length == NO_NAME {
            return;
        }
        if decoded.len().wrapping_add(usize::from(self.name_length)) > 7 {
            self.name_length = NO_NAME;
            return;
        }
        for &byte in decoded {
            let shift = u32::from(self.name_length).wrapping_mul(8);
            self.name |= u64::from(byte).wrapping_shl(shift);
            self.name_length = self.name_length.wrapping_add(1);
        }
    }
}
