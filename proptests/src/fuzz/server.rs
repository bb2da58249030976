//! Fuzz target `server`: operations against the model of a server.

use arbitrary::Arbitrary;

use super::{OPERATIONS, play};
use crate::model::Movement;
use crate::model::operation::Operation;
use crate::model::server::{Setup, run};

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
    // The results of two runs are comparable only if the receive buffer has the same length and the peer always reads.
    let reads =
        !operations.iter().any(|operation| matches!(operation, Operation::Block(_) | Operation::Broken));
    play(&(setup, &operations), movement, setup.rx.is_none() && reads, |movement| {
        run(setup, movement, &operations)
    });
}
