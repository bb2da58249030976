//! Finds out which requests were lost on a noisy line.
//!
//! A damaged request may get an error without an id, or no response. A damaged response may have no readable id.
//! Without a check, the client would wait until the time limit, or forever without a limit. So after a damaged line,
//! the router sends probes: pings with the ids of requests in flight. A server that still has the request refuses the
//! ping, because the id is in flight. If the server answers the ping, the request is not in flight: the request or its
//! response was lost.
//!
//! For a request with an empty result, the probe is the request itself, because its result looks like the answer to a
//! ping.
//!
//! Without damage, the router probes only requests about which the board has sent nothing for a long time: see
//! `silence`.

use std::time::{Duration, Instant};

use mcp_proto::rpc::{Message, code};

use super::Router;
use super::requests::{Purpose, Request, Requests};
use crate::message::{error_code, request};

/// Delay of the first probe after damage.
const FIRST: Duration = Duration::from_millis(100);
/// Maximum delay of later probes.
const MAX_DELAY: Duration = Duration::from_secs(2);
/// Maximum number of requests that are probed at a time, because a board has a small receive buffer.
const MAX_PROBES: usize = 4;

/// The schedule of probes.
#[derive(Debug, Default)]
pub(super) struct Probe {
    /// The time of the next probe, and the delay of the probe after that. `None` until the first damaged line.
    next: Option<(Instant, Duration)>,
}

impl Probe {
    pub(super) fn deadline(&self, requests: &Requests) -> Option<Instant> {
        self.next.map(|(at, _)| at).filter(|_| !requests.is_empty())
    }
}

impl Request {
    /// Records a probe, and returns its line with a line break.
    pub(super) fn probe(&mut self, now: Instant) -> Vec<u8> {
        (self.probes, self.checked) = (self.probes + 1, now);
        if self.has_empty_result() {
            return [&self.line, &b"\n"[..]].concat();
        }
        request(&self.id, "ping", None).into_bytes()
    }
}

impl Router {
    /// Records that a line was damaged.
    pub(super) fn damage_seen(&mut self, now: Instant) {
        self.probe.next = Some((now + FIRST, FIRST * 2));
    }

    /// If a probe is due, probes the requests that were not probed for the longest time. Sends no probe while earlier
    /// output waits, because the board may not have received the requests.
    pub(super) fn send_probes(&mut self, now: Instant) {
        let Some((_, delay)) = self.probe.next.filter(|(at, _)| now >= *at) else { return };
        self.probe.next = Some((now + delay, (delay * 2).min(MAX_DELAY)));
        if !self.to_board.is_empty() {
            return;
        }
        let mut requests = self.requests.in_order();
        requests.sort_by_key(|request| request.checked);
        for probed in requests.into_iter().take(MAX_PROBES).filter(|probed| now - probed.checked >= FIRST) {
            self.to_board.extend(probed.probe(now));
        }
    }

    /// Handles a response that may answer a probe. Returns whether the response counts as such an answer.
    pub(super) fn probe_answered(&mut self, key: &str, message: &Message<'_>, now: Instant) -> bool {
        let Some(request) = self.requests.get(key) else { return false };
        if request.probes > 0 && error_code(message) == Some(code::INVALID_REQUEST.into()) {
            // The board has refused the probe, so the request is still in flight. The message may also be the response
            // to the request: the answer to the probe then follows.
            (request.probes, request.is_refused) = (request.probes - 1, true);
            request.confirm(now);
            return true;
        }
        let is_empty = message.result().is_some_and(|result| result.members().next().is_none());
        let is_pong = request.probes > 0 || request.is_refused && request.purpose != Purpose::Extension;
        let is_lost = is_empty && is_pong && !request.has_empty_result();
        if is_lost {
            self.fail(key, "the request or its response was lost on the line");
        }
        is_lost
    }
}
