//! Entry point of the fuzz target `dialogue`. Its body is in `proptests/src/fuzz/dialogue.rs`.
//!
//! Valid traffic, from the dialogues of `tests/transcripts`, with some lines and members changed: most of it gets deep into the
//! dispatchers, of a server and of a client.
//!
//! Invariants (checked in `proptests/src/fuzz/dialogue.rs`):
//!
//! - Nothing panics; the machine comes to rest after each line, and to its end when its input has ended.
//! - What is written is whole lines: messages of JSON-RPC, or batches of them.
//! - No id gets more answers than it was asked with; nothing else is answered with an id.
//! - However bytes move in and out, the same is written, and the host hears the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::dialogue::check(bytes));
