//! The writer: JSON into lent room, with latched overflow, marks and automatic commas.

mod base64;
mod checked;
mod escape;
mod fast;
mod free;
mod object;
mod order;
mod strings;

use super::FAST;
use super::decimal::{Decimal, digit_bytes};
use super::pieces::Text;
use super::scanner::{ScanError, scan};
use super::skip::{split, trimmed};
use super::text::Str;
use super::view::Json;
use crate::buffer::copy;
use crate::buffer::{Room, shift};
use order::Order;

/// Writes JSON. Commas come by themselves, strings are escaped, and nothing is written past the room there is: after
/// the first thing that does not fit, nothing more is written and [`overflowed`](Writer::overflowed) says so.
///
/// A value that a host writes is checked as a whole: an unbalanced `begin` or `end` spoils that value only.
#[derive(Debug)]
pub struct Writer<'a> {
    room: Room<'a>,
    /// The first byte that is ours.
    start: usize,
    /// The next byte to write.
    at: usize,
    limit: usize,
    /// Nothing before this is rolled back.
    floor: usize,
    /// The last byte written, zero at the start: it tells whether a comma is due.
    last: u8,
    overflowed: bool,
    /// Whether what a host writes has to be looked at.
    order: Order,
}

/// A place to roll back to.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    at: usize,
    last: u8,
    overflowed: bool,
}

/// What was written did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Overflow;

impl<'a> Writer<'a> {
    /// Writes from byte `start` of the room on, never past byte `limit`.
    pub(crate) fn new(room: Room<'a>, start: usize, limit: usize) -> Writer<'a> {
        let order = Order::UNKNOWN;
        Writer { room, start, at: start, limit, floor: start, last: 0, overflowed: false, order }
    }

    /// Writes nothing and counts: afterwards [`len`](Writer::len) says how long it would be.
    pub(crate) fn measure() -> Writer<'static> {
        Writer::new(Room::Measure, 0, usize::MAX)
    }

    /// Whether something did not fit. Nothing is written any more then.
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

