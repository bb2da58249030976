//! serde access to containers: elements, members, member names and enum variants.

use super::error_kind::ErrorKind;
use super::numbers::{
    INTEGER, NATURAL, NUMBER, all_numbers, bounded, integers, parse_integer, visit_number, visit_single, wide,
};
use super::{Decoder, PathlessError, Step};
use crate::json::value::Json;
use crate::platform::cold_path;
use serde_core::de::value::BorrowedStrDeserializer;
use serde_core::de::{
    DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_core::forward_to_deserialize_any;

/// Access to the elements of an array, after its opening bracket.
pub(super) struct Elements<'d, 'de> {
    decoder: &'d mut Decoder<'de>,
    index: usize,
    /// Whether the element at `index - 1` was begun, and the next element was not requested. If so, dropping the
    /// `Elements` adds the element to the error path.
    inside: bool,
}

impl Drop for Elements<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if self.inside {
            self.decoder.steps.push(Step::Element(self.index.wrapping_sub(1)));
        }
    }
}

impl<'d, 'de> Elements<'d, 'de> {
    pub(super) fn new(decoder: &'d mut Decoder<'de>) -> Self {
        Elements { decoder, index: 0, inside: false }
    }
}

impl<'de> SeqAccess<'de> for Elements<'_, 'de> {
    type Error = PathlessError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, PathlessError> {
        self.inside = false;
        if matches!(self.decoder.peek(), Some(b']') | None) {
            return Ok(None);
        }
        if self.index > 0 {
            self.decoder.expect(b',').ok_or(ErrorKind::BROKEN)?;
        }
        self.index = self.index.wrapping_add(1);
        self.inside = true;
        seed.deserialize(&mut *self.decoder).map(Some)
    }
}

/// Access to the members of an object, after its opening bracket. After the last member, consumes the closing bracket.
pub(super) struct Members<'d, 'de> {
    decoder: &'d mut Decoder<'de>,
    name: &'de str,
    next: Next,
    /// Whether the value of `name` was begun, and the next name was not requested. If so, dropping the `Members` adds
    /// the member to the error path.
    inside: bool,
    /// The closing bracket. `None` if the text is empty, because empty text decodes like an object without members.
    close: Option<u8>,
    /// The value of [`Decoder::derived`] before this object. The end of the object restores the value.
    #[cfg(feature = "derive")]
    derived: bool,
}

/// The position in an object.
#[derive(Clone, Copy)]
enum Next {
    /// Expects the first member or the end.
    First,
    /// Expects a comma or the end.
    Other,
    /// The end was consumed.
    Left,
}

impl<'d, 'de> Members<'d, 'de> {
    pub(super) fn new(decoder: &'d mut Decoder<'de>, close: Option<u8>) -> Self {
        Members {
            #[cfg(feature = "derive")]
            derived: decoder.derived,
            decoder,
            name: "",
            next: Next::First,
            inside: false,
            close,
        }
    }

    /// Creates access to the members of an object of a derived type.
    #[cfg(feature = "derive")]
    pub(super) fn derived(decoder: &'d mut Decoder<'de>, close: Option<u8>) -> Self {
        let members = Members::new(decoder, close);
        members.decoder.derived = true;
        members
    }
}

impl Drop for Members<'_, '_> {
    #[inline]
    fn drop(&mut self) {
        if self.inside {
            self.decoder.steps.push(Step::Member(self.name));
        }
    }
}

impl<'de> Members<'_, 'de> {
    /// Consumes the name of the next member and its colon. Returns `None` at the end of the object.
    #[inline]
    pub(super) fn next_name(&mut self) -> Result<Option<&'de str>, ErrorKind<'de>> {
        match self.advance() {
            Some(true) => Ok(Some(self.name)),
            Some(false) => Ok(None),
            None => Err(ErrorKind::BROKEN),
        }
    }

    /// Consumes a name like [`next_name`](Members::next_name), and stores it in `name`. Returns `false` at the end of
    /// the object, and `None` if the text is broken.
    fn advance(&mut self) -> Option<bool> {
        self.inside = false;
        if matches!(self.next, Next::Left) {
            cold_path();
            return Some(false);
        }
        if matches!(self.decoder.peek(), Some(b'}') | None) {
            self.next = Next::Left;
            #[cfg(feature = "derive")]
            {
                self.decoder.derived = self.derived;
            }
            return self.decoder.leave(self.close).map(|()| false).ok();
        }
        if !matches!(self.next, Next::First) {
            self.decoder.expect(b',')?;
        }
        self.next = Next::Other;
        self.name = self.decoder.string()?;
        self.decoder.expect(b':')?;
        Some(true)
    }

    /// Skips the value of the current member.
    #[cfg(feature = "derive")]
    pub(super) fn skip_value(&mut self) -> Result<(), ErrorKind<'de>> {
        self.decoder.skip()
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = PathlessError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, PathlessError> {
        match self.next_name()? {
            Some(name) => seed.deserialize(Name(name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, PathlessError> {
        self.inside = true;
        seed.deserialize(&mut *self.decoder)
    }
}

/// Access to an enum whose JSON is an object with one member. The decoder is at the value of the member.
pub(super) struct Variant<'d, 'de> {
    decoder: &'d mut Decoder<'de>,
    name: &'de str,
}

impl<'d, 'de> Variant<'d, 'de> {
    pub(super) fn new(decoder: &'d mut Decoder<'de>, name: &'de str) -> Self {
        Variant { decoder, name }
    }
}

impl<'de> EnumAccess<'de> for Variant<'_, 'de> {
    type Error = PathlessError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), PathlessError> {
        Ok((seed.deserialize(BorrowedStrDeserializer::<PathlessError>::new(self.name))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = PathlessError;

    fn unit_variant(self) -> Result<(), PathlessError> {
        serde_core::Deserialize::deserialize(self.decoder)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, PathlessError> {
        seed.deserialize(self.decoder)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, PathlessError> {
        self.decoder.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PathlessError> {
        self.decoder.deserialize_struct("", fields, visitor)
    }
}

/// Deserializer of a decoded member name. The name becomes a string, or a number, boolean or enum with this text.
pub(super) struct Name<'de>(pub(super) &'de str);

impl<'de> Name<'de> {
    /// Returns the name if it is a JSON number.
    fn number(&self, expected: &'static str) -> Result<&'de str, ErrorKind<'de>> {
        match Json::parse(self.0.as_bytes()) {
            Ok(json) if json.number() == Some(self.0) => Ok(self.0),
            _ => Err(self.wrong(expected)),
        }
    }

    fn wrong(&self, expected: &'static str) -> ErrorKind<'de> {
        ErrorKind::Wrong { found: self.0, expected }
    }

    fn integer(&self, bounds: (i64, u64), expected: &'static str) -> Result<u64, ErrorKind<'de>> {
        let text = self.number(expected)?;
        bounded(parse_integer(text), text, bounds, expected)
    }
}

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = PathlessError;

    all_numbers!();

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        let value = wide(self.number(INTEGER)?, INTEGER)?;
        visitor.visit_i128(value)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        let value = wide(self.number(NATURAL)?, NATURAL)?;
        visitor.visit_u128(value)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(self.wrong("a boolean").into()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, PathlessError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PathlessError> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        visitor.visit_borrowed_bytes(self.0.as_bytes())
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, PathlessError> {
        self.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
