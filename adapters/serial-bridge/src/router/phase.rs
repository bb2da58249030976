//! Opens a session with the board, and opens it again after a restart.
//!
//! When a bridge starts, the board may still have state of the old client: half a line, a slow call, or unsent output.
//! So, by default, a session begins with the session mark and a `ping`. The router drops all messages of the board
//! before the response to the ping.
//!
//! A board that restarts has lost the client's session. The router detects a restart by the mark that a board sends
//! when it starts, or by a lost link. A third sign is an error response of the board that asks for `initialize`. After
//! a restart, most requests in flight fail, and the router replays the session. The replay repeats the client's
//! handshake, log level and subscriptions before the router passes on further lines.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use mcp_proto::rpc::{Message, code};

use super::Router;
use super::earlier;
use super::session::ReplayLine;
use crate::message::{cancellation, error_code, request};

/// Time without output of the board after which a ping counts as lost.
const SILENCE: Duration = Duration::from_millis(500);
/// Time without a response after which the first replay counts as lost. The time doubles with each further replay, up
/// to a maximum: the time limit for responses, or one of the two constants below.
pub(super) const REPLAY: Duration = Duration::from_secs(1);
/// Maximum time after which a replay counts as lost, if the time limit for responses is shorter than this maximum.
const MAX_REPLAY: Duration = Duration::from_secs(8);
/// Maximum time after which a replay counts as lost, if responses have no time limit.
const MAX_UNLIMITED_REPLAY: Duration = Duration::from_secs(600);

/// The state of the session with the board.
#[derive(Debug)]
pub(super) enum Phase {
    Disconnected,
    /// The router waits for the response to a ping.
    Opening {
        /// The common beginning of the ids of all pings. A response to an earlier ping counts, too, because a response
        /// may take longer than the time between two pings.
        id: String,
        /// The number of pings sent.
        pings: u32,
        repeat_at: Instant,
        /// The time at which the router continues without a response to a ping. `None` means never.
        give_up_at: Option<Instant>,
    },
    /// The router repeats the requests of the session, and waits for the response to each of them.
    Replaying {
        lines: VecDeque<ReplayLine>,
        /// The request in flight: its id, and whether it is `initialize`.
        awaited: (String, bool),
        repeat_at: Instant,
    },
    Running,
}

impl Router {
    /// Records that the link to the board is open.
    pub(crate) fn connected(&mut self, now: Instant) {
        let is_first = !self.session.is_open() && self.requests.is_empty();
        self.open(now, is_first.then_some(now + self.settings.settle));
    }

    /// Records that the link to the board was lost.
    pub(crate) fn disconnected(&mut self) {
        self.board_lines.clear();
        self.drop_requests("the board has disconnected");
        self.phase = Phase::Disconnected;
    }

