//! HTTP+SSE of 2024-11-05: an event stream that lasts as long as its session, and an endpoint for the messages of the
//! client.

use mcp_proto::Millis;
use mcp_proto::rpc::code;

use super::HttpServer;
use super::event_stream::EVENT_OVERHEAD;
use super::exchange_flags::Flags;
use super::exchanges::{ExchangeId, Phase};
use super::page_pool::Chain;
use super::policy::Policy;
use super::request::RequestHead;
use super::response::{Refusal, SessionId};

const UNKNOWN_SESSION: Refusal =
    Refusal::new(404, code::INVALID_REQUEST, "the session in `sessionId` does not exist");

impl<P: Policy> HttpServer<'_, P> {
    /// Opens the stream of a new session. The first event of the stream names the endpoint for messages. Fails if too
    /// many event streams are open, or if no session, no exchange or no space for output is free.
    pub(super) fn begin_legacy_stream(&mut self, user: u64) -> Result<ExchangeId, Refusal> {
        let full = self.overloaded("all sessions are in use");
        let Some(paths) = self.config.legacy else { return Err(full) };
        if !self.may_listen() {
            return Err(self.overloaded("too many event streams are open"));
        }
        if self.exchanges.taken() >= self.exchanges.limit() {
            return Err(self.overloaded("all exchanges are in use"));
        }
        if !self.pages.fits(&Chain::EMPTY, paths.messages.len().saturating_add(EVENT_OVERHEAD)) {
            return Err(self.overloaded("all space for output is in use"));
        }
        // If the table of sessions is full, and no session in it is ending yet, end an idle session. The slot of the
        // idle session stays taken until the core server has removed the session. Until then, the server refuses the
        // request with 503, and the client tries again.
        if self.sessions.is_full()
            && self.sessions.ending().is_none()
            && let Some(idle) = self.sessions.longest_idle()
        {
            self.sessions.end(idle);
        }
        let id = self.policy.random();
        let key = self.sessions.create(id, user, self.now).ok_or(full)?;
        let index = match self.begin_listening(key) {
            Ok(index) => index,
            Err(refusal) => {
                self.sessions.end(key);
                return Err(refusal);
            }
        };
        // The responses to all requests in this session go to this exchange.
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.flags.add(Flags::LEGACY);
            slot.user = user;
        }
        self.open_stream(index);
        let id = SessionId::from_bytes(&id);
        let uri = [paths.messages.as_bytes(), b"?sessionId=", id.as_str().as_bytes()];
        self.push(index, &[b"event: endpoint\ndata: "]);
        self.push(index, &uri);
        self.push(index, &[b"\n\n"]);
        Ok(self.exchanges.id(index))
    }

    /// Starts the exchange of a message. The response to the message goes to the stream of the session. Fails if the
    /// query names no session of the user that has an open stream, or if no exchange is free.
    pub(super) fn begin_legacy_message(
        &mut self,
        head: &RequestHead<'_>,
        user: u64,
    ) -> Result<ExchangeId, Refusal> {
        let text = head.query("sessionId").ok_or(Refusal::new(
            400,
            code::INVALID_REQUEST,
            "the parameter `sessionId` is missing",
        ))?;
        let id = SessionId::parse::<16>(text.as_bytes()).ok_or(UNKNOWN_SESSION)?;
        let key = self.sessions.find(&id, user).ok_or(UNKNOWN_SESSION)?;
        let stream = self.exchanges.position(|slot| {
            slot.session == key && slot.flags.has(Flags::LEGACY) && slot.phase == Phase::Stream
        });
        let stream = stream
            .and_then(|index| self.exchanges.slot(index))
            .map(|slot| slot.stream)
            .ok_or(UNKNOWN_SESSION)?;
        let index = self.take_exchange(Phase::Body)?;
        self.join_session(index, key);
        let deadline: Millis = self.now.plus(self.config.times.body);
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.flags.add(Flags::LEGACY);
            slot.flags.add(Flags::TAKES_JSON);
            slot.stream = stream;
            slot.user = user;
        }
        self.exchanges.set_deadline(index, Some(deadline));
        Ok(self.exchanges.id(index))
    }
}
