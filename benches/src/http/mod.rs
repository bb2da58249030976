//! Benchmarks of servers over HTTP/1.1 on loopback. If there are two processors, servers have a processor of their own.

mod client;
mod connection;
pub mod cost;
pub mod crowd;
mod server;
