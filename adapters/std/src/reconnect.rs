//! When to try to connect again.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use mcp_proto::{Client, Clock, Millis};
use mcp_proto_handles::Session;

/// The longest pause between two attempts, if the first one is not longer.
const LONGEST: Duration = Duration::from_secs(30);

/// How often a client tries to connect again, and how soon: see [`Connector::reconnect`](crate::Connector::reconnect).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    /// So many attempts in a row may fail.
    pub attempts: u32,
    /// The pause before the first one. It doubles with each that fails, up to half a minute.
    pub pause: Duration,
}

impl Reconnect {
    /// Eight attempts, the first after half a second: a minute and a half in all.
    pub const DEFAULT: Reconnect = Reconnect { attempts: 8, pause: Duration::from_millis(500) };
}

impl Default for Reconnect {
    fn default() -> Self {
        Reconnect::DEFAULT
    }
}

/// The attempts since the last connection.
pub(crate) struct Attempts {
    left: u32,
    pause: Duration,
}

impl Attempts {
    pub(crate) fn new(reconnect: Reconnect) -> Attempts {
        Attempts { left: reconnect.attempts, pause: reconnect.pause }
    }

    /// Waits for the time of the next attempt. The handles are heard meanwhile. `false`: there is none any more.
    pub(crate) fn wait(&mut self, session: &mut Session, client: &mut Client<'_>, clock: Clock) -> bool {
        if session.is_closing() || self.left == 0 {
            return false;
        }
        let thread = thread::current();
        session.lost(Arc::new(move || thread.unpark()));
        let pause = Millis(u64::try_from(self.pause.as_millis()).unwrap_or(u64::MAX));
        let until = clock.now().plus(pause);
        self.left -= 1;
        self.pause = self.pause.saturating_mul(2).min(LONGEST.max(self.pause));
        loop {
            let now = clock.now();
            let due = session.advance(client, now);
            if session.is_closing() || until <= now {
                return !session.is_closing();
            }
            thread::park_timeout(Duration::from_millis(due.map_or(until, |due| due.min(until)).since(now).0));
        }
    }
}
