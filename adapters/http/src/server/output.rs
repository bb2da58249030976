//! Output of an exchange: the head and the body of its response, as far as they are known.

use mcp_proto::server::Server;
use mcp_proto::{Millis, SessionKey, Ticket};

use super::HttpServer;
use super::exchange_flags::Flags;
use super::exchanges::{ExchangeId, Phase};
use super::policy::Policy;
use super::response::{MediaType, ResponseHead, SessionId};
use super::sealed;

/// Unsent output of an exchange.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Output<'a> {
    /// The head of the response, if it is known and was not sent.
    pub head: Option<ResponseHead>,
    /// The next bytes of the body. More may follow.
    pub body: &'a [u8],
    /// Whether no output follows these bytes. The response is then complete, unless `is_cut` is also `true`.
    pub is_end: bool,
    /// Whether the exchange has ended for this client. If the response is incomplete, the transport must close the
    /// connection, or reset the stream of HTTP/2.
    pub is_cut: bool,
}

impl<P: Policy> HttpServer<'_, P> {
    /// Returns the unsent output of an exchange. If the exchange has ended for its client, `is_end` and `is_cut` are
    /// `true`.
    #[must_use]
    pub fn output(&self, id: ExchangeId) -> Output<'_> {
        let none = Output { head: None, body: &[], is_end: false, is_cut: false };
        let Some(slot) = self.exchanges.get(id) else { return Output { is_end: true, is_cut: true, ..none } };
        match slot.phase {
            Phase::Stream | Phase::Ending => {}
            Phase::Detached | Phase::Closing => return Output { is_end: true, is_cut: true, ..none },
            Phase::Free | Phase::Body | Phase::Queued | Phase::Waiting => return none,
        }
        let body = self.pages.front(&slot.output);
        let ends = slot.phase == Phase::Ending || Self::has(slot, Flags::RELEASES);
        let is_end = ends && body.len() == slot.output.len();
        let head = (!slot.flags.has(Flags::HEAD_SENT)).then(|| {
            let length = slot.media_type != MediaType::EventStream && !slot.flags.has(Flags::PIECES);
            let mut head =
                ResponseHead::new(slot.status, slot.media_type, length.then_some(slot.output.len()));
            if slot.status == 204 {
                head.length = None;
            }
            if slot.flags.has(Flags::RETRY_LATER) {
                head.retry_after = Some(self.config.times.retry_after);
            }
            if Self::has(slot, Flags::NEW_SESSION) {
                head.session = match self.sessions.id(slot.session) {
                    Some(id) => Some(SessionId::from_bytes(&id)),
                    None => sealed::seal(&self.policy, &slot.sealed, slot.user),
                };
            }
            head
        });
        Output { head, body, is_end, is_cut: false }
    }

    /// Returns whether the response of an exchange is complete, and a part of the response is unsent.
    pub(super) fn is_ending(&self, id: ExchangeId) -> bool {
        self.exchanges.get(id).is_some_and(|slot| slot.phase == Phase::Ending)
    }

    /// Reports that the head and the first `n` bytes of the body were sent. At the end of the response, the exchange
    /// ends.
    pub fn sent(&mut self, id: ExchangeId, n: usize, now: Millis) {
        self.now = self.now.max(now);
        let index = id.index;
        if self.exchanges.get(id).is_none() {
            return;
        }
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        if !matches!(slot.phase, Phase::Stream | Phase::Ending) {
            return;
        }
        slot.flags.add(Flags::HEAD_SENT);
        self.pages.consume(&mut slot.output, n);
        self.has_new_pace |= slot.flags.has(Flags::PAUSED);
        match (slot.phase, slot.output.is_empty()) {
            (Phase::Ending, true) => self.release(index),
            (_, true) if Self::has(slot, Flags::RELEASES) => {
                slot.flags.remove(Flags::RELEASES);
                self.exchanges.renew(index);
                self.disconnect(index);
            }
            (_, is_empty) => {
                self.rearm(index);
                if P::HANDSHAKE && is_empty {
                    self.send_held(index);
                }
            }
        }
    }

    /// Reports that the client has disconnected: the connection is closed, or the stream of HTTP/2 was reset.
    ///
    /// A request of `2026-07-28` is cancelled. A request of the handshake era continues, unless the core server has not
    /// received it, or its response is [chunked](HttpServer::chunked_responses). The end of the event stream of
    /// HTTP+SSE ends the session.
    pub fn close(&mut self, id: ExchangeId) {
        if self.exchanges.get(id).is_some() {
            self.disconnect(id.index);
        }
    }

    /// Closes the connection of a deferred call, and keeps its event stream. The client connects again with
    /// `Last-Event-ID` after [`HttpTimes::retry`](super::HttpTimes::retry), so a long call needs no connection.
    ///
    /// Returns `true` if the connection will close. Returns `false`, without an effect, if the call has ended, if its
    /// client has disconnected, or if no space is free to open the stream. Also returns `false` if the server has no
    /// [replay buffer](HttpServer::replay_buffer), if the client does not accept event streams, or if the call belongs
    /// to no session of `2025-11-25`. Clients of other revisions do not connect again.
    pub fn release_connection(&mut self, server: &Server<'_>, ticket: Ticket) -> bool {
        let Some(index) = server.stream_of(ticket).and_then(|stream| self.exchanges.find(stream)) else {
            return false;
        };
        let Some(slot) = self.exchanges.slot(index) else { return false };
        let (phase, flags) = (slot.phase, slot.flags);
        let is_able = flags.has(Flags::PRIMES) && flags.has(Flags::TAKES_STREAM) && self.replay.is_enabled();
        if !is_able || !matches!(phase, Phase::Waiting | Phase::Stream) || slot.session == SessionKey::NONE {
            return false;
        }
        if phase == Phase::Waiting {
            if !self.has_event_space(index, b"") {
                return false;
            }
            self.open_stream(index);
        }
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.flags.add(Flags::RELEASES);
        }
        self.exchanges.set_ready(index);
        true
    }

    /// Ends an exchange early for its client, because the client does not read, or the response cannot be completed.
    pub(super) fn cut(&mut self, index: u16) {
        self.exchanges.set_ready(index);
        self.disconnect(index);
    }

    /// Queues an exchange, so that the core server learns that the stream of the exchange has closed.
    pub(super) fn close_in_core(&mut self, index: u16) {
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.phase = Phase::Closing;
        }
        self.exchanges.set_deadline(index, None);
        self.exchanges.enqueue(index);
    }

    /// Handles the end of the connection of an exchange.
    pub(super) fn disconnect(&mut self, index: u16) {
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        let flags = slot.flags;
        match slot.phase {
            Phase::Queued => slot.flags.add(Flags::DISCONNECTED),
            Phase::Waiting | Phase::Stream if Self::is_modern(slot) || flags.has(Flags::PIECES) => {
                self.pages.release(&mut slot.output);
                self.close_in_core(index);
            }
            Phase::Waiting | Phase::Stream if flags.has(Flags::LISTENS) => {
                let key = slot.session;
                self.release(index);
                // In HTTP+SSE, the end of the stream ends the session.
                if flags.has(Flags::LEGACY) {
                    self.sessions.end(key);
                }
            }
            Phase::Waiting | Phase::Stream => {
                slot.phase = Phase::Detached;
                slot.flags.remove(Flags::HEAD_SENT);
                self.pages.release(&mut slot.output);
                // The response to a request ends this exchange. A request that a batch cancels has no response, so the
                // server also checks at a deadline whether the requests of the exchange have ended.
                let check = self.now.plus(self.config.times.stall);
                self.exchanges.set_deadline(index, Some(check));
            }
            Phase::Body | Phase::Ending => self.release(index),
            Phase::Free | Phase::Detached | Phase::Closing => {}
        }
    }
}
