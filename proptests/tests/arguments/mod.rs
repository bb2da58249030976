//! Derived arguments: the decoder accepts exactly what a JSON Schema validator accepts.

mod near;
mod results;
mod types;

use crate::config;
use crate::json_core::{Difference, their_value};
use jsonschema::Validator;
use mcp_proto::ToolArguments;
use mcp_proto::json::{Json, decode_in_place};
use mcp_proto::schema::check as check_schema;
use near::near;
use proptest::prelude::*;
use serde_json::{Value, json};
use types::*;

/// A decoder that returns its value as text.
type Decode = fn(&str) -> Result<String, String>;

/// Checks one type. Some generated values must be accepted, and some rejected.
fn agrees(schema_text: &str, decodes: [Decode; 2], without_heap: fn(&[u8]) -> Option<String>) {
    let schema: Value = serde_json::from_str(schema_text).unwrap();
    assert_eq!(schema["type"], "object");
    assert!(jsonschema::meta::is_valid(&schema), "{schema_text}");
    let validator: Validator = jsonschema::draft202012::new(&schema).unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(config(2000));
    let seen = std::cell::Cell::new((0, 0));
    let check = |value: Value| {
        let text = value.to_string();
        let valid = validator.is_valid(&value);
        let [decoded, theirs] = decodes.map(|decode| decode(&text));
        let (good, bad) = seen.get();
        seen.set(if valid { (good + 1, bad) } else { (good, bad + 1) });
        prop_assert_eq!(decoded.is_ok(), valid, "{}\n{:?}\n{}", text, decoded, schema_text);
        let checked = check_schema(view(schema_text), view(&text));
        let is_equal = checked.is_ok() == valid || (checked.is_ok() && beyond_64_bits(&text));
        prop_assert!(is_equal, "{}\n{:?}\n{}", text, checked, schema_text);
        // `serde_json` accepts the same texts for these types, with the same values, except for the differences below.
        match (&decoded, &theirs) {
            // `serde_json` reads an integer beyond 64 bits as a float, so its `Decimal` has fewer digits.
            (Ok(_), Ok(_)) if beyond_64_bits(&text) && schema_text.contains("decimal") => {}
            (Ok(decoded), Ok(theirs)) => prop_assert_eq!(decoded, theirs),
            (Err(why), Ok(theirs)) => prop_assert!(false, "{}\n{}\n{}", text, why, theirs),
            // The differences `WholeFraction`, `MinusZero`, `BorrowedEscape` and `TagAnywhere`, which
            // `mcp_proto_proptests::differences` describes.
            (Ok(_), Err(why)) => {
                let excused = text.contains(['.', 'e', 'E'])
                    || text.contains("-0")
                    || text.contains('\\')
                    || schema_text.contains("oneOf");
                prop_assert!(excused, "{}\n{}", text, why);
            }
            (Err(_), Err(_)) => {}
        }
        // If a third decoder, `serde-json-core`, accepts a text, it reads the same value, except for the differences
        // that `json_core` lists.
        let (ours, third) = (decoded.ok(), without_heap(text.as_bytes()));
        let listed = Difference::of_text(text.as_bytes(), ours.as_deref(), third.as_deref()).is_some();
        prop_assert!(third.is_none() || third == ours || listed, "{}\n{:?}\n{:?}", text, ours, third);
        Ok(())
    };
    runner.run(&near(&schema), check).unwrap();
    let (good, bad) = seen.get();
    assert!(good > 20 && bad > 20, "{good} valid and {bad} invalid values: {schema_text}");
}

fn view(text: &str) -> Json<'_> {
    Json::parse(text.as_bytes()).unwrap()
}

/// Returns whether the text contains a run of digits that is an integer beyond the ranges of `i64` and `u64`.
fn beyond_64_bits(text: &str) -> bool {
    let is_beyond =
        |digits: &str| digits.len() > 18 && digits.parse::<i64>().is_err() && digits.parse::<u64>().is_err();
    text.split(|it: char| !it.is_ascii_digit() && it != '-').any(is_beyond)
}

/// Replaces `serde-json-core` for types with maps, because `serde-json-core` panics if the names of a map are owned.
fn no_value<T: std::fmt::Debug>(_: &[u8]) -> Option<String> {
    None::<T>.map(|value| format!("{value:?}"))
}

macro_rules! agree {
    ($third:ident: $($name:ident: $type:ty,)*) => {$(
        #[test]
        fn $name() {
            let ours = |text: &str| {
                let mut text = text.to_owned().into_bytes();
                decode_in_place::<$type>(&mut text).map(|it| format!("{it:?}")).map_err(|error| error.to_string())
            };
            // `serde_json` does not decode in place, so it borrows only strings without escapes.
            let theirs = |text: &str| {
                serde_json::from_str::<$type>(text).map(|it| format!("{it:?}")).map_err(|error| error.to_string())
            };
            agrees(<$type>::INPUT_SCHEMA, [ours, theirs], |text| $third::<$type>(text));
        }
    )*};
}

agree! {
    their_value:
    everything_is_accepted_as_the_schema_says: Everything<'_>,
    limits_are_those_of_the_schema: Limits<'_>,
    defaults_may_be_left_out: Defaults<'_>,
    default_of_the_struct_applies_to_every_field: Whole,
    allowed_unknown_members_are_ignored: Open,
    tag_selects_the_variant: Draw<'_>,
    objects_with_a_tag_may_be_open: OpenDraw,
    nothing_is_an_empty_object: Nothing,
    foreign_types_use_the_declared_schema: Foreign,
    names_do_not_clash: clashes::Clashes,
    serialize_attributes_have_no_effect: Texts<'_, '_>,
    generic_types_are_accepted_with_their_parameters: Page<Place>,
}

agree! {
    no_value:
    maps_have_names_and_values_of_one_type: Maps,
    types_of_the_standard_library_have_schemas: Standard<'_>,
    recursive_types_are_accepted_at_every_depth: Tree<'_>,
    definitions_are_accepted_where_they_are_used: Forest<'_>,
}

#[test]
fn omitted_fields_take_their_defaults() {
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
fn whole_numbers_in_any_notation_are_integers() {
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

#[test]
fn schema_names_are_the_names_for_decoding() {
    let mut text = br#"{"FirstOne":"a","second":["b"],"Third":{"level":"LOW","some-text":"c"}}"#.to_vec();
    let texts: Texts<'_, '_> = decode_in_place(&mut text).unwrap();
    assert_eq!((texts.first_one, texts.second), (Some("a"), ["b"]));
    assert_eq!(serde_json::to_value(&texts).unwrap(), json!({"FIRST_ONE": "a", "2": "b"}));
    let schema: Value = serde_json::from_str(Texts::INPUT_SCHEMA).unwrap();
    assert_eq!(schema["properties"]["second"]["description"], "The other.");
    assert_eq!(Texts::DESCRIPTION, Some("Two texts."));
}

#[test]
fn serde_json_agrees_if_the_tag_is_first() {
    let text = r#"{"kind":"text","AT-X":3,"TEXT":"a"}"#;
    assert!(matches!(serde_json::from_str::<Draw<'_>>(text), Ok(Draw::Text { at_x: 3, text: "a" })));
    assert!(serde_json::from_str::<Draw<'_>>(r#"{"x":1,"kind":"at"}"#).is_err());
    assert!(serde_json::from_str::<Place>(r#"{"x":1,"y":null}"#).is_ok());
    assert!(serde_json::from_str::<Place>("[1,2]").is_err());
    assert!(serde_json::from_str::<Place>(r#"{"x":1,"z":1}"#).is_err());
}
