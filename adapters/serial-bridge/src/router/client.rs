//! Handles lines of the client: records requests, and passes messages on to the board.

use std::time::Instant;

use mcp_proto::WireFeature;
use mcp_proto::json::Json;
use mcp_proto::rpc::{Message, MessageKind, code};

use super::Router;
use super::phase::Phase;
use super::requests;
use crate::lines::Line;
use crate::message::{self, Damaged, DamagedKind, error_response, id_key};

impl Router {
    /// Handles input of the client, in any pieces.
    pub(crate) fn client_input(&mut self, bytes: &[u8], now: Instant) {
        let mut lines = std::mem::take(&mut self.client_lines);
        lines.feed(bytes, |line| match line {
            Line::Whole(line) => self.client_message(line, now),
            Line::TooLong(damaged) => self.refuse(&damaged),
        });
        self.client_lines = lines;
    }

    /// Handles the end of the client's input. The last line may have no line break.
    pub(crate) fn client_ended(&mut self, now: Instant) {
        self.client_input(b"\n", now);
    }

    /// Passes a message on to the board, or stores it until the board is ready. [Refuses](Router::refuse) most
    /// damaged lines.
    pub(super) fn client_message(&mut self, line: &[u8], now: Instant) {
        let line = message::trim(line);
        if line.is_empty() {
            return;
        }
        if !matches!(self.phase, Phase::Running) {
            return self.held.push(line, now);
        }
        let message = match message::parse(line) {
            Ok(message) => message,
            // Pass the line on, because the board may accept a request without a version.
            Err(damaged)
                if damaged.is_json && damaged.kind == DamagedKind::Request && damaged.id.is_some() =>
            {
                if let Ok(message) = Message::parse(line) {
                    self.requests.insert(&message, now);
                    self.send_to_board(line);
                }
                return;
            }
            Err(damaged) => return self.refuse(&damaged),
        };
        if message.kind() == MessageKind::Batch {
            if let Some(batch) = message::filter_batch(line, |member| self.record_client_message(member, now))
            {
                self.send_to_board(&batch);
            }
        } else if self.record_client_message(&message, now) {
            self.send_to_board(line);
        }
    }

    /// Records one message. Returns whether the board expects the message.
    fn record_client_message(&mut self, message: &Message<'_>, now: Instant) -> bool {
        let method = message.method().and_then(|method| method.string());
        let is = |name: &str| method.is_some_and(|method| method == *name);
        match message.kind() {
            MessageKind::Request => {
                self.revision = requests::stateless_revision(message).or(self.revision);
                self.requests.insert(message, now);
            }
            MessageKind::Notification if is("notifications/initialized") => self.session.initialized(),
            MessageKind::Notification if is("notifications/cancelled") => {
                if let Some(id) = cancelled(message) {
                    self.requests.abandon(&id_key(id));
                }
            }
            // Drop a response to a request that is not in flight. After a restart, a late response could match a new
            // request of the board with the same id.
            MessageKind::Response => {
                return message.id().is_some_and(|id| self.board_requests.remove(&id_key(id)).is_some());
            }
            _ => {}
        }
        true
    }

    /// Sends the client an error response for a dropped line, unless the line looks like a response.
    fn refuse(&mut self, damaged: &Damaged) {
        self.log_note(&format!("a line of the client was dropped: {}", damaged.why));
        if damaged.kind == DamagedKind::Response {
            return;
        }
        let is_parse_error = !damaged.is_json && !damaged.why.starts_with("longer");
        let code = if is_parse_error { code::PARSE_ERROR } else { code::INVALID_REQUEST };
        let omits_id = self.revision.is_some_and(|revision| revision.has(WireFeature::OmittedErrorIds));
        let id = damaged.id.as_deref().unwrap_or(if omits_id { "" } else { "null" });
        self.to_client.extend(error_response(id, code, &damaged.why).as_bytes());
    }
}

/// Returns the id of the request that a notification cancels, or `None` if the notification names no request.
pub(super) fn cancelled<'m>(message: &Message<'m>) -> Option<Json<'m>> {
    message.params()?.get("requestId")
}
