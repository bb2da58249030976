//! The integration tests of the adapter, as one binary.

mod clients;
mod handlers;
mod hooks;
mod lifecycle;
mod requests;
mod service;
mod support;
mod users;
