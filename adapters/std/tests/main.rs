//! The integration tests of the adapter, as one binary.

#![cfg(unix)]

mod catalog;
mod child;
mod chunks;
mod client;
mod client_requests;
mod crowd;
mod deadlines;
mod errors;
mod extensions;
mod handlers;
mod handles;
#[cfg(feature = "http")]
mod http;
#[cfg(feature = "http")]
mod http_attacks;
#[cfg(feature = "http")]
mod http_chunks;
#[cfg(feature = "http")]
mod http_relay;
#[cfg(feature = "http")]
mod http_server;
#[cfg(feature = "http")]
mod http_sessions;
#[cfg(feature = "schemars")]
mod json_schema;
mod listen;
mod peer;
mod pool;
mod pump;
mod reconnect;
mod server;
mod single_thread;
mod skills;
mod slow_peers;
mod stress;
mod tasks;
mod time_limit;
mod transcripts;
mod workers;
