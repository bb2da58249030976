//! Keep-alive state and timing of both roles.
//!
//! Specification: up to 2025-11-25, *Utilities*, *Ping*.

use crate::framing::outbound_message::Routing;
use crate::json::{Json, WriteBody, Writer};
use crate::peer::{LineEvent, Peer, Role};
use crate::time::Millis;

/// Settings for the detection of an unresponsive peer. Durations over 49 days count as 49 days, and 0 counts as 1 ms.
///
/// The idle time starts when the handshake or, on a client, the discovery is complete. Each complete message of the
/// peer restarts the idle time, but a part of a message does not. `interval` and `timeout` together must therefore
/// exceed the time that the link needs for one message. An exception is a message in chunks: each chunk restarts the
/// idle time. A server receives [arguments](crate::server::Tool::streamed) in chunks, and a client receives
/// [results](crate::Client::receive_chunks) in chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepAlive {
    /// Idle time, in milliseconds, after which the machine sends a ping.
    pub interval: Millis,
    /// Timeout of a ping, in milliseconds. A peer that does not respond within this time is unresponsive. A peer is
    /// also unresponsive if it reads nothing for this time while the transmit buffer has no space for a ping. If this
    /// time expires while the application handles an event of a message, the timeout restarts.
    pub timeout: Millis,
    /// Whether the machine ends the connection to an unresponsive peer. If `false`, the machine continues to ping. The
    /// machine emits an event in both cases.
    pub close: bool,
}

/// State of keep-alive on a connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeepAliveState {
    /// Time of the next ping, or the deadline of a ping. `NEVER` before the idle time has started.
    deadline: Millis,
    /// In milliseconds.
    interval: u32,
    /// In milliseconds.
    timeout: u32,
    /// Number of pings sent. The id of the last ping contains this number.
    count: u32,
    is_enabled: bool,
    closes: bool,
    ping: PingState,
    /// Whether the peer has sent a message that `due` has not processed.
    is_active: bool,
}

const NEVER: Millis = Millis(u64::MAX);

