//! serde's `Serialize` for decimal numbers.

use super::super::de::DECIMAL;
use super::{Decimal, text_in};
use serde_core::ser::{Error, Serialize, Serializer};

/// Capacity for the text of a number, in bytes. The longest texts have 28 bytes, such as
/// `-0.0000001234567890123456789`.
const MAX_TEXT: usize = 32;

/// Writes a number.
///
/// A serializer whose `is_human_readable` returns `false` gets the text of the number. An example is the encoder of
/// this crate, except for member names. The text is exact and needs no floating-point code. Other serializers get an
/// integer or the nearest float.
impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(DECIMAL, &Number(*self))
    }
}

struct Number(Decimal);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut buffer = [0; MAX_TEXT];
        let text = text_in(&self.0, &mut buffer);
        if !serializer.is_human_readable() {
            return serializer.serialize_str(text);
        }
        if let Ok(integer) = text.parse() {
            return serializer.serialize_i64(integer);
        }
        match text.parse::<f64>() {
            Ok(float) if float.is_finite() => serializer.serialize_f64(float),
            _ => Err(S::Error::custom("the number exceeds the bounds of a float")),
        }
    }
}
