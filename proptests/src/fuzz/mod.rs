//! Bodies of the fuzz targets in `fuzz/`, callable without a fuzzer.
//!
//! Tests replay the corpus with them. The first lines of `fuzz/fuzz_targets/*.rs` document the invariants, and these
//! functions panic if one is violated.

pub mod client;
pub mod dialogue;
pub mod line;
pub mod moves;
mod mutate;
pub mod pair;
pub mod scan;
pub mod seeds;
pub mod server;

use std::fmt::Debug;

use arbitrary::{Arbitrary, Unstructured};

use crate::model::{ConnectFailure, Summary, Way, same};

/// The body of a target: checks one input.
pub type Check = fn(&[u8]);

/// Every target with its name.
pub const TARGETS: [(&str, Check); 6] = [
    ("scan", scan::check),
    ("line", line::check),
    ("server", server::check),
    ("client", client::check),
    ("pair", pair::check),
    ("dialogue", dialogue::check),
];

/// Decodes an input. Returns `None` if there are too few bytes.
fn input<'b, I: Arbitrary<'b>>(bytes: &'b [u8]) -> Option<I> {
    I::arbitrary_take_rest(Unstructured::new(bytes)).ok()
}

/// The maximum number of operations of a run. More take longer and reach no new states.
const OPERATIONS: usize = 60;

/// Runs operations with byte movement `way`. If `is_same`, also runs them with all bytes at once, and compares.
fn play(input: &dyn Debug, way: Way, is_same: bool, run: impl Fn(Way) -> Result<Summary, ConnectFailure>) {
    let run = |way| run(way).unwrap_or_else(|failure| panic!("{failure}"));
    let cut = run(way);
    if is_same {
        same(&run(Way::WHOLE), &cut).unwrap_or_else(|why| panic!("{way:?} {input:#?}\n{why}"));
    }
}