/// State of the current ping.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PingState {
    /// There is no ping.
    None,
    /// The ping is due and waits for transmit space.
    Unsent,
    InFlight,
}

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
        ping: PingState::None,
        is_active: false,
    };

    pub(crate) fn set(&mut self, settings: KeepAlive) {
        let to_u32 = |span: Millis| u32::try_from(span.0).unwrap_or(u32::MAX).max(1);
        (self.interval, self.timeout) = (to_u32(settings.interval), to_u32(settings.timeout));
        (self.is_enabled, self.closes) = (true, settings.close);
    }

    /// Prepares for another connection. Ping numbers continue.
    pub(crate) fn reset(&mut self) {
        (self.deadline, self.ping, self.is_active) = (NEVER, PingState::None, false);
    }

    /// Records that the peer has sent a message of any kind.
    pub(crate) fn record_activity(&mut self) {
        self.is_active = true;
    }

    /// Records that a part of a message has arrived at `now`. Without a ping, restarts the idle time. While a ping is
    /// unsent or in flight, restarts the timeout of the ping, because the response to the ping can only follow the
    /// message. A deadline that has expired does not change.
    pub(crate) fn record_part(&mut self, now: Millis) {
        let time = if self.ping == PingState::None { self.interval } else { self.timeout };
        if self.deadline > now && self.deadline != NEVER {
            self.deadline = now.plus(Millis(time.into()));
        }
    }

    /// Returns the action that is due at `now`. If `follows_event`, the response to a ping may have arrived while the
    /// application handled an event. The expired timeout of a ping then restarts. If `has_read`, the peer has read
    /// output since the last call of this method, or has read all output. The timeout of an unsent ping then restarts.
    fn due(&mut self, now: Millis, follows_event: bool, has_read: bool) -> Due {
        if !self.is_enabled {
            return Due::Nothing;
        }
        if has_read && self.ping == PingState::Unsent {
            self.deadline = now.plus(Millis(self.timeout.into()));
        }
        let is_due = self.deadline <= now;
        let is_active = !is_due && core::mem::take(&mut self.is_active);
        let is_unresponsive = is_due && self.ping != PingState::None && !follows_event;
        if is_unresponsive || is_active && self.ping == PingState::None {
            self.deadline = now.plus(Millis(self.interval.into()));
        } else if is_due {
            self.deadline = now.plus(Millis(self.timeout.into()));
        }
        if is_unresponsive {
            self.ping = PingState::None;
            return Due::PeerUnresponsive { close: self.closes };
        }
        // A ping that waits for transmit space stays pending. If later input postponed the ping, the content of the
        // output would depend on the speed of the transport.
        if is_due && self.ping == PingState::None {
            self.ping = PingState::Unsent;
        }
        if self.ping == PingState::Unsent { Due::Ping } else { Due::Nothing }
    }

    /// Returns the time of the next action. Returns `None` if no action is pending, or if its time has passed.
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
        self.ping = PingState::InFlight;
        self.deadline = now.plus(Millis(self.timeout.into()));
    }

    /// Returns whether `id` belongs to a ping that was sent. This includes earlier pings, because a late response is
    /// valid. Completes the ping in flight if it has this id.
    pub(crate) fn accept_response(&mut self, id: Json<'_>) -> bool {
        let Some(number) = ping_number(id) else { return false };
        if self.ping == PingState::InFlight && number == self.count {
            self.ping = PingState::None;
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
        let has_read = self.output.take_sent_flag() || self.output.is_empty();
        match self.keep_alive.due(self.now, follows_event, has_read) {
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

    /// With a duration of 0, the deadline would be the current time, which `deadline` does not return.
    #[test]
    fn durations_of_0_count_as_1_ms() {
        let mut alive = KeepAliveState::OFF;
        alive.set(KeepAlive { interval: Millis(0), timeout: Millis(0), close: true });
        alive.record_activity();
        assert_eq!(alive.due(Millis(500), false, false), Due::Nothing);
        assert_eq!(alive.deadline(Millis(500)), Some(Millis(501)));
        assert_eq!(alive.due(Millis(501), false, false), Due::Ping);
        alive.record_ping(Millis(501));
        assert_eq!(alive.deadline(Millis(501)), Some(Millis(502)));
        assert_eq!(alive.due(Millis(502), false, false), Due::PeerUnresponsive { close: true });
    }

    #[test]
    fn idle_peer_is_pinged_and_reported_if_unresponsive() {
        let mut alive = KeepAliveState::OFF;
        alive.set(KeepAlive { interval: Millis(100), timeout: Millis(10), close: true });
        assert_eq!(alive.due(Millis(500), false, false), Due::Nothing, "no message was received yet");
        alive.record_activity();
        assert_eq!(alive.due(Millis(500), false, false), Due::Nothing);
        assert_eq!(alive.deadline(Millis(500)), Some(Millis(600)));
        assert_eq!(alive.deadline(Millis(600)), None, "the time of the ping has come");
        alive.record_activity();
        assert_eq!(alive.due(Millis(599), false, false), Due::Nothing);
        assert_eq!(alive.due(Millis(699), false, false), Due::Ping, "a message postpones the ping");
        alive.record_ping(Millis(699));
        alive.record_activity();
        assert_eq!(alive.due(Millis(700), false, false), Due::Nothing);
        assert!(!alive.accept_response(Json::parse(br#""ping-2""#).unwrap()));
        assert!(!alive.accept_response(Json::parse(b"1").unwrap()));
        assert!(alive.accept_response(Json::parse(br#""ping-1""#).unwrap()));
        assert_eq!(alive.due(Millis(708), false, false), Due::Nothing);
        assert_eq!(alive.due(Millis(808), false, false), Due::Ping);
        alive.record_ping(Millis(808));
        assert_eq!(
            alive.due(Millis(818), true, false),
            Due::Nothing,
            "the response may be unread after an event"
        );
        assert_eq!(alive.deadline(Millis(818)), Some(Millis(828)));
        assert_eq!(alive.due(Millis(828), false, false), Due::PeerUnresponsive { close: true });
    }

    #[test]
    fn peer_that_reads_nothing_is_reported_without_a_ping() {
        let mut alive = KeepAliveState::OFF;
        alive.set(KeepAlive { interval: Millis(100), timeout: Millis(10), close: false });
        alive.record_activity();
        assert_eq!(alive.due(Millis(0), false, true), Due::Nothing);
        assert_eq!(alive.due(Millis(150), false, false), Due::Ping, "a late poll");
        assert_eq!(alive.deadline(Millis(150)), Some(Millis(160)));
        alive.record_activity();
        assert_eq!(alive.due(Millis(159), false, true), Due::Ping, "the peer reads slowly");
        assert_eq!(alive.deadline(Millis(159)), Some(Millis(169)));
        assert_eq!(alive.due(Millis(169), false, false), Due::PeerUnresponsive { close: false });
        assert_eq!(alive.deadline(Millis(169)), Some(Millis(269)));
        assert_eq!(alive.due(Millis(269), false, false), Due::Ping);
        alive.record_ping(Millis(270));
        assert!(alive.accept_response(Json::parse(br#""ping-1""#).unwrap()), "no unsent ping has a number");
        assert_eq!(alive.due(Millis(271), false, true), Due::Nothing);
        assert_eq!(alive.deadline(Millis(271)), Some(Millis(371)));
    }
}
