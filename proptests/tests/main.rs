//! Property, model and schema tests, as one binary.

mod arguments;
mod client_allocation;
mod client_emitted;
mod client_requests;
mod differences;
mod emitted;
mod every_method;
mod explore;
mod features;
mod inputs;
mod json;
mod json_core;
mod json_suite;
mod json_texts;
mod methods;
mod models;
mod official_examples;
mod regressions;
mod schema;
mod serde;
mod streams;
mod tasks;
mod transcripts;
mod views;
mod writer;
