//! Compares the decoder and the encoder of types with `serde_json`.
//!
//! Only the differences in `mcp_proto_proptests::differences` are allowed.

mod types;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Debug;

use mcp_proto::Decimal;
use mcp_proto::json::{Json, decode_in_place, to_string};
use mcp_proto_proptests::differences::Difference;
use proptest::prelude::*;
use proptest::sample::Index;
use serde::de::DeserializeOwned;
use serde::{Serialize, Serializer};
use serde_json::{Number, Value, json};
use types::*;

fn ours<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    Json::parse(text.as_bytes()).map_err(|error| error.to_string())?;
    decode_in_place(&mut text.to_owned().into_bytes()).map_err(|error| error.to_string())
}

/// Returns whether two values are equal. Numbers are equal if they are the same decimal, or round to the same finite
/// `f32`.
fn is_same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::Number(ours), Value::Number(theirs)) => {
            ours == theirs
                || {
                    let [ours, theirs] = [ours, theirs].map(|number| Decimal::parse(number.as_str()));
                    ours.is_some() && ours == theirs
                }
                || {
                    let [ours, theirs] = [ours, theirs].map(|number| number.as_str().parse::<f32>().ok());
                    ours.is_some_and(f32::is_finite) && ours == theirs
                }
        }
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(ours, theirs)| is_same(ours, theirs))
        }
        (Value::Object(ours), Value::Object(theirs)) => {
            ours.len() == theirs.len()
                && ours
                    .iter()
                    .all(|(name, ours)| theirs.get(name).is_some_and(|theirs| is_same(ours, theirs)))
        }
        _ => ours == theirs,
    }
}

/// Writes a value with both libraries. Checks that both texts have the same value, that `mcp-proto` reads both texts,
/// and that `serde_json` reads the text of `mcp-proto`. Returns the text of `serde_json`.
fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(
    value: &T,
) -> Result<String, TestCaseError> {
    let ours_text = to_string(value).unwrap();
    let theirs_text = serde_json::to_string(value).unwrap();
    let [ours_value, theirs_value]: [Value; 2] =
        [&ours_text, &theirs_text].map(|text| serde_json::from_str(text).unwrap());
    prop_assert!(is_same(&ours_value, &theirs_value), "{} is not {}", ours_text, theirs_text);
    for text in [&ours_text, &theirs_text] {
        let read = ours::<T>(text);
        prop_assert_eq!(read.as_ref(), Ok(value), "{}", text);
    }
    prop_assert_eq!(&serde_json::from_str::<T>(&ours_text).unwrap(), value, "{}", ours_text);
    Ok(theirs_text)
}

/// Checks that both libraries decode to the same value, or both fail, except for intended differences.
fn agree<T: DeserializeOwned + Debug>(text: &str) -> Result<(), TestCaseError> {
    let theirs = serde_json::from_str::<T>(text);
    let ours = ours::<T>(text);
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => prop_assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{}", text),
        (Err(_), Err(_)) => {}
        (Err(why), Ok(theirs)) => {
            // The only allowed difference here is `Difference::StructFromArray`.
            prop_assert!(why.contains("expected an object, found ["), "{}\n{}\n{:?}", text, why, theirs);
        }
        (Ok(ours), Err(why)) => {
            // The only allowed difference here is `Difference::BufferedFraction`.
            let has_fraction = text.contains("0.5") || text.contains("1e");
            prop_assert!(has_fraction, "{}\n{:?}\n{}", text, ours, why);
        }
    }
    Ok(())
}

/// A change of a value.
#[derive(Debug, Clone)]
enum Change {
    Put(Index, Value),
    Remove(Index),
    Rename(Index, String),
    Add(Index, String, Value),
    Twice(Index),
}

fn change() -> impl Strategy<Value = Change> {
    let number = |text: &str| Value::Number(text.parse::<Number>().expect("a number"));
    let values = vec![
        json!(null),
        json!(true),
        json!(0),
        json!(-1),
        json!(256),
        json!(""),
        json!("x"),
        json!("Nothing"),
        json!("NOTHING"),
        json!("dark-red"),
        json!("grün"),
        json!([]),
        json!([1]),
        json!([true, null]),
        json!({}),
        json!({ "Nothing": null }),
        json!({ "Number": 1 }),
        json!({ "Two": [1, true] }),
        json!({ "Two": [1, true, 1] }),
        json!({ "Two": [1] }),
        json!({ "Empty": [] }),
        json!({ "on": true, "level": 1 }),
        json!({ "type": "NOTHING" }),
        json!({ "c": { "On": true }, "t": "Named" }),
        json!({ "c": null, "t": "Nothing" }),
        number("0.5"),
        number("1e2"),
        number("18446744073709551616"),
        number("-9223372036854775809"),
        number("340282366920938463463374607431768211456"),
    ];
    let value = || prop::sample::select(values.clone());
    let names = [
        "on", "level", "type", "t", "c", "2nd", "second", "zweites", "firstOne", "own", "seven", "x",
        "Nothing", "7",
    ];
    let name = move || prop::sample::select(names.to_vec()).prop_map(str::to_owned);
    prop_oneof![
        3 => (any::<Index>(), value()).prop_map(|(at, value)| Change::Put(at, value)),
        1 => any::<Index>().prop_map(Change::Remove),
        1 => (any::<Index>(), name()).prop_map(|(at, name)| Change::Rename(at, name)),
        1 => (any::<Index>(), name(), value()).prop_map(|(at, name, value)| Change::Add(at, name, value)),
        1 => any::<Index>().prop_map(Change::Twice),
    ]
}

