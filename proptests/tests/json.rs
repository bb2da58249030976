//! Scanner, views and typed decoder against `serde_json`, on random and damaged text.

use crate::json_texts;
use mcp_proto::Decimal;
use mcp_proto::json::{
    DEPTH_LIMIT, Json, Kind, Member, OpenSpan, ScanError, ScanErrorKind, Scanner, decode_in_place,
};
use mcp_proto_proptests::differences::{Difference, deepest};
use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeMap;

const MEMBERS: [(Member, &str); 6] = [
    (Member::Jsonrpc, "jsonrpc"),
    (Member::Id, "id"),
    (Member::Method, "method"),
    (Member::Params, "params"),
    (Member::Result, "result"),
    (Member::Error, "error"),
];

type Seen = (Result<(), ScanError>, Vec<Option<OpenSpan>>, usize);

/// Returns the results of a scanner for a text in these pieces.
fn scan<'t>(limit: u8, pieces: impl IntoIterator<Item = &'t [u8]>) -> Seen {
    let mut scanner = Scanner::new(limit);
    pieces.into_iter().for_each(|piece| scanner.feed(piece));
    let result = scanner.finish();
    (result, MEMBERS.iter().map(|(member, _)| scanner.member(*member)).collect(), scanner.position())
}

fn result_of(text: &[u8]) -> Result<(), ScanError> {
    scan(DEPTH_LIMIT, [text]).0
}

/// Checks that the view equals the value of `serde_json` at every level.
fn assert_same(json: Json<'_>, value: &Value) {
    assert_eq!(&serde_json::from_str::<Value>(json.raw()).unwrap(), value);
    match value {
        Value::Null => assert!(json.is_null()),
        Value::Bool(value) => assert_eq!(json.boolean(), Some(*value)),
        Value::Number(number) => {
            // `serde_json` normalizes exponents. The text of our number was compared above.
            assert_eq!(json.number(), Some(json.raw()));
            assert_eq!(json.unsigned(), number.as_u64().or((json.raw() == "-0").then_some(0)));
            assert_eq!(json.integer(), number.as_i64());
        }
        Value::String(text) => {
            let string = json.string().unwrap();
            assert!(string == text.as_str());
            assert_eq!(string.chars().collect::<String>(), *text);
            assert_eq!(string.to_string(), *text);
            assert_eq!(string.len(), text.len());
            let mut room = vec![0; text.len()];
            assert_eq!(string.copy_to(&mut room), Ok(text.as_str()));
            if let Some(short) = text.len().checked_sub(1) {
                assert_eq!(string.copy_to(&mut room[..short]).unwrap_err().needed, text.len());
            }
        }
        Value::Array(items) => {
            assert_eq!(json.kind(), Kind::Array);
            assert_eq!(json.elements().count(), items.len());
            json.elements().zip(items).for_each(|(json, value)| assert_same(json, value));
            assert!(json.index(items.len()).is_none());
        }
        Value::Object(map) => {
            assert_eq!(json.kind(), Kind::Object);
            map.iter().for_each(|(name, value)| assert_same(json.get(name).unwrap(), value));
            assert!(json.members().all(|(name, _)| map.contains_key(&name.to_string())));
            assert!(json.get("no such member").is_none());
            let names: Vec<&str> = map.keys().map(String::as_str).chain(["", "x"]).collect();
            for pair in names.windows(2) {
                let [first, last] = json.pick([pair[0], pair[1]]);
                assert_eq!(first.map(Json::raw), json.get(pair[0]).map(Json::raw));
                assert_eq!(last.map(Json::raw), json.get(pair[1]).map(Json::raw));
            }
        }
    }
}

