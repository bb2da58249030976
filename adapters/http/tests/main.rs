//! Integration tests.

mod http1;
mod server;
mod sse;
