//! Keep-alive state and timing of both roles.
//!
//! Specification: up to 2025-11-25, *Utilities*, *Ping*.

use crate::framing::outbound_message::Routing;
use crate::json::{Json, WriteBody, Writer};
use crate::peer::{LineEvent, Peer, Role};
use crate::time::Millis;

/// Settings for the detection of an unresponsive peer. Durations over 49 days count as 49 days, and 0 counts as 1 ms.
///
/// Each message of the peer restarts the idle time when it is complete. A message that arrives in chunks restarts it
/// with each chunk. `interval` and `timeout` together must therefore exceed the time that the link needs for one
/// message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepAlive {
    /// Idle time, in milliseconds, after which the machine sends a ping.
    pub interval: Millis,
    /// Timeout of a ping, in milliseconds. A peer that does not respond within this time is unresponsive. If this time
    /// expires while the application handles the event of a message, the timeout restarts.
    pub timeout: Millis,
    /// Whether the machine ends the connection to an unresponsive peer. If `false`, the machine continues to ping. The
    /// machine emits an event in both cases.
    pub close: bool,
}

/// State of keep-alive on a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeepAliveState {
    /// Time of the next ping, or the deadline of a ping in flight. `NEVER` before the peer has sent a message.
    deadline: Millis,
    /// In milliseconds.
    interval: u32,
    /// In milliseconds.
    timeout: u32,
    /// Number of pings sent. The id of the last ping contains this number.
    count: u32,
    is_enabled: bool,
    closes: bool,
    /// Whether a ping is in flight.
    is_waiting: bool,
    /// Whether the peer has sent a message that `due` has not processed.
    is_active: bool,
}

const NEVER: Millis = Millis(u64::MAX);

/// Pending action of keep-alive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Due {
    Nothing,
    Ping,
    PeerUnresponsive { close: bool },
}

impl KeepAliveState {
    pub(crate) const OFF: KeepAliveState = KeepAliveState {
        deadline: NEVER,
        interval: 0,
        timeout: 0,
        count: 0,
        is_enabled: false,
        closes: false,
        is_waiting: false,
        is_active: false,
    };

    pub(crate) fn set(&mut self, settings: KeepAlive) {
        let to_u32 = |span: Millis| u32::try_from(span.0).unwrap_or(u32::MAX).max(1);
        (self.interval, self.timeout) = (to_u32(settings.interval), to_u32(settings.timeout));
        (self.is_enabled, self.closes) = (true, settings.close);
    }

    /// Prepares for another connection. Ping numbers continue.
    pub(crate) fn reset(&mut self) {
        (self.deadline, self.is_waiting, self.is_active) = (NEVER, false, false);
    }

    /// Records that the peer has sent a message of any kind.
    pub(crate) fn record_activity(&mut self) {
        self.is_active = true;
    }

    /// Records that a part of a message has arrived at `now`. This part restarts the idle time or, while a ping is in
    /// flight, its timeout, because the response to the ping can only follow the message. A deadline that has expired
    /// does not change.
    pub(crate) fn record_part(&mut self, now: Millis) {
        let time = if self.is_waiting { self.timeout } else { self.interval };
        if self.deadline > now && self.deadline != NEVER {
            self.deadline = now.plus(Millis(time.into()));
        }
    }

    /// Returns the action whose deadline has expired at `now`. If `follows_event`, an expired timeout of a ping
    /// restarts instead, because the response may have arrived while the application handled an event.
    fn due(&mut self, now: Millis, follows_event: bool) -> Due {
        if !self.is_enabled {
            return Due::Nothing;
        }
        // A ping that waits for transmit space stays pending. If later input postponed the ping, the content of the
        // output would depend on the speed of the transport.
        let is_due = self.deadline <= now;
        let is_unresponsive = is_due && self.is_waiting;
        if is_unresponsive && follows_event {
            self.deadline = now.plus(Millis(self.timeout.into()));
            return Due::Nothing;
        }
        if is_unresponsive || !is_due && core::mem::take(&mut self.is_active) && !self.is_waiting {
            self.deadline = now.plus(Millis(self.interval.into()));
        }
        if is_unresponsive {
            self.is_waiting = false;
            return Due::PeerUnresponsive { close: self.closes };
        }
        if is_due { Due::Ping } else { Due::Nothing }
    }

    /// Returns the time of the next action. Returns `None` if there is no such time. Also returns `None` while a ping
    /// waits for transmit space, because a poll would not send the ping.
    pub(crate) fn deadline(&self, now: Millis) -> Option<Millis> {
        Some(self.deadline).filter(|at| self.is_enabled && *at > now && *at != NEVER)
    }

    /// Returns the number of the next ping.
    fn next_number(&self) -> u32 {
        self.count.wrapping_add(1)
    }

