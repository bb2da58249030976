//! Shows that each listed difference from `serde_json` exists.

use std::collections::BTreeMap;
use std::fmt::Debug;

use mcp_proto::ToolArguments;
use mcp_proto::json::{DEPTH_LIMIT, Json, ScanError, Scanner, decode_in_place};
use mcp_proto_proptests::differences::{Difference, deepest};
use serde::Deserialize;
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::Value;

fn scan(text: &[u8]) -> Result<(), ScanError> {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    scanner.feed(text);
    scanner.finish()
}

fn nested(depth: usize) -> String {
    "[".repeat(depth) + &"]".repeat(depth)
}

/// Returns the values that `mcp-proto` and `serde_json` decode, as text. `None` means that decoding fails.
fn both<T: DeserializeOwned + Debug>(text: &str) -> [Option<String>; 2] {
    let ours = decode_in_place::<T>(&mut text.to_owned().into_bytes()).ok();
    let theirs = serde_json::from_str::<T>(text).ok();
    [ours, theirs].map(|value| value.map(|value| format!("{value:?}")))
}

#[track_caller]
fn assert_both<T: DeserializeOwned + Debug>(text: &str, ours: &str, theirs: &str) {
    let shown = |text: &str| Some(text.to_owned()).filter(|text| text != "refused");
    assert_eq!(both::<T>(text), [shown(ours), shown(theirs)], "{text}");
}

#[derive(Debug, Deserialize)]
#[allow(dead_code)]
struct Point {
    x: i32,
}

#[derive(Debug, ToolArguments)]
#[allow(dead_code)]
struct Level {
    level: u8,
}

#[derive(Debug, ToolArguments)]
#[serde(tag = "kind")]
#[allow(dead_code)]
enum Draw {
    At { x: u8 },
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
#[allow(dead_code)]
enum Any {
    Number(f64),
}

/// Shows that a difference exists. In this `match`, a new difference without an example is a compile error.
fn show(difference: Difference) {
    match difference {
        Difference::DeepestLevel => {
            for (depth, ours, theirs) in [(127, true, true), (128, true, false), (129, false, false)] {
                let text = nested(depth);
                assert_eq!(scan(text.as_bytes()).is_ok(), ours);
                assert_eq!(serde_json::from_str::<Value>(&text).is_ok(), theirs);
                assert_eq!(deepest(text.as_bytes()), depth as u32);
                assert_eq!(Difference::of_text(text.as_bytes()).is_some(), ours != theirs);
            }
        }
        Difference::PrivateName => {
            for (text, found) in [
                (r#"{"$serde_json::private::Number":"1"}"#, Some(true)),
                (r#"[{"x":{"\u0024serde_json::private::Number":1}}]"#, Some(false)),
                (r#"{"x":1,"$serde_json::private::Number":"1"}"#, None),
            ] {
                assert!(scan(text.as_bytes()).is_ok());
                let theirs = serde_json::from_str::<Value>(text);
                assert_eq!(Difference::of_text(text.as_bytes()), found.map(|_| difference), "{text}");
                assert_eq!(theirs.is_ok(), found.unwrap_or(true), "{text}");
                assert_eq!(theirs.is_ok_and(|value| value.is_number()), found == Some(true), "{text}");
            }
        }
        Difference::MinusZero => {
            assert_both::<i64>("-0", "0", "refused");
            assert_both::<u8>("-0", "0", "refused");
            assert_both::<u128>("-0", "0", "refused");
            assert_both::<i128>("-0", "0", "0");
            assert_both::<f64>("-0", "-0.0", "-0.0");
            assert_eq!(Json::parse(b"-0").unwrap().integer(), Some(0));
            assert_eq!(serde_json::from_str::<Value>("-0").unwrap().as_i64(), Some(0));
        }
        Difference::StructFromArray => assert_both::<Point>("[1]", "refused", "Point { x: 1 }"),
        Difference::EscapedNumberName => {
            assert_both::<BTreeMap<u8, bool>>("{\"\\u0037\":true}", "{7: true}", "refused");
        }
        Difference::BufferedFraction => {
            assert_both::<Any>("0.5", "Number(0.5)", "refused");
            assert_both::<Any>("5", "Number(5.0)", "Number(5.0)");
        }
        Difference::NumberText => {
            assert_both::<Value>(
                "[1.50,100000000000000000000]",
                "Array [Number(1.5), Number(1e+20)]",
                "Array [Number(1.50), Number(100000000000000000000)]",
            );
        }
        Difference::WholeFraction => {
            assert_both::<Level>(r#"{"level":1.0}"#, "Level { level: 1 }", "refused");
            assert_both::<Point>(r#"{"x":1.0}"#, "refused", "refused");
        }
        Difference::TagAnywhere => {
            assert_both::<Draw>(r#"{"x":1,"kind":"At"}"#, "At { x: 1 }", "refused");
            assert_both::<Draw>(r#"{"kind":"At","x":1}"#, "At { x: 1 }", "At { x: 1 }");
        }
        Difference::BorrowedEscape => {
            let mut text = *br#""a\n""#;
            assert!(serde_json::from_slice::<&str>(&text).is_err());
            assert_eq!(decode_in_place::<&str>(&mut text).unwrap(), "a\n");
        }
        Difference::NoText => assert_both::<BTreeMap<u8, u8>>("", "{}", "refused"),
        Difference::DeepIgnored => {
            let text = nested(200);
            assert!(scan(text.as_bytes()).is_err());
            assert!(serde_json::from_str::<IgnoredAny>(&text).is_ok());
        }
        Difference::LoneSurrogateIgnored => {
            assert!(scan(br#""\ud800""#).is_err());
            assert!(serde_json::from_str::<Value>(r#""\ud800""#).is_err());
            assert!(serde_json::from_str::<IgnoredAny>(r#""\ud800""#).is_ok());
        }
    }
}

#[test]
fn each_listed_difference_from_serde_json_exists() {
    Difference::ALL.into_iter().for_each(show);
}
