//! Fuzz target `http_connection`: requests as bytes of HTTP/1.1 connections.

use super::operations;
use crate::http::bytes::{Cuts, Item, run};
use crate::http::setup::Setup;

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some((setup, cuts, items)) = operations::<Setup, Cuts, Item>(bytes) else { return };
    run(setup, cuts, &items);
}
