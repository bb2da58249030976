//! A serde `Serializer` over the writer.
//!
//! The crate has its own serializer because existing small serializers panic if a `Serialize` fails or a key is not a
//! string. This serializer also needs no second buffer, and works with a writer that only counts.

use super::de::DECIMAL;
use super::write_text::{WriteText, errors};
use super::writer::Writer;
use core::fmt;
use key::TextOnly;
use serde_core::ser::{self, Serialize, Serializer};

mod key;

/// An encoding error: a value could not be written as JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum EncodeError {
    /// The value does not fit. The writer has overflowed.
    TooLong,
    /// The value has no JSON form, or the `Serialize` of the value failed. Examples of values without JSON form are a
    /// map with an array as a key, and a value with too many levels. The writer discards the value.
    Invalid,
}

impl WriteText for EncodeError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(match self {
            EncodeError::TooLong => "the value does not fit",
            EncodeError::Invalid => "the value has no JSON form",
        });
    }
}

errors!(EncodeError);

impl ser::Error for EncodeError {
    fn custom<T: fmt::Display>(_: T) -> Self {
        EncodeError::Invalid
    }
}

impl Writer<'_> {
    /// Writes any value that implements serde's `Serialize`, in the format of `serde_json`. Numbers that are not finite
    /// become `null`. As member names, such numbers have no JSON form.
    ///
    /// # Errors
    ///
    /// Returns an error if the value does not fit or has no JSON form, or if the `Serialize` of the value fails.
    pub fn serialize<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), EncodeError> {
        let mut result = Ok(());
        let mark = self.mark();
        // The output is validated like all caller output, because a `Serialize` may call methods in a wrong order.
        let checked =
            self.value_checked(&mut |writer: &mut Writer<'_>| result = value.serialize(Encoder(writer)));
        match (result, checked) {
            _ if self.overflowed() => Err(EncodeError::TooLong),
            (Ok(()), Ok(())) => Ok(()),
            _ => {
                self.rollback(mark);
                Err(EncodeError::Invalid)
            }
        }
    }
}

struct Encoder<'w, 'a>(&'w mut Writer<'a>);

impl<'w, 'a> Encoder<'w, 'a> {
    /// Begins an array. `close` ends the array. For an enum variant, `close` also ends the object around the array.
    fn array(self, close: &'static str) -> Compound<'w, 'a> {
        self.0.begin_array();
        Compound { writer: self.0, close }
    }

    /// Begins an object. `close` ends the object. For an enum variant, `close` also ends the object around this object.
    fn object(self, close: &'static str) -> Compound<'w, 'a> {
        self.0.begin_object();
        Compound { writer: self.0, close }
    }

    /// Writes a number that `core` formats.
    fn number(self, text: fmt::Arguments<'_>) -> Result<(), EncodeError> {
        self.0.number_from(&text);
        Ok(())
    }
}

type Done = Result<(), EncodeError>;

macro_rules! integers {
    ($($method:ident $type:ident $write:ident),*) => {$(
        fn $method(self, value: $type) -> Done {
            self.0.$write(value.into());
            Ok(())
        }
    )*};
}

impl<'w, 'a> Serializer for Encoder<'w, 'a> {
    type Ok = ();
    type Error = EncodeError;
    type SerializeSeq = Compound<'w, 'a>;
    type SerializeTuple = Compound<'w, 'a>;
    type SerializeTupleStruct = Compound<'w, 'a>;
    type SerializeTupleVariant = Compound<'w, 'a>;
    type SerializeMap = Compound<'w, 'a>;
    type SerializeStruct = Compound<'w, 'a>;
    type SerializeStructVariant = Compound<'w, 'a>;

    fn serialize_bool(self, value: bool) -> Done {
        self.0.boolean(value);
        Ok(())
    }

    integers!(
        serialize_i8 i8 integer, serialize_i16 i16 integer, serialize_i32 i32 integer, serialize_i64 i64 integer,
        serialize_u8 u8 unsigned, serialize_u16 u16 unsigned, serialize_u32 u32 unsigned, serialize_u64 u64 unsigned
    );

    fn serialize_i128(self, value: i128) -> Done {
        self.number(format_args!("{value}"))
    }

