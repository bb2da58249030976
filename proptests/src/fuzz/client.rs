//! Fuzz target `client`: operations against the model of a client.

use super::{operations, play};
use crate::model::Movement;
use crate::model::client::operation::Operation;
use crate::model::client::{Setup, run};

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some((setup, movement, operations)) = operations::<Setup, Movement, Operation>(bytes) else { return };
    // The results of two runs are compared only if the receive buffer holds every line, and the peer always reads.
    let reads =
        !operations.iter().any(|operation| matches!(operation, Operation::Block(_) | Operation::Broken));
    play(&(setup, &operations), movement, setup.rx.is_none() && reads, |movement| {
        run(setup, movement, &operations)
    });
}
