//! Entry point of the fuzz target `server`, whose body is in `proptests/src/fuzz/server.rs`.
//!
//! A server with an arbitrary client and application, time limits, and a connection that may break.
//!
//! Invariants, which `proptests/src/model` checks with a model of the server's obligations:
//!
//! - Each request with a readable id gets at most one response, and exactly one in the end, unless the request is
//!   cancelled, its session ends, or the connection is lost. Notifications and responses get none. Errors without an id
//!   are limited.
//! - The output consists of whole lines with valid messages. Unsent output stays within the limit of the transmit
//!   buffer.
//! - Each request of the application, and each deferred request, ends exactly once.
//! - Work is linear: bytes and operations bound the number of polls. The server always closes in the end.
//! - If the peer always reads and the receive buffer holds every line, the way in which bytes move affects neither
//!   output nor events.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::server::check(bytes));
