//! Entry point of the fuzz target `dialogue`, whose body is in `proptests/src/fuzz/dialogue.rs`.
//!
//! Mutated transcripts: valid traffic with changed lines and members, so most of it reaches the dispatchers of server
//! and client.
//!
//! Invariants, which `proptests/src/fuzz/dialogue.rs` checks:
//!
//! - Nothing panics. The machine is idle after each line, and closes after the end of its input.
//! - The output consists of whole lines: JSON-RPC messages, or batches of them.
//! - No id gets more responses than requests. Nothing else gets a response with an id.
//! - The way in which bytes move affects neither output nor events.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::dialogue::check(bytes));
