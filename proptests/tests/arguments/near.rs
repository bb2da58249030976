//! Strategies for values that match a schema or nearly match it.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

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

/// Generates values. Most of them match the schema or nearly match it.
pub(crate) fn near(schema: &Value) -> BoxedStrategy<Value> {
    near_at(schema, Scope { root: schema, depth: 3 })
}

/// The root of a schema, and the limit for its references.
#[derive(Clone, Copy)]
struct Scope<'s> {
    root: &'s Value,
    /// The number of references that may still be followed.
    depth: u32,
}

fn near_at(schema: &Value, scope: Scope<'_>) -> BoxedStrategy<Value> {
    let fits = fitting(schema, scope);
    prop_oneof![30 => fits, 1 => anything(), 1 => Just(Value::Null)].boxed()
}

fn fitting(schema: &Value, scope: Scope<'_>) -> BoxedStrategy<Value> {
    let near = |schema: &Value| near_at(schema, scope);
    if let Some(reference) = schema["$ref"].as_str() {
        let Some(depth) = scope.depth.checked_sub(1) else { return anything().boxed() };
        let target = scope.root.pointer(reference.strip_prefix('#').unwrap()).unwrap();
        return near_at(target, Scope { depth, ..scope });
    }
    if let Some(variants) = schema["anyOf"].as_array() {
        return proptest::strategy::Union::new(variants.iter().map(near)).boxed();
    }
    if schema.get("type").is_none() && schema.get("oneOf").is_none() && schema.get("const").is_none() {
        return anything().boxed();
    }
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
        "array" if schema.get("prefixItems").is_some() => {
            let elements: Vec<_> = schema["prefixItems"].as_array().unwrap().iter().map(near).collect();
            let less = elements[1..].to_vec();
            prop_oneof![15 => elements, 1 => less].prop_map(Value::from).boxed()
        }
        "array" => {
            let fewest = least("minItems");
            let most = schema["maxItems"].as_u64().map_or(fewest + 2, |it| it as usize);
            let items = near(&schema["items"]);
            let good = prop::collection::vec(items.clone(), fewest..=most);
            prop_oneof![15 => good, 1 => prop::collection::vec(items, 0..4)].prop_map(Value::from).boxed()
        }
        _ if schema["additionalProperties"].is_object() => map(schema, scope),
        _ => members(schema, scope),
    }
}

/// Generates objects with member names from `propertyNames`, or from `STRINGS` if the schema has no `propertyNames`.
fn map(schema: &Value, scope: Scope<'_>) -> BoxedStrategy<Value> {
    let names = match schema.get("propertyNames") {
        Some(names) => near_at(names, scope),
        None => select(&STRINGS[..]).prop_map(Value::from).boxed(),
    };
    let members = prop::collection::vec((names, near_at(&schema["additionalProperties"], scope)), 0..4);
    let name = |name: Value| name.as_str().map_or_else(|| name.to_string(), str::to_owned);
    members
        .prop_map(move |members| members.into_iter().map(|(key, value)| (name(key), value)).collect())
        .boxed()
}

fn members(schema: &Value, scope: Scope<'_>) -> BoxedStrategy<Value> {
    let properties = schema["properties"].as_object().unwrap();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    let each: Vec<_> = properties
        .iter()
        .map(|(name, property)| {
            let there = if required.contains(&json!(name)) { 0.985 } else { 0.5 };
            let name = name.clone();
            prop::option::weighted(
                there,
                near_at(property, scope).prop_map(move |value| (name.clone(), value)),
            )
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

/// Reverses the members of some generated objects, to show that the order of members has no effect.
trait ShuffleMembers: Strategy<Value = Value> + Sized {
    fn prop_shuffle_members(self) -> impl Strategy<Value = Value> {
        (self, any::<bool>()).prop_map(|(value, turned)| match value {
            Value::Object(members) if turned => Value::Object(members.into_iter().rev().collect()),
            value => value,
        })
    }
}

impl<S: Strategy<Value = Value>> ShuffleMembers for S {}
