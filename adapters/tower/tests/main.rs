//! Integration tests.

mod clients;
mod lifecycle;
mod requests;
mod service;
mod support;
