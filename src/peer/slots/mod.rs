//! Requests in flight, in either direction: slots with a generation, the text that belongs to each, a table of
//! ids, and an order of deadlines. Everything lives inside the slots that the host lends: links are indices.
//!
//! Finding a request costs O(1); taking and releasing a slot, and a deadline, O(log n). Ids that a peer chose are
//! hashed with the host's seed, so that it cannot choose them to collide.
#![allow(
    clippy::as_conversions,
    reason = "tables are cut to what 16 bits count, slots and the text in each; a seed and a time are kept as two halves"
)]

mod deadlines;
mod hash;
mod id_index;
mod store;

use crate::platform::divide;
use crate::time::Millis;

pub(crate) use crate::peer::slots::id_index::hash_text;
use crate::peer::slots::store::Store;

/// A request in flight: which slot it is in, and which of the slot's many requests it is. It can be copied and
/// kept for as long as one likes: one whose request has ended is refused, never mistaken for a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// Room for one request in flight. Lend an array of them: `[Slot::EMPTY; 4]`. A table has at most 65,535 slots.
#[derive(Debug, Clone, Copy)]
pub struct Slot<D> {
    /// In halves, so that a slot needs no more than they: it has no padding.
    deadline: [u32; 2],
    /// Which of its requests the slot is at; the next one gets the next number.
    generation: u32,
    /// The next slot of the same chain: of ids with the same bucket, or of the queue.
    next: u16,
    /// As a bucket: the first slot of its chain.
    bucket: u16,
    /// As a node: the lowest free slot, and the one with the earliest deadline, of all below it.
    lowest: u16,
    earliest: u16,
    /// `FREE`: there is no request.
    text_length: u16,
    /// How much of the text is the id that the peer chose; 0 for requests of our own, whose ids are places in the table.
    id_length: u16,
    data: D,
}

/// What a table keeps about each request.
pub(crate) trait Data: Copy {
    const EMPTY: Self;
}

#[expect(private_bounds, reason = "the two kinds of slots are ours")]
impl<D: Data> Slot<D> {
    /// A slot without a request.
    pub const EMPTY: Slot<D> = Slot {
        deadline: [u32::MAX; 2],
        generation: 0,
        next: NONE as u16,
        bucket: NONE as u16,
        lowest: NONE as u16,
        earliest: NONE as u16,
        text_length: FREE,
        id_length: 0,
        data: D::EMPTY,
    };
}

/// No slot: there are so many at most.
const NONE: u32 = u16::MAX as u32;

const NO_QUEUE: (u16, u16) = (NONE as u16, NONE as u16);

/// The length of the text of a free slot: the others have less.
const FREE: u16 = u16::MAX;

/// The generation of a slot whose tickets are used up.
const RETIRED: u32 = u32::MAX;

/// The deadline of what has none.
const NEVER: Millis = Millis(u64::MAX);

/// Stands for the end of time, which is a deadline, too: it comes when the grace is over.
const LAST: Millis = Millis(u64::MAX - 1);

pub(crate) struct InFlight<'b, D> {
    store: Store<'b, D>,
    seed: [u32; 2],
    /// How much of the text each slot owns.
    part: u16,
    taken: u16,
    /// The first and the last request that waits to have something written.
    queue: (u16, u16),
}

