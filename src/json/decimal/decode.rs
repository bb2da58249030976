//! serde's `Deserialize` for decimal numbers.

use super::super::de::DECIMAL;
use super::{Decimal, text_in};
use core::fmt;
use serde_core::de::{Deserialize, Deserializer, Error, Unexpected, Visitor};

/// Accepts any number. Like [`Decimal::parse`], cuts off digits that do not fit.
///
/// The decoders of this crate pass the text of the number, so no float rounds the number. Exception: a member name must
/// be an integer of at most 64 bits. Other decoders pass an integer or a float. A float becomes the shortest decimal
/// that is read back as the same float.
impl<'de> Deserialize<'de> for Decimal {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Decimal, D::Error> {
        deserializer.deserialize_newtype_struct(DECIMAL, Number)
    }
}

struct Number;

impl<'de> Visitor<'de> for Number {
    type Value = Decimal;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a number")
    }

    /// Requests a number from a decoder of another crate, or from a member name. A self-describing format of another
    /// crate then passes any number, including a float.
    fn visit_newtype_struct<D: Deserializer<'de>>(self, deserializer: D) -> Result<Decimal, D::Error> {
        deserializer.deserialize_i64(self)
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Decimal, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Decimal, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Decimal, E> {
        // The longest texts have 24 bytes, such as "-2.2250738585072014e-308".
        let mut buffer = [0; 24];
        let decimal = Decimal::parse(text_in(&format_args!("{value:e}"), &mut buffer));
        decimal.ok_or_else(|| E::invalid_value(Unexpected::Float(value), &self))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Decimal, E> {
        Decimal::parse(text).ok_or_else(|| E::custom("expected a number"))
    }
}
