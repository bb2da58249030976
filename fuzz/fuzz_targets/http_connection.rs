//! Entry point of the fuzz target `http_connection`, whose body is in `proptests/src/fuzz/http_connection.rs`.
//!
//! HTTP/1.1 connections of a server, from the received to the sent bytes. Input: requests in all eras with and without
//! a length, arbitrary bytes, and how the bytes are cut.
//!
//! Invariants, which `proptests/src/http/bytes.rs` checks:
//!
//! - Each request has one response. The status and the body of a complete response equal those of a second server,
//!   which receives the request without HTTP/1.1.
//! - The framing of a response is complete, and nothing follows its end.
//! - After a complete response, a connection is idle or serves no further request. After each request, both servers
//!   have the same number of open exchanges.
//! - Arbitrary bytes get no response with a success status.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::http_connection::check(bytes));
