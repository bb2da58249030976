//! Entry point of the fuzz target `http_pair`, whose body is in `proptests/src/fuzz/http_pair.rs`.
//!
//! Both sides of MCP over HTTP, joined by connections that an adversary delays, cuts and refuses.
//!
//! Invariants, which `proptests/src/http/pair.rs` checks:
//!
//! - Each request of the client ends exactly once, unless the session is lost. Each result belongs to its own call.
//! - Without an adversary, each call that is not cancelled gets its result, or the error that its tool causes.
//! - At the end, neither side has an open exchange.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::http_pair::check(bytes));
