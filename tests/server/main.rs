//! What a server says and hears, one module for each kind of behaviour.

#[path = "../common/mod.rs"]
mod common;

mod asking;
mod bad_input;
mod frames;
mod handshake;
mod in_flight;
mod limits;
mod output;
mod random;
mod round;
mod stateless;
