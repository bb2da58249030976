//! A monitor as the observer of a client, for servers over HTTP.

use std::sync::{Arc, Mutex, PoisonError};

use mcp_proto::monitor::{Monitor, Sender, Violation};
use mcp_proto::{Clock, Direction, Observer, ProtocolError};

/// The violations so far, which the observer shares with the program.
pub(crate) type Shared = Arc<Mutex<Vec<Violation>>>;

/// Passes every message of a client to a monitor.
pub(crate) struct Observed {
    monitor: Monitor,
    clock: Clock,
    violations: Shared,
}

impl Observed {
    /// Creates an observer, and the list of its violations.
    pub(crate) fn new() -> (Observed, Shared) {
        let violations = Shared::default();
        let observed =
            Observed { monitor: Monitor::new(), clock: Clock::start(), violations: Arc::clone(&violations) };
        (observed, violations)
    }
}

impl Observer for Observed {
    fn line(&mut self, direction: Direction, line: &[u8], _: Result<(), ProtocolError>) {
        let sender = match direction {
            Direction::Out => Sender::Client,
            Direction::In => Sender::Server,
        };
        let found = self.monitor.line(sender, line, self.clock.now());
        self.violations.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
    }
}
