//! The integration tests of the adapter, as one binary.

mod child;
mod client;
mod dependencies;
mod handles;
mod offers;
mod peer;
mod pump;
mod server;
mod transcripts;
mod workers;
