//! Types of every form that serde can derive, and strategies for their values.

use std::borrow::Cow;
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Numbers {
    a: u8,
    b: i8,
    c: u16,
    d: i16,
    e: u32,
    f: i32,
    g: u64,
    h: i64,
    i: u128,
    j: i128,
    k: f32,
    l: f64,
    m: usize,
    n: [i16; 3],
}

pub(crate) fn numbers() -> impl Strategy<Value = Numbers> {
    let small = any::<(u8, i8, u16, i16, u32, i32)>();
    let large = any::<(u64, i64, u128, i128, f32, f64, usize, [i16; 3])>();
    let ends = any::<bool>();
    (small, large, ends).prop_map(|((a, b, c, d, e, f), (g, h, i, j, k, l, m, n), ends)| match ends {
        true => Numbers { a, b, c, d, e, f, g, h, i, j, k, l, m, n },
        false => Numbers {
            a: u8::MAX,
            b: i8::MIN,
            c: u16::MAX,
            d: i16::MIN,
            e: u32::MAX,
            f: i32::MIN,
            g: u64::MAX,
            h: i64::MIN,
            i: u128::MAX,
            j: i128::MIN,
            k: f32::MIN_POSITIVE,
            l: f64::MAX,
            m,
            n,
        },
    })
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unit;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Newtype(Option<String>);

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pair(char, Vec<Newtype>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Color {
    DarkRed,
    #[serde(rename = "\"green\"\n", alias = "grün")]
    Green,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Shapes {
    unit: Unit,
    nothing: (),
    newtype: Newtype,
    pair: Pair,
    tuple: (bool, (u8, String), [Color; 2]),
    boxed: Box<Option<Pair>>,
    list: Vec<Option<bool>>,
    by_name: BTreeMap<String, Vec<u8>>,
    by_number: BTreeMap<i64, char>,
    by_wide: BTreeMap<u128, ()>,
    by_color: BTreeMap<Color, i8>,
    by_letter: BTreeMap<char, i8>,
    by_bool: BTreeMap<bool, Unit>,
}

fn pair() -> impl Strategy<Value = Pair> {
    (any::<char>(), prop::collection::vec(any::<Option<String>>().prop_map(Newtype), 0..3))
        .prop_map(|(a, b)| Pair(a, b))
}

fn color() -> impl Strategy<Value = Color> {
    prop::sample::select(vec![Color::DarkRed, Color::Green])
}

pub(crate) fn shapes() -> impl Strategy<Value = Shapes> {
    let map =
        |size| prop::collection::btree_map(any::<String>(), prop::collection::vec(any::<u8>(), 0..3), size);
    let first = (any::<Option<String>>(), pair(), any::<(bool, (u8, String))>(), [color(), color()]);
    let second = (prop::option::of(pair()), prop::collection::vec(any::<Option<bool>>(), 0..4), map(0..3));
    let third = (
        prop::collection::btree_map(any::<i64>(), any::<char>(), 0..3),
        prop::collection::btree_map(any::<u128>(), Just(()), 0..3),
        prop::collection::btree_map(color(), any::<i8>(), 0..3),
        prop::collection::btree_map(any::<char>(), any::<i8>(), 0..3),
        prop::collection::btree_map(any::<bool>(), Just(Unit), 0..3),
    );
    (first, second, third).prop_map(|(first, second, third)| Shapes {
        unit: Unit,
        nothing: (),
        newtype: Newtype(first.0),
        pair: first.1,
        tuple: (first.2.0, first.2.1, first.3),
        boxed: Box::new(second.0),
        list: second.1,
        by_name: second.2,
        by_number: third.0,
        by_wide: third.1,
        by_color: third.2,
        by_letter: third.3,
        by_bool: third.4,
    })
}

macro_rules! representations {
    ($($(#[$attribute:meta])* $name:ident $strategy:ident;)*) => {$(
        #[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
        $(#[$attribute])*
        pub(crate) enum $name {
            Named { on: bool, level: Option<u8>, #[serde(default)] more: Vec<i32> },
            Holds(BTreeMap<String, i64>),
            Other(Box<Inner>),
            Nothing,
        }

        pub(crate) fn $strategy() -> impl Strategy<Value = $name> {
            let named = (any::<bool>(), any::<Option<u8>>(), prop::collection::vec(any::<i32>(), 0..3));
            let map = prop::collection::btree_map("[a-z]{0,3}|é", any::<i64>(), 0..3);
            prop_oneof![
                named.prop_map(|(on, level, more)| $name::Named { on, level, more }),
                map.prop_map($name::Holds),
                inner().prop_map(|inner| $name::Other(Box::new(inner))),
                Just($name::Nothing),
            ]
        }
    )*};
}

representations! {
    External external;
    #[serde(tag = "type", rename_all = "SCREAMING_SNAKE_CASE")]
    Internal internal;
    #[serde(tag = "t", content = "c", rename_all_fields = "PascalCase")]
    Adjacent adjacent;
    #[serde(untagged)]
    Untagged untagged;
    #[serde(deny_unknown_fields)]
    Closed closed;
}

/// Newtype variants and tuple variants, with values of different types.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Tuples {
    Number(u64),
    Text(String),
    Maybe(Option<char>),
    Two(i8, bool),
    Empty(),
    Nested(Vec<Tuples>),
}

pub(crate) fn tuples() -> impl Strategy<Value = Tuples> {
    let leaf = prop_oneof![
        any::<u64>().prop_map(Tuples::Number),
        any::<String>().prop_map(Tuples::Text),
        any::<Option<char>>().prop_map(Tuples::Maybe),
        any::<(i8, bool)>().prop_map(|(a, b)| Tuples::Two(a, b)),
        Just(Tuples::Empty()),
    ];
    leaf.prop_recursive(3, 8, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Tuples::Nested))
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Inner {
    first_one: i32,
    #[serde(rename = "2nd", alias = "second", alias = "zweites")]
    second: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maybe: Option<u8>,
    #[serde(default = "seven")]
    seven: u8,
}

fn seven() -> u8 {
    7
}

pub(crate) fn inner() -> impl Strategy<Value = Inner> {
    any::<(i32, String, Option<u8>, u8)>().prop_map(|(first_one, second, maybe, seven)| Inner {
        first_one,
        second,
        maybe,
        seven,
    })
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Flat {
    own: bool,
    #[serde(flatten)]
    inner: Inner,
    #[serde(flatten)]
    rest: BTreeMap<String, Option<i64>>,
}

pub(crate) fn flat() -> impl Strategy<Value = Flat> {
    let rest = prop::collection::btree_map("[x-z]{1,2}|\"|\\\\", any::<Option<i64>>(), 0..3);
    (any::<bool>(), inner(), rest).prop_map(|(own, inner, rest)| Flat { own, inner, rest })
}

/// Bytes, decoded from an array of numbers or from a string.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Bytes(pub(crate) Vec<u8>);

impl Serialize for Bytes {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(&self.0)
    }
}

impl<'de> Deserialize<'de> for Bytes {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;
        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = Bytes;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("bytes")
            }

            fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Bytes, E> {
                Ok(Bytes(bytes.to_vec()))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut list: A) -> Result<Bytes, A::Error> {
                let mut bytes = Vec::new();
                while let Some(byte) = list.next_element()? {
                    bytes.push(byte);
                }
                Ok(Bytes(bytes))
            }
        }
        deserializer.deserialize_byte_buf(Visitor)
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Borrowed<'a> {
    pub(crate) text: &'a str,
    #[serde(borrow)]
    pub(crate) cow: Cow<'a, str>,
    pub(crate) maybe: Option<&'a str>,
    #[serde(borrow)]
    pub(crate) list: Vec<&'a str>,
    #[serde(borrow)]
    pub(crate) names: BTreeMap<&'a str, &'a str>,
}
