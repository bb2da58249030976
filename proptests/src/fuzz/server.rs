//! The target `server`.

use arbitrary::Arbitrary;

use crate::model::operation::Operation;
use crate::model::server::{Setup, run};
use crate::model::{Way, same};

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
    let cut = run(setup, way, &operations).unwrap_or_else(|failure| panic!("{failure}"));
    // The length of a receive buffer is part of what is said, and so is when a peer does not read.
    let reads =
        !operations.iter().any(|operation| matches!(operation, Operation::Block(_) | Operation::Broken));
    if setup.rx.is_none() && reads {
        let whole = run(setup, Way::WHOLE, &operations).unwrap_or_else(|failure| panic!("{failure}"));
        same(&whole, &cut).unwrap_or_else(|why| panic!("{setup:?} {way:?} {operations:#?}\n{why}"));
    }
}
