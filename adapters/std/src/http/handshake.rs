//! The client's handshake, which a relay repeats after the end of a session.

use std::collections::VecDeque;

use mcp_proto::json::Json;
use mcp_proto::rpc::{Message, MessageKind};
use mcp_proto::{Millis, OutboundMessageKind, Relation, StreamId};

/// Time limit for the response to a repeated `initialize`.
const HANDSHAKE_TIME: Millis = Millis::seconds(30);
/// If less than this time passes between two losses of a session, the relay does not repeat the handshake at once.
const STABLE: Millis = Millis::seconds(10);

/// A message from the client to the server.
pub(super) struct Outgoing {
    pub(super) text: Vec<u8>,
    pub(super) kind: OutboundMessageKind,
    pub(super) relation: Relation,
}

/// The messages of the client that begin a session of the handshake era.
#[derive(Default)]
pub(super) struct Handshake {
    initialize: Option<Vec<u8>>,
    pub(super) initialized: Option<Vec<u8>>,
    /// The stream of the repeated `initialize` that waits for a response.
    pub(super) repeated: Option<StreamId>,
    /// The time at which the relay gives up the repeated `initialize`.
    repeated_until: Millis,
    /// Whether the session was lost, and no repeated handshake has succeeded or is in progress. The relay then repeats
    /// `initialize` before the next request.
    pub(super) is_missing: bool,
    /// The time at which the last session was lost.
    lost_at: Option<Millis>,
}

impl Handshake {
    /// Creates the handshake of a client that has sent `initialize`.
    pub(super) fn new(initialize: &[u8]) -> Handshake {
        Handshake { initialize: Some(initialize.to_vec()), ..Handshake::default() }
    }

    /// Handles the end of the session.
    ///
    /// Repeats `initialize` at once, unless another session was lost less than [`STABLE`] before. In that case the
    /// relay waits for a request of the client. Without this wait, the relay would repeat `initialize` in a loop if the
    /// server loses each session soon after the handshake.
    pub(super) fn session_lost(&mut self, now: Millis, stream: StreamId, outgoing: &mut VecDeque<Outgoing>) {
        let is_stable = self.lost_at.replace(now).is_none_or(|at| at.plus(STABLE) <= now);
        (self.repeated, self.is_missing) = (None, !is_stable);
        if is_stable {
            self.repeat(now, stream, outgoing);
        }
    }

    /// Queues `initialize` again on this new stream, before all other messages. Does nothing if the client has not sent
    /// `initialize`.
    pub(super) fn repeat(&mut self, now: Millis, stream: StreamId, outgoing: &mut VecDeque<Outgoing>) {
        if let Some(text) = self.initialize.clone() {
            (self.repeated, self.repeated_until) = (Some(stream), now.plus(HANDSHAKE_TIME));
            let (kind, relation) = (OutboundMessageKind::Request, Relation::Request(stream));
            outgoing.push_front(Outgoing { text, kind, relation });
        }
    }

    /// Returns the time at which the relay gives up the repeated `initialize`. Returns `None` if no repeated
    /// `initialize` waits for a response.
    pub(super) fn deadline(&self) -> Option<Millis> {
        self.repeated.map(|_| self.repeated_until)
    }

    /// Ends the repeated handshake without a new session. Does nothing if no repeated handshake is in progress.
    pub(super) fn give_up(&mut self, outgoing: &mut VecDeque<Outgoing>) {
        if let Some(stream) = self.repeated.take() {
            outgoing.retain(|message| message.relation != Relation::Request(stream));
            self.is_missing = true;
        }
    }

    /// Returns `true` if a message is the response to the repeated `initialize`. Over HTTP+SSE, only the id
    /// identifies this response.
    pub(super) fn is_answer(&self, message: &[u8], stream: StreamId) -> bool {
        let is_own_stream = self.repeated == Some(stream);
        if self.repeated.is_none() || !is_own_stream && stream != StreamId::NONE {
            return false;
        }
        let initialize = self.initialize.as_deref().and_then(|text| Message::parse(text).ok());
        let id = initialize.and_then(|initialize| initialize.id().map(Json::bytes));
        Message::parse(message).is_ok_and(|message| {
            message.kind() == MessageKind::Response && (is_own_stream || message.id().map(Json::bytes) == id)
        })
    }

    /// Handles the response to the repeated `initialize`. After a result, queues the client's
    /// `notifications/initialized`.
    pub(super) fn complete(&mut self, message: &[u8], outgoing: &mut VecDeque<Outgoing>) {
        let Ok(message) = Message::parse(message) else { return };
        (self.repeated, self.is_missing) = (None, message.result().is_none());
        if let Some(text) = self.initialized.clone().filter(|_| !self.is_missing) {
            let (kind, relation) = (OutboundMessageKind::Notification, Relation::Connection);
            outgoing.push_front(Outgoing { text, kind, relation });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_response_to_repeated_initialize_is_recognized() {
        let initialize = br#"{"jsonrpc":"2.0","id":7,"method":"initialize","params":{}}"#.to_vec();
        let repeated = Some(StreamId(9));
        let handshake = Handshake { initialize: Some(initialize), repeated, ..Handshake::default() };
        let response = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
        let other = r#"{"jsonrpc":"2.0","id":8,"result":{}}"#;
        let request = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
        let streams = [StreamId(9), StreamId::NONE, StreamId(3)];
        for (message, expected) in [
            (response, [true, true, false]),
            (other, [true, false, false]),
            (request, [false; 3]),
            (notification, [false; 3]),
        ] {
            let kept = streams.map(|stream| handshake.is_answer(message.as_bytes(), stream));
            assert_eq!(kept, expected, "{message}");
        }
    }

    #[test]
    fn repeated_initialize_without_a_response_is_given_up() {
        let mut outgoing = VecDeque::new();
        let mut handshake = Handshake::new(b"{}");
        handshake.session_lost(Millis(5), StreamId(9), &mut outgoing);
        assert_eq!((handshake.deadline(), outgoing.len()), (Some(Millis(5).plus(HANDSHAKE_TIME)), 1));
        handshake.give_up(&mut outgoing);
        assert!(handshake.is_missing && outgoing.is_empty());
        assert_eq!(handshake.deadline(), None);
    }
}
