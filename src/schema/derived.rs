//! Support for derived code: schemas at compile time, and decoders. These items are public because derived code uses
//! them.

use core::marker::PhantomData;

use crate::schema::Schema;
use serde_core::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};

pub use crate::json::de::derived::{ONE_OF, STRUCT};
pub use crate::json::decimal::Decimal;
pub use crate::protocol::input::{Choice, Field as FormField};
pub use crate::schema::definitions::Definition;
pub use crate::schema::form::{choice_count, choices, form_field};
pub use crate::schema::node::{Bound, decimal_literal};
pub use crate::schema::text::{
    as_text, input_schema, requirement, requirement_length, schema, schema_length,
};
pub use serde_core as serde;

/// The schema of a type, in an array of a given length.
struct Padded<T: ?Sized, const LENGTH: usize>(PhantomData<T>);

impl<T: Schema + ?Sized, const LENGTH: usize> Padded<T, LENGTH> {
    const BYTES: [u8; LENGTH] = schema(&T::NODE.undescribed());
}

/// Returns the schema of a type that may have type parameters. The length of an array cannot depend on type parameters,
/// so the array has one of several lengths.
///
/// # Panics
/// The schema is longer than 32 KiB, or its recursive types are not valid. For example, two recursive types of
/// different modules have the same name. The panic is a compile error.
#[must_use]
#[expect(clippy::panic, reason = "the panic occurs only at compile time")]
pub const fn padded_schema<T: Schema + ?Sized>() -> &'static str {
    let length = schema_length(&T::NODE.undescribed());
    let bytes: &'static [u8] = match length {
        0..=256 => &Padded::<T, 256>::BYTES,
        257..=512 => &Padded::<T, 512>::BYTES,
        513..=1024 => &Padded::<T, 1024>::BYTES,
        1025..=2048 => &Padded::<T, 2048>::BYTES,
        2049..=4096 => &Padded::<T, 4096>::BYTES,
        4097..=8192 => &Padded::<T, 8192>::BYTES,
        8193..=16_384 => &Padded::<T, 16_384>::BYTES,
        16_385..=32_768 => &Padded::<T, 32_768>::BYTES,
        _ => panic!("the schema is longer than 32 KiB"),
    };
    as_text(bytes.split_at(length).0)
}

/// Returns the schema of structured content.
///
/// # Panics
/// The values of the type are not objects. The panic is a compile error.
#[must_use]
pub const fn output_schema<T: Schema + ?Sized>() -> &'static str {
    assert!(T::NODE.is_object(), "structured content is an object: put the value into a struct");
    T::JSON_SCHEMA
}

/// A type that is built from the members of an object.
pub trait FromMembers<'de>: Sized {
    /// Reads all members and returns the value.
    fn from_members<A: MapAccess<'de>>(members: A) -> Result<Self, A::Error>;
}

/// A visitor of an object.
pub struct Object<T>(pub PhantomData<T>);

impl<'de, T: FromMembers<'de>> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, members: A) -> Result<T, A::Error> {
        T::from_members(members)
    }
}

/// A seed that decodes a name to its index in `names`. `U` handles unknown names.
#[derive(Clone, Copy)]
pub struct Name<U> {
    names: &'static [&'static str],
    unknown: PhantomData<U>,
}

impl<U: Unknown> Name<U> {
    /// Creates the seed.
    #[must_use]
    pub const fn new(names: &'static [&'static str]) -> Name<U> {
        Name { names, unknown: PhantomData }
    }
}

/// The treatment of an unknown name. Each treatment is a type, so that a program links only the treatments in use.
pub trait Unknown {
    /// Returns an error, or an index outside of `names`.
    fn index<E: Error>(name: &str, names: &'static [&'static str]) -> Result<usize, E>;
}

/// Refuses the name as an unknown member.
#[derive(Clone, Copy)]
pub struct Member;

/// Refuses the name as an unknown variant.
#[derive(Clone, Copy)]
pub struct Variant;

/// Returns `names.len()` for an unknown name. The decoder then skips the member.
#[derive(Clone, Copy)]
pub struct Ignored;

impl Unknown for Member {
    fn index<E: Error>(name: &str, names: &'static [&'static str]) -> Result<usize, E> {
        Err(E::unknown_field(name, names))
    }
}

impl Unknown for Variant {
    fn index<E: Error>(name: &str, names: &'static [&'static str]) -> Result<usize, E> {
        Err(E::unknown_variant(name, names))
    }
}

impl Unknown for Ignored {
    fn index<E: Error>(_: &str, names: &'static [&'static str]) -> Result<usize, E> {
        Ok(names.len())
    }
}

