//! Replay of stored events to a client that resumes an event stream (`Last-Event-ID`).

use mcp_proto::rpc::code;
use mcp_proto::{Buffer, SessionKey};

use super::HttpServer;
use super::event_stream::{EVENT_OVERHEAD, EventId};
use super::exchange_flags::Flags;
use super::exchanges::{ExchangeId, Phase};
use super::page_pool::Chain;
use super::policy::Policy;
use super::response::Refusal;

/// Size of the header of an event: length, stream, number, session.
const HEADER: usize = 14;

/// The maximum length of a replayed event besides its data, in bytes: the id and the names of the fields.
const FIELDS: usize = 40;

/// Stream number of held messages, which are in no stream yet. See [`hold`](HttpServer::hold).
pub(super) const HELD: u32 = 0;

/// Stored events and held messages in one buffer, oldest first. If the buffer is full, a new event replaces the oldest
/// ones.
pub(super) struct Replay<'b> {
    bytes: Buffer<'b>,
    /// Start of the oldest event.
    start: usize,
    /// End of the newest event.
    end: usize,
    /// End of the events before the wrap to the start of the memory. `None` while the events are in one piece.
    wrap: Option<usize>,
}

/// An event in the ring.
pub(super) struct Stored {
    stream: u32,
    number: u32,
    session: SessionKey,
    data: core::ops::Range<usize>,
}

