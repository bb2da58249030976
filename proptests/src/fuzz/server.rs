//! Fuzz target `server`: operations against the model of a server.

use arbitrary::Arbitrary;

use super::{OPERATIONS, play};
use crate::model::Way;
use crate::model::operation::Operation;
use crate::model::server::{Setup, run};

#[derive(Debug, Arbitrary)]
struct Input {
    setup: Setup,
    way: Way,
    operations: Vec<Operation>,
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(Input { setup, way, mut operations }) = super::input(bytes) else { return };
    operations.truncate(OPERATIONS);
    // The output depends on the length of the receive buffer and on when the peer does not read.
    let reads =
        !operations.iter().any(|operation| matches!(operation, Operation::Block(_) | Operation::Broken));
    play(&(setup, &operations), way, setup.rx.is_none() && reads, |way| run(setup, way, &operations));
}
