//! `Json`: a view of one valid value.

use super::scanner::{ScanError, Span, scan};
use super::skip::{after_space, text_length, trimmed, value_length};
use super::string::{Str, text_of, write_shortened};
use super::write_text::{WriteText, prints};
use core::fmt;

/// A view of one valid JSON value inside a text. A view borrows the text, takes two machine words, and decodes a
/// string only on request.
///
/// ```
/// use mcp_proto::json::Json;
/// let json = Json::parse(br#"{"name":"led_set","arguments":{"on":true,"level":200}}"#)?;
/// assert_eq!(json.get("name").unwrap().string().unwrap(), "led_set");
/// assert_eq!(json.get("arguments").unwrap().get("level").unwrap().integer(), Some(200));
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
#[derive(Clone, Copy)]
pub struct Json<'a> {
    text: &'a [u8],
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// A number
    Number,
    /// A string
    String,
    /// `[...]`
    Array,
    /// `{...}`
    Object,
}

impl Kind {
    /// Returns the kind of a valid value by its first byte.
    pub(crate) fn starting_with(first: Option<&u8>) -> Kind {
        match first {
            Some(b'"') => Kind::String,
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'-' | b'0'..=b'9') => Kind::Number,
            _ => Kind::Null,
        }
    }
}

/// Writes the kind, with an article except for `null`: "a string".
impl WriteText for Kind {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            Kind::Null => "null",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::String => "a string",
            Kind::Array => "an array",
            Kind::Object => "an object",
        });
    }
}

prints!(Kind, Json<'_>);

impl<'a> Json<'a> {
    /// The value `null`.
    pub const NULL: Json<'static> = Json { text: b"null" };

    /// The value `{}`.
    pub const EMPTY_OBJECT: Json<'static> = Json { text: b"{}" };

    /// Validates a complete text and views its value, without the surrounding white space.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is not exactly one JSON value, or nested deeper than
    /// [`DEPTH_LIMIT`](super::DEPTH_LIMIT).
    pub fn parse(text: &'a [u8]) -> Result<Json<'a>, ScanError> {
        scan(text).map(|()| Json::trusted(text))
    }

    /// Views scanned text, without the surrounding white space. Other text gives meaningless results, but no panic.
    #[inline]
    pub(crate) fn trusted(text: &'a [u8]) -> Json<'a> {
        Json { text: trimmed(text) }
    }

    /// Views scanned text that has no surrounding white space.
    #[inline]
    pub(crate) const fn exact(text: &'a [u8]) -> Json<'a> {
        Json { text }
    }

    /// Returns the text of the value.
    #[must_use]
    pub fn raw(self) -> &'a str {
        text_of(self.text)
    }

    /// Returns the bytes of the value's text.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.text
    }

    /// Returns the kind of the value.
    #[must_use]
    pub fn kind(self) -> Kind {
        Kind::starting_with(self.text.first())
    }

    /// Returns whether the value is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// Returns the value of an object's member with this name. Compares decoded names; the last duplicate counts.
    /// Returns `None` if no member has this name or the value is not an object.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Json<'a>> {
        let [found] = self.pick([key]);
        found
    }

    /// Returns the values of several members of an object, found in one pass. The last duplicate counts. A missing
    /// member gives `None`.
    #[must_use]
    pub fn pick<const N: usize>(self, keys: [&str; N]) -> [Option<Json<'a>>; N] {
        let mut found = [None; N];
        self.pick_into(&keys, &mut found);
        found
    }

    fn pick_into(self, keys: &[&str], found: &mut [Option<Json<'a>>]) {
        self.each_match(keys, &mut |key, value, _| {
            if let Some(place) = found.get_mut(key) {
                *place = Some(value);
            }
        });
    }

    /// Stores the spans of several members of an object. `start` is the position of the object in the enclosing
    /// text, to which the spans refer. The spans of missing members do not change. The last duplicate counts.
    pub(crate) fn find_spans(self, start: usize, keys: &[&str], found: &mut [Span]) {
        let end = start.wrapping_add(self.text.len());
        self.each_match(keys, &mut |key, value, behind| {
            if let Some(place) = found.get_mut(key) {
                let end = end.wrapping_sub(behind);
                *place = Span { start: end.wrapping_sub(value.text.len()), end };
            }
        });
    }

    /// Calls `found` for each member with one of these keys. The arguments of `found` are the index of the key, the
    /// value, and the number of bytes after the value.
    fn each_match(self, keys: &[&str], found: &mut dyn FnMut(usize, Json<'a>, usize)) {
        let mut members = self.members();
        while let Some((name, value)) = members.next() {
            for (index, key) in keys.iter().enumerate() {
                if name == *key {
                    found(index, value, members.rest.len());
                }
            }
        }
    }

    /// Views the value at a span of this value's text. The view of a missing span counts as `null`.
    pub(crate) fn part(self, span: Span) -> Json<'a> {
        Json { text: span.bytes(self.text) }
    }

    /// Returns an array's element with this index, counted from 0. Returns `None` if the value has no such element.
    #[must_use]
    pub fn index(self, index: usize) -> Option<Json<'a>> {
        self.elements().nth(index)
    }

    /// Returns the members of an object in text order, with duplicates. Another value has no members.
    #[must_use]
    pub fn members(self) -> Members<'a> {
        match self.text {
            [b'{', rest @ ..] => Members { rest },
            _ => Members { rest: &[] },
        }
    }

    /// Returns the elements of an array. Another value has no elements.
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        match self.text {
            [b'[', rest @ ..] => Elements { rest },
            _ => Elements { rest: &[] },
        }
    }

    /// Returns the text of a string; `None` for another value.
    #[must_use]
    pub fn string(self) -> Option<Str<'a>> {
        match self.text {
            [b'"', text @ .., b'"'] => Some(Str::trusted(text)),
            _ => None,
        }
    }

    /// Returns the value of a boolean; `None` for another value.
    #[must_use]
    pub fn boolean(self) -> Option<bool> {
        match self.text {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// Returns the value of a number written without fraction and exponent. Returns `None` if the number does not fit
    /// in an `i64`, and for any other value.
    #[must_use]
    pub fn integer(self) -> Option<i64> {
        match self.text {
            [b'-', digits @ ..] => 0i64.checked_sub_unsigned(magnitude(digits)?),
            digits => magnitude(digits)?.try_into().ok(),
        }
    }

    /// Returns the value of a number written without fraction and exponent. Returns `None` if the number is negative or
    /// does not fit in a `u64`, and for any other value.
    #[must_use]
    pub fn unsigned(self) -> Option<u64> {
        match self.text {
            b"-0" => Some(0),
            digits => magnitude(digits),
        }
    }

    /// Returns the text of a number, with all its digits; `None` for another value.
    #[must_use]
    pub fn number(self) -> Option<&'a str> {
        (self.kind() == Kind::Number).then(|| self.raw())
    }

    /// Returns whether the value is a number written without fraction and exponent, of any length.
    #[must_use]
    pub fn is_integer_text(self) -> bool {
        let digits = match self.text {
            [b'-', digits @ ..] => digits,
            digits => digits,
        };
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    }
}

