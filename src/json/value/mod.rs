//! `Json`: a view of one valid value.

use super::scanner::{ScanError, scan};
use super::skip::{after_space, split, text_length, trimmed, value_length};
use super::string::{Str, text_of};
use super::write_text::{WriteText, prints};
use core::fmt;

/// A view of one valid JSON value inside some text: two words that borrow the text. Nothing is copied, and strings are decoded on request.
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

/// With its article: "a string".
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

    /// Validates a whole text and views the value in it, without the white space around it.
    ///
    /// # Errors
    ///
    /// The text is not exactly one JSON value, or nested deeper than [`DEPTH_LIMIT`](super::DEPTH_LIMIT).
    pub fn parse(text: &'a [u8]) -> Result<Json<'a>, ScanError> {
        scan(text).map(|()| Json::trusted(text))
    }

    /// Views scanned text, without the white space around it. Other text gives nonsense, but no panic.
    pub(crate) fn trusted(text: &'a [u8]) -> Json<'a> {
        Json { text: trimmed(text) }
    }

    /// Views scanned text that has no white space around it.
    #[inline]
    pub(crate) const fn exact(text: &'a [u8]) -> Json<'a> {
        Json { text }
    }

    /// The text of the value.
    #[must_use]
    pub fn raw(self) -> &'a str {
        text_of(self.text)
    }

    /// The bytes of the value's text.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.text
    }

    /// The kind of the value.
    #[must_use]
    pub fn kind(self) -> Kind {
        match self.text {
            [b'"', ..] => Kind::String,
            [b'{', ..] => Kind::Object,
            [b'[', ..] => Kind::Array,
            [b't' | b'f', ..] => Kind::Bool,
            [b'-' | b'0'..=b'9', ..] => Kind::Number,
            _ => Kind::Null,
        }
    }

    /// Whether it is `null`.
    #[must_use]
    pub fn is_null(self) -> bool {
        self.kind() == Kind::Null
    }

    /// An object's member with that name (compared decoded); of duplicates the last.
    #[must_use]
    pub fn get(self, key: &str) -> Option<Json<'a>> {
        let [found] = self.pick([key]);
        found
    }

    /// Several members of an object in one pass; of duplicates the last.
    #[must_use]
    pub fn pick<const N: usize>(self, keys: [&str; N]) -> [Option<Json<'a>>; N] {
        let mut found = [None; N];
        self.pick_into(&keys, &mut found);
        found
    }

    fn pick_into(self, keys: &[&str], found: &mut [Option<Json<'a>>]) {
        for (name, value) in self.members() {
            for (key, place) in keys.iter().zip(&mut *found) {
                if name == *key {
                    *place = Some(value);
                }
            }
        }
    }

    /// An array's element, counted from 0.
    #[must_use]
    pub fn index(self, index: usize) -> Option<Json<'a>> {
        self.elements().nth(index)
    }

    /// The members of an object in the order of the text, duplicates and all; of another value none.
    #[must_use]
    pub fn members(self) -> Members<'a> {
        match self.text {
            [b'{', rest @ ..] => Members { rest },
            _ => Members { rest: &[] },
        }
    }

    /// The elements of an array; of another value none.
    #[must_use]
    pub fn elements(self) -> Elements<'a> {
        match self.text {
            [b'[', rest @ ..] => Elements { rest },
            _ => Elements { rest: &[] },
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn string(self) -> Option<Str<'a>> {
        match self.text {
            [b'"', text @ .., b'"'] => Some(Str::trusted(text)),
            _ => None,
        }
    }

    /// Whether it is `true`, if it is `true` or `false`.
    #[must_use]
    pub fn boolean(self) -> Option<bool> {
        match self.text {
            b"true" => Some(true),
            b"false" => Some(false),
            _ => None,
        }
    }

    /// A number written without fraction and exponent, if it fits.
    #[must_use]
    pub fn integer(self) -> Option<i64> {
        match self.text {
            [b'-', digits @ ..] => 0i64.checked_sub_unsigned(magnitude(digits)?),
            digits => magnitude(digits)?.try_into().ok(),
        }
    }

    /// A number written without fraction and exponent, if it is not negative and fits.
    #[must_use]
    pub fn unsigned(self) -> Option<u64> {
        match self.text {
            b"-0" => Some(0),
            digits => magnitude(digits),
        }
    }

    /// The text of a number, with all its digits.
    #[must_use]
    pub fn number(self) -> Option<&'a str> {
        (self.kind() == Kind::Number).then(|| self.raw())
    }

    /// Whether it is a number written without fraction and exponent, of any length.
    #[must_use]
    pub fn is_integer_text(self) -> bool {
        let digits = match self.text {
            [b'-', digits @ ..] => digits,
            digits => digits,
        };
        !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
    }
}

/// The value of decimal digits.
pub(crate) fn magnitude(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &byte| match byte {
        b'0'..=b'9' => value.checked_mul(10)?.checked_add(u64::from(byte & 0x0F)),
        _ => None,
    })
}

/// The text as it stands.
impl fmt::Debug for Json<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.raw())
    }
}

/// The members of an object: name and value.
#[derive(Clone, Debug)]
pub struct Members<'a> {
    rest: &'a [u8],
}

impl<'a> Iterator for Members<'a> {
    type Item = (Str<'a>, Json<'a>);

    fn next(&mut self) -> Option<(Str<'a>, Json<'a>)> {
        let rest = next_item(self.rest);
        let [b'"', rest @ ..] = rest else {
            self.rest = &[];
            return None;
        };
        let (name, rest) = split(rest, text_length(rest));
        let rest = after_space(rest.get(1..).unwrap_or_default());
        let rest = match rest {
            [b':', rest @ ..] => after_space(rest),
            rest => rest,
        };
        let (value, rest) = split(rest, value_length(rest));
        self.rest = rest;
        Some((Str::trusted(name), Json { text: value }))
    }
}

/// The elements of an array.
#[derive(Clone, Debug)]
pub struct Elements<'a> {
    rest: &'a [u8],
}

impl<'a> Elements<'a> {
    /// The elements of an array from `rest` on, which begins behind an element or the bracket.
    pub(crate) fn behind(rest: &'a [u8]) -> Elements<'a> {
        Elements { rest }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Json<'a>;

    fn next(&mut self) -> Option<Json<'a>> {
        let rest = next_item(self.rest);
        let (value, rest) = split(rest, value_length(rest));
        if value.is_empty() {
            self.rest = &[];
            return None;
        }
        self.rest = rest;
        Some(Json { text: value })
    }
}

/// Returns the next item of a container, or its closing bracket.
fn next_item(rest: &[u8]) -> &[u8] {
    match after_space(rest) {
        [b',', rest @ ..] => after_space(rest),
        rest => rest,
    }
}

#[cfg(test)]
mod tests;