/// Counts a value and all values inside it.
fn places(value: &mut Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter_mut().map(places).sum(),
        Value::Object(members) => members.values_mut().map(places).sum(),
        _ => 0,
    }
}

fn place(value: &mut Value, at: usize) -> Option<&mut Value> {
    if at == 0 {
        return Some(value);
    }
    let mut left = at - 1;
    let inner: Vec<&mut Value> = match value {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(members) => members.values_mut().collect(),
        _ => vec![],
    };
    for value in inner {
        let count = places(value);
        if left < count {
            return place(value, left);
        }
        left -= count;
    }
    None
}

/// Returns the text of the changed value.
fn changed(text: &str, changes: &[Change]) -> String {
    let mut value: Value = serde_json::from_str(text).unwrap();
    let mut twice = None;
    for change in changes {
        let count = places(&mut value);
        let (Change::Put(at, _)
        | Change::Remove(at)
        | Change::Rename(at, _)
        | Change::Add(at, ..)
        | Change::Twice(at)) = change;
        let found = place(&mut value, at.index(count)).expect("it is there");
        match (change, found) {
            (Change::Put(_, new), found) => *found = new.clone(),
            (Change::Remove(_), Value::Object(members)) => drop(members.pop_first()),
            (Change::Remove(_), Value::Array(items)) => drop(items.pop()),
            (Change::Rename(_, name), Value::Object(members)) => {
                if let Some((_, value)) = members.pop_first() {
                    members.insert(name.clone(), value);
                }
            }
            (Change::Add(_, name, value), Value::Object(members)) => {
                drop(members.insert(name.clone(), value.clone()))
            }
            (Change::Add(_, _, value), Value::Array(items)) => items.push(value.clone()),
            (Change::Twice(_), Value::Object(members)) => {
                twice =
                    members.iter().next().map(|(name, value)| (json!(name).to_string(), value.to_string()));
            }
            _ => {}
        }
    }
    let text = value.to_string();
    match twice {
        Some((name, value)) => {
            text.replacen(&format!("{name}:{value}"), &format!("{name}:{value},{name}:{value}"), 1)
        }
        None => text,
    }
}

trait PopFirst {
    fn pop_first(&mut self) -> Option<(String, Value)>;
}

impl PopFirst for serde_json::Map<String, Value> {
    fn pop_first(&mut self) -> Option<(String, Value)> {
        let name = self.keys().next()?.clone();
        self.remove_entry(&name)
    }
}

macro_rules! round_trips {
    ($($name:ident: $type:ty = $strategy:expr;)*) => {$(
        proptest! {
            #![proptest_config(crate::config(600))]

            #[test]
            fn $name(value in $strategy, changes in prop::collection::vec(change(), 1..3)) {
                let text = round_trip::<$type>(&value)?;
                agree::<$type>(&changed(&text, &changes))?;
            }
        }
    )*};
}

round_trips! {
    numbers_of_every_size: Numbers = numbers();
    types_of_every_shape: Shapes = shapes();
    variants_as_a_member: External = external();
    variants_with_a_tag: Internal = internal();
    variants_with_tag_and_content: Adjacent = adjacent();
    variants_without_a_tag: Untagged = untagged();
    variants_that_take_nothing_else: Closed = closed();
    variants_of_tuples: Tuples = tuples();
    structs_with_other_names: Inner = inner();
    structs_inside_of_structs: Flat = flat();
    bytes: Bytes = prop::collection::vec(any::<u8>(), 0..20).prop_map(Bytes);
    options_of_options: Vec<Option<(Option<Unit>, [f64; 1])>> = prop::collection::vec(
        prop::option::of((Just(None), any::<f64>().prop_map(|value| [value]))), 0..4);
}

