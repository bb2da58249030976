//! Sans-IO state machines for servers and clients of the Model Context Protocol.
//!
//! Each page of the [`guide`] explains one subject.
//!
#![doc = include_str!("../README.md")]
#![no_std]
#![deny(elided_lifetimes_in_paths)]
#![cfg_attr(docsrs, feature(doc_cfg))]
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
mod error;
mod framing;
pub mod json;
mod machine;
#[cfg(feature = "monitor")]
pub mod monitor;
mod peer;
mod platform;
mod protocol;
pub mod rpc;
#[cfg(feature = "derive")]
pub mod schema;
pub mod server;
mod time;

pub use buffer::Buffer;
pub use client::Client;
pub use error::{ConfigError, EntryName, InvalidSkill, InvalidToolHeader, ProtocolError, SendError};
pub use framing::outbound_message::{OutboundMessage, OutboundMessageKind, Relation, SessionKey, StreamId};
pub use json::decimal::Decimal;
pub use json::write_text::WriteText;
pub use machine::{Action, Io, Machine, Next, Receive};
#[cfg(feature = "derive")]
pub use mcp_proto_macros::{FormContent, Schema, ToolArguments, complete, prompt, resource, router, tool};
pub use peer::keep_alive::KeepAlive;
pub use peer::lifecycle::State;
pub use peer::observer::{Direction, Observer};
pub use peer::progress_event::Progress;
pub use peer::response::{ErrorHint, Outcome, RequestFailure, RpcError};
pub use peer::slots::Ticket;
pub use peer::transmit_buffer::Transmit;
pub use protocol::capabilities::{ClientCapabilities, ServerCapabilities};
pub use protocol::input;
pub use protocol::level::Level;
pub use protocol::methods;
pub use protocol::objects::annotations::{Annotations, Role};
pub use protocol::objects::content::ContentBlock;
pub use protocol::objects::icon::{Icon, Theme};
pub use protocol::objects::sha256::sha256;
pub use protocol::objects::task::{TaskStatus, TaskSupport};
pub use protocol::revision::{Era, Revision, Revisions, WireFeature};
pub use protocol::sampling::options::{IncludeContext, ToolChoice};
#[cfg(feature = "derive")]
pub use schema::{FormContent, Schema, arguments::ToolArguments};
pub use server::Server;
#[cfg(feature = "std")]
pub use time::Clock;
pub use time::Millis;

#[cfg(any(doc, doctest))]
pub mod guide {
    #![doc = include_str!("guide/index.md")]
    #[doc = include_str!("guide/event_loop.md")]
    pub mod event_loop {}
    #[doc = include_str!("guide/client_loop.md")]
    pub mod client_loop {}
    #[doc = include_str!("guide/testing.md")]
    pub mod testing {}
    #[doc = include_str!("../docs/buffers.md")]
    pub mod buffers {}
    #[doc = include_str!("../docs/extensions.md")]
    pub mod extensions {}
}
