//! Entry point of the fuzz target `pair`. Its body is in `proptests/src/fuzz/pair.rs`.
//!
//! A client and a server, joined by pipes with an adversary in the middle: what arrives when, and whether it arrives whole.
//!
//! Invariants (checked in `proptests/src/model/pair.rs`, with the models of both machines):
//!
//! - Over an honest wire every call of the client's host ends exactly once, with its right answer.
//! - Over a dishonest one (lines lost, doubled, swapped, cut) nothing panics, and everything still ends exactly once.
//! - Neither machine says what the other one has not declared, or what its revision does not have.
//! - Both come to rest, and to their end.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::pair::check(bytes));
