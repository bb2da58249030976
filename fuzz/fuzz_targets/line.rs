//! Entry point of the fuzz target `line`. Its body is in `proptests/src/fuzz/line.rs`.
//!
//! The framing of lines: any bytes, in any pieces, in a receive buffer of any size that is allowed.
//!
//! Invariants (checked in `proptests/src/fuzz/line.rs`):
//!
//! - A server sees the lines that a simple loop over the whole input finds: the same bytes, and the same verdict (a message,
//!   no JSON and where, too deep, too long, given up, cut off by the end of the input). No other line, and none twice.
//! - Of a line that does not fit, the id is kept as far as an id may go; the line after it is whole again.
//! - However bytes are cut on their way in and out, and whether the buffer is lent or grows: the same lines, the same output.
//! - The work is linear, and it always comes to its end.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::line::check(bytes));
