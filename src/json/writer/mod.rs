//! The writer: JSON into lent or growing room, with latched overflow, marks and automatic commas.
//!
//! Everything is written by [`Writer::reserve`], which checks the limit and the room, and grows it.

mod base64;
mod checked;
mod escape;
mod object;
mod order;
mod strings;

use super::decimal::{Decimal, digit_bytes};
use super::scanner::{ScanError, scan};
use super::search::find_break;
use super::skip::{split, trimmed};
use super::string::Str;
use super::value::Json;
use super::write_text::WriteText;
use crate::buffer::BufferMut;
use crate::platform::{copy, shift};
use order::Nesting;
use strings::put;

/// Writes JSON with automatic commas and escapes. After the first item that does not fit, nothing more is written and
/// [`overflowed`](Writer::overflowed) returns `true`.
///
/// A value that the caller writes is validated as a whole: an unbalanced `begin` or `end` spoils that value only.
#[derive(Debug)]
pub struct Writer<'a> {
    room: BufferMut<'a>,
    /// The first byte of this writer.
    start: usize,
    /// The next byte to write.
    at: usize,
    limit: usize,
    /// Nothing before this is rolled back.
    floor: usize,
    /// The last byte written, zero at the start. It decides whether a comma is due.
    last: u8,
    overflowed: bool,
    /// Whether what the caller writes is well-formed so far.
    order: Nesting,
}

/// A position to roll back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: usize,
    last: u8,
    overflowed: bool,
}

/// The output did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

impl<'a> Writer<'a> {
    /// Writes from byte `start` of the room on, never past byte `limit`.
    pub(crate) fn new(room: BufferMut<'a>, start: usize, limit: usize) -> Writer<'a> {
        let order = Nesting::UNKNOWN;
        Writer { room, start, at: start, limit, floor: start, last: 0, overflowed: false, order }
    }

    /// Writes nothing and counts: [`len`](Writer::len) returns the length of the output.
    pub(crate) fn measure() -> Writer<'static> {
        Writer::new(BufferMut::Measure, 0, usize::MAX)
    }

    /// Whether something did not fit. After that nothing is written.
    #[must_use]
    pub fn overflowed(&self) -> bool {
        self.overflowed
    }

    /// How many bytes were written.
    #[must_use]
    pub fn len(&self) -> usize {
        self.at.saturating_sub(self.start)
    }

