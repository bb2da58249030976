//! Tests of the decoder: types, bounds and error texts.

use super::*;
use serde::Deserialize;
use std::borrow::ToOwned;
use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

#[track_caller]
fn decoded<T: for<'a> Deserialize<'a>>(text: &str) -> Result<T, String> {
    let mut text = text.as_bytes().to_vec();
    decode_in_place(&mut text).map_err(|error| error.to_string())
}

#[derive(Debug, PartialEq, Deserialize)]
struct Motor {
    speed: u8,
    on: Option<bool>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Robot {
    motor: Vec<Motor>,
    names: BTreeMap<String, i8>,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Choice {
    Unit,
    Newtype(i32),
    Tuple(u8, char),
    Struct { on: bool },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Inside {
    Led { level: u8 },
    Text { text: String, ratio: Option<f64> },
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "kind", content = "value")]
enum Beside {
    Led(u8),
    Off,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(untagged)]
enum Either {
    Number(i64),
    Fraction(f64),
    Text(String),
    List(Vec<Either>),
    Nothing(()),
}

#[test]
fn escaped_text_is_borrowed() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Borrowed<'a> {
        text: &'a str,
        #[serde(borrow)]
        more: BTreeMap<&'a str, &'a [u8]>,
    }
    let mut text = br#"{"te\u0078t":"\ud83d\ude00\n","more":{"a\tb":"\u00e9"}}"#.to_vec();
    let borrowed: Borrowed<'_> = decode_in_place(&mut text).unwrap();
    assert_eq!(borrowed, Borrowed { text: "😀\n", more: BTreeMap::from([("a\tb", "é".as_bytes())]) });
}

#[test]
fn enums_of_every_form_are_decoded() {
    assert_eq!(decoded("\"Unit\""), Ok(Choice::Unit));
    assert_eq!(decoded("{\"Unit\":null}"), Ok(Choice::Unit));
    assert_eq!(decoded("{ \"Newtype\" : -7 }"), Ok(Choice::Newtype(-7)));
    assert_eq!(decoded("{\"Tu\\u0070le\":[1,\"x\"]}"), Ok(Choice::Tuple(1, 'x')));
    assert_eq!(decoded("{\"Struct\":{\"on\":true}}"), Ok(Choice::Struct { on: true }));
    assert_eq!(decoded("{\"level\":3,\"kind\":\"led\"}"), Ok(Inside::Led { level: 3 }));
    let text = Inside::Text { text: "a\nb".to_owned(), ratio: Some(0.5) };
    assert_eq!(decoded("{\"kind\":\"text\",\"text\":\"a\\nb\",\"ratio\":0.5,\"x\":[{}]}"), Ok(text));
    assert_eq!(decoded("{\"value\":3,\"kind\":\"Led\"}"), Ok(Beside::Led(3)));
    assert_eq!(decoded("{\"kind\":\"Off\"}"), Ok(Beside::Off));
    assert_eq!(
        decoded("[1,0.5,\"x\",null,[],18446744073709551615]"),
        Ok(Either::List(std::vec![
            Either::Number(1),
            Either::Fraction(0.5),
            Either::Text("x".to_owned()),
            Either::Nothing(()),
            Either::List(std::vec![]),
            Either::Fraction(18_446_744_073_709_551_615.0),
        ]))
    );
}

#[test]
fn numbers_at_their_bounds_are_decoded() {
    assert_eq!(decoded::<u8>("255"), Ok(255));
    assert_eq!(decoded::<i64>("-9223372036854775808"), Ok(i64::MIN));
    assert_eq!(decoded::<u64>("18446744073709551615"), Ok(u64::MAX));
    assert_eq!(decoded::<u128>("340282366920938463463374607431768211455"), Ok(u128::MAX));
    assert_eq!(decoded::<i128>("-170141183460469231731687303715884105728"), Ok(i128::MIN));
    assert_eq!(decoded::<i32>("-0"), Ok(0));
    assert_eq!(decoded::<u32>("-0"), Ok(0));
    assert_eq!(decoded::<u128>("-0"), Ok(0));
    assert_eq!(decoded::<f64>("0.1"), Ok(0.1));
    assert_eq!(decoded::<f32>("0.1"), Ok(0.1));
    assert_eq!(decoded::<f64>("7"), Ok(7.0));
    assert_eq!(decoded::<f64>("1e308"), Ok(1e308));
    assert_eq!(decoded::<f64>("-0").map(f64::is_sign_negative), Ok(true));
    assert_eq!(
        decoded::<BTreeMap<u8, bool>>("{\"7\":true,\"\\u0038\":false}"),
        Ok(BTreeMap::from([(7, true), (8, false)]))
    );
    assert_eq!(decoded::<BTreeMap<bool, ()>>("{\"true\":null}"), Ok(BTreeMap::from([(true, ())])));
}

