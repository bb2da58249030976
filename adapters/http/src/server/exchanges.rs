//! Table of exchanges. An exchange is one request and its response.

use mcp_proto::{Millis, Revision, SessionKey, StreamId};

use super::exchange_flags::Flags;
use super::page_pool::Chain;
use super::pool::NO_PART;
use super::response::MediaType;
use super::slot_table::Slots;

/// Index that stands for no exchange.
pub(super) const NONE: u16 = u16::MAX;

/// Identifier of an exchange. The identifier of an ended exchange names another exchange only after 65,535 further
/// identifiers of the same slot. Each new exchange, each resumption and each
/// [released connection](super::HttpServer::release_connection) takes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExchangeId {
    pub(super) index: u16,
    pub(super) generation: u16,
}

/// Phase of an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Free,
    /// The body arrives.
    Body,
    /// The message waits until the core server accepts it.
    Queued,
    /// The core server has the message. The first message for the exchange, or the deadline, decides between JSON and
    /// an event stream.
    Waiting,
    /// An event stream is open, or a chunked JSON body has begun.
    Stream,
    /// The response is complete, and the transport still sends it.
    Ending,
    /// The exchange has lost its connection, and its request continues (handshake era).
    Detached,
    /// The exchange has lost its connection, and the core server must still learn that its stream has closed. This
    /// phase occurs in `2026-07-28`, and for a response in pieces that has begun.
    Closing,
}

/// Storage for one exchange. The caller lends an array: `[ExchangeSlot::EMPTY; 8]`.
#[derive(Debug, Clone, Copy)]
pub struct ExchangeSlot {
    pub(super) deadline: Millis,
    /// Stream of the exchange in the core server.
    pub(super) stream: StreamId,
    /// Number of the exchange, part of its event ids.
    pub(super) serial: u32,
    pub(super) output: Chain,
    pub(super) body_length: u32,
    pub(super) body: u16,
    pub(super) session: SessionKey,
    /// The user that sent the request.
    pub(super) user: u64,
    /// Number of the last event of the stream, or 0.
    pub(super) events: u32,
    pub(super) generation: u16,
    pub(super) flags: Flags,
    pub(super) status: u16,
    /// Next exchange in the queue for the core server, or next slot in the list of free slots.
    next: u16,
    next_ready: u16,
    pub(super) phase: Phase,
    /// Handshake era: the revision of the request.
    pub(super) revision: Revision,
    pub(super) media_type: MediaType,
    /// The contents of the sealed session id that the request names or creates: the revision and random bytes. Zeros if
    /// there is no sealed session id.
    pub(super) sealed: [u8; 16],
}

impl ExchangeSlot {
    /// Returns whether the exchange belongs to the handshake era and expects messages of the core server. The stream of
    /// a GET counts, too.
    pub(super) fn is_handshake_request(&self) -> bool {
        let is_delivered = matches!(self.phase, Phase::Waiting | Phase::Stream | Phase::Detached);
        is_delivered && !self.flags.has(Flags::MODERN)
    }
}

const NEVER: Millis = Millis(u64::MAX);

impl ExchangeSlot {
    /// A slot without an exchange.
    pub const EMPTY: ExchangeSlot = ExchangeSlot {
        deadline: NEVER,
        stream: StreamId::NONE,
        serial: 0,
        output: Chain::EMPTY,
        body_length: 0,
        body: NO_PART,
        session: SessionKey::NONE,
        user: 0,
        events: 0,
        generation: 0,
        flags: Flags::NONE,
        status: 0,
        next: NONE,
        next_ready: NONE,
        phase: Phase::Free,
        revision: Revision::V2024_11_05,
        media_type: MediaType::None,
        sealed: [0; 16],
    };
}

/// First and last slot of a linked list.
#[derive(Debug, Clone, Copy)]
struct List {
    first: u16,
    last: u16,
}

const EMPTY: List = List { first: NONE, last: NONE };

pub(super) struct Exchanges<'b> {
    slots: Slots<'b, ExchangeSlot>,
    free: List,
    /// Exchanges whose message or end waits for the core server.
    queue: List,
    /// Exchanges to report to the transport: with new output, ended, or moved to another connection.
    ready: List,
    /// Lower bound of all deadlines.
    pub(super) earliest: Millis,
    serial: u32,
    taken: usize,
    /// Number of event streams that a GET or `subscriptions/listen` has opened.
    pub(super) listening: usize,
}

