//! Property, model and schema tests, as one binary.

mod arguments;
mod bridge;
mod client_allocation;
mod client_emitted;
mod client_requests;
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
mod streams;
mod transcripts;
mod views;
mod writer;
