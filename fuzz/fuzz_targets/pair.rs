//! Entry point of the fuzz target `pair`, whose body is in `proptests/src/fuzz/pair.rs`.
//!
//! A client and a server joined by pipes. An adversary decides when lines arrive, and whether they are damaged.
//!
//! Invariants, which `proptests/src/model/pair.rs` checks with the models of both machines:
//!
//! - Without damaged lines, every call ends exactly once, with the right response. A call may fail if time passes, or
//!   if an application shuts down, defers the call, or always requires more input.
//! - With lines lost, doubled, swapped or cut, nothing panics, and every call still ends exactly once.
//! - Neither machine sends what the other has not declared, or what the revision lacks.
//! - Both machines become idle, and close in the end.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::pair::check(bytes));
