//! Reconnection: number and timing of attempts, and the state of a client session between two connections.

use std::time::Duration;

use mcp_proto::{Millis, SendError};

use crate::Wake;
use crate::options::millis;
use crate::owned::Notification;
use crate::session::ClientSession;

/// Longest pause between two attempts, unless the first pause is longer.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Time for which a connection must be open before it counts as restored.
const STABLE: Millis = Millis::seconds(10);

/// Number and timing of reconnection attempts: see `Connector::reconnect` of the adapter.
///
/// All attempts are available again when a connection has been open for ten seconds. A server that fails soon after
/// each handshake is therefore not restarted forever.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    /// Maximum number of attempts until a connection has been open for ten seconds.
    pub attempts: u32,
    /// The pause before the first attempt. The pause doubles with each attempt, up to 30 seconds.
    pub pause: Duration,
}

impl Reconnect {
    /// Eight attempts, the first after 500 milliseconds: about 90 seconds in total.
    pub const DEFAULT: Reconnect = Reconnect { attempts: 8, pause: Duration::from_millis(500) };

    /// Takes one attempt, and returns the pause before the attempt. Returns `None` if no attempt is left.
    fn take_attempt(&mut self) -> Option<Millis> {
        self.attempts = self.attempts.checked_sub(1)?;
        let pause = self.pause;
        self.pause = pause.saturating_mul(2).min(MAX_PAUSE.max(pause));
        Some(millis(pause))
    }
}

impl Default for Reconnect {
    fn default() -> Self {
        Reconnect::DEFAULT
    }
}

impl ClientSession {
    /// Sets how the owner replaces a lost connection. Unsent requests then wait for the next connection.
    pub fn set_reconnect(&mut self, reconnect: Option<Reconnect>) {
        (self.reconnect, self.attempts) = (reconnect, reconnect);
    }

    /// Returns whether a message that was not sent waits, for space in the transmit buffer or for the next connection.
    pub(crate) fn must_retry(&self, error: SendError) -> bool {
        let may_reconnect = self.reconnect.is_some() && !self.is_closing;
        error == SendError::Busy || error == SendError::NotConnected && may_reconnect
    }

    /// Records the loss of a connection, and takes one of the attempts to reconnect. Returns the pause before the
    /// attempt, or `None` if the client is closing or no attempt is left.
    ///
    /// The session drops requests of the server, and keeps unsent requests of the client and the input of the
    /// client's tasks. Until the new connection [opens](ClientSession::connection_opened), the handles call `wake`
    /// after each command.
    pub fn begin_attempt(&mut self, now: Millis, wake: Wake) -> Option<Millis> {
        if self.is_closing {
            return None;
        }
        if self.connected_at.take().is_some_and(|at| at.plus(STABLE) <= now) {
            self.attempts = self.reconnect;
        }
        let pause = self.attempts.as_mut()?.take_attempt()?;
        self.shared.open_connection(wake);
        self.is_connecting = true;
        self.was_lost = true;
        self.server_requests.clear();
        self.responses.clear();
        Some(pause)
    }

    /// Records a new connection, after [`Client::reconnect`](mcp_proto::Client::reconnect).
    pub fn connection_opened(&mut self, wake: Wake) {
        self.shared.open_connection(wake);
    }

    /// Records that the handshake is complete. After a loss, reports the reconnection to all notification queues.
    pub(crate) fn mark_connected(&mut self) {
        self.is_connecting = false;
        self.is_blocked = false;
        if std::mem::take(&mut self.was_lost) {
            for sent in self.sent.values() {
                if let Some(queue) = &sent.state.queue {
                    queue.push(Notification::Reconnected);
                }
            }
            self.shared.broadcast(&Notification::Reconnected);
        }
    }

    /// At the first call after the handshake, records `now` as the time at which the connection was established.
    pub(crate) fn record_connected(&mut self, now: Millis) {
        if !self.is_connecting {
            self.connected_at.get_or_insert(now);
        }
    }

    /// Returns whether the application has closed the client.
    #[must_use]
    pub fn is_closing(&self) -> bool {
        self.is_closing
    }
}
