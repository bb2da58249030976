//! [`mcp_proto`] over [`embedded_io`]: pumps for the UARTs and sockets of boards. No heap, no `unsafe`, nothing that can
//! panic.
#![no_std]
#![deny(elided_lifetimes_in_paths)]
// A peer decides what these lines see, so none of them may be able to panic.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented,
        clippy::arithmetic_side_effects
    )
)]

mod blocking;
mod link;
mod note;
mod polled;
mod pump;
mod queue;
mod step;
mod waiting;

pub use link::{Halves, Link, WriteBlocks};
pub use pump::{Pump, SESSION_MARK};
pub use queue::{BytesLost, Queue};
pub use step::Step;
pub use waiting::Timer;
