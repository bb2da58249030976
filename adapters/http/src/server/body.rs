//! Bodies of requests: collects their pieces, checks them, and stores them for the core server.

use mcp_proto::json::Json;
use mcp_proto::rpc::{Message, MessageKind};
use mcp_proto::server::Server;
use mcp_proto::{Millis, Revision, StreamId};

use super::HttpServer;
use super::body_checks::{BodyKind, CheckedBody, check, request_id};
use super::config::SessionMode;
use super::deliver::Delivery;
use super::exchange_flags::Flags;
use super::exchanges::{ExchangeId, Phase};
use super::policy::Policy;
use super::pool::{NO_PART, Pool};
use super::request::RequestHead;
use super::response::Refusal;
use super::sealed;

impl<P: Policy> HttpServer<'_, P> {
    /// Handles a piece of the body. `is_end` means that no piece follows; `bytes` may then be empty. Has no effect on
    /// an exchange that does not wait for a body.
    ///
    /// `head` must be the head that the caller passed to [`begin`](HttpServer::begin). If the first piece has `is_end`,
    /// and the core server accepts the message at once, the body is not copied.
    #[inline(never)]
    pub fn body(
        &mut self,
        server: &mut Server<'_>,
        id: ExchangeId,
        head: &RequestHead<'_>,
        bytes: &[u8],
        is_end: bool,
        now: Millis,
    ) {
        self.now = self.now.max(now);
        let Some(slot) = self.exchanges.get(id).filter(|slot| slot.phase == Phase::Body) else { return };
        let (index, part) = (id.index, slot.body);
        let length = usize::try_from(slot.body_length).unwrap_or(usize::MAX);
        let total = length.saturating_add(bytes.len());
        if total > self.config.limits.body {
            return self.refuse(index, Refusal::body_too_long(self.config.limits.body), None);
        }
        if is_end && part == NO_PART {
            return self.complete(server, index, head, bytes, NO_PART);
        }
        let Some(part) = self.store(index, part, length, bytes, None) else { return };
        if is_end {
            // The storage moves out of `self`, because `complete` borrows both `self` and the body in the storage.
            let bodies = core::mem::replace(&mut self.bodies, Pool::empty());
            if let Some(slot) = self.exchanges.slot_mut(index) {
                slot.body = NO_PART;
            }
            self.complete(server, index, head, bodies.get(part, total), part);
            self.bodies = bodies;
            match self.exchanges.slot_mut(index).filter(|slot| slot.phase == Phase::Queued) {
                Some(slot) => slot.body = part,
                None => self.bodies.release(part),
            }
        }
    }

    /// Writes a piece of a body at an offset of `part`, or of a new part if `part` is [`NO_PART`]. Returns the part. If
    /// no part is free, refuses the request and returns `None`. `id` is the id of the request, if known.
    fn store(&mut self, index: u16, part: u16, at: usize, bytes: &[u8], id: Option<&[u8]>) -> Option<u16> {
        let part = if part == NO_PART { self.bodies.take() } else { Some(part) };
        let Some(part) = part else {
            let refusal = self.overloaded("all space for bodies is in use");
            self.refuse(index, refusal, id);
            return None;
        };
        let is_written = self.bodies.write(part, at, bytes);
        let slot = self.exchanges.slot_mut(index)?;
        let total = at.saturating_add(bytes.len());
        (slot.body, slot.body_length) = (part, u32::try_from(total).unwrap_or(u32::MAX));
        is_written.then_some(part)
    }

    /// Releases the part of a body, unless the body still arrives or its message is queued.
    pub(super) fn release_delivered(&mut self, index: u16) {
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        if matches!(slot.phase, Phase::Body | Phase::Queued) {
            return;
        }
        let part = core::mem::replace(&mut slot.body, NO_PART);
        if part != NO_PART {
            self.bodies.release(part);
        }
    }

    /// Checks a complete body, and passes its message to the core server. If the core server is busy, or other messages
    /// are queued, queues the message. `part` is the storage of the body, or [`NO_PART`] if the body is not stored.
    fn complete(
        &mut self,
        server: &mut Server<'_>,
        index: u16,
        head: &RequestHead<'_>,
        bytes: &[u8],
        part: u16,
    ) {
        let Some(message) = self.accept(server, index, head, bytes) else { return };
        if self.exchanges.queued().is_none()
            && let Delivery::Done = self.deliver(server, index, Some(message))
        {
            return;
        }
        // A refused message already has its response.
        if self.exchanges.slot(index).is_none_or(|slot| slot.phase != Phase::Body) {
            return;
        }
        if part == NO_PART && self.store(index, part, 0, bytes, request_id(message)).is_none() {
            return;
        }
        if let Some(slot) = self.exchanges.slot_mut(index) {
            slot.phase = Phase::Queued;
        }
        self.exchanges.set_deadline(index, None);
        self.exchanges.enqueue(index);
    }

    /// Checks a complete body. Returns the message for the core server, or `None` if the exchange already has its
    /// response.
    // Not inlined, so that its stack frame is not live while the core server gets the message.
    #[inline(never)]
    fn accept<'m>(
        &mut self,
        server: &Server<'_>,
        index: u16,
        head: &RequestHead<'_>,
        bytes: &'m [u8],
    ) -> Option<Message<'m>> {
        let session = self.named_revision(server, index);
        let user = self.exchanges.slot(index).map_or(0, |slot| slot.user);
        let checked = match check(self.config, &self.policy, server, head, session, user, bytes) {
            Ok(checked) => checked,
            Err((refusal, id)) => {
                self.refuse(index, refusal, id);
                return None;
            }
        };
        // Two kinds of notifications have no effect: `notifications/initialized` without a stored session, and all
        // notifications of 2026-07-28. These notifications are not passed on, because the core server could apply
        // them to the session of another client.
        let has_session = !checked.is_modern && self.mode() == SessionMode::Sessions;
        let has_no_effect = match checked.kind {
            BodyKind::Initialized => !has_session,
            BodyKind::OneWay => checked.is_modern,
            _ => false,
        };
        if has_no_effect {
            self.respond_empty(index, 202);
            return None;
        }
        if checked.kind == BodyKind::Listen && checked.is_modern {
            if !self.may_listen() {
                let refusal = self.overloaded("too many event streams are open");
                self.refuse(index, refusal, checked.message.id().map(Json::bytes));
                return None;
            }
            self.exchanges.listening = self.exchanges.listening.saturating_add(1);
        }
        self.record_request(index, &checked);
        Some(checked.message)
    }

    /// Returns the revision of the session that the request names. The outer `None` means that the request names no
    /// session, and the inner `None` that the session has no revision yet.
    fn named_revision(&self, server: &Server<'_>, index: u16) -> Option<Option<Revision>> {
        let slot = self.exchanges.slot(index).filter(|_| P::HANDSHAKE)?;
        if self.config.mode == SessionMode::Sealed {
            return sealed::revision(&slot.sealed).map(Some);
        }
        let stored = self.sessions.value(slot.session)?;
        let is_current = self.sessions.current() == slot.session;
        Some(if is_current { server.revision() } else { stored.revision() })
    }

    /// Stores the properties of the request that later steps need.
    fn record_request(&mut self, index: u16, checked: &CheckedBody<'_>) {
        let is_batch = checked.message.kind() == MessageKind::Batch;
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        slot.revision = checked.revision;
        let is_legacy_message = slot.flags.has(Flags::LEGACY);
        let flags = [
            (Flags::MODERN, checked.is_modern),
            (Flags::BATCH, is_batch),
            (Flags::ONE_WAY, matches!(checked.kind, BodyKind::OneWay | BodyKind::Initialized)),
            (
                Flags::INITIALIZE,
                checked.kind == BodyKind::Initialize && !is_legacy_message && !checked.is_modern,
            ),
            (Flags::LISTENS, checked.kind == BodyKind::Listen && checked.is_modern),
            (Flags::PRIMES, !checked.is_modern && checked.revision >= Revision::V2025_11_25),
            (Flags::CANCELS, is_cancellation(checked.message)),
        ];
        for (flag, _) in flags.iter().filter(|(_, is_set)| *is_set) {
            slot.flags.add(*flag);
        }
    }

    /// Returns the stream of the request that a cancellation names, or `None` if the core server has no such request.
    pub(super) fn cancelled_stream(&self, server: &Server<'_>, body: &[u8]) -> Option<StreamId> {
        let message = Message::parse(body).ok()?;
        server.find_stream(message.params()?.get("requestId")?)
    }
}

/// Returns whether a message is `notifications/cancelled`.
fn is_cancellation(message: Message<'_>) -> bool {
    let is_cancelled = |method: Json<'_>| {
        method.string().is_some_and(|method| method == mcp_proto::methods::CANCELLED.name())
    };
    message.kind() == MessageKind::Notification && message.method().is_some_and(is_cancelled)
}
