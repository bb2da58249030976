//! Writes responses into the output of an exchange: events of a stream, texts and refusals.

use mcp_proto::StreamId;

use super::HttpServer;
use super::exchange_flags::Flags;
use super::exchanges::{ExchangeSlot, Phase};
use super::policy::Policy;
use super::replay::HELD;
use super::response::{Detail, MediaType, Refusal, decimal};
use crate::sse::KEEP_ALIVE;

/// The prefix of event ids of general streams, which respond to a GET.
const GENERAL: &str = "g";

/// The space for an event besides its data, in bytes: its id, its name, and a priming event before it.
pub(super) const EVENT_OVERHEAD: usize = 160;

impl<P: Policy> HttpServer<'_, P> {
    /// Completes a response whose body is in the output.
    pub(super) fn finish(&mut self, index: u16, status: u16, media_type: MediaType) {
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        (slot.phase, slot.status, slot.media_type) = (Phase::Ending, status, media_type);
        self.exchanges.set_deadline(index, Some(self.now.plus(self.config.times.stall)));
        self.exchanges.set_ready(index);
    }

    /// Responds without a body.
    pub(super) fn respond_empty(&mut self, index: u16, status: u16) {
        self.finish(index, status, MediaType::None);
    }

    /// Responds with a text.
    pub(super) fn respond_text(&mut self, index: u16, status: u16, text: &[u8]) {
        self.push(index, &[text]);
        self.finish(index, status, MediaType::Text);
    }

    /// Refuses a request. `id` is the id of the request as JSON, or `None` if the id is unknown. If no space is free,
    /// the response has no body. If the exchange is detached, only releases the exchange.
    pub(super) fn refuse(&mut self, index: u16, refusal: Refusal, id: Option<&[u8]>) {
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        if slot.phase == Phase::Detached {
            return self.release(index);
        }
        self.pages.release(&mut slot.output);
        let mut length = 0usize;
        refusal.pieces(id, &mut |piece| length = length.saturating_add(piece.len()));
        let fits = self.pages.fits(&slot.output, length);
        if fits {
            refusal.pieces(id, &mut |piece| self.pages.push(&mut slot.output, piece));
        }
        if let Detail::RetryAfter(_) = refusal.detail {
            slot.flags.add(Flags::RETRY_LATER);
        }
        self.end_unknown_session(index);
        self.finish(index, refusal.status, if fits { MediaType::Json } else { MediaType::None });
        self.release_delivered(index);
    }

    /// Begins an event stream as the response of an exchange. A new stream for a POST begins with a priming event if
    /// the revision has priming events, the server stores sent events, and space is free.
    pub(super) fn open_stream(&mut self, index: u16) {
        let has_replay = self.has_replay();
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        (slot.phase, slot.status, slot.media_type) = (Phase::Stream, 200, MediaType::EventStream);
        let has_space = self.pages.fits(&slot.output, EVENT_OVERHEAD);
        // A resumed stream of a POST already has a priming event.
        let is_primed = slot.events > 0;
        let primes = slot.flags.has(Flags::PRIMES) && has_replay && has_space && !is_primed;
        if primes {
            let id = next_event_id(slot);
            let mut digits = [0; 20];
            let retry = decimal(self.config.times.retry.0, &mut digits);
            self.push(index, &[b"id: ", id.bytes(), b"\nretry: ", retry.as_bytes(), b"\ndata:\n\n"]);
        }
        self.exchanges.set_ready(index);
        self.rearm(index);
    }

    /// Ends an event stream after its unread events.
    pub(super) fn end_stream(&mut self, index: u16) {
        self.finish(index, 200, MediaType::EventStream);
    }

    /// Returns whether an event with this data fits into the output.
    pub(super) fn has_event_space(&mut self, index: u16, data: &[u8]) -> bool {
        let length = data.len().saturating_add(EVENT_OVERHEAD);
        self.exchanges.slot(index).is_none_or(|slot| self.pages.fits(&slot.output, length))
    }

    /// Appends an event. The caller must check that the event fits.
    pub(super) fn push_event(&mut self, index: u16, data: &[u8]) {
        let id = self.record_event(index, data);
        let Some(slot) = self.exchanges.slot(index) else { return };
        let name: &[u8] = if Self::has(slot, Flags::LEGACY) { b"event: message\n" } else { b"" };
        let was_empty = slot.output.is_empty();
        match id {
            Some(id) => self.push(index, &[b"id: ", id.bytes(), b"\n", name, b"data: ", data, b"\n\n"]),
            None => self.push(index, &[name, b"data: ", data, b"\n\n"]),
        }
        self.exchanges.set_ready(index);
        if was_empty {
            self.rearm(index);
        }
    }

    /// Appends a notification to a stream. If the unread output is too long, or no space is free, the stream of a call
    /// loses the notification, and any other stream ends.
    pub(super) fn push_notification(&mut self, index: u16, data: &[u8]) {
        let Some(slot) = self.exchanges.slot(index) else { return };
        let (flags, total) = (slot.flags, slot.output.len().saturating_add(data.len()));
        let is_slow = total > self.config.limits.stream || !self.has_event_space(index, data);
        if !is_slow {
            return self.push_event(index, data);
        }
        let listens = flags.has(Flags::LISTENS);
        // If the notification that ends a stream is stored, a client that resumes the stream gets the notification. So
        // a stored notification does not count as dropped.
        if !listens || self.record_event(index, data).is_none() {
            self.sessions.count_dropped();
        }
        if listens {
            self.cut(index);
        }
    }

    /// Appends a comment to an idle stream, unless a response in pieces has begun or no space is free.
    pub(super) fn push_comment(&mut self, index: u16) {
        let Some(slot) = self.exchanges.slot(index) else { return };
        if !slot.flags.has(Flags::PIECES) && self.pages.fits(&slot.output, KEEP_ALIVE.len()) {
            self.push(index, &[KEEP_ALIVE]);
            self.exchanges.set_ready(index);
        }
        self.rearm(index);
    }

    /// Sets the deadline of a response. While the head or output is unsent, the client must read before the deadline.
    /// Otherwise the next comment is due at the deadline.
    pub(super) fn rearm(&mut self, index: u16) {
        let times = self.config.times;
        let Some(slot) = self.exchanges.slot(index) else { return };
        let span = match slot.output.is_empty() && slot.flags.has(Flags::HEAD_SENT) {
            true => times.keep_alive,
            false => times.stall,
        };
        self.exchanges.set_deadline(index, Some(self.now.plus(span)));
    }

    pub(super) fn push(&mut self, index: u16, pieces: &[&[u8]]) {
        if let Some(slot) = self.exchanges.slot_mut(index) {
            for piece in pieces {
                self.pages.push(&mut slot.output, piece);
            }
        }
    }

    /// Numbers an event, and returns its id. Stores the event for replay, unless the event is longer than the whole
    /// replay buffer. Returns `None` without a replay buffer, and in 2026-07-28 and HTTP+SSE, which have no event ids.
    pub(super) fn record_event(&mut self, index: u16, data: &[u8]) -> Option<EventId> {
        if !self.has_replay() {
            return None;
        }
        let slot = self.exchanges.slot_mut(index)?;
        if slot.flags.has(Flags::MODERN) || slot.flags.has(Flags::LEGACY) {
            return None;
        }
        let id = next_event_id(slot);
        let (session, serial, events) = (slot.session, slot.serial, slot.events);
        self.store_event(session, serial, events, data);
        Some(id)
    }

    /// Frees an exchange, its output and its body.
    pub(super) fn release(&mut self, index: u16) {
        let now = self.now;
        self.end_unknown_session(index);
        let Some(slot) = self.exchanges.slot_mut(index) else { return };
        self.pages.release(&mut slot.output);
        let part = core::mem::replace(&mut slot.body, super::pool::NO_PART);
        if part != super::pool::NO_PART {
            self.bodies.release(part);
        }
        if self.selected == Some(index) {
            self.selected = None;
        }
        slot.stream = StreamId::NONE;
        if P::HANDSHAKE {
            self.sessions.touch(slot.session, now, -1);
        }
        self.exchanges.release(index);
    }
}

