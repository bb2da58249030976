//! Tests of the serializer, compared with `serde_json`.

use super::*;
use crate::buffer::BufferMut;
use serde::Serialize;
use std::borrow::ToOwned;
use std::collections::BTreeMap;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

fn encoded<T: Serialize>(value: &T) -> Result<String, EncodeError> {
    let mut room = [0; 4096];
    let mut writer = Writer::new(BufferMut::Lent(&mut room), 0, 4096);
    writer.serialize(value)?;
    Ok(String::from_utf8(writer.written().to_vec()).unwrap())
}

#[track_caller]
fn same<T: Serialize>(value: &T) {
    let text = encoded(value).unwrap();
    assert_eq!(text, serde_json::to_string(value).unwrap());
    let mut measure = Writer::measure();
    measure.serialize(value).unwrap();
    assert_eq!(measure.len(), text.len());
    for limit in 0..text.len() {
        let mut room = vec![0; limit];
        let mut writer = Writer::new(BufferMut::Lent(&mut room), 0, limit);
        assert_eq!(writer.serialize(value), Err(EncodeError::TooLong));
        assert!(writer.overflowed());
    }
}

#[derive(Serialize)]
struct Unit;

#[derive(Serialize)]
struct Newtype(u8);

#[derive(Serialize)]
struct Tuple(i8, &'static str);

#[derive(Serialize)]
enum Choice {
    Unit,
    Newtype(i32),
    Tuple(u8, f32),
    Struct { on: bool },
}

#[derive(Serialize)]
struct Nested<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    none: Option<u8>,
    some: Option<u8>,
    choices: Vec<Choice>,
    map: BTreeMap<String, Vec<()>>,
    #[serde(flatten)]
    more: BTreeMap<&'a str, i64>,
}

#[test]
fn encoded_values_equal_the_output_of_serde_json() {
    same(&(0u8, -1i8, u16::MAX, i16::MIN, u32::MAX, i32::MIN, u64::MAX, i64::MIN));
    same(&(u128::MAX, i128::MIN));
    same(&(true, 'x', '"', "a\n\u{1}é", ()));
    same(&(1.0f32, -0.5f32, 0.1f32, 1.5f64, 0.1f64, -0.0f64));
    same(&(f64::NAN, f64::INFINITY, f32::NEG_INFINITY));
    same(&(Unit, Newtype(1), Tuple(-1, "x")));
    same(&vec![Choice::Unit, Choice::Newtype(-1), Choice::Tuple(1, 2.5), Choice::Struct { on: true }]);
    same(&[Some(1), None]);
    same(&Vec::<u8>::new());
    same(&BTreeMap::from([(1u8, "a"), (2, "b")]));
    same(&BTreeMap::from([(-1i64, ())]));
    same(&BTreeMap::from([(true, ())]));
    same(&BTreeMap::from([('x', ())]));
    same(&Nested {
        name: "a\"b",
        none: None,
        some: Some(1),
        choices: vec![Choice::Unit, Choice::Struct { on: false }],
        map: BTreeMap::from([("k\n".to_owned(), vec![(), ()]), (String::new(), vec![])]),
        more: BTreeMap::from([("x", 1)]),
    });
}

#[test]
fn large_floats_are_valid_and_exact() {
    for value in [1e300, -1e-300, f64::MAX, f64::MIN_POSITIVE, 5e-324, 1e16, 123_456_789.125] {
        assert_eq!(encoded(&value).unwrap().parse::<f64>(), Ok(value));
        assert!(crate::json::Json::parse(encoded(&value).unwrap().as_bytes()).unwrap().number().is_some());
    }
}

#[test]
fn value_without_json_form_is_rolled_back() {
    struct Refuses;
    impl Serialize for Refuses {
        fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
            Err(ser::Error::custom("not today"))
        }
    }
    /// A type whose `Serialize` calls methods in an invalid order.
    struct Odd;
    impl Serialize for Odd {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use ser::SerializeMap as _;
            let mut map = serializer.serialize_map(None)?;
            map.serialize_value(&1)?;
            map.end()
        }
    }
    let mut room = [0; 64];
    let mut writer = Writer::new(BufferMut::Lent(&mut room), 0, 64);
    writer.begin_array();
    writer.integer(1);
    assert_eq!(writer.serialize(&("x", Refuses)), Err(EncodeError::Invalid));
    assert_eq!(writer.serialize(&Odd), Err(EncodeError::Invalid));
    assert_eq!(writer.serialize(&BTreeMap::from([(vec![1], 2)])), Err(EncodeError::Invalid));
    assert_eq!(writer.serialize(&BTreeMap::from([(None::<u8>, 2)])), Err(EncodeError::Invalid));
    writer.serialize(&2).unwrap();
    writer.end_array();
    assert_eq!(writer.written(), b"[1,2]");
    assert_eq!(EncodeError::Invalid.to_string(), "the value has no JSON form");
}

#[test]
fn raw_numbers_and_raw_json_are_written_verbatim() {
    let text = r#"{"a":[-1.50e+300,123456789012345678901234567890],"b":0.10}"#;
    let value: serde_json::Value = serde_json::from_str(text).unwrap();
    let mut room = [0; 128];
    let mut writer = Writer::new(BufferMut::Lent(&mut room), 0, 128);
    writer.serialize(&value).unwrap();
    assert_eq!(writer.written(), text.as_bytes());

    /// A type that serializes like `RawValue` of `serde_json`.
    struct Raw(&'static str);
    impl Serialize for Raw {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            use ser::SerializeStruct as _;
            let mut raw = serializer.serialize_struct("$serde_json::private::RawValue", 1)?;
            raw.serialize_field("$serde_json::private::RawValue", self.0)?;
            raw.end()
        }
    }
    let mut writer = Writer::new(BufferMut::Lent(&mut room), 0, 128);
    writer.serialize(&[Raw(r#"{"z": 1}"#), Raw("\"\"")]).unwrap();
    assert_eq!(writer.serialize(&Raw("no json")), Err(EncodeError::Invalid));
    assert_eq!(writer.written(), br#"[{"z": 1},""]"#);
}