    /// This place, to be rolled back to.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark { at: self.at, last: self.last, overflowed: self.overflowed }
    }

    /// Takes back everything since the mark, an overflow included.
    pub fn rollback(&mut self, mark: Mark) {
        // A mark of another writer, or from before the value that a host may write, changes nothing.
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

    /// What was written so far (nothing while it only counts).
    pub(crate) fn written(&self) -> &[u8] {
        self.room.bytes().get(self.start..self.at).unwrap_or_default()
    }

    /// One past the last byte written, if all of it fitted.
    pub(crate) fn finish(self) -> Result<usize, Overflow> {
        if self.overflowed { Err(Overflow) } else { Ok(self.at) }
    }

    /// Begins an object.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub fn begin_object(&mut self) {
        if !(FAST && self.put_opening(b'{').is_some()) {
            self.separate();
            self.push_byte(b'{');
        }
        self.order.begin(true);
    }

    /// Ends an object.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub fn end_object(&mut self) {
        self.order.end(true, self.last);
        self.push_byte(b'}');
    }

    /// Begins an array.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub fn begin_array(&mut self) {
        if !(FAST && self.put_opening(b'[').is_some()) {
            self.separate();
            self.push_byte(b'[');
        }
        self.order.begin(false);
    }

    /// Ends an array.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub fn end_array(&mut self) {
        self.order.end(false, self.last);
        self.push_byte(b']');
    }

    /// The name of a member, whose value comes next.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn key(&mut self, key: &str) {
        if !(FAST && self.put_name(key).is_some()) {
            self.name(key);
        }
    }

    #[cfg_attr(not(target_os = "none"), inline(never))]
    fn name(&mut self, key: &str) {
        self.order.name(self.last);
        self.quote(key);
        self.push_byte(b':');
    }

    /// A string.
    pub fn string(&mut self, text: &str) {
        if !(FAST && self.put_string(text).is_some()) {
            self.order.value(self.last);
            self.quote(text);
        }
    }

    #[cfg_attr(not(target_os = "none"), inline(never))]
    fn quote(&mut self, text: &str) {
        self.comma();
        self.push_byte(b'"');
        self.escape(text);
        self.push_byte(b'"');
    }

    /// A string of a text that is made of pieces.
    pub fn display(&mut self, text: &dyn Text) {
        self.order.value(self.last);
        self.quote_pieces(text);
    }

    /// The name of a member, made of pieces.
    #[cfg(feature = "serde")]
    pub(super) fn key_display(&mut self, key: &dyn Text) {
        self.order.name(self.last);
        self.quote_pieces(key);
        self.push_byte(b':');
    }

    fn quote_pieces(&mut self, text: &dyn Text) {
        self.comma();
        self.push_byte(b'"');
        self.inside(text);
        self.push_byte(b'"');
    }

    /// The inside of a string that is open.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(crate) fn inside(&mut self, text: &dyn Text) {
        text.pieces(&mut |piece| self.escape(piece));
    }

    /// A string that came from elsewhere, with the escapes it has.
    pub fn text(&mut self, text: Str<'_>) {
        self.separate();
        self.push_byte(b'"');
        self.push(text.raw().as_bytes());
        self.push_byte(b'"');
    }

    /// An integer.
    pub fn integer(&mut self, value: i64) {
        if FAST && u64::try_from(value).is_ok_and(|value| self.put_unsigned(value).is_some()) {
            return;
        }
        self.separate();
        if value < 0 {
            self.push_byte(b'-');
        }
        self.push(digit_bytes(value.unsigned_abs(), &mut [0; 20]));
    }

    /// An integer that is not negative.
    pub fn unsigned(&mut self, value: u64) {
        if FAST && self.put_unsigned(value).is_some() {
            return;
        }
        self.separate();
        self.push(digit_bytes(value, &mut [0; 20]));
    }

    /// A decimal number.
    pub fn decimal(&mut self, value: Decimal) {
        self.number_from(&value);
    }

    /// A number whose text is as JSON wants it.
    pub(super) fn number_from(&mut self, text: &dyn Text) {
        self.separate();
        text.pieces(&mut |piece| self.push(piece.as_bytes()));
    }

    /// `true` or `false`.
    pub fn boolean(&mut self, value: bool) {
        self.separate();
        self.push(if value { b"true" } else { b"false" });
    }

    /// `null`.
    pub fn null(&mut self) {
        self.separate();
        self.push(b"null");
    }

    /// A value that came from elsewhere. Line breaks in it become spaces.
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
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn field_string(&mut self, key: &str, value: &str) {
        if !(FAST && self.put_text(key, value).is_some()) {
            self.key(key);
            self.string(value);
        }
    }

    /// A member that is a string, if there is one.
    pub(crate) fn field_optional(&mut self, key: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.field_string(key, value);
        }
    }

    /// A member that is an integer.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn field_integer(&mut self, key: &str, value: i64) {
        self.key(key);
        self.integer(value);
    }

    /// A member that is `true` or `false`.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub fn field_boolean(&mut self, key: &str, value: bool) {
        self.key(key);
        self.boolean(value);
    }

    /// A member that is a value from elsewhere.
    pub fn field_json(&mut self, key: &str, value: Json<'_>) {
        self.key(key);
        self.json(value);
    }

    /// The same behind a comma, if one is due: members of an object, as they are.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(crate) fn members(&mut self, token: &str) {
        self.comma();
        self.token(token);
    }

    /// Bytes as they are, without a comma before them: constants, of which nothing is left but stores on hosts.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    pub(crate) fn token(&mut self, token: &str) {
        if !(FAST && self.put(token.as_bytes()).is_some()) {
            self.push_slowly(token.as_bytes());
        }
    }

    /// The text of a value that was scanned. Between its tokens line breaks become spaces, so that a line stays a
    /// line; inside strings there are none.
    pub(crate) fn json_bytes(&mut self, bytes: &[u8]) {
        if FAST && self.put_json(bytes).is_some() {
            return self.took(bytes);
        }
        self.separate();
        self.took(bytes);
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

    /// Gives up: what is written will not be sent.
    pub(crate) fn fail(&mut self) {
        self.overflowed = true;
    }

    /// Takes out what was written between the mark and `to` (counted from the start), and the comma that would then
    /// follow an opening brace.
    pub(crate) fn cut(&mut self, from: Mark, to: usize) {
        if self.overflowed || matches!(self.room, Room::Measure) {
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

    /// What is written, and all the room after it if that is at least `wanted` bytes: else this is an overflow.
    fn reserve(&mut self, wanted: usize) -> Option<(&mut [u8], &mut [u8])> {
        let end = self.at.wrapping_add(wanted);
        let fits = !self.overflowed && end <= self.limit;
        let (at, limit) = (self.at, self.limit);
        let all = if fits { self.room.ensure(end) } else { None };
        let Some(all) = all else {
            self.overflowed = true;
            return None;
        };
        let usable = limit.min(all.len());
        all.get_mut(..usable)?.split_at_mut_checked(at)
    }

    /// So many bytes of a string or a number were written: whatever the last one is, it opens nothing.
    fn advance(&mut self, written: usize) {
        self.at = self.at.wrapping_add(written);
        if written > 0 {
            self.last = b'"';
        }
    }

    /// A value begins here.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn separate(&mut self) {
        self.order.value(self.last);
        self.comma();
    }

    /// A comma, if something stands before this that is not an opening.
    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn comma(&mut self) {
        if self.comma_is_due() {
            self.push_byte(b',');
        }
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn comma_is_due(&self) -> bool {
        !matches!(self.last, 0 | b'{' | b'[' | b':' | b'\n')
    }

    #[cfg_attr(not(target_os = "none"), inline(always))]
    fn push_byte(&mut self, byte: u8) {
        if !(FAST && self.put_byte(byte).is_some()) {
            self.push_byte_slowly(byte);
        }
    }

    #[cfg_attr(not(target_os = "none"), inline(never))]
    fn push_byte_slowly(&mut self, byte: u8) {
        let end = self.at.wrapping_add(1);
        let stored = !self.overflowed
            && end <= self.limit
            && match self.room.ensure(end).and_then(|all| all.get_mut(self.at)) {
                Some(place) => {
                    *place = byte;
                    true
                }
                None => matches!(self.room, Room::Measure),
            };
        if stored {
            (self.at, self.last) = (end, byte);
        } else {
            self.overflowed = true;
        }
    }

    #[cfg_attr(not(target_os = "none"), inline)]
    fn push(&mut self, bytes: &[u8]) {
        if !(FAST && self.put(bytes).is_some()) {
            self.push_slowly(bytes);
        }
    }

    #[cfg_attr(not(target_os = "none"), inline(never))]
    fn push_slowly(&mut self, bytes: &[u8]) {
        let Some(last) = bytes.last() else { return };
        let end = self.at.wrapping_add(bytes.len());
        if self.overflowed || end > self.limit || !self.store(bytes, end) {
            self.overflowed = true;
            return;
        }
        self.at = end;
        self.last = *last;
    }

    /// Whether there was room.
    fn store(&mut self, bytes: &[u8], end: usize) -> bool {
        if matches!(self.room, Room::Measure) {
            return true;
        }
        match self.room.ensure(end).and_then(|all| all.get_mut(self.at..end)) {
            Some(place) => {
                copy(place, bytes);
                true
            }
            None => false,
        }
    }
}

/// Where the first line break is.
#[inline]
fn find_break(bytes: &[u8]) -> Option<usize> {
    // Most are ids, and shorter than it takes to begin to search.
    if FAST && bytes.len() > 16 {
        memchr::memchr2(b'\n', b'\r', bytes)
    } else {
        bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r'))
    }
}

#[cfg(test)]
mod tests;
