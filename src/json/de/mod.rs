//! Decodes any `Deserialize` type from JSON text: numbers, containers, and strings in place, without a heap.
#![allow(clippy::as_conversions, reason = "each value is first compared with the bounds of its type")]

mod access;
mod any;
#[cfg(feature = "derive")]
pub(crate) mod derived;
mod error;
mod error_kind;
mod error_path;
mod numbers;
mod strings;
mod view;

use error::PathlessError;
pub use error::TypedError;

use super::DEPTH_LIMIT;
use super::skip::{after_space, value_length};
use access::{Elements, Members, Variant};
use error_kind::ErrorKind;
use error_path::{ErrorPath, Step};
use numbers::{
    INTEGER, NATURAL, NUMBER, all_numbers, bounded, integers, parse_integer, visit_number, visit_single, wide,
};
use serde_core::de::value::BorrowedStrDeserializer;
use serde_core::de::{Deserialize, Deserializer, Visitor};

/// Decodes one valid JSON text into any `Deserialize` type. The text has the format of `serde_json`.
///
/// Strings are decoded in place, so fields of type `&str` work even with escapes. Afterwards, the text may no longer
/// be valid JSON. Integer types accept `-0`. A struct with named fields is an object, never an array. The
/// decoder opens at most [`DEPTH_LIMIT`] containers at once. This limit does not apply to the inside of ignored values
/// and [`Json`](crate::json::Json) values, which the decoder does not open.
///
/// ```
/// #[derive(serde::Deserialize)]
/// struct Led<'a> {
///     label: &'a str,
///     level: u8,
/// }
/// let mut text = *br#"{"label":"kitchen \ud83d\udca1","level":200}"#;
/// let led: Led<'_> = mcp_proto::json::decode_in_place(&mut text)?;
/// assert_eq!((led.label, led.level), ("kitchen 💡", 200));
/// # Ok::<(), mcp_proto::json::TypedError>(())
/// ```
///
/// # Errors
///
/// Returns an error with a path if the text does not fit the type. The caller must pass valid JSON, such as the text
/// of an event; invalid text is not always rejected. Empty text counts as an empty object, because a call may have no
/// arguments.
pub fn decode_in_place<'a, T: Deserialize<'a>>(text: &'a mut [u8]) -> Result<T, TypedError> {
    let mut decoder = Decoder {
        rest: text,
        levels: DEPTH_LIMIT,
        steps: ErrorPath::NONE,
        #[cfg(feature = "derive")]
        derived: false,
    };
    match T::deserialize(&mut decoder) {
        Ok(_) if !decoder.rest.is_empty() && decoder.peek().is_some() => {
            Err(ErrorKind::Message("text after the value").into())
        }
        Ok(value) => Ok(value),
        Err(error) => Err(decoder.steps.add_to(error)),
    }
}

/// The newtype name that [`Decimal`](crate::Decimal) passes to a `Deserializer`. For this name, the decoder passes the
/// text of the number to the visitor.
pub(super) const DECIMAL: &str = "mcp_proto::Decimal";

/// The serde deserializer over the remaining text.
struct Decoder<'de> {
    rest: &'de mut [u8],
    /// The number of containers that may still be opened.
    levels: u8,
    /// The path to an error.
    steps: ErrorPath<'de>,
    /// Whether the current value is inside a derived type. The decoder then accepts `1.0` as an integer.
    #[cfg(feature = "derive")]
    derived: bool,
}

