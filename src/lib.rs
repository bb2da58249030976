//! The Model Context Protocol as a pure state machine.
#![no_std]
#![allow(dead_code)] // until the machine uses it
#![cfg_attr(docsrs, feature(doc_cfg))]
// A peer decides what these lines see, so none of them may be able to panic.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::arithmetic_side_effects
    )
)]
#![cfg_attr(
    not(test),
    warn(clippy::std_instead_of_core, clippy::alloc_instead_of_core, clippy::std_instead_of_alloc)
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod buffer;
pub mod json;

pub use buffer::Buffer;
