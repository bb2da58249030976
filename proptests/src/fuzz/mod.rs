//! What the fuzz targets of `fuzz/` do with an input, without a fuzzer: so what they have found stays a test.
//!
//! The invariants stand in the first lines of `fuzz/fuzz_targets/*.rs`; here they are checked, by panics.

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

/// What a target does with the bytes of an input.
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

/// The input that these bytes spell; `None` if they are too few.
fn input<'b, I: Arbitrary<'b>>(bytes: &'b [u8]) -> Option<I> {
    I::arbitrary_take_rest(Unstructured::new(bytes)).ok()
}

/// More of them are slower, and reach nothing else.
const OPERATIONS: usize = 60;

/// Plays operations in this way, and, where that may make no difference, with all bytes at once.
fn play(input: &dyn Debug, way: Way, is_same: bool, run: impl Fn(Way) -> Result<Summary, ConnectFailure>) {
    let run = |way| run(way).unwrap_or_else(|failure| panic!("{failure}"));
    let cut = run(way);
    if is_same {
        same(&run(Way::WHOLE), &cut).unwrap_or_else(|why| panic!("{way:?} {input:#?}\n{why}"));
    }
}