/// Numbers the next event of an exchange, and returns its id.
pub(super) fn next_event_id(slot: &mut ExchangeSlot) -> EventId {
    slot.events = slot.events.wrapping_add(1);
    EventId::new(slot.flags.has(Flags::GENERAL), slot.serial, slot.events)
}

/// An event id: the kind and the number of the stream, and the number of the event.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventId {
    text: [u8; 24],
    length: usize,
}

impl EventId {
    pub(super) fn new(is_general: bool, stream: u32, event: u32) -> EventId {
        let (mut text, mut length) = ([0; 24], 0usize);
        let (mut first, mut second) = ([0; 20], [0; 20]);
        let kind = if is_general { GENERAL } else { "" };
        let pieces = [kind, decimal(stream.into(), &mut first), "-", decimal(event.into(), &mut second)];
        for (place, byte) in text.iter_mut().zip(pieces.iter().flat_map(|piece| piece.bytes())) {
            *place = byte;
            length = length.wrapping_add(1);
        }
        EventId { text, length }
    }

    /// Parses an id. Returns three values: whether the stream is general, the number of the stream, and the number of
    /// the event. Returns `None` for an invalid id.
    pub(super) fn parse(text: &[u8]) -> Option<(bool, u32, u32)> {
        let text = core::str::from_utf8(text).ok()?;
        let numbers = text.strip_prefix(GENERAL);
        let (stream, event) = numbers.unwrap_or(text).split_once('-')?;
        let stream = stream.parse().ok().filter(|stream| *stream != HELD)?;
        Some((numbers.is_some(), stream, event.parse().ok()?))
    }

    pub(super) fn bytes(&self) -> &[u8] {
        self.text.get(..self.length).unwrap_or_default()
    }
}
