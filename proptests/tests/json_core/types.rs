//! Types that `mcp-proto` and `serde-json-core` write or read.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use crate::matching;
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

/// A type with every kind of data that both libraries write and read.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Read {
    numbers: Numbers,
    texts: Texts,
    on: bool,
    nothing: (),
    marker: Marker,
    wrapped: Wrapped,
    in_order: InOrder,
    mixed: (u8, String, bool),
    level: Option<Numbers>,
    nested_option: [Option<i16>; 3],
    choices: Vec<Choice>,
    short_list: heapless::Vec<Option<bool>, 4>,
    tree: Tree,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Numbers {
    a: u8,
    b: i8,
    c: u16,
    d: i16,
    e: u32,
    f: i32,
    g: u64,
    h: i64,
    single: f32,
    double: f64,
    maybe: Option<f64>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Texts {
    owned: String,
    short: heapless::String<64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    maybe: Option<String>,
    address: Address,
}

/// A text that is written as `Display` prints it.
#[derive(Debug, Clone, Deserialize)]
#[serde(transparent)]
struct Address(String);

impl Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Marker;

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Wrapped(i64);

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct InOrder(u16, String, [u8; 2]);

/// Variants of every kind. The tuple variant is only read, because `serde-json-core` does not write it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) enum Choice {
    Unit,
    Newtype(i32),
    #[serde(rename = "renamed")]
    Struct {
        on: bool,
        level: Option<u8>,
    },
    Wrapped(Wrapped),
    #[serde(skip_serializing)]
    #[allow(dead_code)]
    Tuple(u8, String),
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Tree(Vec<Tree>);

/// A type that ignores the members that it does not know.
#[derive(Debug, Deserialize)]
#[allow(dead_code)]
pub(super) struct Open {
    one: u8,
    maybe: Option<bool>,
}

/// Data that both libraries write, but only `mcp-proto` reads: other representations of enums, flattened members, maps.
#[derive(Debug, Serialize)]
pub(super) struct Written<'a> {
    borrowed: &'a str,
    slice: &'a [i16],
    names: &'a BTreeMap<String, f64>,
    few: heapless::LinearMap<&'a str, bool, 2>,
    variant_names: BTreeMap<Name, ()>,
    address: Ipv4Addr,
    tagged: [Tagged<'a>; 3],
    adjacent: [Adjacent<'a>; 3],
    untagged: [Untagged<'a>; 4],
    #[serde(flatten)]
    flat: Flat<'a>,
    #[serde(flatten)]
    members: BTreeMap<&'a str, u8>,
}

#[derive(Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
#[serde(rename_all = "kebab-case")]
enum Name {
    TheFirst,
    TheOther,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind")]
enum Tagged<'a> {
    Unit,
    Newtype(Flat<'a>),
    Struct { list: &'a [i16] },
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", content = "value")]
enum Adjacent<'a> {
    Unit,
    Tuple(&'a str, bool),
    Struct { list: &'a [i16] },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Untagged<'a> {
    Unit,
    Newtype(&'a str),
    Tuple(&'a [i16], u64),
    Struct { flat: Flat<'a> },
}

#[derive(Debug, Serialize, Clone, Copy)]
struct Flat<'a> {
    first: &'a str,
    second: Option<i64>,
}

/// The values of a [`Written`].
pub(super) type Parts = (String, Vec<i16>, BTreeMap<String, f64>, Option<i64>, u64, u32, bool);

impl<'a> Written<'a> {
    pub(super) fn new((text, list, names, second, number, address, on): &'a Parts) -> Written<'a> {
        let flat = Flat { first: text, second: *second };
        Written {
            borrowed: text,
            slice: list,
            names,
            few: names.iter().take(2).map(|(name, value)| (name.as_str(), *value > 0.0)).collect(),
            variant_names: [(Name::TheOther, ()), (Name::TheFirst, ())].into(),
            address: Ipv4Addr::from(*address),
            tagged: [Tagged::Unit, Tagged::Newtype(flat), Tagged::Struct { list }],
            adjacent: [Adjacent::Unit, Adjacent::Tuple(text, *on), Adjacent::Struct { list }],
            untagged: [
                Untagged::Unit,
                Untagged::Newtype(text),
                Untagged::Tuple(list, *number),
                Untagged::Struct { flat },
            ],
            flat,
            members: names.keys().take(usize::from(*on)).map(|name| (name.as_str(), 7)).collect(),
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![matching("\\PC*"), matching("[\"\\\\/\u{0}-\u{1f}\u{7f}\u{80}\u{2028}😀a]{0,12}")]
}

/// Generates a float that both libraries write as a number.
fn float() -> impl Strategy<Value = f64> {
    prop_oneof![prop::num::f64::NORMAL | prop::num::f64::ZERO | prop::num::f64::SUBNORMAL, -1e3..1e3]
}

fn numbers() -> impl Strategy<Value = Numbers> {
    let single =
        prop_oneof![prop::num::f32::NORMAL | prop::num::f32::ZERO | prop::num::f32::SUBNORMAL, -1e3f32..1e3];
    (any::<(u8, i8, u16, i16, u32, i32, u64, i64)>(), single, float(), prop::option::of(float())).prop_map(
        |((a, b, c, d, e, f, g, h), single, double, maybe)| Numbers {
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
            single,
            double,
            maybe,
        },
    )
}

fn texts() -> impl Strategy<Value = Texts> {
    let short = text().prop_map(|text| text.chars().take(12).collect());
    (text(), short, prop::option::of(text()), text()).prop_map(|(owned, short, maybe, address)| Texts {
        owned,
        short,
        maybe,
        address: Address(address),
    })
}

fn choice() -> impl Strategy<Value = Choice> {
    prop_oneof![
        Just(Choice::Unit),
        any::<i32>().prop_map(Choice::Newtype),
        any::<(bool, Option<u8>)>().prop_map(|(on, level)| Choice::Struct { on, level }),
        any::<i64>().prop_map(|value| Choice::Wrapped(Wrapped(value))),
    ]
}

fn tree() -> impl Strategy<Value = Tree> {
    Just(Tree(vec![])).prop_recursive(6, 12, 3, |inner| prop::collection::vec(inner, 0..3).prop_map(Tree))
}

/// Generates any value of [`Read`].
pub(super) fn read() -> impl Strategy<Value = Read> {
    let simple = any::<(bool, i64, u16, [u8; 2], u8, bool, [Option<i16>; 3])>();
    let lists =
        (prop::collection::vec(choice(), 0..4), prop::collection::vec(any::<Option<bool>>(), 0..=4), tree());
    let parts = (numbers(), texts(), simple, text(), text(), prop::option::of(numbers()), lists);
    parts.prop_map(|(numbers, texts, simple, first, second, level, (choices, short_list, tree))| {
        let (on, wrapped, number, bytes, byte, flag, nested_option) = simple;
        Read {
            numbers,
            texts,
            on,
            nothing: (),
            marker: Marker,
            wrapped: Wrapped(wrapped),
            in_order: InOrder(number, first, bytes),
            mixed: (byte, second, flag),
            level,
            nested_option,
            choices,
            short_list: short_list.into_iter().collect(),
            tree,
        }
    })
}

/// Generates the values of a [`Written`], with finite floats.
pub(super) fn written() -> impl Strategy<Value = Parts> {
    let names = prop::collection::btree_map(text(), any::<f64>(), 0..4);
    (
        text(),
        prop::collection::vec(any::<i16>(), 0..4),
        names,
        any::<Option<i64>>(),
        any::<u64>(),
        any::<u32>(),
        any::<bool>(),
    )
}
