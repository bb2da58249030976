//! MCP over HTTP as a state machine, without sockets and without a heap.

#![no_std]
#![deny(elided_lifetimes_in_paths)]
// The peer controls the input of this code, so this code must not panic.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::string_slice,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::unreachable,
        clippy::todo,
        clippy::unimplemented,
        clippy::arithmetic_side_effects,
        clippy::as_conversions
    )
)]

mod bytes;
pub mod client;
pub mod fields;
pub mod http1;
pub mod server;
pub mod sse;
mod write;

pub use fields::HeaderFields;
pub use write::WriteError;