impl<'de, U: Unknown> DeserializeSeed<'de> for Name<U> {
    type Value = usize;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<usize, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl<U: Unknown> Visitor<'_> for Name<U> {
    type Value = usize;

    fn expecting(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        formatter.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<usize, E> {
        match self.names.iter().position(|name| *name == text) {
            Some(index) => Ok(index),
            None => U::index(text, self.names),
        }
    }

    /// Returns `index`, which the decoder has already looked up.
    fn visit_u64<E: Error>(self, index: u64) -> Result<usize, E> {
        Ok(usize::try_from(index).unwrap_or(usize::MAX))
    }
}

/// Skips the value of an unknown member.
pub fn skip<'de, A: MapAccess<'de>>(members: &mut A) -> Result<(), A::Error> {
    members.next_value::<serde_core::de::IgnoredAny>().map(drop)
}

/// Returns the value of a field. For a missing field (`None`), returns `T::absent()`, which is `None` if the field is
/// required.
pub fn or_absent<T: Schema>(value: Option<T>) -> Option<T> {
    value.or_else(T::absent)
}

/// Returns the value of a missing field whose type need not implement [`Schema`]: `None` for an `Option`, otherwise an
/// error. The derive macro of serde does the same.
pub fn missing<'de, T: serde_core::Deserialize<'de>, E: Error>(name: &'static str) -> Result<T, E> {
    T::deserialize(MissingField(name, PhantomData))
}

/// A deserializer of a missing field with this name.
struct MissingField<E>(&'static str, PhantomData<E>);

impl<'de, E: Error> Deserializer<'de> for MissingField<E> {
    type Error = E;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, E> {
        Err(E::missing_field(self.0))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, E> {
        visitor.visit_none()
    }

    serde_core::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct
        newtype_struct seq tuple tuple_struct map struct enum identifier ignored_any
    }
}

/// Reads the tag and returns the index of the variant. Returns an error if the first member is not the tag, or if
/// `names` does not contain the value of the tag.
pub fn variant<'de, A: MapAccess<'de>>(
    members: &mut A,
    tag: &'static [&'static str],
    names: &'static [&'static str],
) -> Result<usize, A::Error> {
    let missing = || A::Error::missing_field(tag.first().copied().unwrap_or_default());
    members.next_key_seed(Name::<Member>::new(tag))?.ok_or_else(missing)?;
    members.next_value_seed(Name::<Variant>::new(names))
}

/// Returns the error for an index without a variant.
pub fn no_variant<E: Error>() -> E {
    error("no such variant")
}

/// Returns an error with this text.
pub fn error<E: Error>(text: &'static str) -> E {
    // The `Display` of `str` would link the code that pads texts.
    struct Unpadded(&'static str);

    impl core::fmt::Display for Unpadded {
        fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
            formatter.write_str(self.0)
        }
    }

    E::custom(Unpadded(text))
}

/// A number, or an `Option` of a number. `None` is within any bounds.
#[diagnostic::on_unimplemented(
    message = "`range`, `minimum` and `maximum` are for numbers",
    label = "not for `{Self}`"
)]
pub trait Number {
    /// The type of the literals in attributes.
    type Bound: PartialOrd;

    /// Returns the default of a field from the literal of its attribute. `decimal` has the same value as `literal`.
    fn from_literal(literal: Self::Bound, decimal: Decimal) -> Self;

    /// Returns whether the number lies within the inclusive bounds. `decimals` has the same bounds if the literals are
    /// floats.
    fn lies_within(
        &self,
        minimum: Option<Self::Bound>,
        maximum: Option<Self::Bound>,
        decimals: [Option<Decimal>; 2],
    ) -> bool;
}

macro_rules! numbers {
    ($($number:ident)*) => {$(
        impl Number for $number {
            type Bound = $number;

            fn from_literal(literal: $number, _: Decimal) -> $number {
                literal
            }

            #[inline]
            fn lies_within(&self, minimum: Option<$number>, maximum: Option<$number>, _: [Option<Decimal>; 2]) -> bool {
                is_within(self, minimum, maximum)
            }
        }
    )*};
}

numbers!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize f32 f64);

/// The literals are floats. At run time, the program uses only the decimals with the same values.
impl Number for Decimal {
    type Bound = f64;

    fn from_literal(_: f64, decimal: Decimal) -> Decimal {
        decimal
    }

    #[inline]
    fn lies_within(&self, _: Option<f64>, _: Option<f64>, [minimum, maximum]: [Option<Decimal>; 2]) -> bool {
        is_within(self, minimum, maximum)
    }
}

impl<N: Number> Number for Option<N> {
    type Bound = N::Bound;