    /// Whether nothing was written yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.at == self.start
    }

    /// The current position, for [`rollback`](Writer::rollback).
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { at: self.at, last: self.last, overflowed: self.overflowed }
    }

    /// Takes back everything since the mark, an overflow included.
    pub fn rollback(&mut self, mark: Mark) {
        // A mark of another writer, or from before the caller's own value, changes nothing.
        if mark.at >= self.floor && mark.at <= self.at {
            self.at = mark.at;
            self.last = mark.last;
            self.overflowed = mark.overflowed;
            self.order.lose();
        }
    }

    /// One past the last byte written, in the room.
    #[cfg(test)]
    pub(crate) fn end(&self) -> usize {
        self.at
    }

    /// The output so far (nothing while the writer only counts).
    pub(crate) fn written(&self) -> &[u8] {
        self.room.bytes().get(self.start..self.at).unwrap_or_default()
    }

    /// One past the last byte written, if all of it fitted.
    pub(crate) fn finish(self) -> Result<usize, Overflow> {
        if self.overflowed { Err(Overflow) } else { Ok(self.at) }
    }

    /// Begins an object.
    pub fn begin_object(&mut self) {
        self.value(b"{");
        self.order.begin(true);
    }

    /// Ends an object.
    pub fn end_object(&mut self) {
        self.order.end(true, self.last);
        self.push_byte(b'}');
    }

    /// Begins an array.
    pub fn begin_array(&mut self) {
        self.value(b"[");
        self.order.begin(false);
    }

    /// Ends an array.
    pub fn end_array(&mut self) {
        self.order.end(false, self.last);
        self.push_byte(b']');
    }

    /// The name of a member, whose value comes next.
    pub fn key(&mut self, key: &str) {
        self.order.name(self.last);
        self.escape(self.opening(), key, b"\":");
    }

    /// A string.
    pub fn string(&mut self, text: &str) {
        self.order.value(self.last);
        self.escape(self.opening(), text, b"\"");
    }

    /// A string made of pieces.
    pub fn display(&mut self, text: &dyn WriteText) {
        self.order.value(self.last);
        self.open_quote();
        self.inside(text);
        self.push_byte(b'"');
    }

    /// The name of a member, made of pieces.
    #[cfg(feature = "serde")]
    pub(super) fn key_display(&mut self, key: &dyn WriteText) {
        self.order.name(self.last);
        self.open_quote();
        self.inside(key);
        self.token("\":");
    }

    /// The inside of an open string.
    pub(crate) fn inside(&mut self, text: &dyn WriteText) {
        text.pieces(&mut |piece| self.escape(b"", piece, b""));
    }

    /// A string from elsewhere, with its escapes.
    pub fn text(&mut self, text: Str<'_>) {
        self.order.value(self.last);
        self.push_all(self.opening(), text.bytes(), b"\"");
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) {
        if value < 0 {
            self.value(b"-");
            return self.push(digit_bytes(value.unsigned_abs(), &mut [0; 20]));
        }
        self.unsigned(value.unsigned_abs());
    }

    /// An integer that is not negative.
    pub fn unsigned(&mut self, value: u64) {
        self.value(digit_bytes(value, &mut [0; 20]));
    }

    /// A decimal number.
    pub fn decimal(&mut self, value: Decimal) {
        self.number_from(&value);
    }

    /// A number from text that is a JSON number.
    pub(super) fn number_from(&mut self, text: &dyn WriteText) {
        self.separate();
        text.pieces(&mut |piece| self.push(piece.as_bytes()));
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.value(if value { b"true" } else { b"false" });
    }

    /// `null`.
    pub fn null(&mut self) {
        self.value(b"null");
    }

    /// A value from elsewhere. Line breaks in it become spaces.
    pub fn json(&mut self, value: Json<'_>) {
        self.json_bytes(value.bytes());
    }

    /// A value from any JSON text. Line breaks in it become spaces.
    ///
    /// # Errors
    ///
    /// The text is not exactly one JSON value; nothing is written then.
    pub fn raw(&mut self, text: &str) -> Result<(), ScanError> {
        scan(text.as_bytes())?;
        self.json_bytes(trimmed(text.as_bytes()));
        Ok(())
    }

    /// A member that is a string.
    pub fn field_string(&mut self, key: &str, value: &str) {
        self.key(key);
        self.string(value);
    }

    /// A member that is a string, if there is one.
    pub(crate) fn field_optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.field_string(key, value);
        }
    }

    /// A member that is an integer.
    pub fn field_integer(&mut self, key: &str, value: i64) {
        self.key(key);
        self.integer(value);
    }

    /// A member that is `true` or `false`.
    pub fn field_boolean(&mut self, key: &str, value: bool) {
        self.key(key);
        self.boolean(value);
    }

    /// A member that is a value from elsewhere.
    pub fn field_json(&mut self, key: &str, value: Json<'_>) {
        self.key(key);
        self.json(value);
    }

    /// Members of an object as they are, behind a comma if one is due.
    pub(crate) fn members(&mut self, token: &str) {
        self.comma();
        self.token(token);
    }

    /// Constant text as it is, without a comma before it.
    pub(crate) fn token(&mut self, token: &str) {
        self.push(token.as_bytes());
    }

    /// The text of a scanned value. Line breaks between its tokens become spaces; strings have none.
    pub(crate) fn json_bytes(&mut self, bytes: &[u8]) {
        self.separate();
        if matches!(bytes, [] | [b'{' | b'[', ..]) {
            // How deep it is nested is unknown.
            self.order.lose();
        }
        let mut rest = bytes;
        while let Some(length) = find_break(rest) {
            let (run, tail) = split(rest, length);
            self.push(run);
            self.push_byte(b' ');
            rest = tail.get(1..).unwrap_or_default();
        }
        self.push(rest);
    }

    /// How many more bytes fit.
    pub(crate) fn remaining(&self) -> usize {
        if self.overflowed { 0 } else { self.limit.saturating_sub(self.at) }
    }

    /// Marks the output as overflowed, so that it is not sent.
    pub(crate) fn fail(&mut self) {
        self.overflowed = true;
    }

    /// Removes the output between the mark and `to` (counted from the start), and a comma that would then follow an
    /// opening brace.
    pub(crate) fn cut(&mut self, from: Mark, to: usize) {
        if self.overflowed || matches!(self.room, BufferMut::Measure) {
            return;
        }
        let mut to = self.start.wrapping_add(to);
        let Some(written) = self.room.ensure(self.at).and_then(|all| all.get_mut(..self.at)) else { return };
        if matches!(from.last, 0 | b'{' | b'[') && written.get(to) == Some(&b',') {
            to = to.wrapping_add(1);
        }
        if from.at <= to && to <= written.len() {
            let removed = to.saturating_sub(from.at);
            shift(written.get_mut(from.at..).unwrap_or_default(), removed);
            self.at = self.at.saturating_sub(removed);
        }
    }

    /// Whether this was the last byte written.
    pub(crate) fn ends_with(&self, byte: u8) -> bool {
        self.last == byte
    }

    /// Returns the output so far, and the spare capacity behind it: at least `wanted` bytes, or none at all while the
    /// writer only counts. `None` is an overflow.
    fn reserve(&mut self, wanted: usize) -> Option<(&mut [u8], &mut [u8])> {
        let (at, limit) = (self.at, self.limit);
        let end = at.wrapping_add(wanted);
        if self.overflowed || end > limit {
            self.overflowed = true;
            return None;
        }
        if matches!(self.room, BufferMut::Measure) {
            return Some((&mut [], &mut []));
        }
        let Some(all) = self.room.ensure(end) else {
            self.overflowed = true;
            return None;
        };
        let usable = limit.min(all.len());
        all.get_mut(..usable)?.split_at_mut_checked(at)
    }

    /// Counts bytes that were written inside a string or a number: the last one opens nothing.
    fn advance(&mut self, written: usize) {
        self.at = self.at.wrapping_add(written);
        if written > 0 {
            self.last = b'"';
        }
    }

    /// Appends bytes as they are.
    fn push(&mut self, bytes: &[u8]) {
        self.push_all(b"", bytes, b"");
    }

    /// Appends three pieces in one step, or none of them. The first and the last one are short.
    fn push_all(&mut self, begin: &[u8], bytes: &[u8], end: &[u8]) {
        let Some(last) = end.last().or(bytes.last()).or(begin.last()) else { return };
        let length = begin.len().wrapping_add(bytes.len()).wrapping_add(end.len());
        let Some((_, spare)) = self.reserve(length) else { return };
        let spare = put(spare, begin);
        if let Some((place, spare)) = spare.split_at_mut_checked(bytes.len()) {
            copy(place, bytes);
            put(spare, end);
        }
        (self.at, self.last) = (self.at.wrapping_add(length), *last);
    }

    fn push_byte(&mut self, byte: u8) {
        self.push_all(&[byte], b"", b"");
    }

    /// Writes a comma if one is due, and a value or its start.
    fn value(&mut self, bytes: &[u8]) {
        self.order.value(self.last);
        self.push_all(if self.comma_is_due() { b"," } else { b"" }, bytes, b"");
    }

    /// A value begins here.
    fn separate(&mut self) {
        self.order.value(self.last);
        self.comma();
    }

    /// Returns the opening quote of a string, behind a comma if one is due.
    fn opening(&self) -> &'static [u8] {
        if self.comma_is_due() { b",\"" } else { b"\"" }
    }

    /// Writes a comma if one is due, and the opening quote of a string.
    fn open_quote(&mut self) {
        self.push(self.opening());
    }

    /// Writes a comma if one is due.
    fn comma(&mut self) {
        if self.comma_is_due() {
            self.push_byte(b',');
        }
    }

    /// Whether something stands before this that opens nothing.
    fn comma_is_due(&self) -> bool {
        !matches!(self.last, 0 | b'{' | b'[' | b':' | b'\n')
    }
}

#[cfg(test)]
mod order_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod value_tests;