impl<'b> Replay<'b> {
    pub(super) fn new(bytes: Buffer<'b>) -> Replay<'b> {
        Replay { bytes, start: 0, end: 0, wrap: None }
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.bytes.limit() > 0
    }

    /// Returns whether an event with data of this length fits into the empty memory.
    pub(super) fn can_ever_hold(&self, length: usize) -> bool {
        HEADER.saturating_add(length) <= self.bytes.limit()
    }

    fn at(&self, at: usize) -> Option<Stored> {
        let header = self.bytes.bytes().get(at..)?.first_chunk::<HEADER>()?;
        let [l0, l1, l2, l3, s0, s1, s2, s3, n0, n1, n2, n3, k0, k1] = *header;
        let length = usize::try_from(u32::from_le_bytes([l0, l1, l2, l3])).ok()?;
        let from = at.saturating_add(HEADER);
        Some(Stored {
            stream: u32::from_le_bytes([s0, s1, s2, s3]),
            number: u32::from_le_bytes([n0, n1, n2, n3]),
            session: SessionKey(u16::from_le_bytes([k0, k1])),
            data: from..from.saturating_add(length),
        })
    }

    /// Returns the offset of the event after the one at `at`. `None` after the newest event.
    pub(super) fn next(&self, at: usize) -> Option<usize> {
        let end = self.at(at)?.data.end;
        if self.wrap == Some(end) {
            return (self.end > 0).then_some(0);
        }
        (end != self.end).then_some(end)
    }

    pub(super) fn first(&self) -> Option<usize> {
        (self.start != self.end || self.wrap.is_some()).then_some(self.start)
    }

    /// Returns the data of an event.
    pub(super) fn data(&self, event: &Stored) -> &[u8] {
        self.bytes.bytes().get(event.data.clone()).unwrap_or_default()
    }

    /// Changes the stream and the number of an event.
    pub(super) fn rename(&mut self, at: usize, stream: u32, number: u32) {
        let ([s0, s1, s2, s3], [n0, n1, n2, n3]) = (stream.to_le_bytes(), number.to_le_bytes());
        let place = self.bytes.bytes_mut().get_mut(at.saturating_add(4)..);
        if let Some(place) = place.and_then(|bytes| bytes.first_chunk_mut()) {
            *place = [s0, s1, s2, s3, n0, n1, n2, n3];
        }
    }

    /// Removes the oldest event. If the event was a held message, and its session has not ended, calls `evicted` with
    /// the session.
    fn remove_oldest(&mut self, evicted: &mut dyn FnMut(SessionKey)) {
        let Some(first) = self.first() else { return };
        if let Some(event) = self.at(first).filter(|event| event.stream == HELD)
            && event.session != SessionKey::NONE
        {
            evicted(event.session);
        }
        match self.next(first) {
            Some(next) => {
                if next < first {
                    self.wrap = None;
                }
                self.start = next;
            }
            None => (self.start, self.end, self.wrap) = (0, 0, None),
        }
    }

    /// Stores an event, unless it is longer than the whole memory, or the memory cannot grow. Calls `evicted` with the
    /// session of each held message that is removed, unless the session has ended.
    pub(super) fn push(
        &mut self,
        session: SessionKey,
        stream: u32,
        number: u32,
        data: &[u8],
        evicted: &mut dyn FnMut(SessionKey),
    ) {
        if !self.can_ever_hold(data.len()) {
            return;
        }
        let size = HEADER.saturating_add(data.len());
        loop {
            let limit = if self.wrap.is_some() { self.start } else { self.bytes.limit() };
            if self.end.saturating_add(size) <= limit {
                break;
            }
            if self.wrap.is_none() && self.start >= size {
                (self.wrap, self.end) = (Some(self.end), 0);
                break;
            }
            self.remove_oldest(evicted);
        }
        let ([l0, l1, l2, l3], [s0, s1, s2, s3]) =
            (u32::try_from(data.len()).unwrap_or(0).to_le_bytes(), stream.to_le_bytes());
        let ([n0, n1, n2, n3], [k0, k1]) = (number.to_le_bytes(), session.0.to_le_bytes());
        let header = [l0, l1, l2, l3, s0, s1, s2, s3, n0, n1, n2, n3, k0, k1];
        let end = self.end.saturating_add(size);
        let space = self.bytes.ensure(end).and_then(|bytes| bytes.get_mut(self.end..end));
        if let Some((head, body)) = space.and_then(|space| space.split_first_chunk_mut::<HEADER>()) {
            *head = header;
            body.copy_from_slice(data);
            self.end = end;
        }
    }

    /// Makes the events of a session unreachable.
    pub(super) fn forget(&mut self, session: SessionKey) {
        let mut at = self.first();
        while let Some(offset) = at {
            at = self.next(offset);
            if self.at(offset).is_some_and(|event| event.session == session)
                && let Some(key) =
                    self.bytes.bytes_mut().get_mut(offset.saturating_add(12)..offset.saturating_add(HEADER))
            {
                key.fill(0);
            }
        }
    }

    /// Returns the first event of a stream with a number above `after`, at the offset `from` or later. Also returns the
    /// offset of the event. Returns `None` if there is no such event.
    pub(super) fn find(
        &self,
        from: Option<usize>,
        session: SessionKey,
        stream: u32,
        after: u32,
    ) -> Option<(usize, Stored)> {
        let mut at = from;
        while let Some(offset) = at {
            let event = self.at(offset)?;
            if event.session == session && event.stream == stream && event.number > after {
                return Some((offset, event));
            }
            at = self.next(offset);
        }
        None
    }

    /// Returns the number of the newest event of a stream, or `number` if none is newer.
    fn newest(&self, session: SessionKey, stream: u32, mut number: u32) -> u32 {
        let mut from = self.first();
        while let Some((offset, event)) = self.find(from, session, stream, number) {
            (number, from) = (event.number, self.next(offset));
        }
        number
    }
}

impl<P: Policy> HttpServer<'_, P> {
    /// Resumes the stream of the event with this id.
    ///
    /// The response has the stored events after that event. If all of them fit into the output, two kinds of streams
    /// continue on the new connection: a stream that still runs, and the general stream of a session. In any other case
    /// the response ends after the events that fit. If events are missing, the client resumes again.
    ///
    /// Fails if the id is invalid. Fails if the response needs a new exchange, but none is free or too many event
    /// streams are open. Also fails if the stream belongs to a request and has ended, and no later event of the stream
    /// is stored. After a failure, a running stream keeps its connection.
    pub(super) fn resume(&mut self, last: &[u8], session: SessionKey) -> Result<ExchangeId, Refusal> {
        let unknown = Refusal::new(400, code::INVALID_REQUEST, "`Last-Event-ID` is not an id of this server");
        let (is_general, stream, number) = EventId::parse(last).ok_or(unknown)?;
        let running = self.exchanges.position(|slot| {
            let is_open = matches!(slot.phase, Phase::Stream | Phase::Detached);
            let has_ids = [Flags::MODERN, Flags::LEGACY, Flags::PIECES].iter().all(|it| !slot.flags.has(*it));
            is_open && has_ids && slot.serial == stream && slot.session == session
        });
        // Refuse the resumption if the stream of a request has ended and no later event is stored, for example because
        // the response was sent in pieces. Otherwise the client would get empty streams, and resume repeatedly until
        // its request times out.
        let is_stored = || self.replay.find(self.replay.first(), session, stream, number).is_some();
        if running.is_none() && !is_general && !is_stored() {
            return Err(Refusal::new(
                400,
                code::INVALID_REQUEST,
                "the stream of `Last-Event-ID` has ended, or is unknown",
            ));
        }
        // The response replaces the connection of a running stream. The unread output of that connection is dropped, so
        // its memory counts as free for the response.
        let replaced = running.and_then(|index| self.exchanges.slot(index)).copied();
        let unread = replaced.map_or(Chain::EMPTY, |slot| slot.output);
        let fits = self.has_replay_space(&unread, session, stream, number);
        // A response with only a part of the events ends, but the exchange of a call continues. So such a response gets
        // another exchange. If no other exchange is free, the running stream keeps its connection.
        let is_general_stream = replaced.is_some_and(|slot| slot.flags.has(Flags::LISTENS));
        let index = match running.filter(|_| fits || is_general_stream) {
            Some(index) => index,
            None => self.begin_listening(session)?,
        };
        if let Some(running) = running {
            self.exchanges.renew(running);
            if let Some(slot) = self.exchanges.slot_mut(running) {
                self.pages.release(&mut slot.output);
                slot.flags.remove(Flags::HEAD_SENT);
                slot.flags.remove(Flags::NEW_SESSION);
                slot.flags.remove(Flags::RELEASES);
                slot.flags.add(Flags::TAKES_STREAM);
                slot.flags.add(Flags::REPLACES);
            }
            self.exchanges.set_ready(running);
            if running != index {
                self.disconnect(running);
            }
        }
        let continues = fits && (running.is_some() || is_general);
        if let Some(slot) = self.exchanges.slot_mut(index).filter(|_| continues && running.is_none()) {
            slot.flags.add(Flags::GENERAL);
            // If `number` is 0, or no stored event of the stream has this number or a later one, the stream gets a
            // new number, so that the client cannot choose the numbers of events.
            let newest = self.replay.newest(session, stream, 0);
            if (1..=newest).contains(&number) {
                (slot.serial, slot.events) = (stream, newest);
            }
        }
        self.open_stream(index);
        let mut from = self.replay.first();
        while let Some((offset, event)) = self.replay.find(from, session, stream, number) {
            from = self.replay.next(offset);
            let data = self.replay.data(&event);
            let length = data.len().saturating_add(FIELDS);
            let Some(slot) = self.exchanges.slot_mut(index) else { break };
            // An event that is longer than all pages together is left out, so that the client gets the later events.
            if !self.pages.can_ever_hold(length) {
                continue;
            }
            if !self.pages.fits(&slot.output, length) {
                break;
            }
            let id = EventId::new(is_general, stream, event.number);
            for piece in [b"id: ", id.bytes(), b"\ndata: ", data, b"\n\n"] {
                self.pages.push(&mut slot.output, piece);
            }
        }
        match continues {
            true => self.send_held(index),
            false => self.end_stream(index),
        }
        Ok(self.exchanges.id(index))
    }

