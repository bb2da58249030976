//! The integration tests of the core, as one binary.

mod arguments;
mod attacks;
mod bad_input;
mod client;
mod documents;
mod error_messages;
mod event_loop;
mod examples;
mod inspect;
mod layers;
mod memory;
mod methods;
mod monitor;
mod pair;
mod router;
mod server;
mod support;
mod url_bridge;
