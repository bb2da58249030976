//! The integration tests of the core, as one binary.

mod arguments;
mod attacks;
mod bad_input;
mod checked_results;
mod client;
mod client_buffers;
mod documents;
mod error_messages;
mod event_loop;
mod events;
mod examples;
#[cfg(unix)]
mod forms;
mod layers;
mod memory;
mod methods;
mod monitor;
#[cfg(unix)]
mod output_schemas;
mod pair;
mod router;
mod schema_types;
mod schemas;
mod server;
mod support;
mod url_bridge;
