//! Entry point of the fuzz target `client`, whose body is in `proptests/src/fuzz/client.rs`.
//!
//! A client with an arbitrary server and application, time limits, and connections that break.
//!
//! Invariants, which `proptests/src/model/client` checks with a model of the open requests:
//!
//! - Each request of the application ends exactly once, except a subscription, which may stay open. The client uses
//!   each id for only one request.
//! - Each server request gets at most one response. Nothing else gets a response, except a line that is not JSON.
//! - The client sends only whole lines, and no message that the revision lacks, or that needs a capability that the
//!   server did not declare.
//! - Work is linear: bytes and operations bound the number of polls. The client always closes in the end.
//! - If the peer always reads and the receive buffer holds every line, the way in which bytes move affects neither
//!   output nor events.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::client::check(bytes));
