//! Entry point of the fuzz target `client`. Its body is in `proptests/src/fuzz/client.rs`.
//!
//! A client with an arbitrary server and application, time limits, and connections that break.
//!
//! Invariants, which `proptests/src/model/client` checks with a model of the open requests:
//!
//! - Each request of the application ends exactly once, with a response or a failure. No id is used twice.
//! - Each server request gets at most one response. Nothing else gets a response.
//! - The client sends nothing that the server did not declare or the revision lacks, and only whole lines.
//! - Work is linear: the number of polls is bounded by the bytes moved. The client always closes in the end.
//! - The way in which bytes move affects neither output nor events.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::client::check(bytes));
