//! Routing of the core server's messages to exchanges.

use mcp_proto::json::Json;
use mcp_proto::rpc::{Message, code};
use mcp_proto::{OutboundMessage, OutboundMessageKind, Relation, Revision, SessionKey};

use super::HttpServer;
use super::chunked_responses::PieceStep;
use super::event_stream::EVENT_OVERHEAD;
use super::exchange_flags::Flags;
use super::exchanges::Phase;
use super::policy::Policy;
use super::response::{MediaType, REFUSAL_SIZE, Refusal};
use crate::bytes::write_at;

/// Maximum length of an id in an error, in bytes.
const LONGEST_ID: usize = 128;

/// Returns the status of a JSON response.
pub(super) fn status_of(kind: OutboundMessageKind, is_modern: bool) -> u16 {
    match kind {
        OutboundMessageKind::Error { code } if is_modern => match code {
            code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_PROTOCOL_VERSION => {
                400
            }
            code::METHOD_NOT_FOUND => 404,
            _ => 200,
        },
        _ => 200,
    }
}

impl<P: Policy> HttpServer<'_, P> {
    /// Moves a message to its exchange. Holds a message that belongs to no request if its session has no open stream
    /// for such messages, or if other held messages of the session still wait. For a disconnected client of the
    /// handshake era, only stores the message for replay. Returns `false` if there is no space yet.
    ///
    /// Drops the message if the exchange has ended. After a response in pieces has begun, drops any message that is not
    /// a piece. Also drops a message before the response if the client or the configuration allows only JSON.
    #[inline(never)]
    pub(super) fn route(&mut self, frame: &OutboundMessage<'_>) -> bool {
        let index = match frame.relation() {
            Relation::Request(stream) | Relation::Subscription(stream) => self.exchanges.find(stream),
            Relation::Session(key) if P::HANDSHAKE => {
                let stream = self.general_stream(key);
                if stream.is_none() || self.has_held(key) {
                    self.hold(key, frame.message());
                    stream.into_iter().for_each(|index| self.send_held(index));
                    return true;
                }
                stream
            }
            _ => None,
        };
        // `None`: the exchange has ended, or the message belongs to no exchange.
        let Some(index) = index else { return true };
        let Some(slot) = self.exchanges.slot(index).copied() else { return true };
        let message = frame.message();
        if let kind @ (OutboundMessageKind::Piece | OutboundMessageKind::LastPiece) = frame.kind() {
            let is_last = kind == OutboundMessageKind::LastPiece;
            let step = PieceStep::Route { index, piece: message, is_last };
            return self.piece_hook.is_none_or(|hook| hook(self, step));
        }
        if slot.flags.has(Flags::PIECES) {
            return true;
        }
        if !self.pages.can_ever_hold(message.len().saturating_add(EVENT_OVERHEAD)) {
            return self.route_oversized(index, frame);
        }
        let is_response = frame.kind().is_response() && !Self::has(&slot, Flags::LEGACY);
        match slot.phase {
            Phase::Waiting if is_response => self.route_first_response(index, frame),
            Phase::Waiting => {
                if self.config.json_only && !slot.flags.has(Flags::LISTENS)
                    || !slot.flags.has(Flags::TAKES_STREAM)
                {
                    return true;
                }
                if !self.has_event_space(index, message) {
                    return false;
                }
                self.open_stream(index);
                self.push_event(index, message);
                true
            }
            Phase::Stream if is_response => {
                if !self.has_event_space(index, message) {
                    return false;
                }
                self.push_event(index, message);
                self.end_stream(index);
                true
            }
            Phase::Stream => {
                let must_arrive = frame.kind() == OutboundMessageKind::Request || frame.kind().is_response();
                if must_arrive && !self.has_event_space(index, message) {
                    return false;
                }
                match must_arrive {
                    true => self.push_event(index, message),
                    false => self.push_notification(index, message),
                }
                true
            }
            Phase::Detached if P::HANDSHAKE => {
                self.record_event(index, message);
                if is_response {
                    self.release(index);
                }
                true
            }
            _ => true,
        }
    }

    /// Responds with an error in place of a response that is longer than the whole memory for output. In an open
    /// stream, the error is an event. Drops a message that is not a response: a request to the client ends with its
    /// timeout. Returns `false` if there is no space yet.
    #[cold]
    fn route_oversized(&mut self, index: u16, frame: &OutboundMessage<'_>) -> bool {
        let Some(slot) = self.exchanges.slot(index) else { return true };
        if !frame.kind().is_response() {
            self.sessions.count_dropped();
            return true;
        }
        let reason = "the response is longer than the output";
        let refusal = Refusal::new(500, code::INTERNAL_ERROR, reason);
        let is_legacy = Self::has(slot, Flags::LEGACY);
        let id = Message::parse(frame.message()).ok().and_then(|message| message.id());
        let id = id.map(Json::bytes).filter(|id| id.len() <= LONGEST_ID);
        match slot.phase {
            Phase::Stream => {}
            // For a detached exchange, `refuse` sends no response, and only frees the slot.
            Phase::Waiting | Phase::Detached => {
                self.refuse(index, refusal, id);
                return true;
            }
            _ => return true,
        }
        let (mut text, mut length) = ([0; REFUSAL_SIZE], 0);
        refusal.pieces(id, &mut |piece| {
            length = write_at(&mut text, length, piece).unwrap_or(length);
        });
        let error = text.get(..length).unwrap_or_default();
        let has_space = self.has_event_space(index, error);
        if has_space {
            self.push_event(index, error);
            if !is_legacy {
                self.end_stream(index);
            }
        }
        has_space
    }

    /// Returns the open stream for messages of a session that belong to no request. Returns `None` without such a
    /// stream.
    fn general_stream(&self, session: SessionKey) -> Option<u16> {
        self.exchanges.position(|slot| {
            let is_general = slot.flags.has(Flags::GENERAL) || slot.flags.has(Flags::LEGACY);
            slot.session == session && is_general && slot.phase == Phase::Stream
        })
    }

    /// Routes a response that is the first message of its exchange. The response is JSON, unless the status is 200 and
    /// the client accepts only an event stream. Returns `false` if there is no space yet.
    fn route_first_response(&mut self, index: u16, frame: &OutboundMessage<'_>) -> bool {
        let Some(slot) = self.exchanges.slot(index).copied() else { return true };
        let message = frame.message();
        let (is_modern, takes_json) = (Self::is_modern(&slot), slot.flags.has(Flags::TAKES_JSON));
        let status = status_of(frame.kind(), is_modern);
        if Self::has(&slot, Flags::INITIALIZE) {
            self.finish_initialize(index, frame);
        }
        if !takes_json && status == 200 {
            if !self.has_event_space(index, message) {
                return false;
            }
            self.open_stream(index);
            self.push_event(index, message);
            self.end_stream(index);
            return true;
        }
        let Some(slot) = self.exchanges.slot_mut(index) else { return true };
        if !self.pages.fits(&slot.output, message.len()) {
            return false;
        }
        self.pages.push(&mut slot.output, message);
        self.finish(index, status, MediaType::Json);
        true
    }

    /// Completes the session of an `initialize`. If the response names no known revision, ends the session.
    fn finish_initialize(&mut self, index: u16, frame: &OutboundMessage<'_>) {
        let result = Json::parse(frame.message()).ok().and_then(|message| message.get("result"));
        let version = result.and_then(|result| result.get("protocolVersion")).and_then(Json::string);
        let revision = version.and_then(|version| version.as_str()).and_then(Revision::parse);
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        slot.flags.remove(Flags::INITIALIZE);
        match revision {
            Some(revision) => {
                slot.revision = revision;
                if self.config.mode == super::SessionMode::Sealed {
                    let random = self.policy.random();
                    slot.sealed = super::sealed::contents(revision, random);
                    slot.flags.add(Flags::NEW_SESSION);
                }
            }
            None => self.end_unknown_session(index),
        }
    }
}
