//! Slot table of requests in flight, open `subscriptions/listen`, or tasks: tickets, ids, texts, deadlines and a queue.
//!
//! All links are indices inside the slots, so a table over lent slots needs no heap. The lookup of a request by its
//! ticket or id takes O(1) time on average. Taking or releasing a slot and setting a deadline take O(log n), unless the
//! table grows. The hash of the peer's ids uses the caller's seed. If the seed is random, the peer cannot choose ids
//! that collide.
#![allow(
    clippy::as_conversions,
    reason = "the number of slots and the length of their texts are limited to 16 bits; a ticket consists of two halves"
)]

mod deadlines;
mod id_index;
mod store;

use crate::framing::outbound_message::StreamId;
use crate::platform::{cold_path, divide, from_halves, to_halves};
use crate::time::Millis;

use crate::peer::slots::store::Store;

/// Handle of a request in flight: the index of its slot and the slot's generation.
///
/// The application may copy a ticket and store it without a time limit. The machine rejects the ticket of an ended
/// request, and never issues the same ticket for a later request. The tickets of two machines may be equal, so a map of
/// the requests of several connections also needs the connection in its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ticket {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

impl Ticket {
    /// Creates a ticket from the result of [`to_bits`](Ticket::to_bits). The machine treats bits that match no request
    /// in flight as the ticket of an ended request.
    #[must_use]
    pub const fn from_bits(bits: u64) -> Ticket {
        Ticket { slot: bits as u32, generation: (bits >> 32) as u32 }
    }

    /// Returns the ticket as a number, for callers that cannot store a `Ticket`, such as programs in C. The machine
    /// never issues a ticket whose bits are all ones.
    #[must_use]
    pub const fn to_bits(self) -> u64 {
        (self.generation as u64) << 32 | self.slot as u64
    }

    /// The ticket of no request.
    pub(crate) const NONE: Ticket = Ticket { slot: NONE, generation: 0 };
}

/// Storage for one request in flight. The caller lends an array: `[Slot::EMPTY; 4]`. A table uses at most 65,535 slots.
#[derive(Debug, Clone, Copy)]
pub struct Slot<D> {
    /// Two halves, because a `u64` would require padding.
    deadline: [u32; 2],
    /// Generation of the current or next request in this slot. The end of a request increments the generation.
    generation: u32,
    /// Next slot in the chain of a bucket, or in the queue.
    next: u16,
    /// First slot in the chain of the bucket with this slot's index.
    bucket: u16,
    /// Lowest free slot in the subtree of this slot: see the module `deadlines`.
    lowest_free: u16,
    /// Slot with the earliest deadline in the subtree of this slot. Can be a free slot.
    earliest: u16,
    text_length: u16,
    /// Length of the peer's id at the start of the text, or 0 if the slot has no such id. For example, an outbound
    /// request has none, because its id encodes the slot.
    id_length: u16,
    /// `None` if the slot holds no request.
    data: Option<D>,
}

/// Per-request data that the server or client stores in a slot.
pub trait Data: Copy {
    /// Returns the owner of the request's id. Ids are unique per owner. In the stateless era, the owner is the stream
    /// of the request. In the handshake era, the owner is the [stream](crate::SessionKey::stream) of the session, or
    /// `StreamId::NONE` if the machine has only one session. The owner of an outbound request is also
    /// `StreamId::NONE`.
    fn owner(&self) -> StreamId {
        StreamId::NONE
    }
}

impl<D: Data> Slot<D> {
    /// A slot without a request.
    pub const EMPTY: Slot<D> = Slot {
        deadline: [u32::MAX; 2],
        generation: 0,
        next: NONE as u16,
        bucket: NONE as u16,
        lowest_free: NONE as u16,
        earliest: NONE as u16,
        text_length: 0,
        id_length: 0,
        data: None,
    };
}

/// Index that stands for no slot. The value is also the maximum number of slots.
const NONE: u32 = u16::MAX as u32;

const NO_QUEUE: (u16, u16) = (NONE as u16, NONE as u16);

/// Generation of a retired slot, which is never taken again.
const RETIRED: u32 = u32::MAX;

/// Stored deadline of a request that has no deadline.
const NEVER: Millis = Millis(u64::MAX);

/// Largest stored deadline. A deadline of `u64::MAX` is stored as `LAST`, because `u64::MAX` means `NEVER`.
const LAST: Millis = Millis(u64::MAX - 1);

