//! The inside of containers: elements, members and their names, enum variants.

use super::flaw::Flaw;
use super::strings::is_same;
use super::{Decoder, Step, TypedError, bounded, integer_of, integers, visit_number, visit_single, wide};
use crate::json::FAST;
use crate::json::search::has;
use crate::json::view::Json;
use serde_core::de::value::BorrowedStrDeserializer;
use serde_core::de::{
    DeserializeSeed, Deserializer, EnumAccess, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_core::forward_to_deserialize_any;

/// The elements of an array, after its bracket.
pub(super) struct Elements<'d, 'de> {
    decoder: &'d mut Decoder<'de>,
    index: usize,
    /// The element before this index is being read, or was the last.
    inside: bool,
}

impl Drop for Elements<'_, '_> {
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
    type Error = TypedError;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, TypedError> {
        self.inside = false;
        if matches!(self.decoder.peek(), Some(b']') | None) {
            return Ok(None);
        }
        if self.index > 0 {
            self.decoder.expect(b',')?;
        }
        self.index = self.index.wrapping_add(1);
        self.inside = true;
        seed.deserialize(&mut *self.decoder).map(Some)
    }
}

impl Decoder<'_> {
    /// Enters an object, if it comes next and nothing is between: nothing can go wrong then.
    #[inline(always)]
    pub(super) fn enter_plainly(&mut self) -> bool {
        let levels = self.levels.checked_sub(1);
        if let Some(levels) = levels.filter(|_| self.rest.first() == Some(&b'{')) {
            self.levels = levels;
            self.pass();
            return true;
        }
        false
    }
}

/// The members of an object, after its bracket.
pub(super) struct Members<'d, 'de> {
    decoder: &'d mut Decoder<'de>,
    /// The names that the next ones are likely to have, in this order: those of the type.
    likely: &'static [&'static str],
    name: &'de str,
    next: Next,
    /// The value of that name is being read, or was the last.
    inside: bool,
    /// How to leave the object at its end, if this is not left to whoever entered it.
    #[cfg(feature = "derive")]
    leave: Option<Leave>,
}

/// What comes next in an object.
#[derive(Clone, Copy)]
enum Next {
    /// Its first member, or its end.
    First,
    /// Another member, or its end.
    Other,
    /// It was left: what comes next is not its own.
    Left,
}

/// How to leave an object.
#[cfg(feature = "derive")]
pub(super) struct Leave {
    /// What it ends with.
    pub(super) close: Option<u8>,
    /// Whether what it stands in is of a derived type.
    pub(super) derived: bool,
}

impl<'d, 'de> Members<'d, 'de> {
    pub(super) fn new(decoder: &'d mut Decoder<'de>, likely: &'static [&'static str]) -> Self {
        Members {
            decoder,
            likely,
            name: "",
            next: Next::First,
            inside: false,
            #[cfg(feature = "derive")]
            leave: None,
        }
    }

    /// Members that leave the object by themselves when there are no more, for a visitor that reads them all.
    #[cfg(feature = "derive")]
    pub(super) fn leaving(
        decoder: &'d mut Decoder<'de>,
        likely: &'static [&'static str],
        leave: Leave,
    ) -> Self {
        let mut members = Members::new(decoder, likely);
        members.leave = Some(leave);
        members
    }
}

impl Drop for Members<'_, '_> {
    #[cfg_attr(not(target_os = "none"), inline)]
    fn drop(&mut self) {
        if self.inside {
            self.decoder.steps.push(Step::Member(self.name));
        }
    }
}

