//! Property, model and schema tests, as one binary.

mod argument_chunks;
mod arguments;
mod client_allocation;
mod client_emitted;
mod client_requests;
mod client_tasks;
mod differences;
mod emitted;
mod every_method;
mod explore;
mod features;
mod inputs;
mod json;
mod json_core;
mod json_suite;
mod json_texts;
mod lifecycle;
mod methods;
mod models;
mod official_examples;
mod regressions;
mod schema;
mod serde;
mod streams;
mod tasks;
mod transcripts;
mod views;
mod writer;

use std::collections::BTreeMap;
use std::sync::Mutex;

use proptest::strategy::{SBoxedStrategy, Strategy};
use proptest::string::string_regex;

/// Returns the configuration of a property test with `cases` cases. `PROPTEST_CASES` above 256 multiplies the number of
/// cases: 512 doubles the number.
fn config(cases: u32) -> proptest::test_runner::Config {
    let default = proptest::test_runner::Config::default();
    let cases = cases.saturating_mul(default.cases.max(256)) / 256;
    proptest::test_runner::Config { cases, failure_persistence: None, ..default }
}

/// Returns a strategy for texts that match a regular expression. Parses each expression once, because many strategies are
/// created for each case. A string slice as a strategy parses its expression for each text.
fn matching(expression: &str) -> SBoxedStrategy<String> {
    static PARSED: Mutex<BTreeMap<String, SBoxedStrategy<String>>> = Mutex::new(BTreeMap::new());
    let mut parsed = PARSED.lock().unwrap();
    let new = || string_regex(expression).unwrap().sboxed();
    parsed.entry(expression.to_owned()).or_insert_with(new).clone()
}
