//! Routes lines between the client and the board, without I/O.
//!
//! The caller passes input, the time, and the state of the link. The router fills three buffers: for the board, for the
//! client, and for the log. Only complete messages pass. Each request of the client gets one response, unless the
//! client cancels the request.
//!
//! - `phase`: opens a session with the board, and opens it again after a restart.
//! - `client`, `board`: handle the lines of each side.
//! - `held`: stores lines of the client until the board is ready.
//! - `probe`: finds out which requests were lost on a noisy line.
//! - `silence`: ends requests about which the board sends nothing for too long.
//! - `requests`, `session`: record the client's requests in flight, and the requests to replay.

mod board;
mod client;
mod held;
mod phase;
mod probe;
mod requests;
mod session;
mod silence;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::time::{Duration, Instant};

use mcp_proto::Revision;
use mcp_proto::rpc::code;

use crate::lines::Lines;
use crate::log_text;
use crate::message::error_response;
use held::Held;
use phase::Phase;
use probe::Probe;
use requests::{Request, Requests};
use session::Session;

/// The session mark: a line that separates two sessions, with four times ASCII *end of transmission*.
pub(crate) const MARK: &str = "\n\x04\x04\x04\x04\n";

/// Limit of the stored log, in bytes. The router drops the excess.
const MAX_LOG: usize = 1 << 18;
/// Maximum number of times that a damaged handshake is sent again.
const HANDSHAKE_TRIES: u32 = 20;
/// Maximum number of times that any other request is sent again because of damage or a missing session.
const TRIES: u32 = 3;

/// Options of the user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Settings {
    /// Time limit for the first response of the board. Zero: the board is not pinged.
    pub(crate) settle: Duration,
    /// Time limit for a response or progress of the board. Zero: no limit.
    pub(crate) timeout: Duration,
    /// Whether to send session marks.
    pub(crate) mark: bool,
    /// Whether the board confirms output with frames.
    pub(crate) framed: bool,
}

/// The state between a client and a board.
#[derive(Debug)]
pub(crate) struct Router {
    settings: Settings,
    phase: Phase,
    /// Time limit for each response of a replay. When the time expires, the router repeats the replay.
    replay_timeout: Duration,
    /// The random part of the bridge's own ids.
    seed: u32,
    issued_ids: u32,
    client_lines: Lines,
    board_lines: Lines,
    requests: Requests,
    /// The JSON texts of the ids of the board's requests in flight, by `id_key`.
    board_requests: BTreeMap<String, String>,
    session: Session,
    /// The revision of the session or of the last stateless request. `None` if neither is known.
    revision: Option<Revision>,
    held: Held,
    probe: Probe,
    /// The time of the board's last output.
    last_output: Instant,
    /// The time at which the board last confirmed output with a frame.
    board_confirmed: Instant,
    /// Unsent output for the board.
    pub(crate) to_board: VecDeque<u8>,
    /// Unsent output for the client.
    pub(crate) to_client: VecDeque<u8>,
    /// Unwritten log.
    pub(crate) log: VecDeque<u8>,
}

impl Router {
    /// Creates a router without a link. `seed` makes the ids of the bridge different from the ids of a previous
    /// bridge.
    pub(crate) fn new(settings: Settings, seed: u32) -> Router {
        Router {
            settings,
            phase: Phase::Disconnected,
            replay_timeout: phase::REPLAY,
            seed,
            issued_ids: 0,
            client_lines: Lines::default(),
            board_lines: Lines::default(),
            requests: Requests::default(),
            board_requests: BTreeMap::new(),
            session: Session::default(),
            revision: None,
            held: Held::default(),
            probe: Probe::default(),
            last_output: Instant::now(),
            board_confirmed: Instant::now(),
            to_board: VecDeque::new(),
            to_client: VecDeque::new(),
            log: VecDeque::new(),
        }
    }

    /// Returns whether the caller should pause reading from the client.
    pub(crate) fn is_full(&self) -> bool {
        self.held.is_full()
    }

    /// Returns the number of stored lines plus the number of requests without a response, except subscriptions.
    pub(crate) fn awaited(&self) -> usize {
        self.requests.awaited() + self.held.len()
    }

    /// Sends the boundary between two sessions to the board, because the board may still have state of the old
    /// session.
    pub(crate) fn end_session(&mut self) {
        self.to_board.extend(self.boundary().as_bytes());
    }

    /// Adds a line of the bridge to the log.
    pub(crate) fn log_note(&mut self, text: &str) {
        self.show(format!("mcp-serial-bridge: {text}").as_bytes());
    }

    /// Adds a line of the board or of the bridge to the log. Drops the line if the log is full.
    pub(crate) fn show(&mut self, line: &[u8]) {
        if self.log.len() < MAX_LOG {
            log_text::append(&mut self.log, line);
        }
    }

    /// Returns the bytes between two sessions. Even without a mark, the line break ends a partial line of the old
    /// session.
    fn boundary(&self) -> &'static str {
        if self.settings.mark { MARK } else { "\n" }
    }

    fn next_id(&mut self) -> String {
        self.issued_ids += 1;
        format!("b{:08x}-{}", self.seed, self.issued_ids)
    }

    fn is_own_key(&self, key: &str) -> bool {
        key.strip_prefix('"').is_some_and(|key| key.starts_with(&format!("b{:08x}-", self.seed)))
    }

    fn send_to_board(&mut self, line: &[u8]) {
        self.to_board.extend(line);
        self.to_board.push_back(b'\n');
    }

    fn send_to_client(&mut self, line: &[u8]) {
        self.to_client.extend(line);
        self.to_client.push_back(b'\n');
    }

    fn respond(&mut self, request: &Request, why: &str) {
        let line = error_response(&request.id, code::INTERNAL_ERROR, why);
        self.to_client.extend(line.as_bytes());
    }

    /// Ends a request with an error, if the request is in flight. A handshake request does not end before the limit of
    /// attempts is reached: the router sends the request again.
    fn fail(&mut self, key: &str, why: &str) {
        let is_handshake = self.requests.get(key).is_some_and(|request| request.is_handshake());
        if is_handshake && self.repeat(key) {
            return;
        }
        if let Some(request) = self.requests.abandon(key) {
            self.respond(&request, why);
        }
    }

    /// Sends a request again, unless its line is still unsent. Returns `false` if the request is not in flight, or the
    /// limit of attempts is reached.
    fn repeat(&mut self, key: &str) -> bool {
        let Some(request) = self.requests.get(key) else { return false };
        let limit = if request.is_handshake() { HANDSHAKE_TRIES } else { TRIES };
        if request.resent >= limit {
            return false;
        }
        request.resent += 1;
        let line = request.line.clone();
        if self.unsent(&line).is_none() {
            self.send_to_board(&line);
        }
        true
    }

    /// Returns the position of a line in the output for the board, with its line break. Returns `None` if the line or a
    /// part of it was sent.
    fn unsent(&mut self, line: &[u8]) -> Option<Range<usize>> {
        let mut end = 0;
        self.to_board.make_contiguous().split_inclusive(|byte| *byte == b'\n').find_map(|unsent| {
            let start = end;
            end += unsent.len();
            (unsent.strip_suffix(b"\n") == Some(line)).then_some(start..end)
        })
    }
}

/// Returns the earlier of two optional times, or `None` if both are `None`.
fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    one.into_iter().chain(other).min()
}
