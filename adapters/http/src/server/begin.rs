//! Start of an exchange: the checks of its head, and the requests without a body (GET and DELETE).

use mcp_proto::rpc::code;
use mcp_proto::{Millis, SessionKey, StreamId};

use super::HttpServer;
use super::authorization::{RESOURCE_METADATA_PATH, Verdict};
use super::body_checks::{handshake_revision, is_modern_head};
use super::config::SessionMode;
use super::exchange_flags::Flags;
use super::exchanges::{ExchangeId, Phase};
use super::head_checks::{
    AFTER_AUTHORIZATION, Accepted, BEFORE_AUTHORIZATION, Endpoint, check_metadata, endpoint,
};
use super::policy::Policy;
use super::request::{Method, RequestHead};
use super::response::{Detail, MediaType, Refusal, SessionId};
use super::sealed;

const UNKNOWN_SESSION: Refusal =
    Refusal::new(404, code::INVALID_REQUEST, "the session in `Mcp-Session-Id` does not exist");

/// The session that a head names.
#[derive(Debug, Clone, Copy)]
enum NamedSession {
    None,
    Stored(SessionKey),
    Sealed([u8; 16]),
}

impl<P: Policy> HttpServer<'_, P> {
    /// Starts an exchange for a request with this head.
    ///
    /// # Errors
    /// The head breaks a rule, the request is not authorized, its session or event stream does not exist, too many
    /// event streams are open, or no slot or memory is free. The refusal is the whole response. The transport need not
    /// read the body, and may close the connection.
    #[inline(never)]
    pub fn begin(&mut self, head: &RequestHead<'_>, now: Millis) -> Result<ExchangeId, Refusal> {
        self.now = self.now.max(now);
        if self.is_metadata(head) {
            return self.begin_metadata(head);
        }
        for check in BEFORE_AUTHORIZATION {
            check(self.config, head)?;
        }
        let user = match self.policy.authorize(head) {
            Verdict::Allow { user } => user,
            Verdict::Deny { status, challenge } => {
                let refusal = Refusal::new(status, code::INVALID_REQUEST, "the request is not authorized");
                return Err(Refusal { detail: Detail::Challenge(challenge), ..refusal });
            }
        };
        for check in AFTER_AUTHORIZATION {
            check(self.config, head)?;
        }
        if P::HANDSHAKE {
            match endpoint(self.config, head) {
                Some(Endpoint::LegacyEvents) => return self.begin_legacy_stream(user),
                Some(Endpoint::LegacyMessages) => return self.begin_legacy_message(head, user),
                // The version of a POST depends on its body, so only the other methods are checked here.
                Some(Endpoint::Mcp) | None if head.method != Method::Post => {
                    handshake_revision(self.config, head)?;
                }
                Some(Endpoint::Mcp) | None => {}
            }
        }
        let named = self.named_session(head, user)?;
        match (head.method, named) {
            (Method::Get, NamedSession::Stored(key)) => self.begin_stream(head, key),
            (Method::Delete, NamedSession::Stored(key)) => self.begin_delete(key),
            (Method::Post, _) => self.begin_post(head, named, user),
            _ => Err(Refusal::new(400, code::INVALID_REQUEST, "`Mcp-Session-Id` is missing")),
        }
    }

    /// Returns the session that the head names. Fails if this session does not exist, or belongs to another user.
    ///
    /// Ignores `Mcp-Session-Id` if the head names 2026-07-28, and in a [`SessionMode`] without session ids.
    fn named_session(&self, head: &RequestHead<'_>, user: u64) -> Result<NamedSession, Refusal> {
        if !P::HANDSHAKE {
            return Ok(NamedSession::None);
        }
        let Some(field) = head.field("mcp-session-id").filter(|_| !is_modern_head(head)) else {
            return Ok(NamedSession::None);
        };
        match self.config.mode {
            SessionMode::Off | SessionMode::Stateless => Ok(NamedSession::None),
            SessionMode::Sessions => {
                let id = SessionId::parse::<16>(field);
                let key = id.and_then(|id| self.sessions.find(&id, user));
                key.map(NamedSession::Stored).ok_or(UNKNOWN_SESSION)
            }
            SessionMode::Sealed => {
                sealed::open(&self.policy, field, user).map(NamedSession::Sealed).ok_or(UNKNOWN_SESSION)
            }
        }
    }

    /// Returns whether the path names the metadata of the protected resource.
    fn is_metadata(&self, head: &RequestHead<'_>) -> bool {
        let rest = self.policy.resource_metadata().and(head.path().strip_prefix(RESOURCE_METADATA_PATH));
        rest.is_some_and(|rest| rest.is_empty() || Some(rest) == self.config.path)
    }

    /// Responds with the metadata of the protected resource, without authorization. Fails if the head breaks a rule, or
    /// if no exchange or no space for output is free.
    fn begin_metadata(&mut self, head: &RequestHead<'_>) -> Result<ExchangeId, Refusal> {
        check_metadata(self.config, head)?;
        let index = self.take_exchange(Phase::Waiting)?;
        let document = self.policy.resource_metadata().unwrap_or_default().as_bytes();
        let Some(slot) = self.exchanges.slot_mut(index) else { return Err(UNKNOWN_SESSION) };
        if !self.pages.fits(&slot.output, document.len()) {
            self.release(index);
            return Err(self.overloaded("all space for output is in use"));
        }
        self.pages.push(&mut slot.output, document);
        self.finish(index, 200, MediaType::Json);
        Ok(self.exchanges.id(index))
    }

    /// Takes a slot. Fails if the table is full.
    pub(super) fn take_exchange(&mut self, phase: Phase) -> Result<u16, Refusal> {
        let index = self.exchanges.take(phase);
        index.ok_or_else(|| self.overloaded("all exchanges are in use"))
    }

    pub(super) fn overloaded(&self, reason: &'static str) -> Refusal {
        let detail = Detail::RetryAfter(self.config.times.retry_after);
        Refusal { detail, ..Refusal::new(503, code::INTERNAL_ERROR, reason) }
    }

    /// Returns whether one more event stream without a call may open: the stream of a subscription or of a session. The
    /// number of these streams has a [limit](HttpServer::event_streams). The streams also never take the
    /// [`reserved`](super::HttpLimits::reserved) exchanges, which stay free for calls.
    pub(super) fn may_listen(&self) -> bool {
        let limit = self.exchanges.limit().saturating_sub(self.config.limits.reserved);
        self.exchanges.listening < limit.min(self.max_event_streams)
    }

    #[inline(never)]
    fn begin_post(
        &mut self,
        head: &RequestHead<'_>,
        named: NamedSession,
        user: u64,
    ) -> Result<ExchangeId, Refusal> {
        let index = self.take_exchange(Phase::Body)?;
        let accepted = Accepted::from_head(head);
        let now = self.now;
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.user = user;
            if accepted.takes_json() {
                slot.flags.add(Flags::TAKES_JSON);
            }
            if accepted.event_stream {
                slot.flags.add(Flags::TAKES_STREAM);
            }
            if let NamedSession::Sealed(sealed) = named {
                slot.sealed = sealed;
            }
        }
        if let NamedSession::Stored(key) = named {
            self.join_session(index, key);
        }
        self.exchanges.set_deadline(index, Some(now.plus(self.config.times.body)));
        Ok(self.exchanges.id(index))
    }

    /// Handles a GET in a session. If the server has a replay buffer and the head has `Last-Event-ID`, resumes the
    /// stream of that event. Otherwise opens a general stream of the session. Fails if too many event streams are
    /// open, if no exchange is free, or if the stream cannot resume.
    fn begin_stream(&mut self, head: &RequestHead<'_>, key: SessionKey) -> Result<ExchangeId, Refusal> {
        if let Some(last) = head.field("last-event-id").filter(|_| self.has_replay()) {
            return self.resume(last, key);
        }
        let index = self.begin_listening(key)?;
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.flags.add(Flags::GENERAL);
        }
        self.open_stream(index);
        self.send_held(index);
        Ok(self.exchanges.id(index))
    }

    /// Takes a slot for an event stream that no call opens. Fails if too many such streams are open, or if no exchange
    /// is free.
    pub(super) fn begin_listening(&mut self, key: SessionKey) -> Result<u16, Refusal> {
        if !self.may_listen() {
            return Err(self.overloaded("too many event streams are open"));
        }
        let index = self.take_exchange(Phase::Waiting)?;
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.flags.add(Flags::LISTENS);
            slot.flags.add(Flags::TAKES_STREAM);
        }
        self.exchanges.listening = self.exchanges.listening.saturating_add(1);
        self.join_session(index, key);
        Ok(index)
    }

    /// Ends a session (DELETE). Fails if no exchange is free.
    fn begin_delete(&mut self, key: SessionKey) -> Result<ExchangeId, Refusal> {
        let index = self.take_exchange(Phase::Waiting)?;
        self.sessions.end(key);
        self.respond_empty(index, 204);
        Ok(self.exchanges.id(index))
    }

    /// Assigns an exchange to a session.
    pub(super) fn join_session(&mut self, index: u16, key: SessionKey) {
        let now = self.now;
        self.sessions.touch(key, now, 1);
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.session = key;
            slot.stream = StreamId::in_session(key, index.wrapping_add(1));
        }
    }
}