#[test]
fn error_names_path_and_reason() {
    fn error<T: for<'a> Deserialize<'a>>(text: &str) -> String {
        decoded::<T>(text).err().unwrap()
    }
    for (text, message) in [
        (
            r#"{"motor":[{"speed":1},{"speed":2},{"speed":"x"}]}"#,
            "`motor[2].speed`: expected an integer from 0 to 255, found \"x\"",
        ),
        (r#"{"motor":[{"speed":300}]}"#, "`motor[0].speed`: expected an integer from 0 to 255, found 300"),
        (r#"{"motor":[{"speed":-3}]}"#, "`motor[0].speed`: expected an integer from 0 to 255, found -3"),
        (r#"{"motor":[{"speed":1.0}]}"#, "`motor[0].speed`: expected an integer from 0 to 255, found 1.0"),
        (r#"{"motor":[{"on":null}]}"#, "`motor[0]`: missing field `speed`"),
        (r#"{"motor":[{"speed":1,"on":[]}]}"#, "`motor[0].on`: expected a boolean, found []"),
        (
            r#"{"motor":[],"names":{"a b":128}}"#,
            "`names.a b`: expected an integer from -128 to 127, found 128",
        ),
        (r#"{"motor":{}}"#, "`motor`: expected an array, found {}"),
        (r#"{"motor":null}"#, "`motor`: expected an array, found null"),
        (r#"{"motor":[],"motor":[]}"#, "duplicate field `motor`"),
        ("{}", "missing field `motor`"),
        ("7", "expected an object, found 7"),
        ("true", "expected an object, found true"),
        ("[[]]", "expected an object, found [[]]"),
    ] {
        assert_eq!(error::<Robot>(text), message);
    }
    assert_eq!(error::<(u8, u8)>("[1,2,3]"), "more elements than expected");
    assert_eq!(error::<(u8, u8)>("[1]"), "invalid length 1, expected a tuple of size 2");
    assert_eq!(error::<Choice>("{\"Struct\":{\"on\":1}}"), "`Struct.on`: expected a boolean, found 1");
    assert_eq!(error::<Choice>("{\"Newtype\":1,\"Unit\":null}"), "more elements than expected");
    assert_eq!(error::<Choice>("[]"), "expected a variant, found []");
    assert_eq!(error::<Choice>("{}"), "expected a variant");
    assert_eq!(error::<Choice>("{\"Struct\":[true]}"), "`Struct`: expected an object, found [true]");
    assert_eq!(
        error::<Choice>("\"Other\""),
        "unknown value `Other`, expected one of `Unit`, `Newtype`, `Tuple`, `Struct`"
    );
    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Strict {
        #[serde(rename = "on")]
        _on: bool,
    }
    #[derive(Debug, Deserialize)]
    enum Never {}
    assert_eq!(error::<Strict>("{\"off\":1}"), "unknown field `off`, expected `on`");
    assert_eq!(error::<Never>("\"x\""), "unknown value `x`, there are none");
    // The visitor of `NonZeroU8` rejects the value, and supplies the expectation.
    assert_eq!(error::<std::num::NonZeroU8>("0"), "expected a nonzero u8, found 0");
    for number in ["-1", "18446744073709551616"] {
        let expected = format!("expected an integer from 0 to 18446744073709551615, found {number}");
        assert_eq!(error::<u64>(number), expected);
    }
    assert_eq!(error::<i64>("9223372036854775808"), "expected a 64-bit integer, found 9223372036854775808");
    assert_eq!(error::<f64>("1e999"), "expected a number, found 1e999");
    assert_eq!(error::<char>("\"ab\""), "expected a character, found \"ab\"");
    assert_eq!(
        error::<Vec<Vec<u8>>>("[[],[0,true]]"),
        "`[1][1]`: expected an integer from 0 to 255, found true"
    );
    assert_eq!(error::<BTreeMap<u8, ()>>("{\"x\":null}"), "expected an integer from 0 to 255, found x");
}

#[test]
fn long_errors_are_cut() {
    let long = "ä".repeat(100);
    let error = decoded::<Vec<BTreeMap<String, u8>>>(&format!("[{{\"{long}\":\"{long}\"}}]")).unwrap_err();
    assert_eq!(error, format!("`…`: expected an integer from 0 to 255, found \"{}…", "ä".repeat(11)));
    let mut text = format!("[{{\"a long name, but not too long\":{{\"inner\":\"{long}\"}}}}]").into_bytes();
    let error = decode_in_place::<Vec<BTreeMap<String, BTreeMap<String, u8>>>>(&mut text).unwrap_err();
    assert_eq!(error.path(), "[0].a long name, but not too long.inner");
    assert!(error.message().starts_with("expected an integer from 0 to 255, found \"ä"));
    assert!(size_of::<TypedError>() < 128);
    for (length, end) in [(87, ""), (88, ""), (89, "…"), (200, "…")] {
        let error = TypedError::new(&&*"a".repeat(length));
        assert_eq!(error.to_string(), "a".repeat(length.min(88)) + end);
        assert_eq!(error.message().len(), length.min(88));
    }
    let error = TypedError::new(&(&*("a".repeat(86) + "😀"), "b"));
    assert_eq!(error.to_string(), "a".repeat(86) + "b…");
    #[derive(Debug, Deserialize)]
    enum Unit {
        Milligram,
        Microgram,
        Kilogram,
        Tonne,
        Megatonne,
    }
    assert_eq!(
        decoded::<Unit>("\"gram\"").unwrap_err(),
        "unknown value `gram`, expected one of `Milligram`, `Microgram`, `Kilogram`, `Tonne`, `Me…"
    );
}

#[test]
fn error_path_leads_to_the_failed_value() {
    // A container that was already left is not part of the path of a later error.
    #[derive(Debug, Deserialize)]
    #[serde(try_from = "[u8; 2]")]
    struct Even;
    impl TryFrom<[u8; 2]> for Even {
        type Error = &'static str;
        fn try_from([a, b]: [u8; 2]) -> Result<Even, &'static str> {
            if (a ^ b) & 1 == 0 { Ok(Even) } else { Err("odd") }
        }
    }
    let error = |text| decoded::<BTreeMap<String, Even>>(text).unwrap_err();
    assert_eq!(error("{\"a\":[1,1],\"b\":[1,2]}"), "`b`: odd");
    assert_eq!(
        error("{\"a\":[1,1],\"b\":[1,true]}"),
        "`b[1]`: expected an integer from 0 to 255, found true"
    );
    // The path keeps the innermost steps.
    #[derive(Debug, Deserialize)]
    struct Nested(#[allow(dead_code)] Vec<Nested>);
    let nested = |depth: usize| "[".repeat(depth) + "0" + &"]".repeat(depth);
    let error = |depth| decoded::<Nested>(&nested(depth)).unwrap_err();
    assert_eq!(error(8), format!("`{}`: expected an array, found 0", "[0]".repeat(8)));
    assert_eq!(error(9), format!("`…{}`: expected an array, found 0", "[0]".repeat(8)));
}

#[test]
fn depth_is_bounded() {
    #[derive(Debug, Deserialize)]
    struct Nested(#[allow(dead_code)] Vec<Nested>);
    let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    assert!(decoded::<Nested>(&nested(128)).is_ok());
    let error = decoded::<Nested>(&nested(129)).unwrap_err();
    assert!(error.ends_with("nested too deeply"), "{error}");
    // An ignored value is skipped without recursion.
    assert!(decoded::<serde::de::IgnoredAny>(&nested(100_000)).is_ok());
}

#[test]
fn unscanned_text_is_rejected_or_decoded_without_panic() {
    for text in [
        "",
        " ",
        "[",
        "[1",
        "[1,",
        "{\"motor\"",
        "{\"motor\":",
        "\"abc",
        "tru",
        "-",
        "1x",
        "1 2",
        "[1 2]",
        "nul",
    ] {
        assert!(decoded::<Vec<u8>>(text).is_err(), "{text}");
        assert!(decoded::<Robot>(text).is_err(), "{text}");
    }
    let alphabet: [&[u8]; 14] =
        [b"{", b"}", b"[", b"]", b"\"", b":", b",", b"\\", b"\\ud83d", b"\xff", b"1", b"-", b"null", b" "];
    let mut state = 5u32;
    for _ in 0..50_000 {
        let mut text = Vec::new();
        for _ in 0..10 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            text.extend_from_slice(alphabet[(state >> 16) as usize % alphabet.len()]);
        }
        let _ = decode_in_place::<Either>(&mut text.clone());
        let _ = decode_in_place::<Choice>(&mut text.clone());
        let _ = decode_in_place::<BTreeMap<&str, serde::de::IgnoredAny>>(&mut text.clone());
        let _ = decode_in_place::<Option<Vec<(u8, f32)>>>(&mut text);
    }
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
struct Name(String);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
enum Side {
    Left,
    Right,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Nothing;

#[derive(Debug, PartialEq, Deserialize)]
struct Pair(u8, u8);

#[track_caller]
fn as_serde_json_reads<T: for<'a> Deserialize<'a> + PartialEq + core::fmt::Debug>(text: &str) {
    assert_eq!(decoded::<T>(text), Ok(serde_json::from_str(text).unwrap()), "{text}");
}

#[test]
fn typed_map_keys_are_decoded() {
    as_serde_json_reads::<BTreeMap<Name, u8>>(r#"{"a":1,"b":2}"#);
    as_serde_json_reads::<BTreeMap<Side, u8>>(r#"{"Left":1,"Right":2}"#);
    as_serde_json_reads::<BTreeMap<bool, u8>>(r#"{"true":1,"false":2}"#);
    as_serde_json_reads::<BTreeMap<Option<u8>, u8>>(r#"{"1":2}"#);
    as_serde_json_reads::<BTreeMap<i128, u8>>(r#"{"-170141183460469231731687303715884105728":1}"#);
    as_serde_json_reads::<BTreeMap<u128, u8>>(r#"{"340282366920938463463374607431768211455":1}"#);
    assert_eq!(decoded(r#"{"-0":1}"#), Ok(BTreeMap::from([(0u64, 1u8)])));
    assert_eq!(decoded(r#"{"-0":1}"#), Ok(BTreeMap::from([(0u128, 1u8)])));
    assert!(decoded::<BTreeMap<bool, u8>>(r#"{"yes":1}"#).is_err());
    assert!(decoded::<BTreeMap<Side, u8>>(r#"{"left":1}"#).is_err());
    assert!(decoded::<BTreeMap<u128, u8>>(r#"{"-1":1}"#).is_err());
}

#[test]
fn structs_without_named_fields_are_decoded() {
    as_serde_json_reads::<Nothing>("null");
    as_serde_json_reads::<Pair>("[1,2]");
    assert!(decoded::<Nothing>("0").is_err());
    assert!(decoded::<Pair>("[1]").is_err());
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    first: u8,
    #[serde(rename = "zweites é")]
    second: u8,
    #[serde(default)]
    third: String,
}

#[test]
fn members_are_decoded_in_any_order_and_spelling() {
    let named = Named { first: 1, second: 2, third: "x".to_owned() };
    let spellings = [
        r#"{"first":1,"zweites é":2,"third":"x"}"#,
        r#"{"third":"x","zweites é":2,"first":1}"#,
        r#"{"f\u0069rst":1,"zweites \u00e9":2,"third":"\u0078"}"#,
        r#"{ "first" : 1 , "zweites é" : 2 , "third" : "x" }"#,
    ];
    for text in spellings {
        assert_eq!(decoded::<Named>(text).as_ref(), Ok(&named), "{text}");
    }
    for (text, why) in [
        (r#"{"firsT":1,"zweites é":2}"#, "firsT"),
        (r#"{"first":1,"first":1}"#, "first"),
        (r#"{"first":1,"zweites e":2}"#, "zweites e"),
        (r#"{"first":"1"}"#, "first"),
    ] {
        let error = decoded::<Named>(text).unwrap_err();
        assert!(error.contains(why), "{text}: {error}");
    }
}
