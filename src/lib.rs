#![doc = include_str!("../README.md")]
#![no_std]
#![deny(elided_lifetimes_in_paths)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// A peer decides what these lines see, so none of them may be able to panic.
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
#![cfg_attr(
    not(test),
    warn(clippy::std_instead_of_core, clippy::alloc_instead_of_core, clippy::std_instead_of_alloc)
)]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(any(feature = "std", test))]
extern crate std;

mod buffer;
pub mod client;
mod fault;
mod frame;
mod inflight;
pub mod json;
mod keepalive;
mod lifecycle;
mod line;
mod machine;
pub mod methods;
mod observe;
mod outcome;
mod output;
mod platform;
pub mod rpc;
#[cfg(feature = "derive")]
pub mod schema;
pub mod server;
mod time;
mod types;
mod version;

pub use buffer::Buffer;
pub use client::Client;
pub use fault::{Fault, Misuse, NotNow};
pub use frame::{BelongsTo, Frame, FrameKind, StreamId};
pub use inflight::Ticket;
pub use json::{Decimal, Text};
pub use keepalive::Pings;
pub use lifecycle::State;
pub use machine::{Action, Io, Machine, Next, Receive, Transmit};
#[cfg(feature = "derive")]
pub use mcp_proto_macros::ToolArguments;
pub use observe::{Direction, Observer};
pub use outcome::{Hint, Lost, Outcome, RpcError};
#[cfg(feature = "derive")]
pub use schema::ToolArguments;
pub use server::Server;
#[cfg(feature = "std")]
pub use time::Clock;
pub use time::Millis;
pub use types::annotations::{Annotations, Role};
pub use types::capabilities::{ClientCapabilities, ServerCapabilities};
pub use types::content::ContentBlock;
pub use types::icon::{Icon, Theme};
pub use types::input;
pub use types::level::Level;
pub use version::{Era, Revision, Revisions};
