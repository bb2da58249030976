//! `SharedObserver`: one observer for many connections.

use std::sync::{Arc, Mutex};

use mcp_proto::{Direction, Observer, ProtocolError};

use crate::signal::lock;

/// An observer that receives the messages of many connections. Clones share the observer.
#[derive(Clone)]
pub struct SharedObserver<'i>(Arc<Mutex<&'i mut (dyn Observer + Send + 'i)>>);

impl<'i> SharedObserver<'i> {
    /// Shares an observer.
    pub fn new(observer: &'i mut (dyn Observer + Send + 'i)) -> SharedObserver<'i> {
        SharedObserver(Arc::new(Mutex::new(observer)))
    }
}

impl Observer for SharedObserver<'_> {
    fn line(&mut self, direction: Direction, line: &[u8], outcome: Result<(), ProtocolError>) {
        lock(&self.0).line(direction, line, outcome);
    }

    fn piece(&mut self, piece: &[u8], is_last: bool) {
        lock(&self.0).piece(piece, is_last);
    }
}

impl std::fmt::Debug for SharedObserver<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SharedObserver").finish_non_exhaustive()
    }
}
