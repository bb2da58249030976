//! Encoder and decoder against `serde-json-core`, a second JSON implementation without a heap.
//!
//! Every comparison consults the list of differences; no other difference is excused.

mod differences;
mod types;

use std::fmt::Debug;

use mcp_proto::json::{Json, to_string};
use proptest::prelude::*;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::json_texts;
use differences::{our_value, their_text, tokens};
use types::{Choice, Numbers, Open, Read, Texts, Tree, Written, read, written};

pub(crate) use differences::{Difference, their_value};

/// Checks that both libraries write the same bytes, except for listed differences. Returns the text of `mcp-proto`.
#[track_caller]
fn same_text<T: Serialize + ?Sized>(value: &T) -> String {
    let ours = to_string(value).unwrap();
    let theirs = String::from_utf8(their_text(value).unwrap()).unwrap();
    if ours != theirs {
        let [a, b] = [&ours, &theirs].map(|text| tokens(text.as_bytes()));
        assert_eq!(a.len(), b.len(), "{ours}\n{theirs}");
        for (a, b) in a.into_iter().zip(b) {
            let [a, b] = [a, b].map(|token| std::str::from_utf8(token).unwrap());
            assert!(a == b || Difference::of_tokens(a, b).is_some(), "{a} {b}\n{ours}\n{theirs}");
        }
    }
    ours
}

/// Checks that both libraries read the same value or both refuse the text, except for listed differences.
#[track_caller]
fn same_value<T: DeserializeOwned + Debug>(text: &[u8]) {
    let (ours, theirs) = (our_value::<T>(text), their_value::<T>(text));
    let excused = Difference::of_text(text, ours.as_deref(), theirs.as_deref()).is_some();
    assert!(ours == theirs || excused, "{}\n{ours:?}\n{theirs:?}", String::from_utf8_lossy(text));
}

/// Calls `same_value` with several types.
fn same_values(text: &[u8]) {
    same_value::<Read>(text);
    same_value::<Texts>(text);
    same_value::<Numbers>(text);
    same_value::<Choice>(text);
    same_value::<Tree>(text);
    same_value::<Vec<Option<i32>>>(text);
    same_value::<heapless::Vec<f32, 3>>(text);
    same_value::<heapless::String<9>>(text);
    same_value::<(u8, String)>(text);
    same_value::<f64>(text);
    same_value::<()>(text);
}

proptest! {
    #![proptest_config(crate::config(1000))]

    #[test]
    fn encoder_writes_what_serde_json_core_writes(read in read(), written in written()) {
        same_text(&read);
        same_text(&Written::new(&written));
    }

    #[test]
    fn values_round_trip_through_both_libraries(value in read()) {
        let text = same_text(&value);
        let shown = format!("{value:?}");
        prop_assert_eq!(our_value::<Read>(text.as_bytes()), Some(shown.clone()));
        prop_assert_eq!(their_value::<Read>(text.as_bytes()), Some(shown.clone()));
        prop_assert_eq!(our_value::<Read>(&their_text(&value).unwrap()), Some(shown));
    }

    #[test]
    fn damaged_values_are_read_alike(text in json_texts::damage(read().prop_map(|it| to_string(&it).unwrap()))) {
        same_values(&text);
    }

    #[test]
    fn any_text_is_read_alike(text in json_texts::damaged()) {
        same_values(&text);
    }

    #[test]
    fn strings_are_read_alike(text in prop_oneof![json_texts::string(), json_texts::odd_string()]) {
        same_value::<String>(text.as_bytes());
        same_value::<char>(text.as_bytes());
        same_value::<Choice>(text.as_bytes());
    }

    #[test]
    fn numbers_are_read_alike(text in json_texts::any_number()) {
        let text = text.as_bytes();
        same_value::<u8>(text);
        same_value::<i8>(text);
        same_value::<u16>(text);
        same_value::<i16>(text);
        same_value::<u32>(text);
        same_value::<i32>(text);
        same_value::<u64>(text);
        same_value::<i64>(text);
        same_value::<f32>(text);
        same_value::<f64>(text);
    }

    #[test]
    fn ignored_members_are_skipped_alike(text in json_texts::json()) {
        prop_assume!(Json::parse(text.as_bytes()).is_ok());
        same_value::<Open>(format!("{{\"other\":{text},\"one\":1}}").as_bytes());
        same_value::<Open>(text.as_bytes());
    }
}
