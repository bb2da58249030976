//! Delivery of messages to the core server.

use mcp_proto::rpc::Message;
use mcp_proto::server::Server;
use mcp_proto::{Action, StreamId};

use super::HttpServer;
use super::body_checks::request_id;
use super::chunked_responses::PieceStep;
use super::exchange_flags::Flags;
use super::exchanges::{ExchangeSlot, Phase};
use super::policy::Policy;
use super::pool::{NO_PART, Pool};
use super::response::Refusal;
use super::session::NotSelected;

/// Result of a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Delivery {
    /// The core server has the message, the request was refused, or the exchange has ended.
    Done,
    /// The core server does not accept a message now.
    Busy,
}

impl<P: Policy> HttpServer<'_, P> {
    /// Passes the message of an exchange to the core server. If `message` is `None`, the message is in the storage of
    /// bodies.
    pub(super) fn deliver(
        &mut self,
        server: &mut Server<'_>,
        index: u16,
        message: Option<Message<'_>>,
    ) -> Delivery {
        if P::HANDSHAKE && self.sessions.ending().is_some() {
            return Delivery::Busy;
        }
        let is_modern = self.exchanges.slot(index).is_some_and(Self::is_modern);
        if P::HANDSHAKE && !is_modern {
            if !self.is_idle(server) {
                return Delivery::Busy;
            }
            match self.select(server, index) {
                Ok(()) => {}
                Err(NotSelected::Busy) => return Delivery::Busy,
                Err(NotSelected::Refused(refusal)) => {
                    self.refuse_message(index, refusal, message);
                    return Delivery::Done;
                }
            }
        }
        let Some(slot) = self.exchanges.slot(index).copied() else { return Delivery::Done };
        let length = usize::try_from(slot.body_length).unwrap_or(usize::MAX);
        let stored = self.bodies.get(slot.body, length);
        let body = message.map_or(stored, |message| message.bytes());
        let cancelled = match slot.flags.has(Flags::CANCELS) {
            true => self.cancelled_stream(server, body),
            false => None,
        };
        let Action::Io(io) = server.poll(self.now) else { return Delivery::Busy };
        let (out, input) = io.split();
        if out.frame().is_some() || !input.is_ready() {
            return Delivery::Busy;
        }
        let is_taken = match message {
            Some(message) => input.parsed(message, slot.stream).is_ok(),
            None => input.message(body, slot.stream).is_ok(),
        };
        if !is_taken {
            return Delivery::Busy;
        }
        // Before the next poll handles the message, inform the core server whether a response in pieces is possible.
        if let Some(hook) = self.piece_hook {
            hook(self, PieceStep::Accept(server));
        }
        server.set_user(slot.user);
        self.selected = None;
        self.may_end_requests |= slot.flags.has(Flags::CANCELS) || slot.flags.has(Flags::BATCH);
        self.delivered(index);
        if let Some(stream) = cancelled {
            self.end_cancelled(stream);
        }
        Delivery::Done
    }

    /// Refuses a message that the core server cannot get. If `message` is `None`, the message is in the storage of
    /// bodies.
    fn refuse_message(&mut self, index: u16, refusal: Refusal, message: Option<Message<'_>>) {
        if let Some(message) = message {
            return self.refuse(index, refusal, request_id(message));
        }
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        let length = usize::try_from(slot.body_length).unwrap_or(usize::MAX);
        let part = core::mem::replace(&mut slot.body, NO_PART);
        // The storage moves out of `self`, because `refuse` borrows both `self` and the id in the storage.
        let bodies = core::mem::replace(&mut self.bodies, Pool::empty());
        let stored = Message::parse(bodies.get(part, length));
        self.refuse(index, refusal, stored.ok().and_then(request_id));
        self.bodies = bodies;
        self.bodies.release(part);
    }

    /// Returns whether the core server has nothing to do before the next message.
    pub(super) fn is_idle(&self, server: &mut Server<'_>) -> bool {
        let Action::Io(io) = server.poll(self.now) else { return false };
        let (out, input) = io.split();
        out.frame().is_none() && input.is_ready()
    }

    /// Records that the core server has accepted the message of an exchange.
    fn delivered(&mut self, index: u16) {
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        slot.phase = Phase::Waiting;
        let flags = slot.flags;
        if Self::has(slot, Flags::LEGACY) {
            return self.respond_text(index, 202, b"Accepted");
        }
        if flags.has(Flags::ONE_WAY) {
            return self.respond_empty(index, 202);
        }
        // The head of the response to `initialize` names the session, so this head must wait for the response.
        let is_initialize = Self::has(slot, Flags::INITIALIZE);
        let upgrades = flags.has(Flags::TAKES_STREAM) && !self.config.json_only && !is_initialize;
        let deadline = self.now.plus(self.config.times.upgrade_after);
        self.exchanges.set_deadline(index, upgrades.then_some(deadline));
    }

    /// Ends the exchange of a cancelled request of the handshake era, because the request gets no response.
    fn end_cancelled(&mut self, stream: StreamId) {
        let Some(index) = self.exchanges.find(stream) else { return };
        let Some(slot) = self.exchanges.slot(index) else { return };
        // Keep the exchange of a batch, of HTTP+SSE, and of a response in pieces that has begun, because more output
        // may follow.
        if slot.flags.has(Flags::BATCH) || slot.flags.has(Flags::LEGACY) || slot.flags.has(Flags::PIECES) {
            return;
        }
        self.end_without_response(index);
    }

    /// Ends the exchanges of the handshake era whose requests are all cancelled. Such an exchange belongs to a batch,
    /// or to a request that a batch has cancelled, and gets no response. The core server must be ready for input, and
    /// have no output.
    pub(super) fn end_cancelled_requests(&mut self, server: &Server<'_>) {
        self.may_end_requests = false;
        let others = [Flags::LISTENS, Flags::LEGACY, Flags::PIECES];
        let is_cancelled = |slot: &ExchangeSlot| {
            let is_request =
                slot.is_handshake_request() && !others.iter().any(|other| slot.flags.has(*other));
            is_request && server.request_id_on(slot.stream).is_none()
        };
        while let Some(index) = self.exchanges.position(is_cancelled) {
            self.end_without_response(index);
        }
    }

    fn end_without_response(&mut self, index: u16) {
        match self.exchanges.slot(index).map(|slot| slot.phase) {
            Some(Phase::Waiting) => self.respond_empty(index, 202),
            Some(Phase::Stream) => self.end_stream(index),
            Some(Phase::Detached) => self.release(index),
            _ => {}
        }
    }
}
