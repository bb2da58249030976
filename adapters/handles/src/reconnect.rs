//! Reconnection: number and timing of attempts, and the state of a client session between two connections.

use std::mem;
use std::sync::Arc;
use std::time::Duration;

use mcp_proto::client::Acknowledged;
use mcp_proto::{Millis, SendError};

use crate::Wake;
use crate::client_shared::Command;
use crate::error::CallError;
use crate::owned::Notification;
use crate::pending::{RequestState, ResponseBody};
use crate::session::ClientSession;

/// Longest pause between two attempts, unless the first pause or the `Retry-After` of the server is longer.
const MAX_PAUSE: Duration = Duration::from_secs(30);

/// Time for which a connection, or the stream of a subscription, must be open before all attempts are available again.
const STABLE: Millis = Millis::seconds(10);

/// Number and timing of reconnection attempts: see `Connector::reconnect` of the adapter.
///
/// All attempts are available again when a connection has been open for ten seconds. A server that fails soon after
/// each handshake is therefore not restarted forever.
///
/// Over HTTP in revisions before `2026-07-28`, `attempts` also limits the attempts to resume the broken stream of a
/// request. If the last attempt fails, the request fails with the failure of that attempt. Each attempt that the server
/// accepts makes all attempts available again. The pauses begin with one second or the time that the server demands,
/// and double up to eight seconds.
///
/// Over HTTP in `2026-07-28`, the stream of each subscription has its own attempts. If the stream breaks, the client
/// sends the subscription again. The subscription ends if no attempt is left.
///
/// If the server refuses an attempt with a time in seconds in `Retry-After`, the pause before the next attempt is at
/// least that time. More than five minutes count as five minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reconnect {
    /// Maximum number of attempts until a connection has been open for ten seconds.
    pub attempts: u32,
    /// The pause before the first attempt. The pause doubles with each attempt, up to 30 seconds. A first pause of more
    /// than 30 seconds stays the same.
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
        Some(Millis::from(pause))
    }
}

impl Default for Reconnect {
    fn default() -> Self {
        Reconnect::DEFAULT
    }
}

/// The attempts to send a subscription again, after its HTTP stream has closed.
#[derive(Debug)]
pub(crate) struct StreamAttempts {
    left: Reconnect,
    /// The time of the last attempt.
    last: Millis,
}

impl StreamAttempts {
    pub(crate) fn new(all: Reconnect) -> StreamAttempts {
        StreamAttempts { left: all, last: Millis::ZERO }
    }

    /// Takes one attempt, and returns its time. Returns `None` if no attempt is left. `was_open` is whether the server
    /// has acknowledged the last attempt. If so, and if that attempt was at least ten seconds ago, all attempts are
    /// available again. `least` is the shortest pause.
    pub(crate) fn take(
        &mut self,
        all: Reconnect,
        was_open: bool,
        least: Millis,
        now: Millis,
    ) -> Option<Millis> {
        if was_open && self.last.plus(STABLE) <= now {
            self.left = all;
        }
        self.last = now.plus(self.left.take_attempt()?.max(least));
        Some(self.last)
    }
}

/// A subscription whose HTTP stream has closed.
pub(crate) struct ClosedStream {
    pub(crate) state: Arc<RequestState>,
    /// The error of the stream. If no attempt is left, the subscription fails with this error.
    error: CallError,
    /// Whether the server has acknowledged the subscription on this stream.
    was_open: bool,
    /// The time of the next attempt. `None` until `send_subscriptions_again` is called, which knows the current time.
    due: Option<Millis>,
}

impl ClientSession {
    /// Keeps a subscription whose HTTP stream has closed with this error, so that the client sends the subscription
    /// again. Also keeps a subscription that was sent again and has timed out. Returns any other error, and any error
    /// of a subscription that the server has never acknowledged. Also returns the error if the client is closing or the
    /// owner does not reconnect.
    pub(crate) fn listen_again_later(
        &mut self,
        state: &Arc<RequestState>,
        error: CallError,
    ) -> Result<(), CallError> {
        // A subscription that was sent again may time out, for example while the server starts.
        let is_lost = match error {
            CallError::Http(_) => true,
            CallError::TimedOut => state.is_sent_again(),
            _ => false,
        };
        if !is_lost || self.is_closing || self.reconnect.is_none() {
            return Err(error);
        }
        let Some(was_open) = state.mark_stream_closed() else { return Err(error) };
        self.closed_streams.push(ClosedStream { state: Arc::clone(state), error, was_open, due: None });
        Ok(())
    }

    /// Keeps a request that the server refused because the session has ended. The client sends the request again in the
    /// next session. Returns any other error, and the error of a request that was repeated before. Also returns the
    /// error if the client is closing or the owner does not reconnect.
    pub(crate) fn repeat_in_next_session(
        &mut self,
        state: &Arc<RequestState>,
        error: CallError,
    ) -> Result<(), CallError> {
        let is_refused = matches!(&error, CallError::Http(failure) if failure.is_session_lost());
        if !is_refused || self.is_closing || self.reconnect.is_none() {
            return Err(error);
        }
        // This flag keeps requests unsent until the next handshake.
        self.is_connecting = true;
        if !state.mark_repeated() {
            return Err(error);
        }
        self.shared.send(Command::Start(Arc::clone(state)));
        Ok(())
    }

