//! What a server says and hears, one module for each kind of behaviour.

#[path = "../common/mod.rs"]
mod common;

mod asking;
mod bad_input;
mod batches;
mod between;
mod compatibility;
mod completion;
mod content;
mod frames;
mod handshake;
mod in_flight;
mod limits;
mod open_batches;
mod order;
mod output;
mod prompts;
mod recent;
mod resources;
mod round;
mod stateless;
mod streams;
mod subscriptions;
mod text_answers;
mod usual;