impl<'b> Exchanges<'b> {
    pub(super) fn new(mut slots: Slots<'b, ExchangeSlot>) -> Exchanges<'b> {
        slots.reset(ExchangeSlot::EMPTY);
        let mut exchanges = Exchanges {
            slots,
            free: EMPTY,
            queue: EMPTY,
            ready: EMPTY,
            earliest: NEVER,
            serial: 0,
            taken: 0,
            listening: 0,
        };
        exchanges.append_all_free(0);
        exchanges
    }

    /// Appends the slot with this index, and all later slots, to the list of free slots.
    fn append_all_free(&mut self, from: usize) {
        for index in from..self.slots.as_slice().len() {
            self.append_free(u16::try_from(index).unwrap_or(NONE));
        }
    }

    /// Returns the number of slots in memory.
    pub(super) fn len(&self) -> usize {
        self.slots.as_slice().len()
    }

    /// Returns the maximum number of exchanges.
    pub(super) fn limit(&self) -> usize {
        self.slots.limit()
    }

    /// Returns the number of exchanges.
    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    pub(super) fn slot(&self, index: u16) -> Option<&ExchangeSlot> {
        self.slots.as_slice().get(usize::from(index))
    }

    pub(super) fn slot_mut(&mut self, index: u16) -> Option<&mut ExchangeSlot> {
        self.slots.as_mut_slice().get_mut(usize::from(index))
    }

    /// Returns the exchange with this identifier, or `None` if the exchange has ended.
    pub(super) fn get(&self, id: ExchangeId) -> Option<&ExchangeSlot> {
        self.slot(id.index).filter(|slot| slot.generation == id.generation && slot.phase != Phase::Free)
    }

    pub(super) fn id(&self, index: u16) -> ExchangeId {
        ExchangeId { index, generation: self.slot(index).map_or(0, |slot| slot.generation) }
    }

    /// Returns the exchange of a stream, or `None` if the exchange has ended.
    pub(super) fn find(&self, stream: StreamId) -> Option<u16> {
        let [low, high, _, _] = stream.0.to_le_bytes();
        let index = u16::from_le_bytes([low, high]).checked_sub(1)?;
        let slot = self.slot(index)?;
        (slot.phase != Phase::Free && slot.stream == stream).then_some(index)
    }

    /// Returns the first exchange that satisfies a condition, or `None` without such an exchange.
    pub(super) fn position(&self, condition: impl Fn(&ExchangeSlot) -> bool) -> Option<u16> {
        let found =
            self.slots.as_slice().iter().position(|slot| slot.phase != Phase::Free && condition(slot))?;
        u16::try_from(found).ok()
    }

    /// Takes a free slot, and grows the table if necessary. Returns `None` if all slots are taken and the table cannot
    /// grow.
    pub(super) fn take(&mut self, phase: Phase) -> Option<u16> {
        if self.free.first == NONE {
            let count = self.slots.grow(ExchangeSlot::EMPTY)?;
            self.append_all_free(count);
        }
        let index = self.free.first;
        let slot = self.slots.as_mut_slice().get_mut(usize::from(index))?;
        self.free.first = slot.next;
        if self.free.first == NONE {
            self.free.last = NONE;
        }
        self.serial = self.serial.wrapping_add(1).max(1);
        let generation = slot.generation.wrapping_add(1).max(1);
        *slot = ExchangeSlot { generation, serial: self.serial, phase, ..ExchangeSlot::EMPTY };
        slot.stream = StreamId::in_session(SessionKey(generation), index.wrapping_add(1));
        self.taken = self.taken.saturating_add(1);
        Some(index)
    }

    /// Changes the identifier of a running exchange, because its previous connection no longer serves it.
    pub(super) fn renew(&mut self, index: u16) {
        if let Some(slot) = self.slot_mut(index) {
            slot.generation = slot.generation.wrapping_add(1);
        }
    }

    /// Ends an exchange. The caller must first release the output and the body.
    pub(super) fn release(&mut self, index: u16) {
        let Some(slot) =
            self.slots.as_mut_slice().get_mut(usize::from(index)).filter(|slot| slot.phase != Phase::Free)
        else {
            return;
        };
        if slot.flags.has(Flags::LISTENS) {
            self.listening = self.listening.saturating_sub(1);
        }
        // A slot in the list of exchanges with output joins the list of free slots only when [`Exchanges::take_ready`]
        // takes it out of the first list.
        let is_ready = slot.flags.has(Flags::IS_READY);
        slot.phase = Phase::Free;
        slot.flags.keep(Flags::LISTED);
        slot.deadline = NEVER;
        self.taken = self.taken.saturating_sub(1);
        if !is_ready {
            self.append_free(index);
        }
    }

    fn append_free(&mut self, index: u16) {
        append(self.slots.as_mut_slice(), &mut self.free, index, |slot| &mut slot.next);
    }

    /// Appends an exchange to the queue for the core server.
    pub(super) fn enqueue(&mut self, index: u16) {
        append(self.slots.as_mut_slice(), &mut self.queue, index, |slot| &mut slot.next);
    }

    pub(super) fn queued(&self) -> Option<u16> {
        (self.queue.first != NONE).then_some(self.queue.first)
    }

    pub(super) fn dequeue(&mut self) {
        take_first(self.slots.as_mut_slice(), &mut self.queue, |slot| &mut slot.next);
    }

    /// Marks an exchange as one with output.
    pub(super) fn set_ready(&mut self, index: u16) {
        match self.slot_mut(index) {
            Some(slot) if !slot.flags.has(Flags::IS_READY) => slot.flags.add(Flags::IS_READY),
            _ => return,
        }
        append(self.slots.as_mut_slice(), &mut self.ready, index, |slot| &mut slot.next_ready);
    }

    /// Takes the next exchange, which may have ended, out of the list of exchanges with output. Returns its identifier,
    /// or `None` if the list is empty. If another connection has taken over the stream of the exchange, returns the
    /// previous identifier, and a later call returns the new one.
    pub(super) fn take_ready(&mut self) -> Option<ExchangeId> {
        let index = take_first(self.slots.as_mut_slice(), &mut self.ready, |slot| &mut slot.next_ready)?;
        let slot = self.slot_mut(index)?;
        slot.flags.remove(Flags::IS_READY);
        if slot.flags.has(Flags::REPLACES) {
            slot.flags.remove(Flags::REPLACES);
            let generation = slot.generation.wrapping_sub(1);
            self.set_ready(index);
            return Some(ExchangeId { index, generation });
        }
        let (is_free, id) = (slot.phase == Phase::Free, self.id(index));
        if is_free {
            self.append_free(index);
        }
        Some(id)
    }

    pub(super) fn set_deadline(&mut self, index: u16, at: Option<Millis>) {
        if let Some(slot) = self.slots.as_mut_slice().get_mut(usize::from(index)) {
            slot.deadline = at.unwrap_or(NEVER);
            self.earliest = self.earliest.min(slot.deadline);
        }
    }

    /// Returns an exchange whose deadline has passed, or `None` without such an exchange. Updates `earliest`.
    pub(super) fn due(&mut self, now: Millis) -> Option<u16> {
        if self.earliest > now {
            return None;
        }
        self.earliest = self.slots.as_slice().iter().map(|slot| slot.deadline).min().unwrap_or(NEVER);
        self.position(|slot| slot.deadline <= now)
    }
}

/// Appends a slot to a list.
fn append(slots: &mut [ExchangeSlot], list: &mut List, index: u16, link: fn(&mut ExchangeSlot) -> &mut u16) {
    match slots.get_mut(usize::from(index)) {
        Some(slot) => *link(slot) = NONE,
        None => return,
    }
    match slots.get_mut(usize::from(list.last)) {
        Some(last) => *link(last) = index,
        None => list.first = index,
    }
    list.last = index;
}

/// Takes the first slot out of a list. Returns `None` if the list is empty.
fn take_first(
    slots: &mut [ExchangeSlot],
    list: &mut List,
    link: fn(&mut ExchangeSlot) -> &mut u16,
) -> Option<u16> {
    let index = list.first;
    list.first = core::mem::replace(link(slots.get_mut(usize::from(index))?), NONE);
    if list.first == NONE {
        list.last = NONE;
    }
    Some(index)
}
