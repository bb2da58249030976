//! The open connections of a server. At the limit, a new connection replaces a connection that waits for a request.

use std::collections::HashMap;
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcp_proto::Millis;

/// The open connections, by number.
#[derive(Default)]
pub(super) struct Connections {
    open: HashMap<u64, (TcpStream, Arc<Activity>)>,
}

/// The time at which a connection began to wait for a request, or for the client to close it; or `BUSY`.
pub(super) struct Activity(AtomicU64);

/// The value while a response is in progress, and after the server has closed a waiting connection.
const BUSY: u64 = u64::MAX;

impl Activity {
    /// Records that the connection has received a request, or that the server has closed the connection.
    pub(super) fn set_busy(&self) {
        self.0.store(BUSY, Ordering::Relaxed);
    }

    /// Records that the connection waits for the next request, or for the client to close it.
    pub(super) fn set_waiting(&self, now: Millis) {
        self.0.store(now.0, Ordering::Relaxed);
    }
}

impl Connections {
    /// Adds a connection, which waits for its first request.
    pub(super) fn insert(&mut self, number: u64, socket: TcpStream, now: Millis) -> Arc<Activity> {
        let activity = Arc::new(Activity(AtomicU64::new(now.0)));
        self.open.insert(number, (socket, Arc::clone(&activity)));
        activity
    }

    pub(super) fn remove(&mut self, number: u64) {
        self.open.remove(&number);
    }

    /// Closes the connection that has waited for the longest time, if one waits. Among equal times, closes the oldest
    /// connection.
    pub(super) fn close_longest_waiting(&self) {
        let since = |activity: &Activity| activity.0.load(Ordering::Relaxed);
        let longest = self.open.iter().min_by_key(|(number, (_, activity))| (since(activity), **number));
        if let Some((_, (socket, activity))) = longest
            && since(activity) != BUSY
        {
            activity.set_busy();
            let _ = socket.shutdown(Shutdown::Both);
        }
    }

    /// Returns `true` if a connection is `BUSY`.
    pub(super) fn has_busy(&self) -> bool {
        self.open.values().any(|(_, activity)| activity.0.load(Ordering::Relaxed) == BUSY)
    }

    pub(super) fn close_all(&self) {
        for (socket, _) in self.open.values() {
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}