impl<'b, D: Data> InFlight<'b, D> {
    /// A table that has no slots.
    pub(crate) fn none() -> InFlight<'b, D> {
        InFlight::lent(&mut [], &mut [])
    }

    pub(crate) fn lent(slots: &'b mut [Slot<D>], text: &'b mut [u8]) -> InFlight<'b, D> {
        let (part, _) = divide(text.len() as u64, slots.len() as u32);
        let part = part.min(u64::from(u16::MAX)) as usize;
        let slots = slots.get_mut(..slots.len().min(NONE as usize)).unwrap_or_default();
        InFlight::over(Store::Lent { slots, text }, part)
    }

    /// A table that grows to `limit` requests, with up to `longest` bytes of text for each.
    #[cfg(feature = "alloc")]
    pub(crate) fn grown(limit: usize, longest: usize) -> InFlight<'static, D> {
        InFlight::over(Store::grown(limit.min(NONE as usize), longest), 0)
    }

    fn over(store: Store<'b, D>, part: usize) -> InFlight<'b, D> {
        let part = part.min(usize::from(FREE).saturating_sub(1)) as u16;
        let mut table = InFlight { store, seed: [0; 2], part, taken: 0, queue: NO_QUEUE };
        table.clear();
        table
    }

    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.seed = [seed as u32, (seed >> 32) as u32];
        self.rehash();
    }

    pub(crate) fn seed(&self) -> u64 {
        let [low, high] = self.seed;
        u64::from(high) << 32 | u64::from(low)
    }

    /// Ends every request. Tickets of before stay refused.
    pub(crate) fn clear(&mut self) {
        for slot in self.slots_mut() {
            let generation = slot.generation.saturating_add(slot.is_taken().into());
            *slot = Slot { generation, ..Slot::EMPTY };
        }
        (self.taken, self.queue) = (0, NO_QUEUE);
        self.settle_all();
    }

    /// How many requests there can be.
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

    /// Takes a slot for a request with this deadline. `None`: all are taken.
    pub(crate) fn take(&mut self, data: D, deadline: Option<Millis>) -> Option<Ticket> {
        let index = self.lowest_or_new();
        let slot = self.slot_mut(index)?;
        (slot.text_length, slot.data) = (0, data);
        slot.set_deadline(deadlines::kept(deadline));
        let ticket = Ticket { slot: index, generation: slot.generation };
        self.taken = self.taken.wrapping_add(1);
        self.settle(index);
        Some(ticket)
    }

    /// The request of a ticket, if it is still in flight.
    pub(crate) fn get(&self, ticket: Ticket) -> Option<&D> {
        self.taken(ticket).map(|slot| &slot.data)
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut D> {
        self.taken_mut(ticket).map(|slot| &mut slot.data)
    }

    /// The request in a slot, whichever it is.
    pub(crate) fn at(&self, index: u32) -> Option<(Ticket, &D)> {
        let slot = self.slot(index).filter(|slot| slot.is_taken())?;
        Some((Ticket { slot: index, generation: slot.generation }, &slot.data))
    }

    /// Whether this ticket was given out, whatever became of its request.
    pub(crate) fn was_taken(&self, ticket: Ticket) -> bool {
        self.slot(ticket.slot).is_some_and(|slot| slot.generation > ticket.generation || slot.is(ticket))
    }

    /// The first request in flight from this slot on.
    pub(crate) fn first_from(&self, index: u32) -> Option<Ticket> {
        let slots = self.slots_ref().get(index as usize..)?;
        let index = index.wrapping_add(slots.iter().position(Slot::is_taken)? as u32);
        self.at(index).map(|(ticket, _)| ticket)
    }

    /// Puts a request at the end of the queue. It must have no id of a peer, nor be in the queue, and must not be
    /// released before it has left it.
    pub(crate) fn queue(&mut self, ticket: Ticket) {
        let (first, last) = self.queue;
        let added = ticket.slot as u16;
        match self.slot_mut(last.into()) {
            Some(last) => last.next = added,
            None => self.queue.0 = added,
        }
        self.queue.1 = added;
        debug_assert!(first != added, "queued twice");
    }

    /// The request at the front of the queue.
    pub(crate) fn first_queued(&self) -> Option<Ticket> {
        self.at(self.queue.0.into()).map(|(ticket, _)| ticket)
    }

    /// Takes the request at the front out of the queue.
    pub(crate) fn unqueue_first(&mut self) {
        let none = NONE as u16;
        let next =
            self.slot_mut(self.queue.0.into()).map_or(none, |slot| core::mem::replace(&mut slot.next, none));
        self.queue = if next == none { NO_QUEUE } else { (next, self.queue.1) };
    }

    /// Empties the queue.
    pub(crate) fn unqueue_all(&mut self) {
        while self.queue != NO_QUEUE {
            self.unqueue_first();
        }
    }

    /// Ends a request. Its slot may be taken again, unless its tickets are used up.
    pub(crate) fn release(&mut self, ticket: Ticket) {
        if self.get(ticket).is_none() {
            return;
        }
        self.unlink_id(ticket);
        self.taken = self.taken.saturating_sub(1);
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.set_deadline(NEVER);
            (slot.text_length, slot.id_length) = (FREE, 0);
            slot.generation = slot.generation.saturating_add(1);
        }
        self.settle(ticket.slot);
    }

    fn slot(&self, index: u32) -> Option<&Slot<D>> {
        self.slots_ref().get(index as usize)
    }

    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot<D>> {
        self.slots_mut().get_mut(index as usize)
    }

    fn taken(&self, ticket: Ticket) -> Option<&Slot<D>> {
        self.slot(ticket.slot).filter(|slot| slot.is(ticket))
    }

    fn taken_mut(&mut self, ticket: Ticket) -> Option<&mut Slot<D>> {
        self.slot_mut(ticket.slot).filter(|slot| slot.is(ticket))
    }
}

impl<D> Slot<D> {
    fn is_taken(&self) -> bool {
        self.text_length != FREE
    }

    fn is(&self, ticket: Ticket) -> bool {
        self.is_taken() && self.generation == ticket.generation
    }

    fn deadline(&self) -> Millis {
        let [low, high] = self.deadline;
        Millis(u64::from(high) << 32 | u64::from(low))
    }

    fn set_deadline(&mut self, deadline: Millis) {
        self.deadline = [deadline.0 as u32, (deadline.0 >> 32) as u32];
    }
}

#[cfg(test)]
mod tests;
