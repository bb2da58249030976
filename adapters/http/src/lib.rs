//! MCP over HTTP as state machines, without sockets and without a heap.
//!
//! - [`server`]: the server side, which checks requests, passes their messages to a [`Server`](mcp_proto::Server), and
//!   decides on status, header fields, sessions and event streams.
//! - [`client`]: the client side, which makes requests from the messages of a [`Client`](mcp_proto::Client), and
//!   messages from responses.
//! - [`http1`]: parsers and writers of HTTP/1.1, for programs without an HTTP library.
//! - [`sse`]: a decoder and a writer of event streams.
//!
//! `mcp-proto-std` with the feature `http` contains the loops for threads. On tokio, `mcp-proto-tower` contains the
//! loop of a server, and `mcp-proto-tokio` with the feature `http` the loop of a client. The module pages of [`server`]
//! and [`client`] list the calls of a loop over any other HTTP library; [`HeaderFields`] connects the fields of that
//! library.
#![cfg_attr(docsrs, feature(doc_cfg))]
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

#[cfg(feature = "alloc")]
extern crate alloc;

mod bytes;
pub mod client;
pub mod fields;
pub mod http1;
pub mod server;
pub mod sse;
mod write;

pub use fields::HeaderFields;
pub use write::WriteError;
