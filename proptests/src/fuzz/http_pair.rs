//! Fuzz target `http_pair`: a client and a server over HTTP.

use mcp_proto::client::Connect;

use super::operations;
use crate::http::pair::{Operation, run};
use crate::http::setup::Setup;

/// Checks the invariants for one input.
pub fn check(bytes: &[u8]) {
    let Some((setup, connect, operations)) = operations::<Setup, u8, Operation>(bytes) else { return };
    let is_calm = connect & 4 != 0;
    let connect = match connect % 4 {
        0 | 1 => Connect::Automatic,
        2 => Connect::Stateless,
        _ => Connect::Handshake,
    };
    run(setup, connect, is_calm, &operations);
}
