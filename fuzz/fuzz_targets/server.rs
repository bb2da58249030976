//! Entry point of the fuzz target `server`. Its body is in `proptests/src/fuzz/server.rs`.
//!
//! A server: a client that sends what it likes, a host that does what it likes, time, and a connection that may break.
//!
//! Invariants (checked in `proptests/src/model`, against a model of what a server owes):
//!
//! - Each request with a readable id gets one answer at most, and exactly one in the end unless it was cancelled or the
//!   connection is gone; notifications and responses get none; errors without an id are limited.
//! - What is written is whole lines, messages of the right shape, in what the buffer was promised to hold.
//! - What the host has asked, or left for later, ends exactly once.
//! - The work is linear: a bounded number of polls for what moves. It never spins and always ends.
//! - However bytes move in and out, the same is written, and the host hears the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::server::check(bytes));
