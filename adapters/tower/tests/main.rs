//! Integration tests.

mod clients;
mod handlers;
mod hooks;
mod lifecycle;
mod requests;
mod service;
mod support;
