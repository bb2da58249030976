//! Entry point of the fuzz target `scan`, whose body is in `proptests/src/fuzz/scan.rs`.
//!
//! The JSON scanner, compared with `serde_json`.
//!
//! Invariants, which `proptests/src/fuzz/scan.rs` checks:
//!
//! - The scanner accepts the same texts as `serde_json`, apart from the differences in
//!   `proptests/src/differences.rs`.
//! - In an accepted text, the scanner finds the same message members as `serde_json`: decoded names, the last of
//!   duplicates, and equal values. Views agree with `serde_json` at every level.
//! - The way in which the text is cut affects neither the verdict, nor the position of an error, nor the members.
//! - The position of an error is within the text, and at the end only if more text could make the text valid.
//! - A lower depth limit changes only errors. Unless the limit is 0, the scanner still finds every member of a valid
//!   text.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::scan::check(bytes));
