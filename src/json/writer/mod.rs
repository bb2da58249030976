//! JSON writer with automatic commas, a latched overflow and rollback marks.
//!
//! [`Writer::reserve_to`] checks the space for output and grows the buffer.

mod base64;
mod checked;
pub(crate) mod escape;
mod fields;
pub(crate) mod member_cache;
mod nesting;
mod object;
mod strings;

use super::decimal::{Decimal, digit_bytes};
use super::scanner::{ScanError, scan};
use super::search::find_break;
use super::skip::{split, trimmed};
use super::string::Str;
use super::value::Json;
use super::write_text::WriteText;
use crate::buffer::BufferMut;
use crate::platform::{BARE_METAL, copy, copy_few, shift};
use nesting::Nesting;
use strings::Edge;
pub(crate) use strings::fitting_prefix;

/// A JSON writer with automatic commas and escapes. After the first item that does not fit, the writer writes nothing
/// more, and [`overflowed`](Writer::overflowed) returns `true`, until a [`rollback`](Writer::rollback) clears the
/// overflow.
///
/// The crate validates, as a whole, each value that the application writes. An unbalanced `begin` or `end` therefore
/// affects only this value.
#[derive(Debug)]
pub struct Writer<'a> {
    buffer: BufferMut<'a>,
    /// The position of the first byte of the output.
    start: usize,
    /// The position of the next byte to write.
    at: usize,
    limit: usize,
    /// The output may extend to this position without further checks. Zero after an overflow, and while the writer only
    /// counts.
    ready: usize,
    /// A rollback keeps the output before this position.
    floor: usize,
    /// The last byte written, or zero at the start. This byte decides whether the next name or value needs a comma.
    last: u8,
    overflowed: bool,
    /// Whether the writer counts the bytes of the output, and stores none.
    only_counts: bool,
    /// The open containers of the caller's output, while the output is known to be well-formed.
    nesting: Nesting,
}

/// A position in the output, for [`Writer::rollback`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: usize,
    last: u8,
    overflowed: bool,
}

impl<'a> Writer<'a> {
    /// Creates a writer into `buffer`. The output starts at the position `start` of the buffer, and never extends
    /// beyond the position `limit`.
    pub(crate) fn new(buffer: BufferMut<'a>, start: usize, limit: usize) -> Writer<'a> {
        Writer {
            ready: limit.min(buffer.bytes().len()),
            buffer,
            start,
            at: start,
            limit,
            floor: start,
            last: 0,
            overflowed: false,
            only_counts: false,
            nesting: Nesting::UNKNOWN,
        }
    }

    /// Creates a writer that only counts: [`len`](Writer::len) returns the length of the output.
    pub(crate) fn measure() -> Writer<'static> {
        Writer { only_counts: true, ..Writer::new(BufferMut::Lent(&mut []), 0, usize::MAX) }
    }

