//! Integration tests.

mod clients;
mod hooks;
mod lifecycle;
mod requests;
mod service;
mod support;