proptest! {
    #![proptest_config(crate::config(1500))]

    #[test]
    fn scanner_accepts_what_serde_json_accepts(text in json_texts::damaged()) {
        let theirs = serde_json::from_slice::<Value>(&text);
        let ours = result_of(&text);
        let excused = theirs.is_err() && Difference::of_text(&text).is_some();
        prop_assert!(ours.is_ok() == theirs.is_ok() || excused, "{:?} {:?} {:?}", String::from_utf8_lossy(&text), ours, theirs);
    }

    /// An error is at the first byte that no JSON text can have there.
    #[test]
    fn scan_error_is_at_the_first_impossible_byte(text in json_texts::damaged()) {
        let Err(error) = result_of(&text) else { return Ok(()) };
        let (before, rest) = text.split_at(error.at);
        let shown = String::from_utf8_lossy(&text);
        // The text before the error can still become JSON, unless it is too deep.
        let is_deep = deepest(before) >= u32::from(DEPTH_LIMIT);
        let begun = result_of(before).map_err(|error| error.kind);
        let goes_on = match begun {
            Ok(_) | Err(ScanErrorKind::Incomplete | ScanErrorKind::Empty) => true,
            Err(kind) => kind == ScanErrorKind::TooDeep && is_deep,
        };
        prop_assert!(goes_on, "{} {:?} {:?}", shown, error, begun);
        if !is_deep && Difference::of_text(before).is_none() {
            let theirs = serde_json::from_slice::<Value>(before);
            let agrees = theirs.as_ref().map_or_else(serde_json::Error::is_eof, |_| begun.is_ok());
            prop_assert!(agrees, "{} {:?} {:?}", shown, error, theirs);
        }
        match error.kind {
            ScanErrorKind::Incomplete | ScanErrorKind::Empty => prop_assert!(rest.is_empty(), "{} {:?}", shown, error),
            ScanErrorKind::TooDeep => {
                let limit = u32::from(DEPTH_LIMIT);
                let (outside, inside) = (deepest(before), deepest(&text[..=error.at]));
                prop_assert_eq!((outside, inside), (limit, limit + 1), "{} {:?}", shown, error);
            }
            kind => {
                // The text up to the wrong byte, or up to the end of its character, is invalid.
                let wrong = |more: usize| result_of(text.get(..error.at + more).unwrap_or(&text)) == Err(error);
                prop_assert!(wrong(1) || kind == ScanErrorKind::Utf8 && (2..=4).any(wrong), "{} {:?}", shown, error);
            }
        }
    }

    #[test]
    fn strings_decode_as_in_serde_json(text in json_texts::odd_string()) {
        let theirs = serde_json::from_str::<String>(&text);
        let ours = Json::parse(text.as_bytes());
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{} {:?} {:?}", text, ours, theirs);
        if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
            assert_same(ours, &Value::String(theirs.clone()));
            let mut copy = text.clone().into_bytes();
            prop_assert_eq!(decode_in_place::<&str>(&mut copy).unwrap(), theirs);
        }
    }

    #[test]
    fn numbers_decode_as_in_serde_json(text in json_texts::any_number()) {
        let number: serde_json::Number = serde_json::from_str(&text).unwrap();
        let json = Json::parse(text.as_bytes()).unwrap();
        let is_zero = text == "-0";
        prop_assert_eq!(json.number(), Some(text.as_str()));
        prop_assert_eq!(json.integer(), text.parse::<i64>().ok());
        prop_assert_eq!(json.unsigned(), if is_zero { Some(0) } else { text.parse::<u64>().ok() });
        prop_assert_eq!(json.is_integer_text(), text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()));
        let decimal = Decimal::parse(&text).unwrap();
        if text.bytes().filter(u8::is_ascii_digit).count() <= 18 && !text.contains("99999999999999999999") {
            let shown = decimal.to_string();
            prop_assert_eq!(shown.parse::<f64>().unwrap().abs(), number.as_str().parse::<f64>().unwrap().abs(), "{}", shown);
            prop_assert_eq!(shown.starts_with('-'), text.starts_with('-') && decimal != Decimal::ZERO);
            prop_assert_eq!(Decimal::parse(&shown), Some(decimal));
        }
        if !is_zero {
            same::<(u8, i8)>(&format!("[{text},{text}]"));
            same::<u8>(&text);
            same::<i8>(&text);
            same::<u16>(&text);
            same::<i16>(&text);
            same::<u32>(&text);
            same::<i32>(&text);
            same::<u64>(&text);
            same::<i64>(&text);
            same::<u128>(&text);
            same::<i128>(&text);
        }
        same::<f64>(&text);
        same::<f32>(&text);
        if text.starts_with('-') {
            let mut name = format!("{{\"{text}\":null}}").into_bytes();
            prop_assert_eq!(decode_in_place::<BTreeMap<i64, ()>>(&mut name).ok().and_then(|map| map.into_keys().next()), text.parse().ok());
        }
    }

    #[test]
    fn scan_result_does_not_depend_on_cuts(text in json_texts::damaged(), mut cuts in prop::collection::vec(0usize..400, 0..12), limit in 0u8..6) {
        cuts.sort_unstable();
        let (mut pieces, mut rest, mut done) = (Vec::new(), &text[..], 0);
        for cut in cuts {
            let (piece, tail) = rest.split_at((cut - done).min(rest.len()));
            pieces.push(piece);
            (rest, done) = (tail, cut);
        }
        pieces.push(rest);
        for limit in [limit, DEPTH_LIMIT] {
            let whole = scan(limit, [&text[..]]);
            prop_assert_eq!(&scan(limit, pieces.iter().copied()), &whole);
            prop_assert_eq!(&scan(limit, text.chunks(1)), &whole);
        }
    }

    #[test]
    fn members_are_found_as_in_serde_json(text in json_texts::message()) {
        let value: Value = serde_json::from_str(&text).unwrap();
        let (result, spans, _) = scan(DEPTH_LIMIT, [text.as_bytes()]);
        prop_assert_eq!(result, Ok(()));
        for (span, (_, name)) in spans.into_iter().zip(MEMBERS) {
            let found: Option<Value> =
                span.map(|span| serde_json::from_str(&text[span.start..span.end.unwrap()]).unwrap());
            prop_assert_eq!(found.as_ref(), value.get(name), "{} in {}", name, text);
        }
    }

    #[test]
    fn members_are_found_after_values_beyond_the_depth_limit(text in json_texts::message(), limit in 1u8..4) {
        let whole = scan(DEPTH_LIMIT, [text.as_bytes()]);
        let bounded = scan(limit, [text.as_bytes()]);
        prop_assert_eq!(bounded.1, whole.1);
    }

    #[test]
    fn views_return_what_serde_json_returns(text in json_texts::json()) {
        let value: Value = serde_json::from_str(&text).unwrap();
        assert_same(Json::parse(text.as_bytes()).unwrap(), &value);
    }

    #[test]
    fn views_of_invalid_json_do_not_panic(text in json_texts::damaged()) {
        if let Ok(json) = Json::parse(&text) {
            prop_assert!(json.get("id").is_none_or(|value| !value.raw().is_empty()));
        }
    }

    #[test]
    fn typed_values_decode_as_in_serde_json(text in json_texts::everything()) {
        let theirs = serde_json::from_str::<Everything<'_>>(&text);
        let mut copy = text.clone().into_bytes();
        let ours = decode_in_place::<Everything<'_>>(&mut copy);
        match (&ours, &theirs) {
            (Ok(ours), Ok(theirs)) => prop_assert_eq!(ours, theirs),
            (Err(_), Err(_)) => {}
            _ => prop_assert!(false, "{}\n{:?}\n{:?}", text, ours, theirs),
        }
    }

    #[test]
    fn json_fits_the_same_types_as_in_serde_json(text in json_texts::json()) {
        same::<Vec<Option<i32>>>(&text);
        // Only `serde_json` decodes a struct with named fields from an array.
        let compact: String = text.split_whitespace().collect();
        if !compact.contains("\"Struct\":[") {
            same::<BTreeMap<String, Choice>>(&text);
            same::<Choice>(&text);
        }
        same::<BTreeMap<i16, bool>>(&text);
        same::<String>(&text);
        same::<(u8, String)>(&text);
        same::<u64>(&text);
        same::<i8>(&text);
        same::<()>(&text);
        same::<serde::de::IgnoredAny>(&text);
    }

    #[test]
    fn borrowed_fields_accept_every_escape(string in json_texts::string()) {
        let owned: String = serde_json::from_str(&string).unwrap();
        let mut text = format!("{{\"other\":[{string}],\"text\":{string}}}").into_bytes();
        let borrowed: Borrowed<'_> = decode_in_place(&mut text).unwrap();
        prop_assert_eq!(borrowed.text, owned);
    }
}

