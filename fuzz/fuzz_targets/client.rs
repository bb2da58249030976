//! Entry point of the fuzz target `client`. Its body is in `proptests/src/fuzz/client.rs`.
//!
//! A client: a server that sends what it likes, a host that does what it likes, time, and connections that break.
//!
//! Invariants (checked in `proptests/src/model/client`, against a model of what is open):
//!
//! - Each request of the host ends exactly once, with an answer or because it is lost; no id is used twice.
//! - Each request of the server gets one answer at most; nothing else is answered, and no noise.
//! - Nothing is sent that the server did not declare, or that its revision does not have; what is written is whole lines.
//! - The work is linear: a bounded number of polls for what moves. It never spins and always ends.
//! - However bytes move in and out, the same is written, and the host hears the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::client::check(bytes));
