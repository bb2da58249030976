//! Entry point of the fuzz target `http_server`, whose body is in `proptests/src/fuzz/http_server.rs`.
//!
//! The server side of MCP over HTTP, with arbitrary clients in all eras. Input: requests, bodies in pieces, slow and
//! disconnecting clients, actions of the application, and time.
//!
//! Invariants, which `proptests/src/http` checks:
//!
//! - An exchange has at most one head. The output has the announced length, and nothing follows the end.
//! - Each response arrives once: on the exchange of its request, or on the stream that continues the exchange. Each
//!   request gets its response, unless the request is cancelled, its client disconnects, its session ends, or the
//!   server shuts down.
//! - The server closes no connection of a client that reads, unless the application releases the connection, or the
//!   stream continues on another connection. After a close, an exchange has no output.
//! - The tables keep their bounds. At the end all exchanges, bodies and pages are free.
//! - The server becomes idle after each operation, and never waits for a past time.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::http_server::check(bytes));
