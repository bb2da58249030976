//! What a server says and hears, one module for each kind of behaviour.

#[path = "../common/mod.rs"]
mod common;

mod asking;
mod bad_input;
mod batch_room;
mod batches;
mod between;
mod compatibility;
mod completion;
mod connection_end;
mod content;
mod error_limit;
mod frames;
mod handshake;
mod in_flight;
mod keep_alive;
mod limits;
mod names;
mod observed;
mod observer;
mod open_batches;
mod order;
mod outbound_requests;
mod output;
mod progress_order;
mod prompts;
mod request_ids;
mod reset;
mod resources;
mod round;
mod stateless;
mod streams;
mod subscriptions;
mod text_answers;
mod watch_room;
