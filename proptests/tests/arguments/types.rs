//! Argument types of every kind that can be derived.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use mcp_proto::schema::Node;
use mcp_proto::{Decimal, ToolArguments};

/// A field of almost every kind.
#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Everything<'a> {
    /// Writes "on" or off,
    on: bool,
    small_one: u8,
    negative: i8,
    word: i16,
    long: i64,
    longest: u64,
    widest: i128,
    most: u128,
    ratio: f64,
    single: f32,
    decimal: Decimal,
    letter: char,
    #[serde(rename = "the text")]
    text: &'a str,
    owned: String,
    pair: [u16; 2],
    rows: Vec<Vec<bool>>,
    speed: Speed,
    slower: Option<Speed>,
    place: Place,
    maybe: Option<Place>,
    boxed: Box<Option<Place>>,
    draw: Draw<'a>,
    r#type: Option<Draw<'a>>,
}

/// Tuples, and types of the standard library.
#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Standard<'a> {
    pair: (u8, bool),
    legs: Vec<(Speed, i8, Option<Place>)>,
    maybe: Option<(i64, String, f64, u8)>,
    #[tool(min_length = 1, max_length = 3)]
    name: Cow<'a, str>,
    file: PathBuf,
    folder: Option<&'a Path>,
    #[tool(max_items = 2)]
    queue: VecDeque<bool>,
}

/// Speed of the motion.
#[derive(Debug, Default, Clone, Copy, ToolArguments)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Speed {
    #[default]
    Slow,
    /// Unsuitable for indoors.
    VeryFast,
    #[serde(rename = "\"quoted\"\n")]
    Quoted,
    #[serde(skip)]
    #[allow(dead_code)]
    Hidden,
}

/// Position of the pen.
#[derive(Debug, Default, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Place {
    x: i32,
    y: Option<i32>,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "SCREAMING-KEBAB-CASE")]
