//! Fuzz target `pair`: a client and a server joined by pipes.

use super::operations;
use crate::model::Movement;
use crate::model::pair::{Operation, Setup, run};

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some((setup, movement, operations)) = operations::<Setup, Movement, Operation>(bytes) else { return };
    run(setup, movement, &operations).unwrap_or_else(|failure| panic!("{failure}"));
}
