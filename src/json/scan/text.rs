//! The string part of the scanner: escapes, surrogate pairs, UTF-8.

use super::{Fault, NO_NAME, ScanErrorKind, Scanner, State, Step, fault, syntax};
use crate::json::swar::{plain_run, text_run};

/// What was begun inside a string when a piece ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Partial {
    /// Nothing.
    None,
    /// A backslash.
    Escape,
    /// `\u` and so many hexadecimal digits with that value.
    Hex { digits: u8, value: u16 },
    /// The first half of a surrogate pair.
    Half,
    /// The first half of a pair and a backslash.
    HalfEscape,
    /// The first half of a pair, `\u` and so many digits with that value.
    HalfHex { digits: u8, value: u16 },
    /// So many bytes of a UTF-8 sequence, so many left, the next one in that range.
    Sequence { seen: u8, left: u8, from: u8, to: u8 },
}

impl Scanner {
    /// A string, after its opening quote.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn text<'t>(&mut self, rest: &'t [u8]) -> Step<'t> {
        // The common case first: it ends after one plain run.
        if self.name_length == NO_NAME
            && let Some([b'"', tail @ ..]) = rest.get(plain_run(rest)..)
        {
            self.end_text(tail);
            return Ok(tail);
        }
        self.runs(rest)
    }

    /// Run after run, up to the closing quote or the end of the piece.
    #[inline(never)]
    fn runs<'t>(&mut self, rest: &'t [u8]) -> Step<'t> {
        let mut rest = rest;
        loop {
            let Some((run, tail)) = rest.split_at_checked(plain_run(rest)) else { return Ok(rest) };
            self.add_to_name(run);
            rest = match tail {
                [b'"', tail @ ..] => {
                    self.end_text(tail);
                    return Ok(tail);
                }
                [b'\\', escape @ (b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), tail @ ..] => {
                    self.add_to_name(&[unescaped(*escape)]);
                    tail
                }
                [b'\\', tail @ ..] => {
                    self.state = State::Text(Partial::Escape);
                    match self.escape(tail)? {
                        [] => return Ok(&[]),
                        tail => tail,
                    }
                }
                [0..=0x1F, ..] => return fault(ScanErrorKind::Control, tail),
                [_, ..] => {
                    self.name_length = NO_NAME;
                    self.beyond_ascii(tail)?
                }
                [] => {
                    self.state = State::Text(Partial::None);
                    return Ok(tail);
                }
            };
            if rest.is_empty() {
                if !matches!(self.state, State::Text(Partial::Sequence { .. })) {
                    self.state = State::Text(Partial::None);
                }
                return Ok(rest);
            }
        }
    }

    /// Goes on with a string at the start of a piece.
    pub(super) fn resume_text<'t>(&mut self, partial: Partial, rest: &'t [u8]) -> Step<'t> {
        let rest = match partial {
            Partial::None => rest,
            Partial::Sequence { seen, left, from, to } => self.sequence(seen, left, from, to, rest)?,
            _ => self.escape(rest)?,
        };
        if rest.is_empty() { Ok(rest) } else { self.runs(rest) }
    }

    /// An escape, byte by byte, from wherever it stands to its end or the end of the piece.
    fn escape<'t>(&mut self, rest: &'t [u8]) -> Step<'t> {
        let mut rest = rest;
        while let (State::Text(partial), [byte, tail @ ..]) = (self.state, rest) {
            let next = match partial {
                Partial::None | Partial::Sequence { .. } => return Ok(rest),
                Partial::Escape => match byte {
                    b'u' => Partial::Hex { digits: 0, value: 0 },
                    b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                        self.add_to_name(&[unescaped(*byte)]);
                        Partial::None
                    }
                    _ => return syntax(rest),
                },
                Partial::Hex { digits, value } => {
                    let value = hexadecimal(value, *byte, rest)?;
                    match (digits, value) {
                        (0..=2, _) => Partial::Hex { digits: digits.wrapping_add(1), value },
                        (_, 0xD800..=0xDBFF) => {
                            self.name_length = NO_NAME;
                            Partial::Half
                        }
                        (_, 0xDC00..=0xDFFF) => return fault(ScanErrorKind::Surrogate, rest),
                        // A zero would look like the padding of the word.
                        (_, code @ 1..=0x7F) => {
                            self.add_to_name(&[code as u8]);
                            Partial::None
                        }
                        _ => {
                            self.name_length = NO_NAME;
                            Partial::None
                        }
                    }
                }
                Partial::Half if *byte == b'\\' => Partial::HalfEscape,
                Partial::HalfEscape if *byte == b'u' => Partial::HalfHex { digits: 0, value: 0 },
                Partial::Half | Partial::HalfEscape => return fault(ScanErrorKind::Surrogate, rest),
                Partial::HalfHex { digits, value } => {
                    let value = hexadecimal(value, *byte, rest)?;
                    match (digits, value) {
                        (0..=2, _) => Partial::HalfHex { digits: digits.wrapping_add(1), value },
                        (_, 0xDC00..=0xDFFF) => Partial::None,
                        _ => return fault(ScanErrorKind::Surrogate, rest),
                    }
                }
            };
            self.state = State::Text(next);
            rest = tail;
        }
        Ok(rest)
    }

    /// A run that begins with a byte past ASCII: checked at once up to the next quote, backslash or control character.
    fn beyond_ascii<'t>(&mut self, rest: &'t [u8]) -> Step<'t> {
        let Some((run, tail)) = rest.split_at_checked(text_run(rest)) else { return Ok(rest) };
        let Err(error) = core::str::from_utf8(run) else { return Ok(tail) };
        let cut = run.get(error.valid_up_to()..).unwrap_or_default();
        let [lead, more @ ..] = cut else { return Ok(tail) };
        if error.error_len().is_some() || !tail.is_empty() {
            let left = tail.len().wrapping_add(cut.len());
            return Err(Fault { kind: ScanErrorKind::Utf8, left });
        }
        // The piece ends inside a sequence.
        let (left, from, to) = match lead {
            0xC2..=0xDF => (1, 0x80, 0xBF),
            0xE0 => (2, 0xA0, 0xBF),
            0xED => (2, 0x80, 0x9F),
            0xE1..=0xEF => (2, 0x80, 0xBF),
            0xF0 => (3, 0x90, 0xBF),
            0xF4 => (3, 0x80, 0x8F),
            _ => (3, 0x80, 0xBF),
        };
        self.state = State::Text(Partial::Sequence { seen: 1, left, from, to });
        self.sequence(1, left, from, to, more)
    }

    /// The next bytes of a UTF-8 sequence that was cut by the end of a piece.
    fn sequence<'t>(&mut self, seen: u8, left: u8, from: u8, to: u8, rest: &'t [u8]) -> Step<'t> {
        let (mut seen, mut left, mut from, mut to) = (seen, left, from, to);
        let mut rest = rest;
        while left > 0 {
            let [byte, tail @ ..] = rest else { break };
            if !(from..=to).contains(byte) {
                // The error is the sequence, so it stands where that began.
                let left = rest.len().wrapping_add(usize::from(seen));
                return Err(Fault { kind: ScanErrorKind::Utf8, left });
            }
            (seen, left, from, to) = (seen.wrapping_add(1), left.wrapping_sub(1), 0x80, 0xBF);
            rest = tail;
        }
        let partial = if left == 0 { Partial::None } else { Partial::Sequence { seen, left, from, to } };
        self.state = State::Text(partial);
        Ok(rest)
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

/// The byte that a short escape stands for. Line breaks and the like are in no name of ours.
fn unescaped(escape: u8) -> u8 {
    match escape {
        b'b' => 0x08,
        b'f' => 0x0C,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        other => other,
    }
}

/// One more hexadecimal digit.
fn hexadecimal(value: u16, byte: u8, rest: &[u8]) -> Result<u16, Fault> {
    let digit = match byte {
        b'0'..=b'9' => byte.wrapping_sub(b'0'),
        b'a'..=b'f' => byte.wrapping_sub(b'a').wrapping_add(10),
        b'A'..=b'F' => byte.wrapping_sub(b'A').wrapping_add(10),
        _ => return syntax(rest),
    };
    Ok(value << 4 | u16::from(digit))
}
