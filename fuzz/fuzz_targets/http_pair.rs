//! Entry point of the fuzz target `http_pair`. Its body is in `proptests/src/fuzz/http_pair.rs`.
//!
//! Both sides of MCP over HTTP, joined by connections that an adversary delays, cuts and refuses.
//!
//! Invariants, which `proptests/src/http/pair.rs` checks:
//!
//! - Each request of the client ends exactly once. Each result belongs to its own call.
//! - Without an adversary, each call gets its result.
//! - At the end, no exchange of either side is left.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::http_pair::check(bytes));
