//! Serializes member names, and JSON stored as text.

use super::{Done, EncodeError};
use crate::json::writer::Writer;
use core::fmt;
use serde_core::ser::{self, Serialize, Serializer};

/// A serializer that accepts text. If `KEY` is `true`, the text is a member name, which may also be a number or a
/// boolean. Otherwise, the text is a JSON value. The serializer rejects containers and `null`. `KEY` is a constant
/// parameter, so that the code for JSON values, such as a [`Decimal`](crate::Decimal), links no floating-point code.
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
    /// Creates a serializer that writes JSON text as a value, like [`Writer::raw`].
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

macro_rules! floats {
    ($($method:ident $type:ty),*) => {$(
        fn $method(self, value: $type) -> Done {
            if value.is_finite() { self.collect_str(&format_args!("{value:?}")) } else { Err(EncodeError::Invalid) }
        }
    )*};
}

macro_rules! rejected {
    ($($method:ident($($argument:ty),*) -> $result:ty;)*) => {$(
        fn $method(self, $(_: $argument),*) -> $result {
            Err(EncodeError::Invalid)
        }
    )*};
}

/// The result of a method for a container.
type Rejected = Result<ser::Impossible<(), EncodeError>, EncodeError>;

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
    floats!(serialize_f32 f32, serialize_f64 f64);
    rejected! {
        serialize_bytes(&[u8]) -> Done;
        serialize_none() -> Done;
        serialize_unit() -> Done;
        serialize_unit_struct(&'static str) -> Done;
        serialize_seq(Option<usize>) -> Rejected;
        serialize_tuple(usize) -> Rejected;
        serialize_tuple_struct(&'static str, usize) -> Rejected;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Rejected;
        serialize_map(Option<usize>) -> Rejected;
        serialize_struct(&'static str, usize) -> Rejected;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Rejected;
    }

    /// Returns `false` for a JSON value, so that a [`Decimal`](crate::Decimal) passes its text.
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

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
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
}
