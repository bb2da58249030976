//! The string part of the scanner: escapes, surrogate pairs, UTF-8.
#![allow(clippy::as_conversions, reason = "it is ASCII where it is one byte")]

use super::escapes::behind_characters;
use super::{NO_NAME, ScanErrorKind, Scanner, State};
use crate::json::swar::{FAST, RUNS, plain_run, text_run};
use crate::json::walk::split;

/// Where inside a string the scanner is.
#[derive(Clone, Copy, Debug)]
pub(super) enum Inside {
    /// Between characters.
    Plain,
    /// Behind a backslash.
    Escape,
    /// Behind `\u` and some hexadecimal digits.
    Unit,
    /// Behind the first half of a surrogate pair.
    Half,
    /// Behind the first half of a pair and a backslash.
    HalfEscape,
    /// Behind the first half of a pair, `\u` and some digits.
    HalfUnit,
    /// Inside a UTF-8 sequence.
    Sequence,
}

impl Scanner {
    /// A string from wherever it stands.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(super) fn text<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        // The common case first: it ends after one plain run.
        if RUNS
            && self.name_length == NO_NAME
            && let State::Text(Inside::Plain) = self.state
        {
            rest = rest.get(plain_run(rest)..).unwrap_or_default();
            match rest {
                [b'"', tail @ ..] => {
                    self.end_text(tail);
                    return tail;
                }
                [] => return rest,
                _ => {}
            }
        }
        self.inside(rest)
    }

    /// A string from wherever it stands, up to its closing quote or the end of the piece.
    #[inline(never)]
    pub(super) fn inside<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let mut rest = rest;
        while let State::Text(inside) = self.state {
            if matches!(inside, Inside::Plain) {
                rest = if FAST && self.name_length == NO_NAME {
                    behind_characters(rest)
                } else {
                    self.plain(rest)
                };
            }
            let [byte, tail @ ..] = rest else { break };
            if let Err(kind) = self.character(inside, *byte, tail) {
                return self.fail(kind, rest);
            }
            rest = tail;
        }
        rest
    }

    /// Skips what is valid and needs no look.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn plain<'t>(&mut self, rest: &'t [u8]) -> &'t [u8] {
        let (run, mut tail) = split(rest, plain_run(rest));
        if self.name_length != NO_NAME {
            // One more than the longest name is enough to know that it is none of ours.
            run.iter().take(8).for_each(|byte| self.add_to_name(*byte));
        }
        if RUNS && let [0x80..=0xFF, ..] = tail {
            self.name_length = NO_NAME;
            let (run, behind) = split(tail, text_run(tail));
            tail = match core::str::from_utf8(run) {
                Ok(_) => behind,
                Err(error) => tail.get(error.valid_up_to()..).unwrap_or_default(),
            };
        }
        tail
    }

    /// One byte of a string. `tail` is what follows it.
    fn character(&mut self, inside: Inside, byte: u8, tail: &[u8]) -> Result<(), ScanErrorKind> {
        let next = match (inside, byte) {
            (Inside::Plain, b'"') => {
                self.end_text(tail);
                return Ok(());
            }
            (Inside::Plain, b'\\') => Inside::Escape,
            (Inside::Plain, 0..=0x1F) => return Err(ScanErrorKind::Control),
            // Whatever is plain was skipped before.
            (Inside::Plain, _) => {
                self.name_length = NO_NAME;
                (self.begun, self.seen) = (0, 0);
                self.sequence(byte)?
            }
            (Inside::Sequence, _) => self.sequence(byte)?,
            (Inside::Escape, b'u') => self.begin_unit(Inside::Unit),
            (Inside::Escape, b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                // These are in no name of ours.
                self.name_length = NO_NAME;
                Inside::Plain
            }
            (Inside::Escape, _) => return Err(ScanErrorKind::Syntax),
            (Inside::Half, b'\\') => Inside::HalfEscape,
            (Inside::HalfEscape, b'u') => self.begin_unit(Inside::HalfUnit),
            (Inside::Half | Inside::HalfEscape, _) => return Err(ScanErrorKind::Surrogate),
            (Inside::Unit | Inside::HalfUnit, _) => {
                let digit = char::from(byte).to_digit(16).ok_or(ScanErrorKind::Syntax)?;
                self.begun = self.begun << 4 | digit;
                self.seen = self.seen.wrapping_add(1);
                if self.seen < 4 { inside } else { self.unit(inside).ok_or(ScanErrorKind::Surrogate)? }
            }
        };
        self.state = State::Text(next);
        Ok(())
    }

    fn begin_unit(&mut self, unit: Inside) -> Inside {
        (self.begun, self.seen) = (0, 0);
        unit
    }

    /// Where a code unit leads to, if it may stand there.
    fn unit(&mut self, inside: Inside) -> Option<Inside> {
        let half = matches!(inside, Inside::HalfUnit);
        let (next, is_second) = match self.begun {
            // A zero would look like the padding of the word.
            unit @ 1..=0x7F => {
                self.add_to_name(unit as u8);
                (Inside::Plain, false)
            }
            0xD800..=0xDBFF => (Inside::Half, false),
            unit => (Inside::Plain, matches!(unit, 0xDC00..=0xDFFF)),
        };
        if !matches!(self.begun, 1..=0x7F) {
            self.name_length = NO_NAME;
        }
        (half == is_second).then_some(next)
    }

    /// The next byte of a UTF-8 sequence.
    fn sequence(&mut self, byte: u8) -> Result<Inside, ScanErrorKind> {
        let before = self.seen;
        self.begun |= u32::from(byte).wrapping_shl(u32::from(before).wrapping_mul(8));
        self.seen = before.wrapping_add(1);
        let bytes = self.begun.to_le_bytes();
        let (sequence, _) = split(&bytes, usize::from(self.seen));
        match core::str::from_utf8(sequence) {
            Ok(_) => Ok(Inside::Plain),
            Err(error) if error.error_len().is_none() => Ok(Inside::Sequence),
            Err(_) => {
                // The error is the sequence, so it stands where that began.
                self.position = self.position.wrapping_sub(before.into());
                Err(ScanErrorKind::Utf8)
            }
        }
    }

    /// Collects the name of a member, as long as it can be one of ours.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn add_to_name(&mut self, byte: u8) {
        if self.name_length == NO_NAME {
            return;
        }
        match self.name.get_mut(usize::from(self.name_length)) {
            Some(place) => {
                *place = byte;
                self.name_length = self.name_length.wrapping_add(1);
            }
            None => self.name_length = NO_NAME,
        }
    }
}
