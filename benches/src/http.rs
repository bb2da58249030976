//! Benchmarks of servers over HTTP/1.1 on loopback. Servers have a processor of their own, if there are two.

mod client;
mod connection;
pub mod cost;
pub mod crowd;
mod server;
