//! Timing of reconnection attempts.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcp_proto::{Client, Clock, Millis};
use mcp_proto_handles::ClientSession;

/// Longest pause between two attempts, unless the first pause is longer.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Number and timing of reconnection attempts: see [`Connector::reconnect`](crate::Connector::reconnect).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    /// Maximum number of consecutive failed attempts.
    pub attempts: u32,
    /// The pause before the first attempt. The pause doubles with each failed attempt, up to 30 seconds.
    pub pause: Duration,
}

impl Reconnect {
    /// Eight attempts, the first after 500 milliseconds: about 90 seconds in total.
    pub const DEFAULT: Reconnect = Reconnect { attempts: 8, pause: Duration::from_millis(500) };
}

impl Default for Reconnect {
    fn default() -> Self {
        Reconnect::DEFAULT
    }
}

/// The remaining attempts to replace a lost connection.
pub(crate) struct Attempts {
    left: u32,
    pause: Duration,
}

impl Attempts {
    pub(crate) fn new(reconnect: Reconnect) -> Attempts {
        Attempts { left: reconnect.attempts, pause: reconnect.pause }
    }

    /// Waits for the next attempt and executes commands of the handles. Returns `false` if no attempt is left or the
    /// client is closing.
    pub(crate) fn wait(
        &mut self,
        session: &mut ClientSession,
        client: &mut Client<'_>,
        clock: Clock,
    ) -> bool {
        if session.is_closing() || self.left == 0 {
            return false;
        }
        let thread = thread::current();
        session.connection_lost(Arc::new(move || thread.unpark()));
        let pause = Millis(u64::try_from(self.pause.as_millis()).unwrap_or(u64::MAX));
        let until = clock.now().plus(pause);
        self.left -= 1;
        self.pause = self.pause.saturating_mul(2).min(MAX_PAUSE.max(self.pause));
        loop {
            let now = clock.now();
            let due = session.process_commands(client, now);
            if session.is_closing() || until <= now {
                return !session.is_closing();
            }
            thread::park_timeout(Duration::from_millis(due.map_or(until, |due| due.min(until)).since(now).0));
        }
    }
}