/// Checks that both libraries decode to the same value, or both fail.
#[track_caller]
fn same<T: serde::de::DeserializeOwned + std::fmt::Debug>(text: &str) {
    let theirs = serde_json::from_str::<T>(text);
    let mut copy = text.to_owned().into_bytes();
    let ours = decode_in_place::<T>(&mut copy);
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => assert_eq!(format!("{ours:?}"), format!("{theirs:?}"), "{text}"),
        (Err(_), Err(_)) => {}
        _ => panic!("{text}\n{ours:?}\n{theirs:?}"),
    }
}

#[derive(Debug, PartialEq, Deserialize)]
struct Borrowed<'a> {
    text: &'a str,
}

#[derive(Debug, PartialEq, Deserialize)]
enum Choice {
    Unit,
    Newtype(i32),
    Tuple(u8, String),
    Struct { on: bool, level: Option<u8> },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Wrapped(i64);

/// A type with nearly every kind of serde data.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Everything<'a> {
    byte: u8,
    wide: Wrapped,
    widest: i128,
    most: u128,
    ratio: f64,
    single: f32,
    on: bool,
    letter: char,
    owned: String,
    #[serde(borrow)]
    either: Cow<'a, str>,
    #[serde(default)]
    maybe: Option<i16>,
    nothing: (),
    pair: (u8, String),
    choices: Vec<Choice>,
    names: BTreeMap<String, i32>,
    numbers: BTreeMap<u16, bool>,
    inner: Option<Box<Everything<'a>>>,
}
