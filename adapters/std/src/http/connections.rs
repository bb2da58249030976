//! The open connections of a server. At the limit, a new connection replaces one that waits for a request.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::time::Instant;

/// The open connections, by number.
#[derive(Default)]
pub(super) struct Connections {
    open: HashMap<u64, Open>,
}

struct Open {
    socket: TcpStream,
    /// The time at which the wait for the current request began. The wait ends with the complete request. `None`: a
    /// response is in progress.
    waits_since: Option<Instant>,
}

impl Connections {
    /// Adds a connection, which waits for its first request.
    pub(super) fn insert(&mut self, number: u64, socket: TcpStream) {
        self.open.insert(number, Open { socket, waits_since: Some(Instant::now()) });
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// Records that a connection has received a request.
    pub(super) fn set_busy(&mut self, number: u64) {
        if let Some(open) = self.open.get_mut(&number) {
            open.waits_since = None;
        }
    }

    /// Records that a connection waits for the next request.
    pub(super) fn set_waiting(&mut self, number: u64) {
        if let Some(open) = self.open.get_mut(&number) {
            open.waits_since = Some(Instant::now());
        }
    }

    /// Closes the connection that has waited for the longest time, if one waits.
    pub(super) fn close_longest_waiting(&mut self) {
        let waiting = self.open.values_mut().filter(|open| open.waits_since.is_some());
        if let Some(open) = waiting.min_by_key(|open| open.waits_since) {
            open.waits_since = None;
            let _ = open.socket.shutdown(Shutdown::Both);
        }
    }

    pub(super) fn close_all(&self) {
        for open in self.open.values() {
            let _ = open.socket.shutdown(Shutdown::Both);
        }
    }
}
