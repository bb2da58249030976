//! Fuzz target `http_server`: operations on an HTTP server and its core server.

use arbitrary::Arbitrary;

use super::OPERATIONS;
use crate::http::server::{Operation, run};
use crate::http::setup::Setup;

#[derive(Debug, Arbitrary)]
struct Input {
    setup: Setup,
    piece: u8,
    operations: Vec<Operation>,
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(Input { setup, piece, mut operations }) = super::input(bytes) else { return };
    operations.truncate(OPERATIONS);
    let piece = if piece < 128 { usize::MAX } else { usize::from(piece - 127) };
    run(setup, piece, &operations);
}