    /// Returns whether all stored events of a stream after this number fit into the output in place of `unread`.
    fn has_replay_space(&mut self, unread: &Chain, session: SessionKey, stream: u32, number: u32) -> bool {
        // A priming event may come first.
        let (mut from, mut total) = (self.replay.first(), EVENT_OVERHEAD);
        while let Some((offset, event)) = self.replay.find(from, session, stream, number) {
            let length = event.data.len().saturating_add(FIELDS);
            if self.pages.can_ever_hold(length) {
                total = total.saturating_add(length);
            }
            from = self.replay.next(offset);
        }
        self.pages.fits(&Chain::EMPTY, total.saturating_sub(self.pages.capacity(unread)))
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::vec::Vec;

    /// The ring holds the newest events, whole and in order, with a memory of 1 to 199 bytes.
    #[test]
    fn ring_holds_the_newest_events() {
        for size in 1..200 {
            let mut memory = std::vec![0; size];
            let mut replay = Replay::new(memory.as_mut_slice().into());
            let mut pushed: Vec<(u32, Vec<u8>)> = Vec::new();
            for number in 1..100u32 {
                let data: Vec<u8> = (0..number * 7 % 41).map(|byte| byte as u8).collect();
                replay.push(SessionKey(1), number % 3 + 1, number, &data, &mut |_| unreachable!());
                if HEADER + data.len() <= size {
                    pushed.push((number, data));
                }
                let (mut at, mut stored) = (replay.first(), Vec::new());
                while let Some(offset) = at {
                    let event = replay.at(offset).unwrap();
                    assert_eq!(event.stream, event.number % 3 + 1);
                    stored.push((event.number, replay.bytes.bytes()[event.data].to_vec()));
                    at = replay.next(offset);
                }
                assert!(pushed.ends_with(&stored), "{size} {number}");
                assert!(pushed.is_empty() == stored.is_empty(), "{size} {number}");
            }
            replay.forget(SessionKey(1));
            assert!((1..4).all(|stream| replay.find(replay.first(), SessionKey(1), stream, 0).is_none()));
        }
    }
}
