//! Serializes member names, and JSON stored as text.

use super::{Done, EncodeError};
use crate::json::writer::Writer;
use core::fmt;
use serde_core::ser::{self, Serialize, Serializer};

/// A serializer that accepts text. With `KEY`, the text is a member name, which may also be a number or a boolean. The
/// serializer rejects containers and `null`. `KEY` is a constant parameter, so that a [`Decimal`](crate::Decimal) links
/// no floating-point code.
pub(super) struct TextOnly<'w, 'a, const KEY: bool> {
    writer: &'w mut Writer<'a>,
}

impl<'w, 'a> TextOnly<'w, 'a, true> {
    /// Creates a serializer that writes a member name and its colon. Numbers and booleans become strings, as in
    /// `serde_json`.
    pub(super) fn key(writer: &'w mut Writer<'a>) -> TextOnly<'w, 'a, true> {
        TextOnly { writer }
    }
}

impl<'w, 'a> TextOnly<'w, 'a, false> {
    /// Creates a serializer that writes the text verbatim, as a JSON value.
    pub(super) fn value(writer: &'w mut Writer<'a>) -> TextOnly<'w, 'a, false> {
        TextOnly { writer }
    }
}

macro_rules! printed {
    ($($method:ident $type:ty),*) => {$(
        fn $method(self, value: $type) -> Done {
            self.collect_str(&value)
        }
    )*};
}

impl<const KEY: bool> Serializer for TextOnly<'_, '_, KEY> {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = ser::Impossible<(), EncodeError>;
    type SerializeTuple = ser::Impossible<(), EncodeError>;
    type SerializeTupleStruct = ser::Impossible<(), EncodeError>;
    type SerializeTupleVariant = ser::Impossible<(), EncodeError>;
    type SerializeMap = ser::Impossible<(), EncodeError>;
    type SerializeStruct = ser::Impossible<(), EncodeError>;
    type SerializeStructVariant = ser::Impossible<(), EncodeError>;

    printed!(
        serialize_i8 i8, serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128,
        serialize_u8 u8, serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128,
        serialize_bool bool, serialize_char char
    );

    /// Returns `false` for a JSON value, because a [`Decimal`](crate::Decimal) must pass its text.
    fn is_human_readable(&self) -> bool {
        KEY
    }

    fn serialize_str(self, value: &str) -> Done {
        if !KEY {
            return self.writer.raw(value).map_err(|_| EncodeError::Invalid);
        }
        self.writer.key(value);
        Ok(())
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Done {
        if !KEY {
            return Err(EncodeError::Invalid);
        }
        self.writer.key_display(&format_args!("{value}"));
        Ok(())
    }

    fn serialize_f32(self, value: f32) -> Done {
        if value.is_finite() {
            self.collect_str(&format_args!("{value:?}"))
        } else {
            Err(EncodeError::Invalid)
        }
    }

    fn serialize_f64(self, value: f64) -> Done {
        if value.is_finite() {
            self.collect_str(&format_args!("{value:?}"))
        } else {
            Err(EncodeError::Invalid)
        }
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_bytes(self, _: &[u8]) -> Done {
        Err(EncodeError::Invalid)
    }

    fn serialize_none(self) -> Done {
        Err(EncodeError::Invalid)
    }

    fn serialize_unit(self) -> Done {
        Err(EncodeError::Invalid)
    }

    fn serialize_unit_struct(self, _: &'static str) -> Done {
        Err(EncodeError::Invalid)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Done {
        Err(EncodeError::Invalid)
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, EncodeError> {
        Err(EncodeError::Invalid)
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, EncodeError> {
        Err(EncodeError::Invalid)
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, EncodeError> {
        Err(EncodeError::Invalid)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, EncodeError> {
        Err(EncodeError::Invalid)
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, EncodeError> {
        Err(EncodeError::Invalid)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, EncodeError> {
        Err(EncodeError::Invalid)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, EncodeError> {
        Err(EncodeError::Invalid)
    }
}
