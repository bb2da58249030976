//! The integration tests of the adapter, as one binary.

mod catalog;
mod child;
mod chunks;
mod client;
mod client_requests;
mod crowd;
mod dependencies;
mod handlers;
mod handles;
#[cfg(feature = "http")]
mod http;
mod parity;
mod peer;
mod pump;
mod reconnect;
mod server;
mod sockets;
mod tasks;
mod transcripts;
mod workers;
