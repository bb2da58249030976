//! Fuzz target `http1_head`: heads of HTTP/1.1, compared with `httparse`.

use arbitrary::Arbitrary;

use super::moves::Moves;

/// The comparison with `httparse`. The tests of `mcp-proto-http` also use this module.
#[path = "../../../adapters/http/tests/http1/head_oracle.rs"]
mod head_oracle;

#[derive(Debug, Arbitrary)]
struct Input<'b> {
    is_response: bool,
    reads: Moves,
    bytes: &'b [u8],
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(Input { is_response, reads, bytes }) = super::input(bytes) else { return };
    let pieces: Vec<usize> = reads.pieces(bytes).map(<[u8]>::len).collect();
    match is_response {
        true => head_oracle::check_response(bytes, &pieces),
        false => head_oracle::check_request(bytes, &pieces),
    }
}
