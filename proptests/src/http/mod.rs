//! Models of MCP over HTTP: the server side with arbitrary clients, and both sides joined.

mod application;
pub(crate) mod bytes;
mod connection;
mod exchange;
pub(crate) mod pair;
mod request;
pub(crate) mod server;
pub mod sessions;
pub(crate) mod setup;
