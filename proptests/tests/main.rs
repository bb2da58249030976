//! Property, model and schema tests, as one binary.

mod arguments;
mod asked;
mod bridge;
mod client_allocation;
mod client_emitted;
mod differences;
mod emitted;
mod every_method;
mod examples;
mod explore;
mod features;
mod inputs;
mod json;
mod json_core;
mod json_suite;
mod json_texts;
mod methods;
mod models;
mod regressions;
mod schema;
mod transcripts;
mod views;
mod writer;
