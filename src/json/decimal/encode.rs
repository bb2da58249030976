//! serde's `Serialize` for decimal numbers.

use super::super::de::DECIMAL;
use super::super::string::text_of;
use super::super::write_text::WriteText;
use super::Decimal;
use serde_core::ser::{Error, Serialize, Serializer};

/// Capacity for the text of a number, in bytes. The longest texts have 28 bytes, such as
/// `-0.0000001234567890123456789`.
const MAX_TEXT: usize = 32;

/// Writes a number.
///
/// A format that is not human-readable, such as the encoder of this crate, gets the text of the number. The text is
/// exact and needs no floating-point code. Other formats get an integer or the nearest float.
impl Serialize for Decimal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_newtype_struct(DECIMAL, &Number(*self))
    }
}

struct Number(Decimal);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (mut text, mut length) = ([0; MAX_TEXT], 0usize);
        self.0.pieces(&mut |piece| {
            text.iter_mut().skip(length).zip(piece.bytes()).for_each(|(place, byte)| *place = byte);
            length = length.saturating_add(piece.len());
        });
        let text = text_of(text.get(..length).unwrap_or_default());
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