impl<'de> Decoder<'de> {
    /// Skips white space, and returns the next byte without consuming it.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        if self.rest.first().is_some_and(|byte| *byte <= b' ') {
            self.skip_space();
        }
        self.rest.first().copied()
    }

    #[cold]
    fn skip_space(&mut self) {
        self.take(self.rest.len().wrapping_sub(after_space(self.rest).len()));
    }

    /// Consumes and returns `length` bytes. If fewer bytes remain, consumes all of them and returns an empty slice.
    fn take(&mut self, length: usize) -> &'de mut [u8] {
        match core::mem::take(&mut self.rest).split_at_mut_checked(length) {
            Some((taken, rest)) => {
                self.rest = rest;
                taken
            }
            None => &mut [],
        }
    }

    /// Consumes `byte`. Returns `None` if the next byte differs or is missing.
    #[inline]
    fn expect(&mut self, byte: u8) -> Option<()> {
        if self.peek() != Some(byte) {
            return None;
        }
        self.take(1);
        Some(())
    }

    /// Consumes and returns the text of the next value.
    fn word(&mut self) -> &'de str {
        let length = value_length(self.rest);
        let word: &'de [u8] = self.take(length);
        core::str::from_utf8(word).unwrap_or_default()
    }

    fn skip(&mut self) -> Result<(), ErrorKind<'de>> {
        if self.peek().is_none() {
            return Err(ErrorKind::BROKEN);
        }
        let length = value_length(self.rest);
        self.take(length);
        Ok(())
    }

    fn enter(&mut self) -> Result<(), ErrorKind<'de>> {
        self.levels = self.levels.checked_sub(1).ok_or(ErrorKind::Message("nested too deeply"))?;
        self.take(1);
        Ok(())
    }

    /// Consumes the end of a container, and clears the error path. Returns an error if the type left elements unread.
    #[inline]
    fn leave(&mut self, close: Option<u8>) -> Result<(), ErrorKind<'de>> {
        self.levels = self.levels.wrapping_add(1);
        self.steps.clear();
        match self.peek() {
            found if found == close => {
                self.take(1);
                Ok(())
            }
            Some(b',') => Err(ErrorKind::Message("more elements than expected")),
            _ => Err(ErrorKind::BROKEN),
        }
    }

    /// Returns the error for the next value, which has an unexpected type.
    #[cold]
    fn unexpected(&mut self, expected: &'static str) -> ErrorKind<'de> {
        if self.peek().is_none() {
            ErrorKind::BROKEN
        } else {
            ErrorKind::Wrong { found: self.word(), expected }
        }
    }

    fn number(&mut self, expected: &'static str) -> Result<&'de str, ErrorKind<'de>> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => Ok(self.word()),
            _ => Err(self.unexpected(expected)),
        }
    }

    fn sequence<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, PathlessError> {
        self.enter()?;
        let value = visitor.visit_seq(Elements::new(self))?;
        self.leave(Some(b']'))?;
        Ok(value)
    }

    #[inline]
    fn object<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value, PathlessError> {
        let levels = self.levels;
        let close = self.enter_object()?;
        let value = visitor.visit_map(Members::new(self, close))?;
        // A visitor that reached the end has already left the object.
        if self.levels != levels {
            self.leave(close)?;
        }
        Ok(value)
    }

    /// Enters an object and returns its closing bracket; `None` for empty text.
    #[inline]
    fn enter_object(&mut self) -> Result<Option<u8>, ErrorKind<'de>> {
        let close = match self.peek() {
            Some(b'{') => Some(b'}'),
            None => None,
            _ => return Err(self.unexpected("an object")),
        };
        self.enter()?;
        Ok(close)
    }
}

