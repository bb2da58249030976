//! `Session`: a handshake session as a value, so that one server machine serves many sessions in turn.

use crate::error::SendError;
use crate::framing::outbound_message::{SessionKey, StreamId};
use crate::json::Json;
use crate::peer::lifecycle::{Lifecycle, State, role};
use crate::peer::request::OutboundData;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::revision::Revision;
use crate::server::Server;
use crate::server::change_set::ChangeSet;
use crate::server::in_flight_hooks::WITH_OUTBOUND;
use crate::server::server_state::{NegotiatedSession, ServerState};

/// A session of the handshake era as a value, at most 64 bytes.
///
/// A transport with many sessions, such as HTTP, stores one value per session. [`Server::replace_session`] selects the
/// session that the machine serves.
#[derive(Debug, Clone, Copy)]
pub struct Session {
    key: SessionKey,
    lifecycle: Lifecycle<role::Server>,
    negotiated: Option<NegotiatedSession>,
    /// Changed lists whose notifications are pending.
    pending_changes: ChangeSet,
}

const _: () = assert!(size_of::<Session>() <= 64, "a session exceeds 64 bytes");

impl Session {
    /// Creates a session that waits for `initialize`.
    #[must_use]
    pub const fn new(key: SessionKey) -> Session {
        Session { key, lifecycle: Lifecycle::START, negotiated: None, pending_changes: ChangeSet::NONE }
    }

    /// Creates a session whose handshake is complete, such as one that another machine negotiated.
    #[must_use]
    pub fn ready(key: SessionKey, revision: Revision, capabilities: ClientCapabilities) -> Session {
        let negotiated = NegotiatedSession { revision, capabilities, level: None, complete: true };
        let pending_changes = ChangeSet::NONE;
        Session { key, lifecycle: Lifecycle::READY, negotiated: Some(negotiated), pending_changes }
    }

    /// Returns the key of the session.
    #[must_use]
    pub fn key(&self) -> SessionKey {
        self.key
    }

    /// Returns the negotiated revision, or `None` before the handshake.
    #[must_use]
    pub fn revision(&self) -> Option<Revision> {
        self.negotiated.map(|session| session.revision)
    }

    /// Returns the capabilities of the client. The set is empty before the handshake.
    #[must_use]
    pub fn capabilities(&self) -> ClientCapabilities {
        self.negotiated.map_or(ClientCapabilities::NONE, |session| session.capabilities)
    }

    /// Returns whether the client completed the handshake (`notifications/initialized`).
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.negotiated.is_some_and(|session| session.complete)
    }
}

/// The session that an outbound request belongs to, as bytes, because bytes need no alignment in a slot.
#[derive(Debug, Clone, Copy)]
pub struct OutboundSession([u8; 2]);

impl OutboundData for OutboundSession {}

impl OutboundSession {
    pub(crate) fn new(SessionKey(key): SessionKey) -> OutboundSession {
        OutboundSession(key.to_le_bytes())
    }

    pub(crate) fn key(self) -> SessionKey {
        SessionKey(u16::from_le_bytes(self.0))
    }
}

impl ServerState<'_> {
    /// Returns whether an outbound request belongs to the current session. Only the client of that session may
    /// respond.
    pub(crate) fn owns_outbound(&self, ticket: Ticket) -> bool {
        self.peer.in_flight.outbound(ticket).is_some_and(|outbound| outbound.data.key() == self.session_key)
    }

    /// Ends the session that `stream` stands for: fails its outbound requests, removes its subscriptions, and makes its
    /// tasks inaccessible. Tasks of a user and tasks of the stateless era stay accessible. The caller must first end
    /// the inbound requests of the session. No effect if `stream` stands for no session.
    pub(crate) fn end_session(&mut self, stream: StreamId) {
        let key = stream.session();
        if key == SessionKey::NONE || stream != key.stream() {
            return;
        }
        if let Some(hooks) = self.outbound_hooks() {
            (hooks.end_session)(self, key);
        }
        if let Some(hooks) = self.task_hooks() {
            (hooks.end_session)(self, key);
        }
    }
}

impl Server<'_> {
    /// Makes the machine serve another session of the handshake era, and returns the value of the previous session.
    ///
    /// The caller must store the returned value. Before the next message of the previous session, the caller must pass
    /// the value to this method. Requests in flight of all sessions stay in the machine. The caller must create the
    /// streams of the session's requests with [`StreamId::in_session`], so that two sessions can use the same request
    /// id. A message for the session as a whole has the relation [`Relation::Session`](crate::Relation::Session).
    ///
    /// # Errors
    /// [`SendError::Busy`]: the machine has not handled a received message completely, or an event is pending.
    /// [`SendError::NotConnected`]: the connection is ending or closed.
    pub fn replace_session(&mut self, session: Session) -> Result<Session, SendError> {
        if matches!(self.state(), State::Draining | State::Closed) {
            return Err(SendError::NotConnected);
        }
        self.finish_event();
        let state = &mut self.state;
        if self.input.line().is_some() || state.pending_event.is_some() || state.peer.pending_error.is_some()
        {
            return Err(SendError::Busy);
        }
        // `OutboundHooks::end_session` ends sessions, so servers with several sessions link the hooks.
        state.in_flight_hooks = Some(&WITH_OUTBOUND);
        let Session { key, lifecycle, negotiated, pending_changes } = session;
        Ok(Session {
            key: core::mem::replace(&mut state.session_key, key),
            lifecycle: core::mem::replace(&mut state.peer.lifecycle, lifecycle),
            negotiated: core::mem::replace(&mut state.peer.session, negotiated),
            pending_changes: state.pending_changes.replace_lists(pending_changes),
        })
    }

    /// Sets the user of the following messages, or 0 for no user. `Call::user` and the same method of other requests
    /// return the user (feature `alloc`).
    ///
    /// A transport with users, such as HTTP with authorization, calls this method for each message that it passes to
    /// the server, before the next poll.
    ///
    /// A client can access only the tasks of its user. Without a user, the tasks of a handshake session belong to that
    /// session. In `2026-07-28`, any client without a user can then access a task whose id it knows.
    pub fn set_user(&mut self, user: u64) {
        #[cfg(feature = "alloc")]
        {
            self.state.user = user;
        }
        if let Some(table) = self.state.tasks.as_mut() {
            table.owner = user;
        }
    }

    /// Returns the stream of a deferred request or subscription. Returns `None` for any other ticket, such as that of a
    /// chunked response.
    #[must_use]
    pub fn stream_of(&self, ticket: Ticket) -> Option<StreamId> {
        self.state.peer.in_flight.deferred(ticket).map(|inbound| inbound.stream)
    }

    /// Returns the id of a request of the client that is in flight on this stream. If several are in flight, returns
    /// the id of the request in the slot with the lowest index. Returns `None` if the client has no request in flight
    /// on the stream.
    #[must_use]
    pub fn request_id_on(&self, stream: StreamId) -> Option<Json<'_>> {
        let in_flight = &self.state.peer.in_flight;
        let mut tickets = in_flight.inbound_requests().filter(|(_, inbound)| inbound.stream == stream);
        tickets.next().map(|(ticket, _)| Json::trusted(in_flight.id_or_text(ticket)))
    }

    /// Finds the client's request with this id in the current session, and returns its stream. Returns `None` if no
    /// such request is in flight.
    #[must_use]
    pub fn find_stream(&self, id: Json<'_>) -> Option<StreamId> {
        let ticket = self.state.peer.in_flight.find(id, self.state.session_key.stream())?;
        self.state.peer.in_flight.inbound(ticket).map(|inbound| inbound.stream)
    }
}