    fn from_literal(literal: N::Bound, decimal: Decimal) -> Option<N> {
        Some(N::from_literal(literal, decimal))
    }

    #[inline]
    fn lies_within(
        &self,
        minimum: Option<N::Bound>,
        maximum: Option<N::Bound>,
        decimals: [Option<Decimal>; 2],
    ) -> bool {
        self.as_ref().is_none_or(|number| number.lies_within(minimum, maximum, decimals))
    }
}

#[inline]
fn is_within<N: PartialOrd>(number: &N, minimum: Option<N>, maximum: Option<N>) -> bool {
    minimum.is_none_or(|minimum| *number >= minimum) && maximum.is_none_or(|maximum| *number <= maximum)
}

/// A string, or an `Option` of a string. `None` is within any bounds.
#[diagnostic::on_unimplemented(
    message = "`min_length` and `max_length` are for strings",
    label = "not for `{Self}`"
)]
pub trait Characters {
    /// Returns whether the number of characters lies within the inclusive bounds.
    fn has_length(&self, shortest: usize, longest: Option<usize>) -> bool;
}

impl Characters for str {
    fn has_length(&self, shortest: usize, longest: Option<usize>) -> bool {
        let length = self.chars().count();
        length >= shortest && longest.is_none_or(|longest| length <= longest)
    }
}

impl<T: Characters + ?Sized> Characters for &T {
    fn has_length(&self, shortest: usize, longest: Option<usize>) -> bool {
        (**self).has_length(shortest, longest)
    }
}

impl<T: Characters> Characters for Option<T> {
    fn has_length(&self, shortest: usize, longest: Option<usize>) -> bool {
        self.as_ref().is_none_or(|text| text.has_length(shortest, longest))
    }
}

/// A list or a map of variable length, or an `Option` of one. `None` is within any bounds.
#[diagnostic::on_unimplemented(
    message = "`min_items` and `max_items` are for lists and maps that have no fixed length",
    label = "not for `{Self}`"
)]
pub trait List {
    /// Returns whether the number of elements lies within the inclusive bounds.
    fn has_elements(&self, fewest: usize, most: Option<usize>) -> bool;
}

impl<T: List> List for Option<T> {
    fn has_elements(&self, fewest: usize, most: Option<usize>) -> bool {
        self.as_ref().is_none_or(|list| list.has_elements(fewest, most))
    }
}

/// Implements [`List`] for types with a method `len`.
#[cfg(any(feature = "heapless", feature = "alloc"))]
macro_rules! lists {
    ($([$($parameters:tt)*] $list:ty;)*) => {$(
        impl<$($parameters)*> List for $list {
            fn has_elements(&self, fewest: usize, most: Option<usize>) -> bool {
                is_within(&self.len(), Some(fewest), most)
            }
        }
    )*};
}

#[cfg(feature = "heapless")]
mod heapless_types {
    use super::{Characters, List, is_within};
    use heapless::index_map::IndexMap;
    use heapless::linear_map::LinearMap;
    use heapless::{String, Vec};

    lists! {
        [T, const N: usize] Vec<T, N>;
        [K: Eq, V, const N: usize] LinearMap<K, V, N>;
        [K, V, S, const N: usize] IndexMap<K, V, S, N>;
    }

    impl<const N: usize> Characters for String<N> {
        fn has_length(&self, shortest: usize, longest: Option<usize>) -> bool {
            self.as_str().has_length(shortest, longest)
        }
    }
}

#[cfg(feature = "alloc")]
mod alloc_types {
    use super::{Characters, List, is_within};
    use alloc::borrow::{Cow, ToOwned};
    use alloc::boxed::Box;
    use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
    use alloc::string::String;
    use alloc::vec::Vec;

    lists! {
        [T] Vec<T>;
        [T] Box<[T]>;
        [T] VecDeque<T>;
        [T] BTreeSet<T>;
        [K, V] BTreeMap<K, V>;
    }

    #[cfg(feature = "std")]
    lists! {
        [T, S] std::collections::HashSet<T, S>;
        [K, V, S] std::collections::HashMap<K, V, S>;
    }

    impl Characters for String {
        fn has_length(&self, shortest: usize, longest: Option<usize>) -> bool {
            self.as_str().has_length(shortest, longest)
        }
    }

    impl<T: Characters + ?Sized> Characters for Box<T> {
        fn has_length(&self, shortest: usize, longest: Option<usize>) -> bool {
            (**self).has_length(shortest, longest)
        }
    }

    impl<T: Characters + ToOwned + ?Sized> Characters for Cow<'_, T> {
        fn has_length(&self, shortest: usize, longest: Option<usize>) -> bool {
            (**self).has_length(shortest, longest)
        }
    }
}
