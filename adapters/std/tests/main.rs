//! The integration tests of the adapter, as one binary.

#![cfg(unix)]

mod alone;
mod child;
mod client;
mod deadlines;
mod handles;
mod hard;
mod listen;
mod offers;
mod partners;
mod peer;
mod pool;
mod pump;
mod reconnect;
mod server;
mod stress;
mod transcripts;
mod workers;