    /// Returns when to call [`tick`](Router::tick), or `None` if no action is due later.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let due = match &self.phase {
            Phase::Disconnected => None,
            Phase::Opening { repeat_at, give_up_at, .. } => earlier(Some(*repeat_at), *give_up_at),
            Phase::Replaying { repeat_at, .. } => Some(*repeat_at),
            Phase::Running => earlier(
                self.probe.deadline(&self.requests),
                self.requests.silence_deadline(self.settings.timeout),
            ),
        };
        earlier(due, self.waiting_deadline())
    }

    /// Performs due actions.
    pub(crate) fn tick(&mut self, now: Instant) {
        if self.deadline().is_none_or(|deadline| now < deadline) {
            return;
        }
        self.fail_waiting(now);
        match self.phase {
            Phase::Disconnected => {}
            Phase::Opening { give_up_at: Some(at), .. } if now >= at => {
                self.log_note("the board does not respond; the client is connected anyway");
                self.settings.settle = Duration::ZERO;
                self.replay(now);
            }
            Phase::Opening { repeat_at, .. } | Phase::Replaying { repeat_at, .. } if now < repeat_at => {}
            // The previous output is still unsent, so a repetition has no use.
            Phase::Opening { ref mut repeat_at, .. } if !self.to_board.is_empty() => {
                *repeat_at = now + SILENCE
            }
            Phase::Replaying { ref mut repeat_at, .. } if !self.to_board.is_empty() => {
                *repeat_at = now + self.replay_timeout;
            }
            Phase::Opening { .. } => self.ping(now),
            Phase::Replaying { .. } => {
                let limit = self.settings.timeout;
                let longest = if limit.is_zero() { MAX_UNLIMITED_REPLAY } else { limit.max(MAX_REPLAY) };
                self.replay_timeout = (self.replay_timeout * 2).min(longest);
                self.open(now, None);
            }
            Phase::Running => {
                self.check_silence(now);
                self.send_probes(now);
            }
        }
    }

    /// Fails the requests in flight, except those that are sent again. Then opens the session again.
    pub(super) fn restarted(&mut self, now: Instant) {
        self.log_note("the board has restarted");
        self.drop_requests("the board has restarted");
        self.open(now, None);
    }

    /// Fails all requests except those that are sent again, cancels the requests of the board, and drops unsent output
    /// for the board.
    fn drop_requests(&mut self, why: &str) {
        self.to_board.clear();
        for request in self.requests.in_order() {
            request.resend |= request.is_handshake();
            (request.probes, request.is_refused) = (0, false);
        }
        for request in self.requests.take_failed(|request| !request.resend) {
            self.respond(&request, why);
        }
        for id in std::mem::take(&mut self.board_requests).into_values() {
            self.to_client.extend(cancellation(&id, why).as_bytes());
        }
    }

    /// Begins a session with the board. Sends a ping, unless the settle time is zero.
    fn open(&mut self, now: Instant, give_up_at: Option<Instant>) {
        if self.settings.settle.is_zero() {
            self.end_session();
            self.replay(now);
        } else {
            let id = self.next_id() + ".";
            self.phase = Phase::Opening { id, pings: 0, repeat_at: now, give_up_at };
            self.ping(now);
        }
    }

    /// Sends the boundary between two sessions, and a ping. A repeated ping repeats the boundary, too, because the
    /// boundary may also have been lost.
    fn ping(&mut self, now: Instant) {
        self.end_session();
        let Phase::Opening { id, pings, repeat_at, .. } = &mut self.phase else { return };
        (*pings, *repeat_at) = (*pings + 1, now + SILENCE);
        self.to_board.extend(request(&format!("\"{id}{pings}\""), "ping", None).as_bytes());
    }

    /// Postpones the next ping, because the board has sent output of any kind.
    pub(super) fn board_is_alive(&mut self, now: Instant) {
        if let Phase::Opening { repeat_at, .. } = &mut self.phase {
            *repeat_at = now + SILENCE;
        }
    }

    /// Returns whether the line answers a ping. A partial line of the old session may precede the response.
    pub(super) fn answers_ping(&self, line: &[u8]) -> bool {
        let Phase::Opening { id, .. } = &self.phase else { return false };
        line.windows(id.len()).any(|text| text == id.as_bytes())
    }

    /// Begins to repeat the requests of the client's session. If no session is recorded, passes on the client's lines.
    pub(super) fn replay(&mut self, now: Instant) {
        let session = std::mem::take(&mut self.session);
        let lines = VecDeque::from(session.replay(|| self.next_id()));
        self.session = session;
        self.send_next(lines, now);
    }

    /// Handles a response during a replay. Returns whether the response belongs to the replay.
    pub(super) fn replay_answered(&mut self, key: &str, message: &Message<'_>, now: Instant) -> bool {
        let Phase::Replaying { lines, awaited: (id, is_initialize), .. } = &mut self.phase else {
            return false;
        };
        if key.strip_prefix('"') != Some(id) {
            return false;
        }
        if is_unread(message, *is_initialize) {
            // The request was damaged on the line. The replay is repeated when its time limit expires.
            return true;
        }
        if *is_initialize && message.result().is_none() {
            // End the replay. The board itself then accepts or refuses the client's further requests.
            self.log_note("the board refuses to open the session again");
            self.send_next(VecDeque::new(), now);
            return true;
        }
        let lines = std::mem::take(lines);
        self.send_next(lines, now);
        true
    }

    /// Sends the lines of a replay up to and including its next request. After the last line of the replay, passes on
    /// the client's lines.
    fn send_next(&mut self, mut lines: VecDeque<ReplayLine>, now: Instant) {
        while let Some(ReplayLine { id, is_initialize, line }) = lines.pop_front() {
            self.to_board.extend(line.as_bytes());
            if let Some(id) = id {
                let (awaited, repeat_at) = ((id, is_initialize), now + self.replay_timeout);
                self.phase = Phase::Replaying { lines, awaited, repeat_at };
                return;
            }
        }
        self.phase = Phase::Running;
        self.replay_timeout = REPLAY;
        self.resend(now);
    }

    /// Sends the refused or interrupted requests again, then the stored lines of the client.
    fn resend(&mut self, now: Instant) {
        let mut lines = Vec::new();
        for request in self.requests.in_order() {
            if std::mem::take(&mut request.resend) {
                request.checked = now;
                request.confirm(now);
                lines.push(request.line.clone());
            }
        }
        lines.iter().for_each(|line| self.send_to_board(line));
        for line in self.held.take() {
            self.client_message(&line, now);
        }
    }
}

/// Returns whether the response says that the board could not read the request. The code for an invalid request says so
/// only for `initialize`, because the board may refuse other requests as invalid for other reasons.
fn is_unread(response: &Message<'_>, is_initialize: bool) -> bool {
    let code = error_code(response);
    code == Some(code::PARSE_ERROR.into()) || is_initialize && code == Some(code::INVALID_REQUEST.into())
}