    /// Returns whether an item did not fit. The writer writes nothing after an overflow.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// Returns the number of bytes written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.saturating_sub(self.start)
    }

    /// Returns whether the output is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at == self.start
    }

    /// Returns the current position, for [`rollback`](Writer::rollback).
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { at: self.at, last: self.last, overflowed: self.overflowed }
    }

    /// Discards all output since the mark and clears an overflow that followed the mark. Ignores a mark that is beyond
    /// the output, or before the value that the caller writes.
    pub fn rollback(&mut self, mark: Mark) {
        if mark.at >= self.floor && mark.at <= self.at {
            self.at = mark.at;
            self.last = mark.last;
            self.overflowed = mark.overflowed;
            self.nesting.set_unknown();
        }
    }

    /// Returns the position in the buffer after the last byte written.
    #[cfg(test)]
    pub(crate) fn end(&self) -> usize {
        self.at
    }

    /// Returns the output so far, or an empty slice while the writer only counts.
    pub(crate) fn written(&self) -> &[u8] {
        self.buffer.bytes().get(self.start..self.at).unwrap_or_default()
    }

    /// Returns the position in the buffer after the last byte written. Returns `None` after an overflow.
    pub(crate) fn finish(self) -> Option<usize> {
        (!self.overflowed).then_some(self.at)
    }

    /// Begins an object.
    pub fn begin_object(&mut self) {
        self.separate();
        self.push_byte(b'{');
        self.nesting.begin(true);
    }

    /// Ends an object.
    pub fn end_object(&mut self) {
        self.nesting.end(true, self.last);
        self.push_byte(b'}');
    }

    /// Begins an array.
    pub fn begin_array(&mut self) {
        self.separate();
        self.push_byte(b'[');
        self.nesting.begin(false);
    }

    /// Ends an array.
    pub fn end_array(&mut self) {
        self.nesting.end(false, self.last);
        self.push_byte(b']');
    }

    /// Writes the name of a member. The caller must write the value of the member next.
    pub fn key(&mut self, key: &str) {
        let before = Edge::opening(self.nesting.name(self.last));
        self.escape(before, key, Edge::NAME_END);
    }

    /// Writes a string.
    pub fn string(&mut self, text: &str) {
        let before = Edge::opening(self.nesting.value(self.last));
        self.escape(before, text, Edge::QUOTE);
    }

    /// Writes a string, piece by piece.
    pub fn display(&mut self, text: &dyn WriteText) {
        self.open_string();
        self.inside(text);
        self.push_byte(b'"');
    }

    /// Writes the name of a member, piece by piece.
    #[cfg(feature = "serde")]
    pub(crate) fn key_display(&mut self, key: &dyn WriteText) {
        if self.nesting.name(self.last) {
            self.push_comma();
        }
        self.push_byte(b'"');
        self.inside(key);
        self.token("\":");
    }

    /// Writes text into an open string, escaped.
    #[inline]
    pub(crate) fn inside(&mut self, text: &dyn WriteText) {
        text.pieces(&mut |piece| self.inside_text(piece));
    }

    /// Writes a piece of text into an open string, escaped.
    #[inline]
    pub(crate) fn inside_text(&mut self, text: &str) {
        self.escape(Edge::NONE, text, Edge::NONE);
    }

    /// Writes a parsed string, with the escapes of its text.
    pub fn text(&mut self, text: Str<'_>) {
        self.open_string();
        self.push(text.bytes());
        self.push_byte(b'"');
    }

    /// Writes an integer.
    pub fn integer(&mut self, value: i64) {
        self.digits(value < 0, value.unsigned_abs());
    }

    /// Writes an unsigned integer.
    pub fn unsigned(&mut self, value: u64) {
        self.digits(false, value);
    }

    fn digits(&mut self, negative: bool, magnitude: u64) {
        let mut buffer = [0; 20];
        self.separate();
        if negative {
            self.push_byte(b'-');
        }
        self.push(digit_bytes(magnitude, &mut buffer));
    }

    /// Writes a decimal number.
    pub fn decimal(&mut self, value: Decimal) {
        self.number_from(&value);
    }

    /// Writes a number. `text` must be a valid JSON number.
    pub(super) fn number_from(&mut self, text: &dyn WriteText) {
        self.separate();
        text.pieces(&mut |piece| self.push(piece.as_bytes()));
    }

    /// Writes `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.separate();
        self.token(if value { "true" } else { "false" });
    }

    /// Writes `null`.
    pub fn null(&mut self) {
        self.separate();
        self.token("null");
    }

    /// Writes a parsed value. Line breaks between the tokens of the value become spaces.
    pub fn json(&mut self, value: Json<'_>) {
        self.json_bytes(value.bytes());
    }

    /// Validates a JSON text and writes the text. Line breaks between the tokens of the text become spaces.
    ///
    /// # Errors
    ///
    /// Returns an error and writes nothing if the text is not exactly one JSON value, or nested deeper than
    /// [`DEPTH_LIMIT`](super::DEPTH_LIMIT).
    pub fn raw(&mut self, text: &str) -> Result<(), ScanError> {
        scan(text.as_bytes())?;
        self.json_bytes(trimmed(text.as_bytes()));
        Ok(())
    }

    /// Writes members of an object verbatim, after a comma if one is needed.
    #[inline]
    pub(crate) fn members(&mut self, token: &str) {
        self.comma();
        self.token(token);
    }

    /// Writes constant text verbatim, without a comma before it.
    #[inline]
    pub(crate) fn token(&mut self, token: &str) {
        self.append(token.as_bytes());
    }

    /// Writes `text` between two constant texts, verbatim and without a comma before them.
    #[inline]
    pub(crate) fn wrapped(&mut self, before: &str, text: &[u8], after: &str) {
        self.token(before);
        self.push(text);
        self.token(after);
    }

    /// Writes the text of a scanned value. Line breaks between tokens become spaces; single tokens contain none.
    pub(crate) fn json_bytes(&mut self, bytes: &[u8]) {
        self.separate();
        let mut rest = bytes;
        if matches!(bytes, [] | [b'{' | b'[', ..]) {
            // The nesting depth of the value is unknown.
            self.nesting.set_unknown();
            while let Some(length) = find_break(rest) {
                let (run, tail) = split(rest, length);
                self.push(run);
                self.push_byte(b' ');
                rest = tail.get(1..).unwrap_or_default();
            }
        }
        self.push(rest);
    }

    /// Returns the number of bytes up to the limit, or zero after an overflow.
    pub(crate) fn remaining(&self) -> usize {
        if self.overflowed { 0 } else { self.limit.saturating_sub(self.at) }
    }

    /// Marks the output as overflowed. The machine does not send such output.
    pub(crate) fn fail(&mut self) {
        (self.overflowed, self.ready) = (true, 0);
    }

    /// Removes the output between the mark and `to`, an offset from the start of the output. Also removes a comma that
    /// would otherwise start the output or follow an opening bracket. No effect after an overflow, and while the writer
    /// only counts.
    pub(crate) fn cut(&mut self, from: Mark, to: usize) {
        if self.overflowed || self.only_counts {
            return;
        }
        let mut to = self.start.wrapping_add(to);
        let Some(written) = self.buffer.bytes_mut().get_mut(..self.at) else { return };
        if matches!(from.last, 0 | b'{' | b'[') && written.get(to) == Some(&b',') {
            to = to.wrapping_add(1);
        }
        if from.at <= to && to <= written.len() {
            let removed = to.saturating_sub(from.at);
            shift(written.get_mut(from.at..).unwrap_or_default(), removed);
            self.at = self.at.saturating_sub(removed);
        }
    }

    /// Returns whether `byte` was the last byte written.
    pub(crate) fn ends_with(&self, byte: u8) -> bool {
        self.last == byte
    }

    /// Returns the spare capacity after the output, at least `wanted` bytes. The slice is empty while the writer only
    /// counts. `None` means an overflow.
    fn reserve(&mut self, wanted: usize) -> Option<&mut [u8]> {
        let fits = self.reserve_to(self.at.wrapping_add(wanted));
        fits.then(|| self.buffer.bytes_mut().get_mut(self.at..self.ready).unwrap_or_default())
    }

    /// Reserves the bytes up to `end`. Returns `false` for an overflow.
    #[inline]
    fn reserve_to(&mut self, end: usize) -> bool {
        end <= self.ready || self.extend_to(end)
    }

    /// Grows the buffer to at least `end` bytes. Returns `false` for an overflow. A writer that only counts has no
    /// buffer: for such a writer, the function always returns `true`.
    #[cold]
    #[inline(never)]
    fn extend_to(&mut self, end: usize) -> bool {
        if self.only_counts {
            return true;
        }
        let all = if self.overflowed || end > self.limit { None } else { self.buffer.ensure(end) };
        self.ready = all.as_ref().map_or(0, |all| self.limit.min(all.len()));
        self.overflowed = all.is_none();
        !self.overflowed
    }

    /// Advances past bytes written inside a string. Records a quote as the last byte, so that the next item needs a
    /// comma.
    fn advance(&mut self, written: usize) {
        self.at = self.at.wrapping_add(written);
        if written > 0 {
            self.last = b'"';
        }
    }

    /// Appends bytes verbatim.
    #[inline(never)]
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        if BARE_METAL {
            self.append(bytes);
        } else if !self.push_short(bytes) {
            self.push_any(bytes);
        }
    }

    /// Appends 1 to 32 bytes. For any other number of bytes, or if the buffer must grow, returns `false` and appends
    /// nothing.
    #[inline]
    fn push_short(&mut self, bytes: &[u8]) -> bool {
        let (at, end) = (self.at, self.at.wrapping_add(bytes.len()));
        let (Some(last), true) = (bytes.last(), end <= self.ready) else { return false };
        let is_copied = self.buffer.bytes_mut().get_mut(at..end).is_some_and(|place| copy_few(place, bytes));
        if is_copied {
            (self.at, self.last) = (end, *last);
        }
        is_copied
    }

    /// Appends any number of bytes. Not inlined, so that [`push`](Writer::push) executes little code for up to 32 bytes.
    #[inline(never)]
    fn push_any(&mut self, bytes: &[u8]) {
        self.append(bytes);
    }

    /// Appends bytes verbatim. The compiler specializes the function for constant bytes.
    #[inline]
    fn append(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        let (at, end) = (self.at, self.at.wrapping_add(bytes.len()));
        if !self.reserve_to(end) {
            return;
        }
        if let Some(place) = self.buffer.bytes_mut().get_mut(at..end) {
            copy(place, bytes);
        }
        (self.at, self.last) = (end, *last);
    }

    #[inline]
    fn push_byte(&mut self, byte: u8) {
        self.append(&[byte]);
    }

    #[inline(never)]
    fn push_comma(&mut self) {
        self.push_byte(b',');
    }

    /// Records the start of a value, and writes a comma if one is needed.
    #[inline(never)]
    fn separate(&mut self) {
        if self.nesting.value(self.last) {
            self.push_comma();
        }
    }

    /// Writes the opening quote of a string, after a comma if one is needed.
    fn open_string(&mut self) {
        self.separate();
        self.push_byte(b'"');
    }

    /// Writes a comma if one is needed.
    #[inline]
    fn comma(&mut self) {
        if nesting::needs_comma(self.last) {
            self.push_comma();
        }
    }
}

#[cfg(test)]
mod nesting_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod value_tests;
