//! Integration tests.

mod client;
mod http1;
mod server;
mod sse;