    fn serialize_u128(self, value: u128) -> Done {
        self.number(format_args!("{value}"))
    }

    fn serialize_f32(self, value: f32) -> Done {
        if value.is_finite() { self.number(format_args!("{value:?}")) } else { self.serialize_unit() }
    }

    fn serialize_f64(self, value: f64) -> Done {
        if value.is_finite() { self.number(format_args!("{value:?}")) } else { self.serialize_unit() }
    }

    fn serialize_char(self, value: char) -> Done {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Done {
        self.0.string(value);
        Ok(())
    }

    fn serialize_bytes(self, value: &[u8]) -> Done {
        let compound = self.array("]");
        for &byte in value {
            compound.writer.unsigned(u64::from(byte));
        }
        compound.finish()
    }

    fn serialize_none(self) -> Done {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Done {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Done {
        self.0.null();
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Done {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Done {
        self.serialize_str(variant)
    }

    #[inline]
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, name: &'static str, value: &T) -> Done {
        if name == DECIMAL {
            return value.serialize(TextOnly::value(self.0));
        }
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Done {
        self.0.begin_object();
        self.0.key(variant);
        value.serialize(Encoder(self.0))?;
        self.0.end_object();
        Ok(())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Compound<'w, 'a>, EncodeError> {
        Ok(self.array("]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<Compound<'w, 'a>, EncodeError> {
        Ok(self.array("]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Compound<'w, 'a>, EncodeError> {
        Ok(self.array("]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'a>, EncodeError> {
        self.0.begin_object();
        self.0.key(variant);
        Ok(self.array("]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Compound<'w, 'a>, EncodeError> {
        Ok(self.object("}"))
    }

    fn serialize_struct(self, name: &'static str, _: usize) -> Result<Compound<'w, 'a>, EncodeError> {
        // `serde_json` uses these names for arbitrary-precision numbers and for raw JSON.
        if matches!(name, "$serde_json::private::Number" | "$serde_json::private::RawValue") {
            return Ok(Compound { writer: self.0, close: VERBATIM });
        }
        Ok(self.object("}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Compound<'w, 'a>, EncodeError> {
        self.0.begin_object();
        self.0.key(variant);
        Ok(self.object("}}"))
    }

    fn collect_str<T: fmt::Display + ?Sized>(self, value: &T) -> Done {
        self.0.display(&format_args!("{value}"));
        Ok(())
    }
}

/// An open container. If `close` is [`VERBATIM`], the value is JSON text, and no container is open.
struct Compound<'w, 'a> {
    writer: &'w mut Writer<'a>,
    close: &'static str,
}

/// The value of `close` for a struct whose only field holds JSON text.
const VERBATIM: &str = "";

impl Compound<'_, '_> {
    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        // Stops at an overflow, because the writer writes nothing more.
        if self.writer.overflowed() {
            return Err(EncodeError::TooLong);
        }
        value.serialize(Encoder(self.writer))
    }

    fn field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Done {
        if self.close == VERBATIM {
            return value.serialize(TextOnly::value(self.writer));
        }
        self.writer.key(key);
        self.value(value)
    }

    fn finish(self) -> Done {
        self.writer.close(self.close);
        Ok(())
    }
}

macro_rules! sequence {
    ($($trait:ident $method:ident),*) => {$(
        impl ser::$trait for Compound<'_, '_> {
            type Ok = ();
            type Error = EncodeError;

            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
                self.value(value)
            }

            fn end(self) -> Done {
                self.finish()
            }
        }
    )*};
}
sequence!(
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field
);

macro_rules! structure {
    ($($trait:ident),*) => {$(
        impl ser::$trait for Compound<'_, '_> {
            type Ok = ();
            type Error = EncodeError;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Done {
                self.field(key, value)
            }

            fn end(self) -> Done {
                self.finish()
            }
        }
    )*};
}
structure!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Compound<'_, '_> {
    type Ok = ();
    type Error = EncodeError;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Done {
        key.serialize(TextOnly::key(self.writer))
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Done {
        self.value(value)
    }

    fn end(self) -> Done {
        self.finish()
    }
}

#[cfg(test)]
mod tests;
