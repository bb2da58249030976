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

use arbitrary::{Arbitrary, Unstructured};

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
