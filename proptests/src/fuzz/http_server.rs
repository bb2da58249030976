//! Fuzz target `http_server`: operations on an HTTP server and its core server.

use super::operations;
use crate::http::server::{Operation, run};
use crate::http::setup::Setup;

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some((setup, piece, operations)) = operations::<Setup, u8, Operation>(bytes) else { return };
    let piece = if piece < 128 { usize::MAX } else { usize::from(piece - 127) };
    run(setup, piece, &operations);
}
