//! Is the peer still there? Requests that only want an answer, sent when nothing was heard for a while.
//!
//! Specification: up to 2025-11-25, *Utilities*, *Ping*.

use crate::json::Json;
use crate::time::Millis;

/// How to find out that a peer has gone silent. More than 49 days count as 49 days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeepAlive {
    /// Ask when nothing was heard for this long, in milliseconds.
    pub interval: Millis,
    /// The peer is silent if it has not answered this long after, in milliseconds.
    pub timeout: Millis,
    /// Whether the connection ends then. Otherwise the host only hears of it, and the next question follows.
    pub close: bool,
}

/// The state of asking.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeepAliveState {
    /// When to ask; while an answer is awaited, when to give up. `NEVER`: nothing was heard yet.
    at: Millis,
    /// In milliseconds.
    interval: u32,
    timeout: u32,
    /// How many questions were asked: part of their ids.
    count: u32,
    asks: bool,
    closes: bool,
    waiting: bool,
    heard: bool,
}

const NEVER: Millis = Millis(u64::MAX);

/// What to do now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    Nothing,
    Ping,
    PeerUnresponsive { close: bool },
}

impl KeepAliveState {
    pub(crate) const OFF: KeepAliveState = KeepAliveState {
        at: NEVER,
        interval: 0,
        timeout: 0,
        count: 0,
        asks: false,
        closes: false,
        waiting: false,
        heard: false,
    };

    pub(crate) fn set(&mut self, pings: KeepAlive) {
        let short = |span: Millis| u32::try_from(span.0).unwrap_or(u32::MAX);
        (self.interval, self.timeout) = (short(pings.interval), short(pings.timeout));
        (self.asks, self.closes) = (true, pings.close);
    }

    /// A new connection: nothing is awaited.
    pub(crate) fn reset(&mut self) {
        (self.at, self.waiting, self.heard) = (NEVER, false, false);
    }

    /// The peer has sent something, whatever it was.
    pub(crate) fn heard(&mut self) {
        self.heard = true;
    }

    /// What is due at `now`.
    pub(crate) fn due(&mut self, now: Millis) -> Due {
        if !self.asks {
            return Due::Nothing;
        }
        // What is due stays due, or it would depend on what is read while it waits for room.
        let over = self.at <= now;
        let silent = over && self.waiting;
        if silent || !over && core::mem::take(&mut self.heard) && !self.waiting {
            self.at = now.plus(Millis(self.interval.into()));
        }
        if silent {
            self.waiting = false;
            return Due::PeerUnresponsive { close: self.closes };
        }
        if over { Due::Ping } else { Due::Nothing }
    }

    /// When something will be due. Not what is due already and waits for room: no time helps there.
    pub(crate) fn deadline(&self, now: Millis) -> Option<Millis> {
        Some(self.at).filter(|at| self.asks && *at > now && *at != NEVER)
    }

    /// The number of the next question.
    pub(crate) fn next(&self) -> u32 {
        self.count.wrapping_add(1)
    }

    /// It was asked.
    pub(crate) fn asked(&mut self, now: Millis) {
        self.count = self.next();
        self.waiting = true;
        self.at = now.plus(Millis(self.timeout.into()));
    }

    /// Whether this is the id of the question that is awaited; if so, it is answered.
    pub(crate) fn answered(&mut self, id: Json<'_>) -> bool {
        let ours = self.waiting && number(id) == Some(self.count);
        if ours {
            self.waiting = false;
            self.heard = true;
        }
        ours
    }

    /// Whether this is the id of any question that was asked; if it is the one that is awaited, it is answered.
    pub(crate) fn asked_with(&mut self, id: Json<'_>) -> bool {
        self.answered(id) || number(id).is_some_and(|number| number >= 1 && number <= self.count)
    }
}

fn number(id: Json<'_>) -> Option<u32> {
    let digits = id.string()?.as_str()?.strip_prefix(ID_PREFIX)?;
    // A sign or a leading zero would be read, too, but no id of ours has one.
    digits.parse().ok().filter(|_| digits.starts_with(|first| matches!(first, '1'..='9')))
}

/// Ids of questions are strings with this before their number, so that no other request of ours has them.
pub(crate) const ID_PREFIX: &str = "ping-";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_is_asked_when_nothing_is_heard_and_silent_when_it_does_not_answer() {
        let mut alive = KeepAliveState::OFF;
        alive.set(KeepAlive { interval: Millis(100), timeout: Millis(10), close: true });
        assert_eq!(alive.due(Millis(500)), Due::Nothing, "nothing was heard yet");
        alive.heard();
        assert_eq!(alive.due(Millis(500)), Due::Nothing);
        assert_eq!(alive.deadline(Millis(500)), Some(Millis(600)));
        assert_eq!(alive.deadline(Millis(600)), None, "what is due now is no deadline");
        alive.heard();
        assert_eq!(alive.due(Millis(599)), Due::Nothing);
        assert_eq!(alive.due(Millis(699)), Due::Ping, "what was heard has moved it");
        alive.asked(Millis(699));
        alive.heard();
        assert_eq!(alive.due(Millis(700)), Due::Nothing);
        assert!(!alive.answered(Json::parse(br#""ping-2""#).unwrap()));
        assert!(!alive.answered(Json::parse(b"1").unwrap()));
        assert!(alive.answered(Json::parse(br#""ping-1""#).unwrap()));
        assert_eq!(alive.due(Millis(708)), Due::Nothing);
        assert_eq!(alive.due(Millis(808)), Due::Ping);
        alive.asked(Millis(808));
        assert_eq!(alive.due(Millis(818)), Due::PeerUnresponsive { close: true });
    }
}