macro_rules! strings {
    ($($method:ident $expected:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
            match self.string() {
                Some(text) => visitor.visit_borrowed_str(text),
                None => Err(self.unexpected($expected).into()),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Decoder<'de> {
    type Error = PathlessError;

    all_numbers!();
    strings!(
        deserialize_str "a string" deserialize_string "a string" deserialize_char "a character"
        deserialize_identifier "a string"
    );

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        match self.peek() {
            Some(b'"') => visitor.visit_borrowed_str(self.string().ok_or(ErrorKind::BROKEN)?),
            Some(b'{') | None => self.object(visitor),
            Some(b'[') => self.sequence(visitor),
            Some(b't' | b'f') => self.deserialize_bool(visitor),
            Some(b'n') => self.deserialize_unit(visitor),
            Some(b'-' | b'0'..=b'9') => visit_number(self.word(), visitor),
            _ => Err(ErrorKind::BROKEN.into()),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        visitor.visit_bool(self.boolean()?)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        let text = self.number(INTEGER)?;
        #[cfg(feature = "derive")]
        if self.derived {
            return derived::visit_wide_signed(text, visitor);
        }
        let value = wide(text, INTEGER)?;
        visitor.visit_i128(value)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        let text = self.number(NATURAL)?;
        #[cfg(feature = "derive")]
        if self.derived {
            return derived::visit_wide(text, visitor);
        }
        let value = wide(text, NATURAL)?;
        visitor.visit_u128(value)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        match self.peek() {
            Some(b'[') => self.sequence(visitor),
            _ => match self.string() {
                Some(text) => visitor.visit_borrowed_bytes(text.as_bytes()),
                None => Err(self.unexpected("bytes").into()),
            },
        }
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        match self.peek() {
            // No `?`, because it would reserve stack space for a large error at each optional level.
            Some(b'n') => match self.null() {
                Ok(()) => visitor.visit_none(),
                Err(error) => Err(error.into()),
            },
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        match self.peek() {
            Some(b'n') => {
                self.null()?;
                visitor.visit_unit()
            }
            _ => Err(self.unexpected("null").into()),
        }
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, PathlessError> {
        self.deserialize_unit(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, PathlessError> {
        match name {
            DECIMAL => visitor.visit_borrowed_str(self.number(NUMBER)?),
            any::JSON => visitor.visit_borrowed_str(self.any_text()),
            _ => visitor.visit_newtype_struct(self),
        }
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        match self.peek() {
            Some(b'[') => self.sequence(visitor),
            _ => Err(self.unexpected("an array").into()),
        }
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, PathlessError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: usize,
        visitor: V,
    ) -> Result<V::Value, PathlessError> {
        self.deserialize_seq(visitor)
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        self.object(visitor)
    }

    #[inline]
    fn deserialize_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PathlessError> {
        #[cfg(feature = "derive")]
        if name == derived::STRUCT || name == derived::ONE_OF {
            return self.derived_object(name, fields, visitor);
        }
        let _ = (name, fields);
        self.object(visitor)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PathlessError> {
        match self.peek() {
            Some(b'"') => {
                visitor.visit_enum(BorrowedStrDeserializer::new(self.string().ok_or(ErrorKind::BROKEN)?))
            }
            Some(b'{') => {
                self.enter()?;
                let name = self.string().ok_or(ErrorKind::Message("expected a variant"))?;
                self.expect(b':').ok_or(ErrorKind::BROKEN)?;
                let value = visitor.visit_enum(Variant::new(self, name));
                if value.is_err() {
                    self.steps.push(Step::Member(name));
                    return value;
                }
                self.leave(Some(b'}'))?;
                value
            }
            _ => Err(self.unexpected("a variant").into()),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        self.skip()?;
        visitor.visit_unit()
    }
}

impl<'de> Decoder<'de> {
    fn integer(&mut self, bounds: (i64, u64), expected: &'static str) -> Result<u64, ErrorKind<'de>> {
        let text = self.number(expected)?;
        let value = parse_integer(text);
        #[cfg(feature = "derive")]
        let value = value.or_else(|| derived::whole_integer(text).filter(|_| self.derived));
        bounded(value, text, bounds, expected)
    }

    fn boolean(&mut self) -> Result<bool, ErrorKind<'de>> {
        match self.peek() {
            Some(b't' | b'f') => match self.word() {
                "true" => Ok(true),
                "false" => Ok(false),
                _ => Err(ErrorKind::BROKEN),
            },
            _ => Err(self.unexpected("a boolean")),
        }
    }

    fn null(&mut self) -> Result<(), ErrorKind<'de>> {
        if self.word() == "null" { Ok(()) } else { Err(ErrorKind::BROKEN) }
    }
}

#[cfg(test)]
mod container_tests;
#[cfg(test)]
mod tests;
