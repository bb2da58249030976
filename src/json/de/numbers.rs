//! Decodes integers and floats from the text of a JSON number.

use super::PathlessError;
use super::error_kind::ErrorKind;
use crate::json::value::magnitude;
use serde_core::de::Visitor;

pub(super) enum Integer {
    Positive(u64),
    Negative(i64),
}

/// Returns the value of an integer's text. `None` means that the text is not an integer or the value does not fit.
pub(super) fn parse_integer(text: &str) -> Option<Integer> {
    match text.as_bytes() {
        [b'-', digits @ ..] => Some(Integer::Negative(0i64.checked_sub_unsigned(magnitude(digits)?)?)),
        digits => magnitude(digits).map(Integer::Positive),
    }
}

/// Returns an integer within bounds; a negative integer as its two's complement. Returns an error if `value` is
/// `None` or out of bounds.
pub(super) fn bounded<'de>(
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

/// Parses an integer of up to 128 bits. `-0` is 0 for unsigned integers, too.
pub(super) fn wide<'de, T: core::str::FromStr>(
    text: &'de str,
    expected: &'static str,
) -> Result<T, ErrorKind<'de>> {
    let digits = if text == "-0" { "0" } else { text };
    digits.parse().map_err(|_| ErrorKind::Wrong { found: text, expected })
}

/// Visits a number for a type that accepts fractions. An integer that fits in 64 bits stays an integer, except `-0`.
pub(super) fn visit_number<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, PathlessError> {
    match parse_integer(text) {
        Some(Integer::Positive(value)) => visitor.visit_u64(value),
        Some(Integer::Negative(value)) if value != 0 => visitor.visit_i64(value),
        _ => match text.parse::<f64>() {
            Ok(value) if value.is_finite() => visitor.visit_f64(value),
            _ => Err(PathlessError::wrong(text, NUMBER)),
        },
    }
}

pub(super) fn visit_single<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, PathlessError> {
    match text.parse::<f32>() {
        Ok(value) if value.is_finite() => visitor.visit_f32(value),
        _ => Err(PathlessError::wrong(text, NUMBER)),
    }
}

/// The description of `i128` in errors. The text does not name the type, because clients read these errors.
pub(super) const INTEGER: &str = "an integer";
/// The description of `u128`.
pub(super) const NATURAL: &str = "an integer of at least 0";
pub(super) const NUMBER: &str = "a number";

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
pub(super) use integers;

/// Defines the methods for integers of up to 64 bits, and for floats.
macro_rules! all_numbers {
    () => {
        integers!(
            deserialize_i8 visit_i8 i8 "an integer from -128 to 127";
            deserialize_i16 visit_i16 i16 "an integer from -32768 to 32767";
            deserialize_i32 visit_i32 i32 "an integer from -2147483648 to 2147483647";
            deserialize_i64 visit_i64 i64 "a 64-bit integer";
            deserialize_u8 visit_u8 u8 "an integer from 0 to 255";
            deserialize_u16 visit_u16 u16 "an integer from 0 to 65535";
            deserialize_u32 visit_u32 u32 "an integer from 0 to 4294967295";
            deserialize_u64 visit_u64 u64 "an integer from 0 to 18446744073709551615";
        );

        fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
            visit_single(self.number(NUMBER)?, visitor)
        }

        fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
            visit_number(self.number(NUMBER)?, visitor)
        }
    };
}
pub(super) use all_numbers;
