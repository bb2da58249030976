//! Decodes derived types (`ToolArguments`): tagged objects, and integers in any notation, such as `1.0` and `1e3`.
#![allow(clippy::as_conversions, reason = "the index of a variant has at most 64 bits")]

use super::access::{Members, Name};
use super::numbers::{INTEGER, Integer, NATURAL};
use super::{Decoder, PathlessError, Step};
use crate::json::skip::{split, value_length};
use crate::json::value::Json;
use serde_core::de::value::U64Deserializer;
use serde_core::de::{DeserializeSeed, Error as _, IntoDeserializer, MapAccess, Visitor};

/// The struct name that a derived struct passes to a `Deserializer`. For this name, the decoder accepts integers in
/// any notation.
pub const STRUCT: &str = "mcp_proto::ToolArguments";

/// The struct name that a derived enum with a tag passes to a `Deserializer`. The first field name is the tag. The
/// other field names are the variants. The decoder returns the tag first, wherever the tag is in the text.
pub const ONE_OF: &str = "mcp_proto::ToolArguments: one of";

impl<'de> Decoder<'de> {
    /// Decodes an object of a derived type. `names` holds the member names of a struct, or the tag and the variants of
    /// an enum.
    pub(super) fn derived_object<V: Visitor<'de>>(
        &mut self,
        kind: &str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, PathlessError> {
        match names {
            [tag, ..] if kind == ONE_OF => {
                let variant = self.find_variant(tag, names)?;
                let close = self.enter_object()?;
                let members = Members::derived(self, close);
                visitor.visit_map(Tagged { members, tag, next: Next::Name(variant) })
            }
            _ => {
                let close = self.enter_object()?;
                visitor.visit_map(Members::derived(self, close))
            }
        }
    }

    /// Returns the index of the variant that the tag of the next object names. Returns an error if the next value is
    /// not an object, or if the tag is missing or names no variant.
    fn find_variant(
        &mut self,
        tag: &'static str,
        names: &'static [&'static str],
    ) -> Result<usize, PathlessError> {
        if !matches!(self.peek(), Some(b'{') | None) {
            return Err(self.unexpected("an object").into());
        }
        let length = value_length(self.rest);
        let value = Json::trusted(self.rest.get(..length).unwrap_or_default()).get(tag);
        let name = value.and_then(|value| value.string());
        let mut variants = names.iter().skip(1);
        if let Some(found) = name.and_then(|name| variants.position(|variant| name == **variant)) {
            return Ok(found);
        }
        // Consuming the object is safe, because nothing reads the object after this error.
        let object: &'de [u8] = self.take(length);
        Err(match Json::trusted(object).get(tag) {
            Some(value) => {
                self.steps.push(Step::Member(tag));
                PathlessError::no_variant(value.raw(), names.get(1..).unwrap_or_default())
            }
            None => PathlessError::missing_field(tag),
        })
    }
}

/// Map access to the members of an object, with the tag first.
struct Tagged<'d, 'de> {
    members: Members<'d, 'de>,
    tag: &'static str,
    next: Next,
}

/// The next item of a [`Tagged`].
enum Next {
    /// The name of the tag. The variant follows.
    Name(usize),
    /// The variant. The members follow in text order.
    Variant(usize),
    /// A member. The text up to this member has no tag.
    Members,
    /// A member after the tag.
    Rest,
}

impl<'de> MapAccess<'de> for Tagged<'_, 'de> {
    type Error = PathlessError;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, PathlessError> {
        if let Next::Name(variant) = self.next {
            self.next = Next::Variant(variant);
            return seed.deserialize(Name(self.tag)).map(Some);
        }
        while let Some(name) = self.members.next_name()? {
            if name != self.tag {
                return seed.deserialize(Name(name)).map(Some);
            }
            if matches!(self.next, Next::Rest) {
                return Err(PathlessError::duplicate_field(self.tag));
            }
            self.next = Next::Rest;
            self.members.skip_value()?;
        }
        Ok(None)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, PathlessError> {
        let Next::Variant(variant) = self.next else {
            return self.members.next_value_seed(seed);
        };
        self.next = Next::Members;
        let index: U64Deserializer<PathlessError> = (variant as u64).into_deserializer();
        seed.deserialize(index)
    }
}

/// Returns the value of a whole number, in any notation. Returns `None` for a number that has a fraction or does
/// not fit in 64 bits.
pub(super) fn whole_integer(text: &str) -> Option<Integer> {
    let push = |value: u64, digit: u8| value.checked_mul(10)?.checked_add(u64::from(digit));
    match whole(text, 0, push)? {
        (true, magnitude) => 0i64.checked_sub_unsigned(magnitude).map(Integer::Negative),
        (false, magnitude) => Some(Integer::Positive(magnitude)),
    }
}

fn whole_wide(text: &str) -> Option<(bool, u128)> {
    whole(text, 0u128, |value, digit| value.checked_mul(10)?.checked_add(u128::from(digit)))
}

/// Visits a signed whole number of up to 128 bits.
pub(super) fn visit_wide_signed<'de, V: Visitor<'de>>(
    text: &str,
    visitor: V,
) -> Result<V::Value, PathlessError> {
    let value = whole_wide(text).and_then(|(negative, magnitude)| match negative {
        true => 0i128.checked_sub_unsigned(magnitude),
        false => magnitude.try_into().ok(),
    });
    match value {
        Some(value) => visitor.visit_i128(value),
        None => Err(PathlessError::wrong(text, INTEGER)),
    }
}

/// Visits an unsigned whole number of up to 128 bits.
pub(super) fn visit_wide<'de, V: Visitor<'de>>(text: &str, visitor: V) -> Result<V::Value, PathlessError> {
    match whole_wide(text) {
        Some((negative, value)) if !negative || value == 0 => visitor.visit_u128(value),
        _ => Err(PathlessError::wrong(text, NATURAL)),
    }
}

/// Returns whether a whole number is negative, and its magnitude. Accepts every notation: `1.0`, `1.5e1`. Returns
/// `None` for a number that has a fraction, or whose magnitude does not fit into `T`.
fn whole<T: Copy + PartialEq>(text: &str, zero: T, push: impl Fn(T, u8) -> Option<T>) -> Option<(bool, T)> {
    let (negative, number) = match text.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    let position = |of: fn(&u8) -> bool| number.iter().position(of).unwrap_or(number.len());
    let (mantissa, exponent) = split(number, position(|byte| matches!(byte, b'e' | b'E')));
    let (digits, _) = split(mantissa, position(|byte| *byte == b'.'));
    let mut before_point =
        parse_exponent(exponent).saturating_add(i32::try_from(digits.len()).unwrap_or(i32::MAX));
    let mut value = zero;
    for digit in mantissa.iter().filter(|byte| **byte != b'.').map(|byte| byte.wrapping_sub(b'0')) {
        if before_point > 0 && digit < 10 {
            value = push(value, digit)?;
        } else if digit != 0 {
            return None;
        }
        before_point = before_point.saturating_sub(1);
    }
    while before_point > 0 && value != zero {
        value = push(value, 0)?;
        before_point = before_point.saturating_sub(1);
    }
    Some((negative, value))
}

/// Returns the value of an exponent such as `e-12`. A large value saturates. Saturation does not change the decoded
/// number, because no text has enough digits to compensate for such an exponent.
fn parse_exponent(text: &[u8]) -> i32 {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    let value =
        digits.fold(0i32, |value, byte| value.saturating_mul(10).saturating_add(i32::from(byte & 0x0F)));
    if text.get(1) == Some(&b'-') { value.saturating_neg() } else { value }
}
