//! Entry point of the fuzz target `scan`. Its body is in `proptests/src/fuzz/scan.rs`.
//!
//! The scanner of JSON, against `serde_json`.
//!
//! Invariants (checked in `proptests/src/fuzz/scan.rs`):
//!
//! - It accepts exactly the texts that `serde_json` does, but for those that `proptests/src/differences.rs` lists by name.
//! - Of a text that is accepted, it finds the members of a message where `serde_json` finds them: names decoded, the last
//!   of duplicates, the same values. A view says the same of every value, all the way down.
//! - However the text is cut, the verdict, the place of an error and the places of the members are the same.
//! - An error stands within the text; it stands at the end of it only if more text could have made it good.
//! - A lower limit of nesting changes nothing but that: every member is still found.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::scan::check(bytes));