proptest! {
    #[test]
    fn borrowed_strings_match_serde_json(text in any::<String>(), other in any::<String>()) {
        let value = Borrowed {
            text: &text,
            cow: Cow::Borrowed(&other),
            maybe: Some(&other),
            list: vec![&text, "", &text],
            names: BTreeMap::from([(text.as_str(), other.as_str()), (other.as_str(), "\n")]),
        };
        let mut written = to_string(&value).unwrap().into_bytes();
        prop_assert_eq!(serde_json::from_slice::<Value>(&written).unwrap(), serde_json::to_value(&value).unwrap());
        prop_assert_eq!(decode_in_place::<Borrowed<'_>>(&mut written).unwrap(), value);
    }

    /// Checks that a `Value` is written unchanged, and that any float has the same value as in `serde_json`.
    #[test]
    fn untyped_values_match_serde_json(bits in any::<u64>(), text in any::<String>(), integer in any::<i64>()) {
        let float = f64::from_bits(bits);
        let value = json!({ "text": text, "list": [integer, null, { text.clone(): integer }], "float": 1 });
        prop_assert_eq!(&serde_json::from_str::<Value>(&to_string(&value).unwrap()).unwrap(), &value);
        let floats = to_string(&(float, float as f32)).unwrap();
        let expected = serde_json::to_string(&(float, float as f32)).unwrap();
        let read = |text: &str| serde_json::from_str::<(Option<f64>, Option<f32>)>(text).unwrap();
        prop_assert_eq!(read(&floats), read(&expected));
    }
}

/// Returns an object with one member, whose name may have any type.
fn named<K: Serialize>(key: K) -> impl Serialize {
    struct Named<K>(K);
    impl<K: Serialize> Serialize for Named<K> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map([(&self.0, 1)])
        }
    }
    Named(key)
}

#[test]
fn member_names_are_written_as_serde_json_does() {
    #[derive(Serialize)]
    enum Key {
        Unit,
        Newtype(u8),
        Tuple(u8, u8),
        Struct {},
    }
    #[track_caller]
    fn check(key: impl Serialize) {
        let key = named(key);
        let theirs = serde_json::to_string(&key).ok();
        assert_eq!(to_string(&key).ok(), theirs);
    }
    check(1u8);
    check(i128::MIN);
    check(u128::MAX);
    check(true);
    check('"');
    check("a\"\n\u{7}é");
    check(1.5f64);
    check(-0.25f32);
    check(f64::NAN);
    check(f32::INFINITY);
    check(());
    check(None::<u8>);
    check(Some(1u8));
    check(Some("a"));
    check([1]);
    check((1,));
    check(Unit);
    check(BTreeMap::from([(1, 1)]));
    check(Bytes(vec![1]));
    check(Key::Unit);
    check(Key::Newtype(1));
    check(Key::Tuple(1, 1));
    check(Key::Struct {});
    check(Cow::Borrowed("a"));
    check(std::net::Ipv4Addr::LOCALHOST);
}

#[test]
fn member_names_are_read_as_serde_json_does() {
    #[track_caller]
    fn check<K: DeserializeOwned + Ord + Debug>(name: &str) {
        agree::<BTreeMap<K, u8>>(&format!("{{\"{name}\":1}}")).unwrap();
    }
    let names = [
        "",
        "0",
        "1",
        "-1",
        "255",
        "256",
        "-129",
        "01",
        "1 ",
        " 1",
        "+1",
        "1.0",
        "1.5",
        "1e2",
        "true",
        "false",
        "null",
        "x",
        "xy",
        "NaN",
        "18446744073709551615",
        "18446744073709551616",
        "-9223372036854775809",
        "[]",
        "\\\"",
        "dark-red",
        "grün",
        "é",
        "340282366920938463463374607431768211455",
    ];
    for name in names {
        check::<u8>(name);
        check::<i8>(name);
        check::<u64>(name);
        check::<i64>(name);
        check::<u128>(name);
        check::<i128>(name);
        // serde_json 1.0.154 panics when it decodes a name that begins with a non-ASCII character as a `bool`.
        if name.is_ascii() {
            check::<bool>(name);
        }
        check::<char>(name);
        check::<String>(name);
        check::<Color>(name);
        check::<()>(name);
        check::<Option<u8>>(name);
        check::<(u8,)>(name);
        check::<Vec<u8>>(name);
    }
}

#[test]
fn custom_errors_of_a_type_are_errors_in_both() {
    struct Refuses;
    impl Serialize for Refuses {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }
    assert!(to_string(&[Refuses]).is_err() && serde_json::to_string(&[Refuses]).is_err());
    for text in ["0", "\"x\"", "-5"] {
        agree::<std::num::NonZeroU8>(text).unwrap();
        agree::<std::net::Ipv4Addr>(text).unwrap();
    }
    agree::<std::net::Ipv4Addr>("\"127.0.0.1\"").unwrap();
    agree::<std::time::Duration>(r#"{"secs":1,"nanos":5}"#).unwrap();
    agree::<Result<u8, String>>(r#"{"Err":"x"}"#).unwrap();
    agree::<std::ops::Range<i8>>(r#"{"start":1,"end":5}"#).unwrap();
    // Every exception in this file is a listed difference.
    assert!(Difference::ALL.contains(&Difference::StructFromArray));
    assert!(Difference::ALL.contains(&Difference::BufferedFraction));
}
