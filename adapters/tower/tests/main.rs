//! Integration tests.

mod clients;
mod handlers;
mod lifecycle;
mod requests;
mod service;
mod support;
