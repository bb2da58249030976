//! Schemas of derived types: any JSON, maps, formats, defaults, generic and recursive types.

use std::collections::{BTreeMap, HashMap};
use std::net::Ipv4Addr;

use mcp_proto::ToolArguments;
use mcp_proto::json::{Json, decode_in_place};
use mcp_proto::schema::{Node, Schema};
use serde::Deserialize;

/// Decodes a leaked copy of the text, so that the value may borrow from the copy.
fn decode<T: Deserialize<'static>>(text: &str) -> Result<T, String> {
    decode_in_place(text.to_owned().into_bytes().leak()).map_err(|error| error.to_string())
}

#[derive(Debug, ToolArguments)]
struct Store<'a> {
    /// Any value.
    value: Json<'a>,
    more: Option<Json<'a>>,
    list: Vec<Json<'a>>,
}

#[test]
fn json_field_borrows_any_value() {
    assert_eq!(
        Store::INPUT_SCHEMA,
        concat!(
            r#"{"type":"object","properties":{"value":{"description":"Any value."},"more":{},"#,
            r#""list":{"type":"array","items":{}}},"required":["value","list"],"additionalProperties":false}"#,
        )
    );
    for value in ["null", "1.50", r#""a\tb""#, r#"{ "a" : [ 1 , {} ] }"#, "[]", "true"] {
        let store: Store = decode(&format!(r#"{{"list":[ {value} , 1],"value": {value} }}"#)).unwrap();
        assert_eq!(store.value.raw(), value);
        assert_eq!(store.list.iter().map(|json| json.raw()).collect::<Vec<_>>(), [value, "1"]);
        assert!(store.more.is_none());
    }
    assert_eq!(decode::<Store>(r#"{"list":[]}"#).unwrap_err(), "missing field `value`");
    assert_eq!(decode::<Json>("").unwrap().raw(), "{}");
}

#[test]
fn json_does_not_decode_from_other_formats() {
    assert!(serde_json::from_str::<Json>("[1]").is_err());
    let unchecked = serde::de::value::BorrowedStrDeserializer::<serde::de::value::Error>::new("[1");
    assert!(Json::deserialize(unchecked).is_err());
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Clone, Copy, ToolArguments)]
#[serde(rename_all = "kebab-case")]
enum Speed {
    Slow,
    VeryFast,
}

#[derive(Debug, PartialEq, ToolArguments)]
struct Maps<'a> {
    levels: BTreeMap<String, u8>,
    #[tool(min_items = 1, max_items = 2)]
    speeds: Option<HashMap<Speed, [bool; 1]>>,
    nested: BTreeMap<&'a str, BTreeMap<char, Option<f32>>>,
    #[tool(min_items = 1)]
    heapless: heapless::LinearMap<heapless::String<2>, i8, 3>,
    index: Option<heapless::index_map::FnvIndexMap<u8name::Name, bool, 4>>,
}

/// Contains a map key of at most three characters.
mod u8name {
    #[derive(Debug, PartialEq, Eq, Hash, mcp_proto::ToolArguments)]
    pub(super) struct Name(#[tool(max_length = 3)] String);
}

#[test]
fn maps_have_schemas_of_their_keys_and_values() {
    assert_eq!(
        Maps::INPUT_SCHEMA,
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""levels":{"type":"object","additionalProperties":{"type":"integer","minimum":0,"maximum":255}},"#,
            r#""speeds":{"type":["object","null"],"propertyNames":{"type":"string","enum":["slow","very-fast"]},"#,
            r#""additionalProperties":{"type":"array","items":{"type":"boolean"},"minItems":1,"maxItems":1},"#,
            r#""minProperties":1,"maxProperties":2},"#,
            r#""nested":{"type":"object","additionalProperties":{"type":"object","#,
            r#""propertyNames":{"type":"string","minLength":1,"maxLength":1},"#,
            r#""additionalProperties":{"type":["number","null"]}}},"#,
            r#""heapless":{"type":"object","propertyNames":{"type":"string","maxLength":2},"#,
            r#""additionalProperties":{"type":"integer","minimum":-128,"maximum":127},"minProperties":1,"maxProperties":3},"#,
            r#""index":{"type":["object","null"],"propertyNames":{"type":"string","maxLength":3},"#,
            r#""additionalProperties":{"type":"boolean"},"maxProperties":4}"#,
            r#"},"required":["levels","nested","heapless"],"additionalProperties":false}"#,
        )
    );
}

#[test]
fn maps_decode_within_the_limits_of_their_schema() {
    let maps = |levels: &str, speeds: &str, nested: &str, heapless: &str, index: &str| {
        decode::<Maps>(&format!(
            r#"{{"levels":{levels},"speeds":{speeds},"nested":{nested},"heapless":{heapless},"index":{index}}}"#
        ))
    };
    let whole = maps(
        r#"{"a":1.0,"b\n":255}"#,
        r#"{"very-fast":[true]}"#,
        r#"{"a":{"ä":null}}"#,
        r#"{"x":-1}"#,
        r#"{"äöü":true}"#,
    )
    .unwrap();
    assert_eq!(whole.levels, BTreeMap::from([("a".to_owned(), 1), ("b\n".to_owned(), 255)]));
    assert_eq!(whole.speeds.unwrap()[&Speed::VeryFast], [true]);
    assert_eq!(whole.nested["a"][&'ä'], None);
    for (levels, speeds, nested, heapless, index, error) in [
        (
            r#"{"a":256}"#,
            "null",
            "{}",
            r#"{"x":1}"#,
            "null",
            "`levels.a`: expected an integer from 0 to 255, found 256",
        ),
        ("[]", "null", "{}", r#"{"x":1}"#, "null", "`levels`: expected an object, found []"),
        ("{}", "{}", "{}", r#"{"x":1}"#, "null", "`speeds`: expected an object of 1 to 2 members"),
        (
            "{}",
            r#"{"fast":[true]}"#,
            "{}",
            r#"{"x":1}"#,
            "null",
            "`speeds`: unknown value `fast`, expected one of `slow`, `very-fast`",
        ),
        ("{}", "null", "{}", "{}", "null", "`heapless`: expected an object of 1 to 3 members"),
        (
            "{}",
            "null",
            r#"{"":{"ab":1}}"#,
            r#"{"x":1}"#,
            "null",
            "`nested`: expected a character, found \"ab\"",
        ),
        (
            "{}",
            "null",
            "{}",
            r#"{"x":1}"#,
            r#"{"abcd":true}"#,
            "`index`: expected a string of 0 to 3 characters",
        ),
    ] {
        assert_eq!(maps(levels, speeds, nested, heapless, index).unwrap_err(), error);
    }
    assert!(maps("{}", "null", "{}", r#"{"abc":1}"#, "null").is_err());
    assert!(maps("{}", "null", "{}", r#"{"a":1,"b":2,"c":3,"d":4}"#, "null").is_err());
}

#[derive(Debug, ToolArguments)]
struct Formats<'a> {
    /// When it begins.
    #[tool(format = "date-time")]
    begin: &'a str,
    #[tool(format = "email", max_length = 4)]
    guest: Option<String>,
    link: Link<'a>,
    #[tool(default = Speed::VeryFast)]
    speed: Speed,
}

#[derive(Debug, ToolArguments)]
struct Link<'a>(#[tool(format = "uri")] &'a str);

#[test]
fn formats_and_defaults_of_variants_are_in_the_schema() {
    assert_eq!(
        Formats::INPUT_SCHEMA,
        concat!(
            r#"{"type":"object","properties":{"#,
            r#""begin":{"type":"string","description":"When it begins.","format":"date-time"},"#,
            r#""guest":{"type":["string","null"],"format":"email","maxLength":4},"#,
            r#""link":{"type":"string","format":"uri"},"#,
            r#""speed":{"type":"string","enum":["slow","very-fast"],"default":"very-fast"}"#,
            r#"},"required":["begin","link"],"additionalProperties":false}"#,
        )
    );
    let formats: Formats = decode(r#"{"begin":"noon","link":"a:b"}"#).unwrap();
    assert_eq!((formats.begin, formats.link.0, formats.speed), ("noon", "a:b", Speed::VeryFast));
    assert!(decode::<Formats>(r#"{"begin":"","link":"","guest":"a@b.c"}"#).is_err());
    let slow: Formats = decode(r#"{"begin":"","link":"","guest":"a@b","speed":"slow"}"#).unwrap();
    assert_eq!((slow.guest.as_deref(), slow.speed), (Some("a@b"), Speed::Slow));
}

/// One page of a list.
#[derive(Debug, PartialEq, ToolArguments)]
struct Page<T, const N: usize = 2> {
    /// The first ones.
    items: Vec<T>,
    /// The best ones.
    best: heapless::Vec<T, N>,
    #[serde(default)]
    next: Option<Box<T>>,
}

#[derive(Debug, PartialEq, ToolArguments)]
struct Search<'a> {
    page: Page<&'a str, 1>,
    other: Option<Page<Speed>>,
}

#[test]
fn generic_type_has_the_schema_of_its_parameters() {
    let page = concat!(
        r#"{"type":"object","properties":{"items":{"type":"array","description":"The first ones.","items":{"type":"string"}},"#,
        r#""best":{"type":"array","description":"The best ones.","items":{"type":"string"},"maxItems":1},"#,
        r#""next":{"type":["string","null"]}},"required":["items","best"],"additionalProperties":false}"#,
    );
    assert_eq!(Page::<&str, 1>::INPUT_SCHEMA, page);
    assert_eq!(Page::<&str, 1>::DESCRIPTION, Some("One page of a list."));
    let described = page.replacen(',', r#","description":"One page of a list.","#, 1);
    assert!(
        Search::INPUT_SCHEMA.starts_with(&format!(r#"{{"type":"object","properties":{{"page":{described},"#))
    );
    let search: Search = decode(
        r#"{"page":{"items":["a"],"best":["b"]},"other":{"next":"slow","items":[],"best":["slow","slow"]}}"#,
    )
    .unwrap();
    assert_eq!(search.page, Page { items: vec!["a"], best: ["b"].into_iter().collect(), next: None });
    assert_eq!(search.other.unwrap().next.as_deref(), Some(&Speed::Slow));
    assert!(decode::<Page<u8>>(r#"{"items":[256],"best":[1,2]}"#).is_err());
}

#[test]
fn types_that_are_not_derived_have_a_json_schema() {
    assert_eq!(<Vec<Option<bool>>>::JSON_SCHEMA, r#"{"type":"array","items":{"type":["boolean","null"]}}"#);
    assert_eq!(Speed::JSON_SCHEMA, r#"{"type":"string","enum":["slow","very-fast"]}"#);
    // This schema is longer than 256 bytes, the smallest array for the text of a schema.
    type Wide = Page<Page<Page<u128>>>;
    let wide: serde_json::Value = serde_json::from_str(Wide::INPUT_SCHEMA).unwrap();
    let innermost =
        &wide["properties"]["items"]["items"]["properties"]["next"]["properties"]["best"]["items"];
    assert_eq!(innermost["maximum"].to_string(), u128::MAX.to_string());
}

/// A folder or a file.
#[derive(Debug, PartialEq, ToolArguments)]
struct Entry {
    name: String,
    entries: Vec<Entry>,
    #[serde(default)]
    links: BTreeMap<String, Box<Self>>,
    #[tool(max_items = 1)]
    newest: Option<Vec<self::entry::Renamed>>,
}

/// The path `entry::Renamed` does not refer to the type `Entry`.
mod entry {
    #[derive(Debug, PartialEq, mcp_proto::ToolArguments)]
    pub(super) struct Renamed {
        pub(super) to: Option<String>,
    }
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
#[serde(tag = "op", rename_all = "lowercase")]
enum Expression<'a> {
    Number {
        value: f64,
    },
    /// Adds two numbers.
    Add {
        left: Box<Expression<'a>>,
        /// The second one.
        right: Option<Box<Expression<'a>>>,
    },
    Of {
        entry: Entry,
        unit: &'a str,
    },
}

#[derive(Debug, ToolArguments)]
struct Evaluate<'a> {
    expression: Expression<'a>,
    again: Option<Expression<'a>>,
}

const ENTRY: &str = concat!(
    r#"{"type":"object","properties":{"name":{"type":"string"},"#,
    r#""entries":{"type":"array","items":{"$ref":"REF"}},"#,
    r#""links":{"type":"object","additionalProperties":{"$ref":"REF"}},"#,
    r#""newest":{"type":["array","null"],"items":{"type":"object","properties":{"to":{"type":["string","null"]}},"#,
    r#""additionalProperties":false},"maxItems":1}},"required":["name","entries"],"additionalProperties":false}"#,
);

#[test]
fn recursive_root_refers_to_the_whole_schema() {
    assert_eq!(Entry::INPUT_SCHEMA, ENTRY.replace("REF", "#"));
    assert_eq!(Entry::DESCRIPTION, Some("A folder or a file."));
    let text =
        r#"{"name":"a","entries":[{"name":"b","entries":[]}],"links":{"c":{"name":"d","entries":[]}}}"#;
    let entry: Entry = decode(text).unwrap();
    assert_eq!((&*entry.entries[0].name, &*entry.links["c"].name), ("b", "d"));
    let error =
        decode::<Entry>(r#"{"name":"a","entries":[{"name":"b","entries":[{"name":1}]}]}"#).unwrap_err();
    assert_eq!(error, "`entries[0].entries[0].name`: expected a string, found 1");
}

#[test]
fn recursive_types_become_definitions() {
    assert_eq!(
        Evaluate::INPUT_SCHEMA,
        [
            r##"{"type":"object","properties":{"expression":{"$ref":"#/$defs/Expression"},"##,
            r##""again":{"anyOf":[{"$ref":"#/$defs/Expression"},{"type":"null"}]}},"##,
            r##""required":["expression"],"additionalProperties":false,"##,
            r##""$defs":{"Expression":{"type":"object","oneOf":[{"type":"object","properties":{"##,
            r##""op":{"type":"string","const":"number"},"value":{"type":"number"}},"required":["op","value"],"##,
            r##""additionalProperties":false},"##,
            r##"{"type":"object","description":"Adds two numbers.","properties":{"op":{"type":"string","const":"add"},"##,
            r##""left":{"$ref":"#/$defs/Expression"},"right":{"anyOf":[{"$ref":"#/$defs/Expression"},{"type":"null"}],"##,
            r##""description":"The second one."}},"required":["op","left"],"additionalProperties":false},"##,
            r##"{"type":"object","properties":{"op":{"type":"string","const":"of"},"##,
            r##""entry":{"$ref":"#/$defs/Entry","description":"A folder or a file."},"unit":{"type":"string"}},"##,
            r##""required":["op","entry","unit"],"additionalProperties":false}]},"##,
            r##""Entry":ENTRY}}"##,
        ]
        .concat()
        .replace("ENTRY", &ENTRY.replace("REF", "#/$defs/Entry"))
    );
    let text = r#"{"expression":{"left":{"op":"number","value":1},"op":"add","right":{"op":"of","unit":"\u006d","entry":{"name":"","entries":[]}}}}"#;
    let Evaluate { expression: Expression::Add { right: Some(right), .. }, again: None } =
        decode(text).unwrap()
    else {
        panic!("an addition");
    };
    assert!(matches!(*right, Expression::Of { unit: "m", .. }));
}

#[test]
fn deep_recursive_text_is_refused_at_the_depth_limit() {
    let nested = |depth: usize| {
        let open = r#"{"name":"a","entries":["#.repeat(depth);
        open + &"]}".repeat(depth)
    };
    assert!(decode::<Entry>(&nested(64)).is_ok());
    assert!(decode::<Entry>(&nested(65)).unwrap_err().contains("nested too deeply"));
}

/// A chapter, with the books that it quotes.
#[derive(Debug, ToolArguments)]
struct Chapter {
    title: String,
    #[tool(schema = QUOTES)]
    quotes: Vec<Book>,
}

const QUOTES: Node = Node::array(&Node::Any, 0, Some(9));

/// A book, with its chapters.
#[derive(Debug, ToolArguments)]
struct Book {
    chapters: Vec<Chapter>,
}

#[test]
fn types_that_contain_each_other_need_one_schema_by_hand() {
    let chapter = [
        r#"{"type":"object","properties":{"title":{"type":"string"},"quotes":{"type":"array","items":{},"maxItems":9}},"#,
        r#""required":["title","quotes"],"additionalProperties":false}"#,
    ];
    assert_eq!(Chapter::INPUT_SCHEMA, chapter.concat());
    assert!(
        Book::INPUT_SCHEMA.contains(r#"{"chapters":{"type":"array","items":{"type":"object","description":"#)
    );
    let quoting = |title: &str| {
        format!(
            r#"{{"chapters":[{{"title":"a","quotes":[{{"chapters":[{{"title":{title},"quotes":[]}}]}}]}}]}}"#
        )
    };
    let book: Book = decode(&quoting(r#""b""#)).unwrap();
    assert_eq!(book.chapters[0].quotes[0].chapters[0].title, "b");
    let error = decode::<Book>(&quoting("1")).unwrap_err();
    assert_eq!(error, "`chapters[0].quotes[0].chapters[0].title`: expected a string, found 1");
}

#[derive(Debug, PartialEq, ToolArguments)]
#[serde(tag = "kind")]
enum Shape<'a, T, const N: usize> {
    Line { to: T, more: Option<Vec<T>>, label: &'a str },
    Curve { points: heapless::Vec<T, N> },
    Square(Side<T>),
    Nothing,
}

#[derive(Debug, PartialEq, ToolArguments)]
struct Side<T> {
    side: T,
}

#[derive(mcp_proto::Schema, serde::Serialize)]
#[serde(tag = "outcome")]
#[allow(dead_code)]
enum Outcome<T> {
    Done { value: T },
    Failed { reason: String },
}

#[test]
fn tagged_union_may_have_parameters() {
    assert_eq!(
        Shape::<i8, 3>::INPUT_SCHEMA,
        [
            r#"{"type":"object","oneOf":[{"type":"object","properties":{"kind":{"type":"string","const":"Line"},"#,
            r#""to":BYTE,"more":{"type":["array","null"],"items":BYTE},"label":{"type":"string"}},"#,
            r#""required":["kind","to","label"],"additionalProperties":false},"#,
            r#"{"type":"object","properties":{"kind":{"type":"string","const":"Curve"},"#,
            r#""points":{"type":"array","items":BYTE,"maxItems":3}},"#,
            r#""required":["kind","points"],"additionalProperties":false},"#,
            r#"{"type":"object","properties":{"kind":{"type":"string","const":"Square"},"side":BYTE},"#,
            r#""required":["kind","side"],"additionalProperties":false},"#,
            r#"{"type":"object","properties":{"kind":{"type":"string","const":"Nothing"}},"#,
            r#""required":["kind"],"additionalProperties":false}]}"#,
        ]
        .concat()
        .replace("BYTE", r#"{"type":"integer","minimum":-128,"maximum":127}"#)
    );
    let line = decode::<Shape<i8, 3>>(r#"{"kind":"Line","to":5,"label":"a"}"#).unwrap();
    assert_eq!(line, Shape::Line { to: 5, more: None, label: "a" });
    assert_eq!(
        decode::<Shape<i8, 3>>(r#"{"side":5,"kind":"Square"}"#).unwrap(),
        Shape::Square(Side { side: 5 })
    );
    assert!(decode::<Shape<i8, 1>>(r#"{"kind":"Curve","points":[1,2]}"#).is_err());
    let done = r#""outcome":{"type":"string","const":"Done"},"value":{"type":"boolean"}"#;
    assert!(Outcome::<bool>::JSON_SCHEMA.contains(done));
}

#[derive(Debug, PartialEq, ToolArguments)]
struct Route {
    #[tool(schema = Node::string(7, Some(15)))]
    gateway: Option<Ipv4Addr>,
    #[tool(schema = Node::Optional(&Node::string(7, Some(15))), format = "ipv4")]
    other: Option<Ipv4Addr>,
    #[tool(schema = Node::string(7, Some(15)), format = "ipv4")]
    target: std::option::Option<Ipv4Addr>,
    through: Hop,
}

#[derive(Debug, PartialEq, ToolArguments)]
struct Hop(#[tool(schema = Node::string(7, Some(15)))] Option<Ipv4Addr>);

#[test]
fn schema_of_an_option_is_optional() {
    let address = r#"{"type":["string","null"],"minLength":7,"maxLength":15}"#;
    let formatted = r#"{"type":["string","null"],"format":"ipv4","minLength":7,"maxLength":15}"#;
    assert_eq!(
        Route::INPUT_SCHEMA,
        format!(
            r#"{{"type":"object","properties":{{"gateway":{address},"other":{formatted},"target":{formatted},{}"#,
            format_args!(r#""through":{address}}},"additionalProperties":false}}"#)
        )
    );
    let none = Route { gateway: None, other: None, target: None, through: Hop(None) };
    assert_eq!(decode::<Route>("{}").unwrap(), none);
    assert_eq!(decode::<Route>(r#"{"gateway":null,"through":null}"#).unwrap(), none);
    let route = decode::<Route>(r#"{"gateway":"10.0.0.1","through":"10.0.0.2"}"#).unwrap();
    assert_eq!(route.gateway, Some(Ipv4Addr::new(10, 0, 0, 1)));
    assert_eq!(route.through, Hop(Some(Ipv4Addr::new(10, 0, 0, 2))));
}

#[derive(Debug, PartialEq, ToolArguments)]
enum Mode {
    HD,
    #[serde(rename = "standard")]
    SD,
}

impl Mode {
    const USUAL: Mode = Mode::SD;
}

#[derive(Debug, PartialEq, ToolArguments)]
struct Scan {
    #[tool(default = Mode::HD)]
    mode: Mode,
    #[tool(default = self::Mode::USUAL)]
    preview: Mode,
}

#[test]
fn default_may_be_a_variant_in_capitals() {
    let schema = |default| format!(r#"{{"type":"string","enum":["HD","standard"],"default":"{default}"}}"#);
    let members = format!(r#""mode":{},"preview":{}"#, schema("HD"), schema("standard"));
    assert!(Scan::INPUT_SCHEMA.contains(&members));
    assert_eq!(decode::<Scan>("{}").unwrap(), Scan { mode: Mode::HD, preview: Mode::SD });
}
