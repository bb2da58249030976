//! Fuzz target `http_pair`: a client and a server over HTTP.

use arbitrary::Arbitrary;
use mcp_proto::client::Connect;

use super::OPERATIONS;
use crate::http::pair::{Operation, run};
use crate::http::setup::Setup;

#[derive(Debug, Arbitrary)]
struct Input {
    setup: Setup,
    connect: u8,
    operations: Vec<Operation>,
}

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some(Input { setup, connect, mut operations }) = super::input(bytes) else { return };
    operations.truncate(OPERATIONS);
    let is_calm = connect & 4 != 0;
    let connect = match connect % 4 {
        0 | 1 => Connect::Automatic,
        2 => Connect::Stateless,
        _ => Connect::Handshake,
    };
    run(setup, connect, is_calm, &operations);
}
