//! Entry point of the fuzz target `http1_head`, whose body is in `proptests/src/fuzz/http1_head.rs`.
//!
//! Heads of HTTP/1.1 requests and responses: arbitrary bytes in arbitrary pieces.
//!
//! Invariants, which `adapters/http/tests/http1/head_oracle.rs` checks:
//!
//! - `httparse` accepts each accepted head, with the same length, start line and fields.
//! - A rejected head that `httparse` accepts breaks a rule that only this parser has, for example that a line ends with
//!   CRLF.
//! - The way in which the bytes are cut affects neither the head nor the error.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::http1_head::check(bytes));
