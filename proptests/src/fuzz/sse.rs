//! Fuzz target `sse`: event streams, compared with a reference that sees the whole text.

use arbitrary::Arbitrary;

use super::moves::Moves;

/// The comparison with the reference. The tests of `mcp-proto-http` also use this module.
#[path = "../../../adapters/http/tests/sse/oracle.rs"]
mod oracle;

#[derive(Debug, Arbitrary)]
struct Input<'b> {
    capacity: u8,
    reads: Moves,
    bytes: &'b [u8],
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(Input { capacity, reads, bytes }) = super::input(bytes) else { return };
    let pieces: Vec<usize> = reads.pieces(bytes).map(<[u8]>::len).collect();
    oracle::check(bytes, capacity.into(), &pieces);
}
