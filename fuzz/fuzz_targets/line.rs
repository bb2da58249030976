//! Entry point of the fuzz target `line`, whose body is in `proptests/src/fuzz/line.rs`.
//!
//! Framing of lines: arbitrary bytes in arbitrary pieces, with a receive buffer of any valid size.
//!
//! Invariants, which `proptests/src/fuzz/line.rs` checks:
//!
//! - A server receives exactly the lines that a simple loop over the whole input finds. Server and loop classify each
//!   line alike: a message, invalid JSON with the position of the error, too deep, too long, or incomplete. After the
//!   limit of consecutive invalid lines, the server does not classify further invalid lines.
//! - The server finds the id of an oversized line, unless the id is longer than the maximum. The next line is complete.
//! - The way in which bytes are cut, and the kind of buffer, affect neither lines nor output.
//! - Work is linear, and the server always closes in the end.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| mcp_proto_proptests::fuzz::line::check(bytes));
