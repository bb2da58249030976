//! Fuzz target `http_connection`: requests as bytes of HTTP/1.1 connections.

use arbitrary::Arbitrary;

use super::OPERATIONS;
use crate::http::bytes::{Cuts, Item, run};
use crate::http::setup::Setup;

#[derive(Debug, Arbitrary)]
struct Input {
    setup: Setup,
    cuts: Cuts,
    items: Vec<Item>,
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(Input { setup, cuts, mut items }) = super::input(bytes) else { return };
    items.truncate(OPERATIONS);
    run(setup, cuts, &items);
}
