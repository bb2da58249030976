//! An observer that does nothing with a message, so that only the cost of observing is measured.

use std::hint::black_box;

use mcp_proto::{Direction, Observer, ProtocolError};

pub struct IdleObserver;

impl Observer for IdleObserver {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        black_box((direction, line, &outcome));
    }
}
