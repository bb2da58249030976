//! Entry point of the fuzz target `line`. Its body is in `proptests/src/fuzz/line.rs`.
//!
//! Framing of lines: arbitrary bytes in arbitrary pieces, with a receive buffer of any valid size.
//!
//! Invariants, which `proptests/src/fuzz/line.rs` checks:
//!
//! - A server sees exactly the lines that a simple loop over the whole input finds. The verdict on each line is the
//!   same: a message, invalid JSON with the position of the error, too deep, too long, or cut off by the end of input.
//! - The id of an oversized line is kept up to its maximum length. The next line is complete.
//! - The way in which bytes are cut, and the kind of buffer, affect neither lines nor output.
//! - Work is linear, and the server always closes in the end.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::line::check(bytes));
