//! Fuzz target `pair`: a client and a server joined by pipes.

use arbitrary::Arbitrary;

use super::OPERATIONS;
use crate::model::Movement;
use crate::model::pair::{Operation, Setup, run};

#[derive(Debug, Arbitrary)]
struct Input {
    setup: Setup,
    movement: Movement,
    operations: Vec<Operation>,
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(Input { setup, movement, mut operations }) = super::input(bytes) else { return };
    operations.truncate(OPERATIONS);
    run(setup, movement, &operations).unwrap_or_else(|failure| panic!("{failure}"));
}
