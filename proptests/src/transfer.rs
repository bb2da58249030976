//! Movement of bytes between a machine and a test.

use std::io::Read;

use mcp_proto::Io;

/// Moves all output of the machine to `output`, and the bytes of one read of `input` to the machine. Returns
/// whether a byte moved.
///
/// # Panics
/// Panics if `input` returns an error.
pub fn transfer(io: Io<'_>, input: &mut impl Read, output: &mut impl Extend<u8>) -> bool {
    let (out, mut receive) = io.split();
    let written = out.bytes().len();
    output.extend(out.bytes().iter().copied());
    out.sent(written);
    let read = input.read(receive.space()).expect("the input is readable");
    receive.filled(read);
    written + read > 0
}