/// Table of requests in flight, with data `D` for each.
pub(crate) struct InFlight<'b, D> {
    store: Store<'b, D>,
    seed: [u32; 2],
    /// Length, in bytes, of each slot's share of the text.
    share: u16,
    taken: u16,
    /// First and last slot of the queue. The queue holds the requests that have an unsent message, such as a
    /// cancellation.
    queue: (u16, u16),
}

impl<'b, D: Data> InFlight<'b, D> {
    /// Creates a table without slots.
    #[inline(never)]
    pub(crate) fn empty() -> InFlight<'b, D> {
        let store = Store::Lent { slots: &mut [], text: &mut [] };
        InFlight { store, seed: [0; 2], share: 0, taken: 0, queue: NO_QUEUE }
    }

    /// Creates a table over lent slots. Each slot owns an equal share of `text`, but at most 65,535 bytes.
    pub(crate) fn lent(slots: &'b mut [Slot<D>], text: &'b mut [u8]) -> InFlight<'b, D> {
        let (share, _) = divide(text.len() as u64, slots.len() as u32);
        let share = share.min(u64::from(u16::MAX)) as usize;
        let slots = slots.get_mut(..slots.len().min(NONE as usize)).unwrap_or_default();
        InFlight::from_store(Store::Lent { slots, text }, share)
    }

    /// Creates a table that grows to `limit` requests. Each request has up to `longest` bytes of text. Values above
    /// 65,535 count as 65,535.
    #[cfg(feature = "alloc")]
    pub(crate) fn grown(limit: usize, longest: usize) -> InFlight<'static, D> {
        InFlight::from_store(Store::grown(limit.min(NONE as usize), longest), 0)
    }

    fn from_store(store: Store<'b, D>, share: usize) -> InFlight<'b, D> {
        let share = share.min(u16::MAX.into()) as u16;
        let mut table = InFlight { store, seed: [0; 2], share, taken: 0, queue: NO_QUEUE };
        table.clear();
        table
    }

    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.seed = to_halves(seed);
        self.rehash();
    }

    pub(crate) fn seed(&self) -> u64 {
        from_halves(self.seed)
    }

    /// Ends all requests and invalidates their tickets.
    pub(crate) fn clear(&mut self) {
        for slot in self.slots_mut() {
            slot.end();
            (slot.next, slot.bucket) = (NONE as u16, NONE as u16);
        }
        (self.taken, self.queue) = (0, NO_QUEUE);
        self.rebuild_tree();
    }

    /// Returns whether the caller lent the slots.
    pub(crate) fn is_lent(&self) -> bool {
        match &self.store {
            Store::Lent { .. } => true,
            #[cfg(feature = "alloc")]
            Store::Grown { .. } => false,
        }
    }

    /// Returns the maximum number of requests in flight.
    pub(crate) fn limit(&self) -> usize {
        match &self.store {
            Store::Lent { slots, .. } => slots.len(),
            #[cfg(feature = "alloc")]
            Store::Grown { limit, .. } => *limit,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.taken.into()
    }

    /// Takes the lowest free slot for a request. Returns `None` if no slot is free and the table cannot grow.
    #[inline]
    pub(crate) fn take(&mut self, data: D, deadline: Option<Millis>) -> Option<Ticket> {
        let index = self.free_slot();
        let slot = self.slot_mut(index)?;
        slot.data = Some(data);
        slot.set_deadline(deadlines::to_stored(deadline));
        let ticket = Ticket { slot: index, generation: slot.generation };
        self.taken = self.taken.wrapping_add(1);
        self.update_tree(index);
        Some(ticket)
    }

    /// Returns the data of a request. Returns `None` if the request has ended.
    pub(crate) fn get(&self, ticket: Ticket) -> Option<&D> {
        self.taken_slot(ticket)?.data.as_ref()
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut D> {
        self.taken_slot_mut(ticket)?.data.as_mut()
    }

    /// Returns the request in the slot with this index. Returns `None` if the slot is free or does not exist.
    pub(crate) fn request_in_slot(&self, index: u32) -> Option<(Ticket, &D)> {
        let slot = self.slot(index)?;
        Some((Ticket { slot: index, generation: slot.generation }, slot.data.as_ref()?))
    }

    /// Returns whether the table has issued any ticket. The first ticket is for the first slot.
    pub(crate) fn has_held_requests(&self) -> bool {
        self.slots_ref().first().is_some_and(|slot| slot.is_taken() || slot.generation > 0)
    }

    /// Returns whether the table has issued this ticket. The request may have ended.
    pub(crate) fn has_issued(&self, ticket: Ticket) -> bool {
        self.slot(ticket.slot).is_some_and(|slot| slot.generation > ticket.generation || slot.holds(ticket))
    }

    /// Returns the first request in flight in the slots from `index` on.
    pub(crate) fn first_from(&self, index: u32) -> Option<Ticket> {
        let slots = self.slots_ref().get(index as usize..)?;
        let index = index.wrapping_add(slots.iter().position(Slot::is_taken)? as u32);
        self.request_in_slot(index).map(|(ticket, _)| ticket)
    }

    /// Returns the first request in flight in the slots from `index` on, and moves `index` past its slot.
    pub(crate) fn next_from(&self, index: &mut u32) -> Option<Ticket> {
        let ticket = self.first_from(*index)?;
        *index = ticket.slot.wrapping_add(1);
        Some(ticket)
    }

    /// Returns the requests in flight, in the order of their slots.
    pub(crate) fn requests(&self) -> impl Iterator<Item = (Ticket, &D)> {
        (0..self.slots_ref().len() as u32).filter_map(|index| self.request_in_slot(index))
    }

    /// Appends a request to the queue.
    ///
    /// The request must not be in the queue yet. The id index must not contain the request, because the queue and the
    /// index use the same link. The caller must dequeue the request before it releases the request.
    pub(crate) fn enqueue(&mut self, ticket: Ticket) {
        let (first, last) = self.queue;
        let added = ticket.slot as u16;
        match self.slot_mut(last.into()) {
            Some(last) => last.next = added,
            None => self.queue.0 = added,
        }
        self.queue.1 = added;
        debug_assert!(first != added, "queued twice");
    }

    /// Returns whether the queue contains any request.
    #[inline]
    pub(crate) fn has_queued(&self) -> bool {
        self.queue.0 != NO_QUEUE.0
    }

    /// Returns the first request of the queue.
    pub(crate) fn queue_front(&self) -> Option<Ticket> {
        self.request_in_slot(self.queue.0.into()).map(|(ticket, _)| ticket)
    }

    /// Removes the first request from the queue.
    pub(crate) fn dequeue(&mut self) {
        let none = NONE as u16;
        let next =
            self.slot_mut(self.queue.0.into()).map_or(none, |slot| core::mem::replace(&mut slot.next, none));
        self.queue = if next == none { NO_QUEUE } else { (next, self.queue.1) };
    }

    /// Empties the queue.
    pub(crate) fn clear_queue(&mut self) {
        while self.queue != NO_QUEUE {
            self.dequeue();
        }
    }

    /// Releases a request. Retires the slot if its generations are exhausted.
    pub(crate) fn release(&mut self, ticket: Ticket) {
        let Some(slot) = self.taken_slot(ticket) else {
            cold_path();
            return;
        };
        if slot.id_length > 0 {
            self.unlink_id(ticket);
        }
        self.taken = self.taken.wrapping_sub(1);
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.end();
        }
        self.update_tree(ticket.slot);
    }

    fn slot(&self, index: u32) -> Option<&Slot<D>> {
        self.slots_ref().get(index as usize)
    }

    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot<D>> {
        self.slots_mut().get_mut(index as usize)
    }

    fn taken_slot(&self, ticket: Ticket) -> Option<&Slot<D>> {
        let slot = self.slot(ticket.slot)?;
        if !slot.holds(ticket) {
            cold_path();
            return None;
        }
        Some(slot)
    }

    fn taken_slot_mut(&mut self, ticket: Ticket) -> Option<&mut Slot<D>> {
        let slot = self.slot_mut(ticket.slot)?;
        if !slot.holds(ticket) {
            cold_path();
            return None;
        }
        Some(slot)
    }
}

impl<D> Slot<D> {
    fn is_taken(&self) -> bool {
        self.data.is_some()
    }

    /// Ends the request in this slot, if any.
    #[inline]
    fn end(&mut self) {
        self.set_deadline(NEVER);
        self.generation = self.generation.saturating_add(self.is_taken().into());
        (self.text_length, self.id_length, self.data) = (0, 0, None);
    }

    fn holds(&self, ticket: Ticket) -> bool {
        self.is_taken() && self.generation == ticket.generation
    }

    fn deadline(&self) -> Millis {
        Millis(from_halves(self.deadline))
    }

    fn set_deadline(&mut self, deadline: Millis) {
        self.deadline = to_halves(deadline.0);
    }
}

#[cfg(test)]
mod tests;
