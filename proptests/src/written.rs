//! An observer that records all outbound messages.

use std::sync::{Arc, Mutex};

use mcp_proto::{Direction, Observer, ProtocolError};

/// All outbound messages in order. Clones share the same list.
#[derive(Debug, Clone, Default)]
pub struct Written(pub Arc<Mutex<Vec<String>>>);

impl Observer for Written {
    fn line(&mut self, direction: Direction, line: &[u8], _: Result<(), ProtocolError>) {
        if direction == Direction::Out {
            self.0.lock().unwrap().push(String::from_utf8(line.to_vec()).unwrap());
        }
    }
}
