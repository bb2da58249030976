//! Bodies of the fuzz targets in `fuzz/`, callable without a fuzzer, and the table of all targets.
//!
//! Tests run the regressions and some generated inputs with these functions. The first lines of
//! `fuzz/fuzz_targets/*.rs` document the invariants. The functions in this module panic if an invariant does not hold.

pub mod client;
pub mod dialogue;
pub mod http1_head;
pub mod http_connection;
pub mod http_pair;
pub mod http_server;
pub mod line;
pub mod moves;
mod mutate;
pub mod pair;
pub mod scan;
pub mod seeds;
pub mod server;
pub mod sse;

use std::fmt::Debug;

use arbitrary::{Arbitrary, Unstructured};

use crate::model::{Movement, Summary, Violation, same};

/// The body of a target: checks one input.
pub type Check = fn(&[u8]);

/// Every target with its name.
pub const TARGETS: [(&str, Check); 11] = [
    ("scan", scan::check),
    ("line", line::check),
    ("server", server::check),
    ("client", client::check),
    ("pair", pair::check),
    ("dialogue", dialogue::check),
    ("http1_head", http1_head::check),
    ("sse", sse::check),
    ("http_connection", http_connection::check),
    ("http_server", http_server::check),
    ("http_pair", http_pair::check),
];

/// Decodes an input. Returns `None` if the bytes cannot be decoded.
fn input<'b, I: Arbitrary<'b>>(bytes: &'b [u8]) -> Option<I> {
    I::arbitrary_take_rest(Unstructured::new(bytes)).ok()
}

/// The maximum number of operations of a run. More operations take longer and reach no new states.
const OPERATIONS: usize = 60;

/// Decodes an input of a model: its setup, a value of type `M`, and at most [`OPERATIONS`] operations. Returns `None`
/// if the bytes cannot be decoded.
fn operations<'b, S, M, O>(bytes: &'b [u8]) -> Option<(S, M, Vec<O>)>
where
    S: Arbitrary<'b>,
    M: Arbitrary<'b>,
    O: Arbitrary<'b>,
{
    let (setup, value, mut operations): (S, M, Vec<O>) = input(bytes)?;
    operations.truncate(OPERATIONS);
    Some((setup, value, operations))
}

fn shown(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

/// Runs operations with byte movement `movement`. If `is_same`, also runs the operations with all bytes at once, and
/// checks that the results are equal.
fn play(
    input: &dyn Debug,
    movement: Movement,
    is_same: bool,
    run: impl Fn(Movement) -> Result<Summary, Violation>,
) {
    let run = |movement| run(movement).unwrap_or_else(|failure| panic!("{failure}"));
    let cut = run(movement);
    if is_same {
        same(&run(Movement::WHOLE), &cut).unwrap_or_else(|why| panic!("{movement:?} {input:#?}\n{why}"));
    }
}
