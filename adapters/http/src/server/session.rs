//! Sessions of the handshake era in the server: creation, selection, end.

use mcp_proto::json::Json;
use mcp_proto::rpc::code;
use mcp_proto::server::{Change, Server, Session};
use mcp_proto::{ClientCapabilities, SendError, SessionKey, StreamId, Ticket};

use super::HttpServer;
use super::config::SessionMode;
use super::exchange_flags::Flags;
use super::exchanges::{ExchangeSlot, Phase};
use super::policy::Policy;
use super::response::Refusal;
use super::sealed;

/// The reason why the core server cannot serve the session of an exchange now.
#[derive(Debug, Clone)]
pub(super) enum NotSelected {
    /// The core server cannot replace its session now, or the slot for a new session is not free yet. Try again later.
    Busy,
    Refused(Refusal),
}

impl<P: Policy> HttpServer<'_, P> {
    /// Selects the session of an exchange in the core server. Fails if the core server is busy, or if the session
    /// cannot be served.
    pub(super) fn select(&mut self, server: &mut Server<'_>, index: u16) -> Result<(), NotSelected> {
        if self.selected == Some(index) {
            return Ok(());
        }
        let Some(slot) = self.exchanges.slot(index).copied() else { return Err(NotSelected::Busy) };
        let is_initialize = slot.flags.has(Flags::INITIALIZE);
        let own_key = SessionKey(index.wrapping_add(1));
        let session = match self.config.mode {
            SessionMode::Sessions => {
                let key = if is_initialize { self.new_session(index)? } else { slot.session };
                // Both keys are `NONE` if the session of the exchange has ended, and the core server has no session.
                if self.sessions.current() == key && key != SessionKey::NONE {
                    self.selected = Some(index);
                    return Ok(());
                }
                self.sessions.value(key).ok_or(NotSelected::Refused(GONE))?
            }
            SessionMode::Sealed if is_initialize => Session::new(self.unused_key(own_key)),
            _ if is_initialize => Session::new(own_key),
            SessionMode::Sealed => {
                let Some(revision) = sealed::revision(&slot.sealed) else {
                    return Err(NotSelected::Refused(Refusal::new(
                        400,
                        code::INVALID_REQUEST,
                        "`Mcp-Session-Id` is missing",
                    )));
                };
                Session::ready(self.sealed_key(&slot.sealed), revision, ClientCapabilities::default())
            }
            _ => Session::ready(own_key, slot.revision, ClientCapabilities::default()),
        };
        let key = session.key();
        self.replace(server, session)?;
        if self.config.mode != SessionMode::Sessions
            && let Some(slot) = self.exchanges.slot_mut(index)
        {
            slot.stream = StreamId::in_session(key, index.wrapping_add(1));
        }
        self.selected = Some(index);
        Ok(())
    }

    /// Returns the key of a sealed session: the key of its requests in flight, or an unused key if no request is in
    /// flight.
    fn sealed_key(&self, contents: &[u8; 16]) -> SessionKey {
        let known = self.exchanges.position(|slot| slot.is_handshake_request() && slot.sealed == *contents);
        match known.and_then(|index| self.exchanges.slot(index)) {
            Some(slot) => sealed::key_of(slot.stream),
            None => self.unused_key(sealed::key(contents)),
        }
    }

    /// Returns the first key, from `wanted` on, that no request in flight has. So the core server can distinguish equal
    /// request ids of two sessions.
    fn unused_key(&self, wanted: SessionKey) -> SessionKey {
        let mut key = wanted;
        let is_used = |key| {
            move |slot: &ExchangeSlot| slot.is_handshake_request() && sealed::key_of(slot.stream) == key
        };
        while self.exchanges.position(is_used(key)).is_some() {
            key = sealed::valid_key(key.0.wrapping_add(1));
        }
        key
    }

    /// Replaces the session in the core server, and stores the previous one in the table.
    fn replace(&mut self, server: &mut Server<'_>, session: Session) -> Result<(), NotSelected> {
        match server.replace_session(session) {
            Ok(old) => {
                self.sessions.replaced(old, session.key());
                self.selected = None;
                Ok(())
            }
            Err(SendError::NotConnected) => {
                Err(NotSelected::Refused(self.overloaded("the server is shutting down")))
            }
            Err(_) => Err(NotSelected::Busy),
        }
    }

    /// Removes a session from the core server, so that the slot of the session can be reused. Returns `false` if the
    /// core server cannot replace the session now, or is shutting down.
    pub(super) fn deselect(&mut self, server: &mut Server<'_>, key: SessionKey) -> bool {
        self.sessions.current() != key || self.replace(server, Session::new(SessionKey::NONE)).is_ok()
    }

    /// Returns the session of an `initialize`. The first call creates this session. If the table is full, returns
    /// [`NotSelected::Busy`], and the caller tries again. In this case, also ends the session that was idle for the
    /// longest time, unless a session is ending already. If no session is idle or ending, refuses the request.
    fn new_session(&mut self, index: u16) -> Result<SessionKey, NotSelected> {
        let Some(slot) = self.exchanges.slot(index) else { return Err(NotSelected::Busy) };
        if slot.flags.has(Flags::NEW_SESSION) {
            return Ok(slot.session);
        }
        let (user, previous) = (slot.user, slot.session);
        if self.sessions.is_full() {
            let Some(idle) = self.sessions.longest_idle().filter(|_| self.sessions.ending().is_none()) else {
                return Err(match self.sessions.ending() {
                    Some(_) => NotSelected::Busy,
                    None => NotSelected::Refused(self.overloaded("all sessions are in use")),
                });
            };
            self.sessions.end(idle);
            return Err(NotSelected::Busy);
        }
        let (id, now) = (self.policy.random(), self.now);
        let key = self.sessions.create(id, user, now).ok_or(NotSelected::Busy)?;
        // If the request named an older session, the exchange leaves that session and joins the new one.
        self.sessions.touch(previous, now, -1);
        self.join_session(index, key);
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.flags.add(Flags::NEW_SESSION);
        }
        Ok(key)
    }

    /// Ends the exchanges of a session that has ended, if they await a body or a response, or are event streams. All
    /// exchanges leave the session, because another session may get its key. Returns whether there was an exchange.
    pub(super) fn end_exchanges(&mut self, server: &Server<'_>, key: SessionKey) -> bool {
        self.replay.forget(key);
        let mut has_left = false;
        while let Some(index) = self.exchanges.position(|slot| slot.session == key)
            && let Some(slot) = self.exchanges.slot_mut(index)
        {
            has_left = true;
            slot.session = SessionKey::NONE;
            slot.flags.remove(Flags::NEW_SESSION);
            match slot.phase {
                Phase::Body => self.refuse(index, GONE, None),
                Phase::Waiting => {
                    let id = server.request_id_on(slot.stream).filter(|_| !slot.flags.has(Flags::BATCH));
                    self.refuse(index, GONE, id.map(Json::bytes));
                }
                // The end of a stream would make an incomplete response in pieces look complete.
                Phase::Stream if slot.flags.has(Flags::PIECES) => self.cut(index),
                Phase::Stream => self.end_stream(index),
                Phase::Detached => self.release(index),
                // `select` refuses the message of a queued exchange.
                Phase::Free | Phase::Queued | Phase::Ending | Phase::Closing => {}
            }
        }
        has_left
    }

    /// Ends the exchanges of all ended sessions early for their clients, because a message waits for space. The session
    /// of the message may have ended, or the unread output of an ended session may take the space. Returns whether
    /// there was an exchange.
    #[cold]
    pub(super) fn cut_ended(&mut self) -> bool {
        let mut has_cut = false;
        while P::HANDSHAKE
            && let Some(index) = self.exchanges.position(|slot| {
                let has_client = matches!(slot.phase, Phase::Waiting | Phase::Stream | Phase::Ending);
                has_client && self.sessions.is_ending(slot.session)
            })
        {
            self.cut(index);
            has_cut = true;
        }
        has_cut
    }

    /// Ends the session that an `initialize` has created, if the client has not received the id of the session.
    pub(super) fn end_unknown_session(&mut self, index: u16) {
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        if Self::has(slot, Flags::NEW_SESSION) && !slot.flags.has(Flags::HEAD_SENT) {
            slot.flags.remove(Flags::NEW_SESSION);
            let key = core::mem::take(&mut slot.session);
            self.sessions.end(key);
        }
    }

    /// Selects the session of a deferred request in the core server. The caller then calls [`Server::reply`] with the
    /// ticket, or [`Server::request`].
    ///
    /// If the caller skips this call, the core server refuses a request for input, and can send a log message to
    /// another session. A request of `2026-07-28` has no session. For such a request, this method removes the current
    /// session from the core server.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the request has ended. [`SendError::NotConnected`]: the session has ended, or the server is
    /// shutting down. [`SendError::Busy`]: call this method again after the next [`poll`](HttpServer::poll).
    pub fn enter(&mut self, server: &mut Server<'_>, ticket: Ticket) -> Result<(), SendError> {
        let stream = server.stream_of(ticket).ok_or(SendError::Gone)?;
        let is_modern = |index: &u16| self.exchanges.slot(*index).is_some_and(Self::is_modern);
        match self.exchanges.find(stream).filter(|index| !is_modern(index)) {
            Some(index) => self.select(server, index).map_err(|reason| match reason {
                NotSelected::Busy => SendError::Busy,
                NotSelected::Refused(_) => SendError::NotConnected,
            }),
            // If the current session stayed selected, a request to the client would reach the client of that session.
            None if P::HANDSHAKE && self.sessions.current() != SessionKey::NONE => {
                match self.replace(server, Session::new(SessionKey::NONE)) {
                    Err(NotSelected::Busy) => Err(SendError::Busy),
                    // A server that is shutting down sends no requests.
                    Ok(()) | Err(NotSelected::Refused(_)) => Ok(()),
                }
            }
            None => Ok(()),
        }
    }

    /// Reports a changed list or resource to the clients that subscribe to it. If a feature declares `listChanged` for
    /// a list, also reports the changed list to each session that has an open stream for messages without a request
    /// (GET or HTTP+SSE), and a complete handshake.
    pub fn changed(&mut self, server: &mut Server<'_>, change: Change<'_>) {
        // The core server sends list changes to its current session only, but the loop below reaches every session with
        // an open stream. So the core server first gets a session without a client, if possible.
        let current = self.sessions.current();
        let is_free = self.deselect(server, current);
        server.changed(change);
        let message: &[u8] = match change {
            Change::Tools => br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#,
            Change::Resources => br#"{"jsonrpc":"2.0","method":"notifications/resources/list_changed"}"#,
            Change::Prompts => br#"{"jsonrpc":"2.0","method":"notifications/prompts/list_changed"}"#,
            _ => return,
        };
        if !server.declares_change(change) {
            return;
        }
        for index in 0..u16::try_from(self.exchanges.len()).unwrap_or(u16::MAX) {
            let is_notified = |key| {
                let is_notified_by_core = !is_free && key == current;
                !is_notified_by_core && self.sessions.value(key).is_some_and(|session| session.is_complete())
            };
            let Some(slot) = self.exchanges.slot(index) else { continue };
            let is_general = slot.flags.has(Flags::GENERAL) || slot.flags.has(Flags::LEGACY);
            if slot.phase == Phase::Stream && is_general && is_notified(slot.session) {
                self.push_notification(index, message);
            }
        }
    }
}

const GONE: Refusal = Refusal::new(404, code::INVALID_REQUEST, "the session has ended");