/// Returns the value of decimal digits. Returns `None` if the value does not fit in a `u64`, a byte is not a digit,
/// or `digits` is empty.
pub(crate) fn magnitude(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0, append_digit)
}

/// Appends a decimal digit to a number. Returns `None` if the result does not fit in a `u64`, or the byte is not a
/// digit.
#[inline]
pub(crate) fn append_digit(value: u64, byte: &u8) -> Option<u64> {
    match byte.wrapping_sub(b'0') {
        // A checked multiplication would take much flash on 32-bit targets.
        digit @ 0..=9 if value <= u64::MAX / 10 => value.wrapping_mul(10).checked_add(digit.into()),
        _ => None,
    }
}

/// Writes the text verbatim. If the text has more than 1000 bytes, writes only the beginning and the length.
impl fmt::Debug for Json<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_shortened(formatter, self.raw())
    }
}

/// An iterator over the members of an object: name and value.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Members<'a> {
    type Item = (Str<'a>, Json<'a>);

    #[inline]
    fn next(&mut self) -> Option<(Str<'a>, Json<'a>)> {
        let text = core::mem::take(&mut self.rest);
        let [b'"', rest @ ..] = next_item(text) else { return None };
        let (name, [b'"', rest @ ..]) = rest.split_at_checked(text_length(rest))? else { return None };
        let [b':', rest @ ..] = after_space(rest) else { return None };
        let rest = after_space(rest);
        let (value, rest) = rest.split_at_checked(value_length(rest))?;
        self.rest = rest;
        Some((Str::trusted(name), Json { text: value }))
    }
}

/// An iterator over the elements of an array.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        let rest = next_item(core::mem::take(&mut self.rest));
        let (value, rest) =
            rest.split_at_checked(value_length(rest)).filter(|(value, _)| !value.is_empty())?;
        self.rest = rest;
        Some(Json { text: value })
    }
}

/// Returns the span of the next element of an array in `text`, or `None` after the last element. The opening
/// bracket or the previous element ends at `at`.
pub(crate) fn next_element(text: &[u8], at: usize) -> Option<Span> {
    let rest = next_item(text.get(at..)?);
    let start = text.len().wrapping_sub(rest.len());
    let length = value_length(rest);
    (length > 0).then_some(Span { start, end: start.wrapping_add(length) })
}

/// Returns the rest of a container, from its next item or its closing bracket on.
#[inline]
pub(super) fn next_item(rest: &[u8]) -> &[u8] {
    match after_space(rest) {
        [b',', rest @ ..] => after_space(rest),
        rest => rest,
    }
}

#[cfg(test)]
mod tests;