impl<'de> Members<'_, 'de> {
    /// The name of the next member, with its colon.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(super) fn next_name(&mut self) -> Result<Option<&'de str>, Flaw<'de>> {
        if FAST {
            match self.plain_name() {
                None if matches!(self.next, Next::Left) => return Ok(None),
                None => {}
                name => return Ok(name),
            }
        }
        self.any_name()
    }

    /// The name that is likely, or the end of the object, if that comes next and nothing is between. It is the usual case, so
    /// that it is one look, in which nothing is called and nothing can go wrong.
    #[inline(never)]
    fn plain_name(&mut self) -> Option<&'de str> {
        self.inside = false;
        let (byte, rest) = self.decoder.rest.split_first()?;
        let rest = match (*byte, rest, self.next) {
            (b'"', rest, Next::First) => rest,
            (b',', [b'"', rest @ ..] | [b' ', b'"', rest @ ..], Next::Other) => rest,
            (b'}', _, Next::First | Next::Other) => {
                self.leave();
                return None;
            }
            _ => return None,
        };
        let (likely, others) = self.likely.split_first()?;
        let (name, [b'"', b':', rest @ ..]) = rest.split_at_checked(likely.len())? else { return None };
        // What is escaped says something else than it is written.
        if !is_same(name, likely.as_bytes()) || has(b'\\', name) {
            return None;
        }
        let taken = self.decoder.rest.len().wrapping_sub(rest.len());
        self.decoder.take(taken);
        (self.name, self.likely, self.next) = (likely, others, Next::Other);
        Some(likely)
    }

    /// Leaves the object, whose bracket comes next.
    #[inline(always)]
    fn leave(&mut self) {
        self.next = Next::Left;
        self.decoder.levels = self.decoder.levels.wrapping_add(1);
        self.decoder.steps.clear();
        self.decoder.pass();
        #[cfg(feature = "derive")]
        if let Some(leave) = &self.leave {
            self.decoder.derived = leave.derived;
        }
    }

    #[cfg_attr(not(target_os = "none"), inline(never))]
    fn any_name(&mut self) -> Result<Option<&'de str>, Flaw<'de>> {
        self.inside = false;
        if FAST && self.decoder.peek() == Some(b'}') {
            self.leave();
            return Ok(None);
        }
        if matches!(self.decoder.peek(), Some(b'}') | None) {
            #[cfg(feature = "derive")]
            if let Some(Leave { close, derived }) = self.leave.take() {
                self.decoder.derived = derived;
                self.decoder.leave(close)?;
            }
            return Ok(None);
        }
        if !matches!(self.next, Next::First) {
            self.decoder.expect(b',')?;
        }
        self.next = Next::Other;
        let likely = self.likely.split_first();
        if let Some((_, rest)) = likely {
            self.likely = rest;
        }
        self.name = self.decoder.name(likely.map(|(name, _)| *name))?;
        self.decoder.expect(b':')?;
        Ok(Some(self.name))
    }

    /// Passes over the value of the member.
    #[cfg(feature = "derive")]
    pub(super) fn skip_value(&mut self) -> Result<(), Flaw<'de>> {
        self.decoder.skip()
    }
}

impl<'de> MapAccess<'de> for Members<'_, 'de> {
    type Error = TypedError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, TypedError> {
        match self.next_name()? {
            Some(name) => seed.deserialize(Name(name)).map(Some),
            None => Ok(None),
        }
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, TypedError> {
        self.inside = true;
        seed.deserialize(&mut *self.decoder)
    }
}

/// The value of an enum written as an object with one member, after the colon.
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
    type Error = TypedError;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), TypedError> {
        Ok((seed.deserialize(BorrowedStrDeserializer::<TypedError>::new(self.name))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = TypedError;

    fn unit_variant(self) -> Result<(), TypedError> {
        serde_core::Deserialize::deserialize(self.decoder)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, TypedError> {
        seed.deserialize(self.decoder)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, TypedError> {
        self.decoder.deserialize_seq(visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypedError> {
        self.decoder.deserialize_struct("", fields, visitor)
    }
}

/// The name of a member, decoded: a string, or whatever type of key can be read from one.
pub(super) struct Name<'de>(pub(super) &'de str);

impl<'de> Name<'de> {
    /// The name, if it is a number as JSON writes it.
    fn number(&self) -> Option<&'de str> {
        let json = Json::parse(self.0.as_bytes()).ok()?;
        (json.number() == Some(self.0)).then_some(self.0)
    }

    fn wrong(&self, expected: &'static str) -> Flaw<'de> {
        Flaw::Wrong { found: self.0, expected }
    }

    fn integer(&self, bounds: (i64, u64), expected: &'static str) -> Result<u64, Flaw<'de>> {
        let text = self.number().ok_or_else(|| self.wrong(expected))?;
        bounded(integer_of(text), text, bounds, expected)
    }
}

impl<'de> Deserializer<'de> for Name<'de> {
    type Error = TypedError;

    integers!(
        deserialize_i8 visit_i8 i8 deserialize_i16 visit_i16 i16 deserialize_i32 visit_i32 i32
        deserialize_i64 visit_i64 i64 deserialize_u8 visit_u8 u8 deserialize_u16 visit_u16 u16
        deserialize_u32 visit_u32 u32 deserialize_u64 visit_u64 u64
    );

    fn deserialize_f32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypedError> {
        visit_single(self.number().ok_or_else(|| self.wrong("f32"))?, visitor)
    }

    fn deserialize_f64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypedError> {
        visit_number(self.number().ok_or_else(|| self.wrong("f64"))?, visitor)
    }

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypedError> {
        visitor.visit_borrowed_str(self.0)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypedError> {
        let value = wide(self.number().ok_or_else(|| self.wrong("i128"))?, "i128")?;
        visitor.visit_i128(value)
    }

    fn deserialize_u128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypedError> {
        let value = wide(self.number().ok_or_else(|| self.wrong("u128"))?, "u128")?;
        visitor.visit_u128(value)
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypedError> {
        match self.0 {
            "true" => visitor.visit_bool(true),
            "false" => visitor.visit_bool(false),
            _ => Err(self.wrong("a boolean").into()),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypedError> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, TypedError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, TypedError> {
        visitor.visit_enum(BorrowedStrDeserializer::new(self.0))
    }

    fn deserialize_bytes<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypedError> {
        visitor.visit_borrowed_bytes(self.0.as_bytes())
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, TypedError> {
        self.deserialize_bytes(visitor)
    }

    forward_to_deserialize_any! {
        char str string unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}