    /// Records that the next ping was sent.
    fn record_ping(&mut self, now: Millis) {
        self.count = self.next_number();
        self.is_waiting = true;
        self.deadline = now.plus(Millis(self.timeout.into()));
    }

    /// Returns whether `id` belongs to any ping that was sent, because a late response is valid. Completes the ping in
    /// flight if it has this id.
    pub(crate) fn accept_response(&mut self, id: Json<'_>) -> bool {
        let Some(number) = ping_number(id) else { return false };
        if self.is_waiting && number == self.count {
            self.is_waiting = false;
            self.is_active = true;
        }
        number <= self.count
    }
}

/// Returns the number in the id of a ping, at least 1. Returns `None` for any other id.
fn ping_number(id: Json<'_>) -> Option<u32> {
    let digits = id.string()?.as_str()?.strip_prefix(ID_PREFIX)?;
    // The parser would accept a sign or a leading zero, but the machine issues no such id.
    digits.parse().ok().filter(|_| digits.starts_with(|first| matches!(first, '1'..='9')))
}

/// Prefix of the ids of pings, before their number. Ids of other outbound requests are integers.
const ID_PREFIX: &str = "ping-";

impl<R: Role> Peer<'_, R> {
    /// Sends a due ping if it fits. With `needs_space`, sends the ping only if the output has space for a response of
    /// the maximum size. `members` writes the method and the parameters of the ping.
    ///
    /// If the peer is unresponsive, returns whether the settings demand the end of the connection. Otherwise returns
    /// `None`.
    pub(crate) fn advance_keep_alive(
        &mut self,
        needs_space: bool,
        members: &mut dyn WriteBody,
    ) -> Option<bool> {
        let follows_event = self.line_event == LineEvent::Handled;
        match self.keep_alive.due(self.now, follows_event) {
            Due::Nothing => {}
            Due::Ping if needs_space && !self.reserve_response() => {}
            Due::Ping => self.write_ping(members),
            Due::PeerUnresponsive { close } => return Some(close),
        }
        None
    }

    fn write_ping(&mut self, members: &mut dyn WriteBody) {
        let number = self.keep_alive.next_number();
        let sent = self.output.send(Routing::REQUEST, usize::MAX, &mut |out: &mut Writer<'_>| {
            out.token(r#"{"jsonrpc":"2.0","id":"#);
            out.display(&(ID_PREFIX, number));
            members.write(out);
            out.token("}");
        });
        if sent.is_ok() {
            self.keep_alive.record_ping(self.now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A time of 0 would not be a deadline of the caller.
    #[test]
    fn durations_of_0_count_as_1_ms() {
        let mut alive = KeepAliveState::OFF;
        alive.set(KeepAlive { interval: Millis(0), timeout: Millis(0), close: true });
        alive.record_activity();
        assert_eq!(alive.due(Millis(500), false), Due::Nothing);
        assert_eq!(alive.deadline(Millis(500)), Some(Millis(501)));
        assert_eq!(alive.due(Millis(501), false), Due::Ping);
        alive.record_ping(Millis(501));
        assert_eq!(alive.deadline(Millis(501)), Some(Millis(502)));
        assert_eq!(alive.due(Millis(502), false), Due::PeerUnresponsive { close: true });
    }

    #[test]
    fn idle_peer_is_pinged_and_reported_if_unresponsive() {
        let mut alive = KeepAliveState::OFF;
        alive.set(KeepAlive { interval: Millis(100), timeout: Millis(10), close: true });
        assert_eq!(alive.due(Millis(500), false), Due::Nothing, "no message was received yet");
        alive.record_activity();
        assert_eq!(alive.due(Millis(500), false), Due::Nothing);
        assert_eq!(alive.deadline(Millis(500)), Some(Millis(600)));
        assert_eq!(alive.deadline(Millis(600)), None, "a due ping has no deadline");
        alive.record_activity();
        assert_eq!(alive.due(Millis(599), false), Due::Nothing);
        assert_eq!(alive.due(Millis(699), false), Due::Ping, "a message postpones the ping");
        alive.record_ping(Millis(699));
        alive.record_activity();
        assert_eq!(alive.due(Millis(700), false), Due::Nothing);
        assert!(!alive.accept_response(Json::parse(br#""ping-2""#).unwrap()));
        assert!(!alive.accept_response(Json::parse(b"1").unwrap()));
        assert!(alive.accept_response(Json::parse(br#""ping-1""#).unwrap()));
        assert_eq!(alive.due(Millis(708), false), Due::Nothing);
        assert_eq!(alive.due(Millis(808), false), Due::Ping);
        alive.record_ping(Millis(808));
        assert_eq!(alive.due(Millis(818), true), Due::Nothing, "the response may be unread after an event");
        assert_eq!(alive.deadline(Millis(818)), Some(Millis(828)));
        assert_eq!(alive.due(Millis(828), false), Due::PeerUnresponsive { close: true });
    }
}
