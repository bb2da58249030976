//! Entry point of the fuzz target `sse`, whose body is in `proptests/src/fuzz/sse.rs`.
//!
//! Event streams: arbitrary bytes in arbitrary pieces, with a buffer of 0 to 255 bytes.
//!
//! Invariants, which `adapters/http/tests/sse/oracle.rs` checks:
//!
//! - The decoder reports exactly the events that a reference finds in the whole text. Positions, last event ids and
//!   reconnection times are equal.
//! - The decoder reports an event as too long only if the event may not fit in the buffer. The next event is complete.
//! - The way in which the bytes are cut has no effect.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::sse::check(bytes));
