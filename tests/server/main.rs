//! What a server says and hears, one module for each kind of behaviour.

#[path = "../common/mod.rs"]
mod common;

mod bad_input;
mod batches;
mod frames;
mod handshake;
mod in_flight;
mod limits;
mod open_batches;
mod output;
mod random;
mod stateless;
mod streams;
mod subscriptions;
