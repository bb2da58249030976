//! Decodes any `Deserialize` type from JSON text: numbers, containers, and strings in place, without a heap.
#![allow(clippy::as_conversions, reason = "each value is first compared with the bounds of its type")]

mod access;
mod any;
#[cfg(feature = "derive")]
pub(crate) mod derived;
mod error;
mod error_kind;
mod error_path;
mod strings;
mod view;

use error::PathlessError;
pub use error::TypedError;

use super::DEPTH_LIMIT;
use super::skip::{after_space, value_length};
use super::value::magnitude;
use access::{Elements, Members, Variant};
use error_kind::ErrorKind;
use error_path::{ErrorPath, Step};
use serde_core::de::value::BorrowedStrDeserializer;
use serde_core::de::{Deserialize, Deserializer, Visitor};

/// Decodes one valid JSON text into any `Deserialize` type. The format is the format of `serde_json`.
///
/// Strings are decoded in place, so fields of type `&str` work even with escapes. The text is no longer valid JSON
/// afterwards. `-0` is an integer. A struct with named fields is an object, never an array. At most [`DEPTH_LIMIT`]
/// containers may be open at once.
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
/// of an event; invalid text is not always rejected. Empty text counts as an empty object, like absent call
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
/// text of a number.
pub(super) const DECIMAL: &str = "mcp_proto::Decimal";

/// The serde deserializer over the remaining text.
struct Decoder<'de> {
    rest: &'de mut [u8],
    /// The number of containers that may still be opened.
    levels: u8,
    /// The path to an error.
    steps: ErrorPath<'de>,
    /// Whether the value is of a derived type, which accepts `1.0` as an integer.
    #[cfg(feature = "derive")]
    derived: bool,
}

impl<'de> Decoder<'de> {
    /// Skips white space, and returns the next byte without consuming it.
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

    /// Consumes and returns `length` bytes. If fewer bytes remain, consumes all of them and returns none.
    fn take(&mut self, length: usize) -> &'de mut [u8] {
        match core::mem::take(&mut self.rest).split_at_mut_checked(length) {
            Some((taken, rest)) => {
                self.rest = rest;
                taken
            }
            None => &mut [],
        }
    }

    /// Consumes `byte`, or returns an error if another byte follows.
    fn expect(&mut self, byte: u8) -> Result<(), ErrorKind<'de>> {
        if self.peek() != Some(byte) {
            return Err(ErrorKind::BROKEN);
        }
        self.take(1);
        Ok(())
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

    /// Consumes the end of a container. Returns an error if the type left elements unread.
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

enum Integer {
    Positive(u64),
    Negative(i64),
}

/// Returns the value of an integer's text. `None` means that the text is not an integer or the value does not fit.
fn integer_of(text: &str) -> Option<Integer> {
    match text.as_bytes() {
        [b'-', digits @ ..] => Some(Integer::Negative(0i64.checked_sub_unsigned(magnitude(digits)?)?)),
        digits => magnitude(digits).map(Integer::Positive),
    }
}

/// Returns an integer within bounds; a negative integer as its two's complement.
fn bounded<'de>(
    value: Option<Integer>,
    text: &'de str,
    (least, most): (i64, u64),
    expected: &'static str,
) -> Result<u64, ErrorKind<'de>> {
    match value {
        Some(Integer::Positive(value)) if value <= most => Ok(value),
        Some(Integer::Negative(value)) if value >= least => Ok(value as u64),
        _ => Err(ErrorKind::Wrong { found: text, expected }),
    }
}

/// Parses an integer of up to 128 bits.
fn wide<'de, T: core::str::FromStr>(text: &'de str, expected: &'static str) -> Result<T, ErrorKind<'de>> {
    text.parse().map_err(|_| ErrorKind::Wrong { found: text, expected })
}

/// Visits a number for a type that accepts fractions. An integer that fits in 64 bits stays an integer, except `-0`.
fn visit_number<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, PathlessError> {
    match integer_of(text) {
        Some(Integer::Positive(value)) => visitor.visit_u64(value),
        Some(Integer::Negative(value)) if value != 0 => visitor.visit_i64(value),
        _ => match text.parse::<f64>() {
            Ok(value) if value.is_finite() => visitor.visit_f64(value),
            _ => Err(PathlessError::wrong(text, NUMBER)),
        },
    }
}

fn visit_single<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, PathlessError> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => visitor.visit_f32(value),
        _ => Err(PathlessError::wrong(text, NUMBER)),
    }
}

/// The description of `i64` and `i128` in errors, which are for clients. A client knows JSON, but not Rust.
const INTEGER: &str = "an integer";
/// The description of `u64` and `u128`.
const NATURAL: &str = "an integer of at least 0";
const NUMBER: &str = "a number";

/// Defines the methods for integers of up to 64 bits.
macro_rules! integers {
    ($($method:ident $visit:ident $type:ident $expected:expr;)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
            let bounds = ($type::MIN as i64, $type::MAX as u64);
            let value = self.integer(bounds, $expected)?;
            visitor.$visit(value as $type)
        }
    )*};
}
use integers;

macro_rules! all_integers {
    () => {
        integers!(
            deserialize_i8 visit_i8 i8 "an integer from -128 to 127";
            deserialize_i16 visit_i16 i16 "an integer from -32768 to 32767";
            deserialize_i32 visit_i32 i32 "an integer from -2147483648 to 2147483647";
            deserialize_i64 visit_i64 i64 INTEGER;
            deserialize_u8 visit_u8 u8 "an integer from 0 to 255";
            deserialize_u16 visit_u16 u16 "an integer from 0 to 65535";
            deserialize_u32 visit_u32 u32 "an integer from 0 to 4294967295";
            deserialize_u64 visit_u64 u64 NATURAL;
        );
    };
}
use all_integers;

macro_rules! strings {
    ($($method:ident $expected:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
            let text = self.string_for($expected)?;
            visitor.visit_borrowed_str(text)
        }
    )*};
}

impl<'de> Deserializer<'de> for &mut Decoder<'de> {
    type Error = PathlessError;

    all_integers!();
    strings!(
        deserialize_str "a string" deserialize_string "a string" deserialize_char "a character"
        deserialize_identifier "a string"
    );

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        match self.peek() {
            Some(b'"') => visitor.visit_borrowed_str(self.string()?),
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
        let value = wide(if text == "-0" { "0" } else { text }, NATURAL)?;
        visitor.visit_u128(value)
    }

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        let text = self.number(NUMBER)?;
        visit_single(text, visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        let text = self.number(NUMBER)?;
        visit_number(text, visitor)
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        match self.peek() {
            Some(b'"') => visitor.visit_borrowed_bytes(self.string()?.as_bytes()),
            Some(b'[') => self.sequence(visitor),
            _ => Err(self.unexpected("bytes").into()),
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
            Some(b'"') => visitor.visit_enum(BorrowedStrDeserializer::new(self.string()?)),
            Some(b'{') => {
                self.enter()?;
                let name = self.string()?;
                self.expect(b':')?;
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
        let value = integer_of(text);
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
