//! Derived arguments: the decoder accepts what a JSON Schema validator accepts, and nothing else.

use jsonschema::Validator;
use mcp_proto::ToolArguments;
use mcp_proto::json::decode_in_place;
use mcp_proto::schema::Node;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

/// Something of nearly everything.
#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[serde(rename_all = "camelCase")]
struct Everything<'a> {
    /// Says "on" or off,
    /// \ and nothing else.
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

/// How fast.
#[derive(Debug, Default, Clone, Copy, ToolArguments)]
#[serde(rename_all = "kebab-case")]
enum Speed {
    #[default]
    Slow,
    /// Not for indoors.
    VeryFast,
    #[serde(rename = "\"quoted\"\n")]
    Quoted,
    #[serde(skip)]
    #[allow(dead_code)]
    Hidden,
}

/// Where it is.
#[derive(Debug, Default, ToolArguments)]
#[allow(dead_code)]
struct Place {
    x: i32,
    y: Option<i32>,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "SCREAMING-KEBAB-CASE")]
enum Draw<'a> {
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
struct Limits<'a> {
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
struct Percent(#[tool(range = 0..=100)] u8);

/// Nothing, or at most a half.
#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[serde(transparent)]
struct Half(#[tool(range = 0.0..=0.5)] Option<f32>);

#[derive(Debug, PartialEq, ToolArguments)]
struct Defaults<'a> {
    #[tool(default = -5, range = -10..=10)]
    level: i8,
    #[tool(default = 1.5)]
    ratio: f32,
    #[tool(default = true)]
    on: bool,
    #[tool(default = "a\"b")]
    text: &'a str,
    #[tool(default = "c")]
    owned: String,
    #[serde(default)]
    list: Vec<u8>,
    #[serde(default = "seven")]
    seven: u8,
    #[serde(default)]
    maybe: Option<u8>,
    #[serde(skip)]
    skipped: u8,
    #[serde(skip_deserializing, default = "seven")]
    also: u8,
}

fn seven() -> u8 {
    7
}

#[derive(Debug, PartialEq, ToolArguments)]
#[serde(default)]
struct Whole {
    #[tool(range = 1..=9)]
    a: u8,
    #[tool(default = 4)]
    b: u8,
    c: Option<u8>,
    #[serde(skip)]
    d: u8,
}

impl Default for Whole {
    fn default() -> Self {
        Whole { a: 1, b: 2, c: Some(3), d: 8 }
    }
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[tool(allow_unknown_fields)]
struct Open {
    a: Option<bool>,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[serde(tag = "a")]
#[tool(allow_unknown_fields)]
enum OpenDraw {
    One { b: u8 },
    Two,
    Three(Open2),
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
struct Open2 {
    c: [i64; 1],
}

#[derive(Debug, ToolArguments)]
struct Nothing;

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
struct Foreign {
    /// Some bytes.
    #[tool(schema = Node::array(&u8::NODE, 4, Some(4)))]
    address: foreign::Address,
    #[serde(default)]
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
struct Short(String);

impl<'de> serde::Deserialize<'de> for Short {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        if text.chars().count() <= 2 { Ok(Short(text)) } else { Err(serde::de::Error::custom("too long")) }
    }
}

/// Names that the macro might have used itself.
mod clashes {
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
    pub(super) struct Clashes {
        #[tool(range = 0..=NODE)]
        value: A,
        members: D,
        index: schema::X,
        #[serde(default = "name")]
        name: A,
        whole: Option<A>,
    }
}

const NUMBERS: [&str; 35] = [
    "0",
    "-0",
    "1",
    "1.0",
    "-1",
    "-1.0",
    "2e0",
    "1e2",
    "100",
    "101",
    "1.5",
    "-0.5",
    "-0.50",
    "-0.51",
    "0.25",
    "7",
    "8",
    "0.0",
    "0e9",
    "10e-1",
    "15e-1",
    "127",
    "128",
    "-128",
    "-129",
    "255",
    "256",
    "65535",
    "65536",
    "-5",
    "-6",
    "1.5e1",
    "9223372036854775807",
    "-9223372036854775809",
    "18446744073709551616",
];

const STRINGS: [&str; 14] = [
    "",
    "a",
    "ab",
    "äöü",
    "abcd",
    "😀",
    "\n\"\\",
    "slow",
    "very-fast",
    "\"quoted\"\n",
    "at",
    "text",
    "all_of_it",
    "One",
];

fn number() -> impl Strategy<Value = Value> {
    prop_oneof![
        select(&NUMBERS[..]).prop_map(|text| serde_json::from_str(text).unwrap()),
        any::<i8>().prop_map(|value| json!(value)),
        any::<i64>().prop_map(|value| json!(value)),
        (-200i32..200).prop_map(|value| json!(f64::from(value) / 8.0)),
        ("-?[1-9][0-9]{0,3}", "0{1,2}", -3i8..20)
            .prop_map(|(a, b, e)| serde_json::from_str(&format!("{a}.{b}e{e}")).unwrap()),
    ]
}

fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        number(),
        select(&STRINGS[..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::vec((select(&["a", "x", "kind"][..]), inner), 0..3).prop_map(|members| {
                Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
            }),
        ]
    })
}

/// Values that fit the schema, or nearly.
fn near(schema: &Value) -> BoxedStrategy<Value> {
    let fits = fitting(schema);
    prop_oneof![30 => fits, 1 => anything(), 1 => Just(Value::Null)].boxed()
}

fn fitting(schema: &Value) -> BoxedStrategy<Value> {
    if let Some(variants) = schema["oneOf"].as_array() {
        return proptest::strategy::Union::new(variants.iter().map(near)).boxed();
    }
    if let Some(constant) = schema.get("const") {
        return Just(constant.clone()).boxed();
    }
    if let Some(names) = schema["enum"].as_array() {
        return select(names.clone()).boxed();
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str()).unwrap();
    let least = |name: &str| schema[name].as_u64().unwrap_or(0) as usize;
    match kind {
        "null" => Just(Value::Null).boxed(),
        "boolean" => any::<bool>().prop_map(Value::from).boxed(),
        "integer" | "number" => {
            let bounds = ["minimum", "maximum"].into_iter().filter_map(|name| schema.get(name).cloned());
            let fair = json!(if schema["maximum"].as_i64().is_some_and(|it| it < 0) { -1 } else { 1 });
            let good: Vec<_> = bounds.chain([fair]).collect();
            prop_oneof![5 => select(good), 1 => number()].boxed()
        }
        "string" => {
            let length = least("minLength");
            let longest = schema["maxLength"].as_u64().map_or(length + 3, |it| it as usize);
            let good = prop::collection::vec(select(&['a', 'ä', '"', '\n', '😀'][..]), length..=longest)
                .prop_map(|letters| Value::from(letters.into_iter().collect::<String>()));
            prop_oneof![10 => good, 1 => select(&STRINGS[..]).prop_map(Value::from)].boxed()
        }
        "array" => {
            let fewest = least("minItems");
            let most = schema["maxItems"].as_u64().map_or(fewest + 2, |it| it as usize);
            let items = near(&schema["items"]);
            let good = prop::collection::vec(items.clone(), fewest..=most);
            prop_oneof![15 => good, 1 => prop::collection::vec(items, 0..4)].prop_map(Value::from).boxed()
        }
        _ => members(schema),
    }
}

fn members(schema: &Value) -> BoxedStrategy<Value> {
    let properties = schema["properties"].as_object().unwrap();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let each: Vec<_> = properties
        .iter()
        .map(|(name, property)| {
            let there = if required.contains(&json!(name)) { 0.985 } else { 0.5 };
            let name = name.clone();
            prop::option::weighted(there, near(property).prop_map(move |value| (name.clone(), value)))
        })
        .collect();
    let extra = prop::option::weighted(0.05, (select(&["a", "b", "x", "more", "kind"][..]), anything()));
    (each, extra)
        .prop_map(|(members, extra)| {
            let mut object: Map<String, Value> = members.into_iter().flatten().collect();
            if let Some((name, value)) = extra {
                object.insert(name.to_owned(), value);
            }
            Value::Object(object)
        })
        .prop_shuffle_members()
        .boxed()
}

/// The order of members must not matter.
trait ShuffleMembers: Strategy<Value = Value> + Sized {
    fn prop_shuffle_members(self) -> impl Strategy<Value = Value> {
        (self, any::<bool>()).prop_map(|(value, turned)| match value {
            Value::Object(members) if turned => Value::Object(members.into_iter().rev().collect()),
            value => value,
        })
    }
}

impl<S: Strategy<Value = Value>> ShuffleMembers for S {}

/// Checks one type, and that not all of the values were refused, or none.
fn agrees(schema_text: &str, accepts: impl Fn(&mut [u8]) -> Result<(), String>) {
    let schema: Value = serde_json::from_str(schema_text).unwrap();
    assert_eq!(schema["type"], "object");
    assert!(jsonschema::meta::is_valid(&schema), "{schema_text}");
    let validator: Validator = jsonschema::draft202012::new(&schema).unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        failure_persistence: None,
        ..ProptestConfig::with_cases(2000)
    });
    let seen = std::cell::Cell::new((0, 0));
    let check = |value: Value| {
        let text = value.to_string();
        let valid = validator.is_valid(&value);
        let decoded = accepts(&mut text.clone().into_bytes());
        let (good, bad) = seen.get();
        seen.set(if valid { (good + 1, bad) } else { (good, bad + 1) });
        prop_assert_eq!(decoded.is_ok(), valid, "{}\n{:?}\n{}", text, decoded, schema_text);
        Ok(())
    };
    runner.run(&near(&schema), check).unwrap();
    let (good, bad) = seen.get();
    assert!(good > 20 && bad > 20, "{good} were valid and {bad} were not: {schema_text}");
}

