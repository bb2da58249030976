//! The integration tests of the crate, as one binary.

mod client;
mod http1;
mod server;
mod sse;
