//! Handles lines of the board: responses, requests, damaged messages, log output.

use std::time::Instant;

use mcp_proto::rpc::{Message, MessageKind, code};

use super::client::cancelled;
use super::phase::Phase;
use super::requests::Purpose;
use super::{Router, TRIES};
use crate::lines::Line;
use crate::message::{self, Damaged, DamagedKind, error_code, error_response, id_key};

/// The session mark as a line.
const MARK_LINE: &[u8] = b"\x04\x04\x04\x04";
/// Part of a board's error text for a request without a session.
const NO_SESSION: &str = "send `initialize` first";
/// Parts of a message. Damage rarely destroys all parts.
const ENVELOPE: [&str; 7] =
    ["{\"jsonrpc", "jsonrpc\":", "\"2.0\"", "\"id\":", "\"method\":", "\"result\":", "\"error\":"];

impl Router {
    /// Handles output of the board, in any pieces.
    pub(crate) fn board_input(&mut self, bytes: &[u8], now: Instant) {
        self.board_is_alive(now);
        self.last_output = now;
        let mut lines = std::mem::take(&mut self.board_lines);
        lines.feed(bytes, |line| match line {
            Line::Whole(line) => self.board_line(line, now),
            Line::TooLong(damaged) => {
                self.log_note(&format!("a line of the board was dropped: {}", damaged.why));
                self.damaged(&damaged, now);
            }
        });
        self.board_lines = lines;
    }

    fn board_line(&mut self, line: &[u8], now: Instant) {
        if line.strip_suffix(b"\r").unwrap_or(line) == MARK_LINE {
            // While the router opens a session, a mark belongs to the old session.
            return match self.phase {
                Phase::Running | Phase::Replaying { .. } => self.restarted(now),
                Phase::Opening { .. } | Phase::Disconnected => {}
            };
        }
        if self.answers_ping(line) {
            return self.replay(now);
        }
        let text = message::trim(line);
        let is_opening = matches!(self.phase, Phase::Opening { .. });
        match message::parse_strictly(text) {
            // A message before the response to the ping belongs to the old session.
            Ok(_) if is_opening => {}
            Ok(message) if message.kind() == MessageKind::Batch => {
                if let Some(batch) = message::filter_batch(text, |member| self.passes(member, now)) {
                    self.send_to_client(&batch);
                }
            }
            Ok(message) => {
                if self.passes(&message, now) {
                    self.send_to_client(text);
                }
            }
            Err(damaged) => {
                self.show(line);
                if may_be_message(text, &damaged) {
                    self.damaged(&damaged, now);
                }
            }
        }
    }

    /// Records one message. Returns whether the message is for the client.
    fn passes(&mut self, message: &Message<'_>, now: Instant) -> bool {
        let method = message.method().and_then(|method| method.string());
        match (message.kind(), message.id()) {
            (MessageKind::Request, Some(id)) => {
                self.board_requests.insert(id_key(id), id.raw().to_owned());
                true
            }
            (MessageKind::Notification, _) => {
                if method.is_some_and(|method| method == "notifications/cancelled")
                    && let Some(id) = cancelled(message)
                {
                    self.board_requests.remove(&id_key(id));
                }
                if method.is_some_and(|method| method == "notifications/progress") {
                    self.progress_seen(message.params(), now);
                }
                true
            }
            (MessageKind::Response, Some(id)) => self.response_passes(&id_key(id), message, now),
            _ => {
                // An error without an id: the board could not read a line.
                self.show(message.bytes());
                self.damage_seen(now);
                false
            }
        }
    }

    /// Handles a response of the board. Returns whether the response is for the client.
    fn response_passes(&mut self, key: &str, message: &Message<'_>, now: Instant) -> bool {
        if self.replay_answered(key, message, now) {
            return false;
        }
        let error = message.error();
        let Some(request) = self.requests.get(key) else {
            if !self.is_own_key(key) && !self.requests.has_ended(key) {
                self.show(message.bytes());
                self.damage_seen(now);
            }
            return false;
        };
        let text = error.and_then(|error| error.get("message")).map(|text| text.raw()).unwrap_or_default();
        let needs_session = text.contains(NO_SESSION) && !request.is_stateless;
        if needs_session && self.session.is_open() && request.resent < TRIES {
            (request.resend, request.resent) = (true, request.resent + 1);
            self.restarted(now);
            return false;
        }
        if error_code(message) == Some(code::PARSE_ERROR.into()) {
            // The client sent valid JSON, so the request was damaged on the line, and the board did not execute it.
            self.damage_seen(now);
            if self.repeat(key) {
                return false;
            }
        }
        if self.probe_answered(key, message, now) {
            return false;
        }
        let Some(request) = self.requests.answered(key) else { return false };
        if let Some(result) = message.result() {
            if request.purpose == Purpose::Initialize {
                self.revision = result.get("protocolVersion").and_then(message::revision);
            }
            self.session.record(&request);
        }
        true
    }

    /// Handles a damaged message. If the phase is `Running` and the id is readable, the board gets an error response to
    /// a damaged request, and a damaged response fails the client's request. See [`fail`](Router::fail) for handshake
    /// requests, which are sent again.
    fn damaged(&mut self, damaged: &Damaged, now: Instant) {
        self.damage_seen(now);
        let Some(id) = damaged.id.as_ref().filter(|_| matches!(self.phase, Phase::Running)) else { return };
        match damaged.kind {
            DamagedKind::Request => {
                let line = error_response(id, code::PARSE_ERROR, "the request was damaged on the line");
                self.to_board.extend(line.as_bytes());
            }
            DamagedKind::Response => {
                let key = mcp_proto::json::Json::parse(id.as_bytes()).map(id_key).unwrap_or_default();
                self.fail(&key, &format!("the board's response was damaged: {}", damaged.why));
            }
            DamagedKind::Unknown => {}
        }
    }
}

/// Returns whether a line may be a damaged message. Other lines are log output of the board.
fn may_be_message(line: &[u8], damaged: &Damaged) -> bool {
    if damaged.is_json && damaged.id.is_none() && damaged.kind == DamagedKind::Unknown {
        return false;
    }
    let Ok(text) = std::str::from_utf8(line) else { return true };
    ENVELOPE.iter().any(|part| text.contains(part))
}
