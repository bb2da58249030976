//! Ends requests about which the board has sent nothing for too long.
//!
//! A request can get lost without any sign, when damage turns the request into text that the board ignores. So, after
//! each of the first three quarters of the time limit, the router sends a probe, as the module `probe` does after
//! damage. A server that still has the request refuses the probe, and the time starts anew. If the server responds to
//! the probe with a result, the request or its response was lost. A lost handshake is sent again, up to a maximum
//! number of times. Any other lost request fails. If the server does not answer at all, the request fails at the time
//! limit. The client gets an error with the id of its request.
//!
//! A progress notification for a request restarts the time of the request. The time also restarts while the board sends
//! a long message, and while a request of the board to the client is in flight. Without frames (`Settings::framed`),
//! waiting output restarts the time, because the line is busy. With frames, waiting output restarts the time only while
//! the board confirms frames. A request that is still unsent at its time limit is removed from the output.
//!
//! A request that waits until the board is ready is not probed. Such a request has the same time limit, except during
//! the first ping of the board, which has a time limit of its own: the settle time.

use std::time::{Duration, Instant};

use mcp_proto::json::Json;
use mcp_proto::rpc::code;

use super::Router;
use super::phase::Phase;
use super::requests::{Purpose, Request, Requests};
use crate::message::{cancellation, error_response, id_key};

/// The number of checks within the time limit of a request. All but the last send a probe, unless output for the board
/// waits.
const CHECKS: u32 = 4;
/// If the board sends nothing for this time, the board is not in the middle of a message.
const TRANSIT: Duration = Duration::from_secs(1);
/// The error for a request, other than a handshake, that fails at its time limit.
const LATE: &str = "the board did not respond in time";
/// The error for a handshake that fails at its time limit, and for a request that has waited for the board until its
/// time limit. The board is probably off.
const SILENT: &str = "the board did not respond in time. Is it switched on?";

impl Requests {
    /// Returns when the next request is due for a probe or for its end. Returns `None` if no request has a time limit.
    pub(super) fn silence_deadline(&self, limit: Duration) -> Option<Instant> {
        let limited = self.all().filter(|request| request.is_limited() && !limit.is_zero());
        limited.map(|request| request.confirmed_at + limit / CHECKS).min()
    }
}

impl Request {
    /// Returns whether the request has a time limit. A subscription has none, because it gets its response at its end.
    fn is_limited(&self) -> bool {
        self.purpose != Purpose::Listen
    }
}

impl Router {
    /// Probes requests about which the board is silent, and fails those whose time limit has expired.
    pub(super) fn check_silence(&mut self, now: Instant) {
        let limit = self.settings.timeout;
        if limit.is_zero() {
            return;
        }
        let is_sending = self.board_lines.holds_message() && now < self.last_output + TRANSIT;
        let is_waiting = !self.to_board.is_empty();
        // With frames, output for a board that is off waits without end, so waiting output alone does not show that the
        // board is alive.
        let is_moving = is_waiting && (!self.settings.framed || now < self.board_confirmed + limit / CHECKS);
        let is_paused = is_sending || is_moving || !self.board_requests.is_empty();
        let mut silent = Vec::new();
        for checked in self.requests.in_order().into_iter().filter(|request| request.is_limited()) {
            if is_paused {
                checked.confirm(now);
            } else if now < checked.confirmed_at + limit / CHECKS {
                continue;
            } else if checked.silent_probes + 1 == CHECKS {
                silent.push((checked.id.clone(), checked.line.clone(), checked.purpose));
            } else {
                (checked.confirmed_at, checked.silent_probes) = (now, checked.silent_probes + 1);
                if !is_waiting {
                    self.to_board.extend(checked.probe(now));
                }
            }
        }
        for (id, line, purpose) in silent {
            let key = Json::parse(id.as_bytes()).map(id_key).unwrap_or_default();
            if let Some(request) = self.requests.abandon(&key) {
                self.respond(&request, if request.is_handshake() { SILENT } else { LATE });
            }
            if let Some(unsent) = self.unsent(&line) {
                self.to_board.drain(unsent);
                continue;
            }
            if purpose == Purpose::Initialize {
                // The specification forbids the cancellation of `initialize`.
                continue;
            }
            self.to_board.extend(cancellation(&id, "timeout").as_bytes());
        }
    }

    /// Returns when the next request fails because it has waited for the board too long. Returns `None` if no request
    /// waits with a time limit.
    pub(super) fn waiting_deadline(&self) -> Option<Instant> {
        match self.phase {
            // In the phase `Running`, no request waits. At `give_up_at`, the router sends the waiting requests even if
            // the ping has no response.
            Phase::Running | Phase::Opening { give_up_at: Some(_), .. } => return None,
            Phase::Opening { .. } | Phase::Replaying { .. } | Phase::Disconnected => {}
        }
        let limit = Some(self.settings.timeout).filter(|limit| !limit.is_zero())?;
        let interrupted =
            self.requests.all().filter(|request| request.resend).map(|request| request.confirmed_at);
        Some(interrupted.chain(self.held.oldest_request()).min()? + limit)
    }

    /// Ends the requests that have waited for the board for too long.
    pub(super) fn fail_waiting(&mut self, now: Instant) {
        if self.waiting_deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        let is_late = |since: Instant| now >= since + self.settings.timeout;
        let interrupted =
            self.requests.take_failed(|request| request.resend && is_late(request.confirmed_at));
        let held = self.held.take_late(is_late);
        for id in interrupted.into_iter().map(|request| request.id).chain(held) {
            let line = error_response(&id, code::INTERNAL_ERROR, SILENT);
            self.to_client.extend(line.as_bytes());
        }
    }

    /// Records that the board has confirmed output with a frame.
    pub(crate) fn output_confirmed(&mut self, now: Instant) {
        self.board_confirmed = now;
    }

    /// Records progress of a request.
    pub(super) fn progress_seen(&mut self, params: Option<Json<'_>>, now: Instant) {
        let token = params.and_then(|params| params.get("progressToken")).map(id_key);
        for request in self.requests.in_order() {
            if token.is_some() && request.progress_token == token {
                request.confirm(now);
            }
        }
    }
}
