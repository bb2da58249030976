//! Servers against a scripted client, one module for each part of the protocol.

mod asking;
mod bad_input;
mod batches;
mod between;
mod blocked_output;
mod compatibility;
mod completion;
mod content;
mod frames;
mod handshake;
mod in_flight;
mod limits;
mod open_batches;
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
