//! The target `pair`.

use arbitrary::Arbitrary;

use crate::model::Way;
use crate::model::pair::{Operation, Setup, run};

#[derive(Debug, Arbitrary)]
struct Input {
    setup: Setup,
    way: Way,
    operations: Vec<Operation>,
}

/// More of them are slower, and reach nothing else.
const OPERATIONS: usize = 60;

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(Input { setup, way, mut operations }) = super::input(bytes) else { return };
    operations.truncate(OPERATIONS);
    run(setup, way, &operations).unwrap_or_else(|failure| panic!("{failure}"));
}