macro_rules! agree {
    ($($name:ident: $type:ty,)*) => {$(
        #[test]
        fn $name() {
            agrees(<$type>::INPUT_SCHEMA, |text| {
                decode_in_place::<$type>(text).map(drop).map_err(|error| error.to_string())
            });
        }
    )*};
}

agree! {
    everything_is_accepted_as_the_schema_says: Everything<'_>,
    limits_are_those_of_the_schema: Limits<'_>,
    defaults_may_be_left_out: Defaults<'_>,
    a_default_of_the_whole_stands_for_every_field: Whole,
    unknown_members_are_passed_over_if_that_is_said: Open,
    objects_are_told_apart_by_a_tag: Draw<'_>,
    objects_with_a_tag_may_be_open: OpenDraw,
    nothing_is_an_empty_object: Nothing,
    types_of_other_crates_are_what_is_said_of_them: Foreign,
    names_do_not_clash: clashes::Clashes,
}

#[test]
fn what_is_left_out_has_its_default() {
    let mut text = *b"{}";
    let defaults: Defaults<'_> = decode_in_place(&mut text).unwrap();
    let expected = Defaults {
        level: -5,
        ratio: 1.5,
        on: true,
        text: "a\"b",
        owned: "c".to_owned(),
        list: vec![],
        seven: 7,
        maybe: None,
        skipped: 0,
        also: 7,
    };
    assert_eq!(defaults, expected);
    let schema: Value = serde_json::from_str(Defaults::INPUT_SCHEMA).unwrap();
    let shown: Vec<_> =
        schema["properties"].as_object().unwrap().values().map(|it| it.get("default")).collect();
    let (level, ratio, on, text, owned) = (json!(-5), json!(1.5), json!(true), json!("a\"b"), json!("c"));
    for (name, expected) in [("level", level), ("ratio", ratio), ("on", on), ("text", text), ("owned", owned)]
    {
        assert_eq!(schema["properties"][name]["default"], expected);
    }
    assert_eq!(shown.iter().flatten().count(), 5);
    let whole: Whole = decode_in_place(&mut br#"{"a":9}"#.to_vec()).unwrap();
    assert_eq!(whole, Whole { a: 9, b: 4, c: Some(3), d: 8 });
}

#[test]
fn every_number_that_is_whole_is_an_integer() {
    #[derive(ToolArguments)]
    struct List {
        list: Vec<u64>,
    }
    for (text, expected) in [
        ("1.0", 1u64),
        ("1.5e1", 15),
        ("0.0e5", 0),
        ("-0", 0),
        ("2E+1", 20),
        ("18446744073709551615.000", u64::MAX),
        ("1844674407370955161500e-2", u64::MAX),
        ("0e99999999999999999999", 0),
        ("0.0e-99999999999999999999", 0),
    ] {
        let list: List = decode_in_place(&mut format!("{{\"list\":[{text}]}}").into_bytes()).unwrap();
        assert_eq!(list.list, [expected], "{text}");
    }
    for text in ["1.5", "1e-1", "1e20", "-1.0", "184467440737095516160e-1", "1e99999999999999999999"] {
        let list = decode_in_place::<List>(&mut format!("{{\"list\":[{text}]}}").into_bytes());
        assert!(list.is_err(), "{text}");
    }
    #[derive(Debug, ToolArguments)]
    struct Wide {
        most: u128,
        least: i128,
    }
    let wide = |most: &str, least: &str| {
        decode_in_place(&mut format!("{{\"most\":{most},\"least\":{least}}}").into_bytes())
            .map(|Wide { most, least }| (most, least))
    };
    let (most, least) = (u128::MAX.to_string(), i128::MIN.to_string());
    assert_eq!(wide(&format!("{most}.0"), &format!("{least}0e-1")).unwrap(), (u128::MAX, i128::MIN));
    assert_eq!(wide("-0.0", "-0").unwrap(), (0, 0));
    for (most, least) in
        [("-1", "0"), ("340282366920938463463374607431768211456", "0"), (&most, &most), ("0", "0.1")]
    {
        assert!(wide(most, least).is_err(), "{most} {least}");
    }
}