pub(crate) enum Draw<'a> {
    /// A point.
    At(Place),
    Text {
        at_x: u8,
        text: &'a str,
    },
    AllOfIt,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Limits<'a> {
    #[tool(range = 0..=100)]
    percent: u8,
    #[tool(range = -5..)]
    above: i64,
    #[tool(maximum = 7)]
    below: Option<u64>,
    #[tool(range = ..=-1)]
    negative: i128,
    #[tool(range = -0.5..=1.5)]
    ratio: f64,
    #[tool(minimum = 0.25)]
    single: Option<f32>,
    #[tool(range = -0.5..=0.125)]
    decimal: Decimal,
    #[tool(min_length = 2, max_length = 3)]
    text: &'a str,
    #[tool(max_length = 1)]
    owned: Option<String>,
    #[tool(min_items = 1, max_items = 2)]
    list: Vec<u8>,
    #[tool(max_items = 1)]
    maybe: Option<Vec<Percent>>,
    percents: [Percent; 2],
    half: Half,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Percent(#[tool(range = 0..=100)] u8);

/// `null`, or a value up to a half.
#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[serde(transparent)]
pub(crate) struct Half(#[tool(range = 0.0..=0.5)] Option<f32>);

#[derive(Debug, PartialEq, ToolArguments)]
pub(crate) struct Defaults<'a> {
    #[tool(default = -5, range = -10..=10)]
    pub(crate) level: i8,
    #[tool(default = 1.5)]
    pub(crate) ratio: f32,
    #[tool(default = true)]
    pub(crate) on: bool,
    #[tool(default = "a\"b")]
    pub(crate) text: &'a str,
    #[tool(default = "c")]
    pub(crate) owned: String,
    #[serde(default)]
    pub(crate) list: Vec<u8>,
    #[serde(default = "seven")]
    pub(crate) seven: u8,
    #[serde(default)]
    pub(crate) maybe: Option<u8>,
    #[serde(skip)]
    pub(crate) skipped: u8,
    #[serde(skip_deserializing, default = "seven")]
    pub(crate) also: u8,
}

pub(crate) fn seven() -> u8 {
    7
}

#[derive(Debug, PartialEq, ToolArguments)]
#[serde(default)]
pub(crate) struct Whole {
    #[tool(range = 1..=9)]
    pub(crate) a: u8,
    #[tool(default = 4)]
    pub(crate) b: u8,
    pub(crate) c: Option<u8>,
    #[serde(skip)]
    pub(crate) d: u8,
}

impl Default for Whole {
    fn default() -> Self {
        Whole { a: 1, b: 2, c: Some(3), d: 8 }
    }
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[tool(allow_unknown_fields)]
pub(crate) struct Open {
    a: Option<bool>,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[serde(tag = "a")]
#[tool(allow_unknown_fields)]
pub(crate) enum OpenDraw {
    One { b: u8 },
    Two,
    Three(Open2),
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Open2 {
    c: [i64; 1],
}

#[derive(Debug, ToolArguments)]
pub(crate) struct Nothing;

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Foreign {
    /// Some bytes.
    #[tool(schema = Node::array(&u8::NODE, 4, Some(4)))]
    address: foreign::Address,
    #[tool(schema = Node::Optional(&Node::string(0, Some(2))))]
    name: Option<Short>,
}

/// Stands for types of other crates.
mod foreign {
    #[derive(Debug, serde::Deserialize)]
    #[allow(dead_code)]
    pub(super) struct Address([u8; 4]);
}

#[derive(Debug)]
#[allow(dead_code)]
pub(crate) struct Short(String);

impl<'de> serde::Deserialize<'de> for Short {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.chars().count() <= 2 { Ok(Short(text)) } else { Err(serde::de::Error::custom("too long")) }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ToolArguments)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Key {
    One,
    Text,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Maps {
    levels: BTreeMap<String, u8>,
    #[tool(min_items = 1, max_items = 2)]
    keys: Option<BTreeMap<Key, Percent>>,
    #[serde(default)]
    letters: BTreeMap<char, BTreeMap<String, Place>>,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Tree<'a> {
    name: &'a str,
    trees: Vec<Tree<'a>>,
    #[serde(default)]
    named: BTreeMap<String, Self>,
    best: Option<Box<Tree<'a>>>,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Forest<'a> {
    #[tool(max_items = 2)]
    trees: Vec<Tree<'a>>,
    first: Option<Tree<'a>>,
    page: Page<Place>,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
pub(crate) struct Page<T> {
    items: Vec<T>,
    next: Option<T>,
    #[tool(format = "email", max_length = 3)]
    address: Option<String>,
    #[tool(default = Speed::VeryFast)]
    speed: Speed,
}

/// Names that may clash with names in the code of the macro.
pub(crate) mod clashes {
    use mcp_proto::ToolArguments;
    pub(super) type A = u8;
    pub(super) type D = bool;
    pub(super) mod schema {
        pub(crate) type X = char;
    }
    pub(super) const NODE: u8 = 3;
    fn name() -> A {
        9
    }

    #[derive(Debug, ToolArguments)]
    #[allow(dead_code)]
    pub(crate) struct Clashes {
        #[tool(range = 0..=NODE)]
        value: A,
        members: D,
        index: schema::X,
        #[serde(default = "name")]
        name: A,
        whole: Option<A>,
    }
}

/// Lifetimes, different names for each direction, and attributes without effect on arguments, such as
/// `skip_serializing_if`.
#[derive(Debug, serde::Serialize, ToolArguments)]
#[serde(deny_unknown_fields, rename_all(serialize = "UPPERCASE", deserialize = "PascalCase"))]
#[tool(crate = ::mcp_proto, description = "Two texts.")]
pub(crate) struct Texts<'a, 'b>
where
    'a: 'b,
{
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub(crate) first_one: Option<&'a str>,
    #[serde(rename(serialize = "2", deserialize = "second"), serialize_with = "written")]
    #[tool(description = concat!("The ", "other."))]
    pub(crate) r#second: [&'b str; 1],
    #[serde(rename(serialize = "3"), skip_serializing)]
    #[allow(dead_code)]
    third: Option<Level<'b>>,
}

#[derive(Debug, serde::Serialize, ToolArguments)]
#[serde(tag = "level", rename_all = "UPPERCASE")]
enum Level<'a> {
    #[serde(rename_all = "kebab-case")]
    Low { some_text: &'a str },
    #[serde(skip)]
    #[allow(dead_code)]
    Hidden(std::time::Duration),
}

fn written<S: serde::Serializer>(texts: &[&str; 1], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(texts[0])
}