    /// Sends again each subscription whose next attempt is due. Fails a subscription that has no attempt left. Returns
    /// the time of the next attempt, or `None` if no subscription waits.
    pub(crate) fn send_subscriptions_again(&mut self, now: Millis) -> Option<Millis> {
        let all = self.reconnect?;
        let mut next = None;
        // Skip each subscription that the application has dropped.
        for mut stream in
            mem::take(&mut self.closed_streams).into_iter().filter(|stream| stream.state.is_awaited())
        {
            let least =
                if let CallError::Http(failure) = &stream.error { failure.wait_time() } else { Millis::ZERO };
            match stream.due.or_else(|| stream.state.take_attempt(all, stream.was_open, least, now)) {
                Some(due) if due <= now => self.shared.send(Command::Start(stream.state)),
                Some(due) => {
                    next = next.into_iter().chain([due]).min();
                    stream.due = Some(due);
                    self.closed_streams.push(stream);
                }
                None => {
                    self.shared.release_slot(&stream.state);
                    stream.state.complete(Err(stream.error));
                }
            }
        }
        next
    }

    /// Handles the acknowledgment of a subscription. Reports the reconnection if the subscription was sent again.
    pub(crate) fn handle_acknowledgment(&self, acknowledged: Acknowledged<'_>) {
        let ticket = acknowledged.ticket();
        let Some(sent) = self.sent.get(&ticket) else { return };
        let is_sent_again = sent.state.is_sent_again();
        sent.state.complete(Ok(ResponseBody::Listening(ticket, acknowledged.raw().to_string())));
        if is_sent_again {
            if let Some(queue) = &sent.state.queue {
                queue.push(Notification::Reconnected);
            }
            self.shared.broadcast(&Notification::Reconnected);
        }
    }

    /// Sets how the owner replaces a lost connection. `None` means that a lost connection is not replaced. Otherwise,
    /// unsent requests wait for the next connection.
    pub fn set_reconnect(&mut self, reconnect: Option<Reconnect>) {
        (self.reconnect, self.attempts) = (reconnect, reconnect);
    }

    /// Returns whether a message whose sending failed with `error` waits for space in the transmit buffer, or for the
    /// next connection.
    pub(crate) fn must_retry(&self, error: SendError) -> bool {
        let may_reconnect = self.reconnect.is_some() && !self.is_closing;
        error == SendError::Busy || error == SendError::NotConnected && may_reconnect
    }

    /// Records the loss of a connection, and takes one of the attempts to reconnect. Returns the pause before the
    /// attempt. Returns `None` if the client is closing, no attempt is left, or the owner replaces no connection.
    ///
    /// The session drops requests of the server. The session keeps the client's unsent requests, and the required input
    /// of the client's tasks. Until [`connection_opened`](ClientSession::connection_opened) is called, the handles call
    /// `wake` after each command.
    pub fn begin_attempt(&mut self, now: Millis, wake: Wake) -> Option<Millis> {
        if self.is_closing {
            return None;
        }
        if self.connected_at.take().is_some_and(|at| at.plus(STABLE) <= now) {
            self.attempts = self.reconnect;
        }
        let pause = self.attempts.as_mut()?.take_attempt()?.max(mem::take(&mut self.retry_after));
        self.shared.open_connection(wake);
        self.is_connecting = true;
        self.was_lost = true;
        self.server_requests.clear();
        self.responses.clear();
        Some(pause)
    }

    /// Records a new connection. Call this method after [`Client::reconnect`](mcp_proto::Client::reconnect). From now
    /// on, the handles call this `wake`.
    pub fn connection_opened(&mut self, wake: Wake) {
        self.shared.open_connection(wake);
    }

    /// Records that the handshake is complete. After a loss, reports the reconnection to all notification queues.
    pub(crate) fn mark_connected(&mut self) {
        self.is_connecting = false;
        self.is_blocked = false;
        if mem::take(&mut self.was_lost) {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attempts_of_a_stream_return_after_ten_seconds() {
        let all = Reconnect { attempts: 2, pause: Duration::from_secs(1) };
        let mut attempts = StreamAttempts::new(all);
        assert_eq!(attempts.take(all, true, Millis::ZERO, Millis(0)), Some(Millis(1000)));
        assert_eq!(attempts.take(all, true, Millis::ZERO, Millis(2000)), Some(Millis(4000)));
        // The stream was open for less than ten seconds, or not at all.
        assert_eq!(attempts.take(all, true, Millis::ZERO, Millis(13_999)), None);
        assert_eq!(attempts.take(all, false, Millis::ZERO, Millis(14_000)), None);
        assert_eq!(attempts.take(all, true, Millis::ZERO, Millis(14_000)), Some(Millis(15_000)));
        assert_eq!(attempts.take(all, false, Millis(5_000), Millis(15_000)), Some(Millis(20_000)));
    }
}
