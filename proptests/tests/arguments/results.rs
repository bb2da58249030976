//! Derived schemas of results: serialized values are valid.

use std::collections::BTreeMap;

use mcp_proto::Schema;
use proptest::prelude::*;
use serde::Serialize;
use serde_json::Value;

use crate::config;

/// A result with fields of almost every kind.
#[derive(Debug, Clone, Schema, Serialize)]
#[serde(rename_all = "SCREAMING-KEBAB-CASE", default)]
struct Everything {
    #[serde(rename(deserialize = "other"))]
    small_one: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    wide: Option<i128>,
    ratio: Option<f32>,
    letter: char,
    #[serde(rename(serialize = "the text"), alias = "text", default)]
    text: String,
    speeds: BTreeMap<Speed, [bool; 2]>,
    #[serde(skip_serializing)]
    #[allow(dead_code)]
    hidden: u64,
    #[serde(skip_deserializing)]
    shapes: Vec<Shape>,
    #[serde(serialize_with = "as_text")]
    #[tool(schema = mcp_proto::schema::Node::string(1, Some(3)))]
    number: u8,
    children: Vec<Everything>,
}

fn as_text<S: serde::Serializer>(number: &u8, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(number)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Schema, Serialize)]
#[serde(rename_all(serialize = "kebab-case", deserialize = "UPPERCASE"))]
enum Speed {
    VerySlow,
    #[serde(rename(serialize = "Fast!"))]
    Fast,
}

#[derive(Debug, Clone, Schema, Serialize)]
#[serde(tag = "shape", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum Shape {
    Dot,
    Circle { radius_of_it: f64 },
    Square(Square<i8>),
}

#[derive(Debug, Clone, Schema, Serialize)]
struct Square<T> {
    corner: [T; 2],
    size: Size,
}

#[derive(Debug, Clone, Schema, Serialize)]
struct Size(u16);

fn shape() -> impl Strategy<Value = Shape> {
    prop_oneof![
        Just(Shape::Dot),
        (-1e9..1e9).prop_map(|radius_of_it| Shape::Circle { radius_of_it }),
        any::<([i8; 2], u16)>().prop_map(|(corner, size)| Shape::Square(Square { corner, size: Size(size) })),
    ]
}

fn everything() -> impl Strategy<Value = Everything> {
    let speeds = prop::collection::btree_map(
        prop_oneof![Just(Speed::VerySlow), Just(Speed::Fast)],
        any::<[bool; 2]>(),
        0..3,
    );
    let numbers = (any::<u8>(), any::<Option<i128>>(), prop::option::of(-1e9f32..1e9), any::<u8>());
    let leaf = (numbers, any::<(char, String)>(), speeds, prop::collection::vec(shape(), 0..3)).prop_map(
        |((small_one, wide, ratio, number), (letter, text), speeds, shapes)| Everything {
            small_one,
            wide,
            ratio,
            letter,
            text,
            speeds,
            hidden: 0,
            shapes,
            number,
            children: vec![],
        },
    );
    leaf.prop_recursive(3, 8, 3, |inner| {
        (inner.clone(), prop::collection::vec(inner, 0..3))
            .prop_map(|(whole, children)| Everything { children, ..whole })
    })
}

#[test]
fn serialized_results_are_valid_for_their_schema() {
    let schema: Value = serde_json::from_str(Everything::JSON_SCHEMA).unwrap();
    assert!(jsonschema::meta::is_valid(&schema), "{schema}");
    let validator = jsonschema::draft202012::new(&schema).unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(config(512));
    runner
        .run(&everything(), |value| {
            let text = mcp_proto::json::to_string(&value).unwrap();
            let written: Value = serde_json::from_str(&text).unwrap();
            prop_assert!(validator.is_valid(&written), "{}\n{}", text, Everything::JSON_SCHEMA);
            // These members are required. The attribute `default` of the type concerns only deserialization.
            for name in ["SMALL-ONE", "the text", "SPEEDS", "NUMBER", "CHILDREN"] {
                let mut less = written.clone();
                less.as_object_mut().unwrap().remove(name).unwrap();
                prop_assert!(!validator.is_valid(&less), "{}", name);
            }
            Ok(())
        })
        .unwrap();
}
