//! MCP over HTTP as a state machine, without sockets and without a heap.

#![no_std]

pub mod fields;
pub mod http1;
pub mod server;
pub mod sse;

pub use fields::HeaderFields;
