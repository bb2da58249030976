//! Requests in flight, in either direction: slots with a generation, the text that belongs to each, a table of
//! ids, and an order of deadlines. Everything lives inside the slots that the host lends: links are indices.
//!
//! Taking, finding and releasing a slot costs O(1), a deadline O(log n). Ids that a peer chose are hashed with the
//! host's seed, so that it cannot choose them to collide.

use crate::buffer::{Buffer, copy};
use crate::divide::divide;
use crate::json::{Json, Str, Writer};
use crate::rpc::same_id;
use crate::time::Millis;

mod deadlines;
mod hash;

/// A request in flight: which slot it is in, and which of the slot's many requests it is. It can be copied and
/// kept for as long as one likes: one whose request has ended is refused, never mistaken for a later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket {
    pub(crate) slot: u32,
    pub(crate) generation: u32,
}

/// Room for one request in flight. Lend an array of them: `[Slot::EMPTY; 4]`.
#[derive(Debug, Clone, Copy)]
pub struct Slot<D> {
    /// Which of its requests the slot is at; the next one gets the next number. `u32::MAX`: it has retired.
    generation: u32,
    taken: bool,
    /// The next slot of the same chain: of free slots, or of ids with the same bucket.
    next: u32,
    /// As a bucket: the first slot of its chain.
    bucket: u32,
    /// As a place in the heap of deadlines: the slot that stands there.
    heap: u32,
    /// Where in the heap this slot stands.
    place: u32,
    deadline: Millis,
    text_length: u16,
    data: D,
}

/// What a table keeps about each request.
pub(crate) trait Data: Copy {
    const EMPTY: Self;

    /// How much of the request's text is the id that the peer chose; 0 for requests of our own, whose ids are
    /// places in the table.
    fn id_length(&self) -> usize;
}

#[expect(private_bounds, reason = "the two kinds of slots are ours")]
impl<D: Data> Slot<D> {
    /// A slot without a request.
    pub const EMPTY: Slot<D> = Slot {
        generation: 0,
        taken: false,
        next: NONE,
        bucket: NONE,
        heap: NONE,
        place: NONE,
        deadline: Millis(u64::MAX),
        text_length: 0,
        data: D::EMPTY,
    };
}

const NONE: u32 = u32::MAX;

enum Slots<'b, D> {
    Lent(&'b mut [Slot<D>]),
    #[cfg(feature = "alloc")]
    Grown {
        slots: alloc::vec::Vec<Slot<D>>,
        limit: usize,
    },
}

pub(crate) struct InFlight<'b, D> {
    slots: Slots<'b, D>,
    text: Buffer<'b>,
    /// How much of the text each slot owns.
    part: usize,
    free: u32,
    /// The first and the last request that waits to have something written: linked as the free slots are.
    queue: (u32, u32),
    taken: usize,
    /// How many slots have a deadline.
    timed: u32,
    seed: u64,
}

impl<'b, D: Data> InFlight<'b, D> {
    /// A table that has no slots.
    pub(crate) fn none() -> InFlight<'b, D> {
        InFlight::lent(&mut [], &mut [])
    }

    pub(crate) fn lent(slots: &'b mut [Slot<D>], text: &'b mut [u8]) -> InFlight<'b, D> {
        let (part, _) = divide(text.len() as u64, slots.len() as u32);
        let part = part.min(u64::from(u16::MAX)) as usize;
        InFlight::over(Slots::Lent(slots), text.into(), part)
    }

    /// A table that grows to `limit` requests, with `part` bytes of text for each.
    #[cfg(feature = "alloc")]
    pub(crate) fn grown(limit: usize, part: usize) -> InFlight<'static, D> {
        let part = part.min(usize::from(u16::MAX));
        let limit = limit.min((NONE as usize).saturating_sub(1));
        let slots = Slots::Grown { slots: alloc::vec::Vec::new(), limit };
        InFlight::over(slots, Buffer::grown(limit.saturating_mul(part)), part)
    }

    fn over(slots: Slots<'b, D>, text: Buffer<'b>, part: usize) -> InFlight<'b, D> {
        let mut table =
            InFlight { slots, text, part, free: NONE, queue: (NONE, NONE), taken: 0, timed: 0, seed: 0 };
        table.clear();
        table
    }

    pub(crate) fn set_seed(&mut self, seed: u64) {
        self.seed = seed;
        self.rehash();
    }

    pub(crate) fn seed(&self) -> u64 {
        self.seed
    }

    /// Ends every request. Tickets of before stay refused.
    pub(crate) fn clear(&mut self) {
        for slot in self.slots_mut() {
            let generation = if slot.taken { slot.generation.saturating_add(1) } else { slot.generation };
            *slot = Slot { generation, ..Slot::EMPTY };
        }
        (self.free, self.queue, self.taken, self.timed) = (NONE, (NONE, NONE), 0, 0);
        for index in (0..self.slots_ref().len()).rev() {
            self.set_free(index as u32);
        }
    }

    /// How many requests there can be.
    pub(crate) fn limit(&self) -> usize {
        match &self.slots {
            Slots::Lent(slots) => slots.len(),
            #[cfg(feature = "alloc")]
            Slots::Grown { limit, .. } => *limit,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.taken
    }

    /// The most text that a request can keep.
    pub(crate) fn text_limit(&self) -> usize {
        self.part
    }

    /// Takes a slot. `None`: all are taken.
    pub(crate) fn take(&mut self, data: D) -> Option<Ticket> {
        if self.free == NONE {
            self.grow();
        }
        let index = self.free;
        let slot = self.slot_mut(index)?;
        let next = slot.next;
        (slot.taken, slot.next, slot.text_length, slot.data) = (true, NONE, 0, data);
        let generation = slot.generation;
        self.free = next;
        self.taken = self.taken.saturating_add(1);
        Some(Ticket { slot: index, generation })
    }

    /// The request of a ticket, if it is still in flight.
    pub(crate) fn get(&self, ticket: Ticket) -> Option<&D> {
        self.slot(ticket.slot).filter(|slot| slot.is(ticket)).map(|slot| &slot.data)
    }

    pub(crate) fn get_mut(&mut self, ticket: Ticket) -> Option<&mut D> {
        self.slot_mut(ticket.slot).filter(|slot| slot.is(ticket)).map(|slot| &mut slot.data)
    }

    /// The request in a slot, whichever it is.
    pub(crate) fn at(&self, index: u32) -> Option<(Ticket, &D)> {
        let slot = self.slot(index).filter(|slot| slot.taken)?;
        Some((Ticket { slot: index, generation: slot.generation }, &slot.data))
    }

    /// Whether this ticket was given out, whatever became of its request.
    pub(crate) fn was_taken(&self, ticket: Ticket) -> bool {
        self.slot(ticket.slot).is_some_and(|slot| slot.generation > ticket.generation || slot.is(ticket))
    }

    /// The first request in flight from this slot on.
    pub(crate) fn first_from(&self, index: u32) -> Option<Ticket> {
        let slots = self.slots_ref().get(index as usize..)?;
        let index = index.saturating_add(slots.iter().position(|slot| slot.taken)? as u32);
        self.at(index).map(|(ticket, _)| ticket)
    }

    /// Puts a request at the end of the queue. It must have no id of a peer, nor be in the queue, and must not be
    /// released before it has left it.
    pub(crate) fn queue(&mut self, ticket: Ticket) {
        let (first, last) = self.queue;
        match self.slot_mut(last) {
            Some(last) => last.next = ticket.slot,
            None => self.queue.0 = ticket.slot,
        }
        self.queue.1 = ticket.slot;
        debug_assert!(first != ticket.slot, "queued twice");
    }

    /// The request at the front of the queue.
    pub(crate) fn first_queued(&self) -> Option<Ticket> {
        self.at(self.queue.0).map(|(ticket, _)| ticket)
    }

    /// Takes the request at the front out of the queue.
    pub(crate) fn unqueue_first(&mut self) {
        let next = self.slot_mut(self.queue.0).map_or(NONE, |slot| core::mem::replace(&mut slot.next, NONE));
        self.queue = if next == NONE { (NONE, NONE) } else { (next, self.queue.1) };
    }

    /// Empties the queue.
    pub(crate) fn unqueue_all(&mut self) {
        while self.queue.0 != NONE {
            self.unqueue_first();
        }
    }

    /// Ends a request. Its slot may be taken again, unless its tickets are used up.
    pub(crate) fn release(&mut self, ticket: Ticket) {
        if self.get(ticket).is_none() {
            return;
        }
        self.unlink_id(ticket);
        self.set_deadline(ticket, None);
        self.taken = self.taken.saturating_sub(1);
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.taken = false;
            slot.generation = slot.generation.saturating_add(1);
        }
        self.set_free(ticket.slot);
    }

    fn set_free(&mut self, index: u32) {
        let free = self.free;
        if let Some(slot) = self.slot_mut(index)
            && slot.generation != NONE
        {
            slot.next = free;
            self.free = index;
        }
    }

    /// The text of a request.
    pub(crate) fn text(&self, ticket: Ticket) -> &[u8] {
        let Some(slot) = self.slot(ticket.slot).filter(|slot| slot.is(ticket)) else { return &[] };
        let from = (ticket.slot as usize).saturating_mul(self.part);
        let to = from.saturating_add(slot.text_length.into());
        self.text.bytes().get(from..to).unwrap_or_default()
    }

    /// Keeps `pieces`, one after the other, as the text of a request. `false`: there is no room for them.
    pub(crate) fn set_text(&mut self, ticket: Ticket, pieces: [&[u8]; 2]) -> bool {
        let [first, second] = pieces;
        let length = first.len().saturating_add(second.len());
        if length > self.part || self.get(ticket).is_none() {
            return false;
        }
        let from = (ticket.slot as usize).saturating_mul(self.part);
        let to = from.saturating_add(length);
        let mut room = self.text.room();
        let Some((head, tail)) = room
            .ensure(to)
            .and_then(|text| text.get_mut(from..to))
            .and_then(|text| text.split_at_mut_checked(first.len()))
        else {
            return false;
        };
        copy(head, first);
        copy(tail, second);
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.text_length = length as u16;
        }
        true
    }

    /// Keeps `piece` behind the first `kept` bytes of the text of a request. `false`: there is no room for it.
    pub(crate) fn set_text_after(&mut self, ticket: Ticket, kept: usize, piece: &[u8]) -> bool {
        let length = kept.saturating_add(piece.len());
        if length > self.part || self.text(ticket).len() < kept || self.get(ticket).is_none() {
            return false;
        }
        let start = (ticket.slot as usize).saturating_mul(self.part);
        let (from, to) = (start.saturating_add(kept), start.saturating_add(length));
        let mut room = self.text.room();
        let Some(place) = room.ensure(to).and_then(|text| text.get_mut(from..to)) else { return false };
        copy(place, piece);
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.text_length = length as u16;
        }
        true
    }

    /// Keeps what `body` writes as the text of a request. `false`: there is no room for it, and the text is as before.
    pub(crate) fn write_text(&mut self, ticket: Ticket, body: &mut dyn FnMut(&mut Writer<'_>)) -> bool {
        if self.get(ticket).is_none() {
            return false;
        }
        let from = (ticket.slot as usize).saturating_mul(self.part);
        let mut writer = Writer::new(self.text.room(), from, from.saturating_add(self.part));
        body(&mut writer);
        let Ok(end) = writer.finish() else { return false };
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.text_length = end.saturating_sub(from) as u16;
        }
        true
    }

    fn slots_ref(&self) -> &[Slot<D>] {
        match &self.slots {
            Slots::Lent(slots) => slots,
            #[cfg(feature = "alloc")]
            Slots::Grown { slots, .. } => slots,
        }
    }

    fn slots_mut(&mut self) -> &mut [Slot<D>] {
        match &mut self.slots {
            Slots::Lent(slots) => slots,
            #[cfg(feature = "alloc")]
            Slots::Grown { slots, .. } => slots,
        }
    }

    fn slot(&self, index: u32) -> Option<&Slot<D>> {
        self.slots_ref().get(index as usize)
    }

    fn slot_mut(&mut self, index: u32) -> Option<&mut Slot<D>> {
        self.slots_mut().get_mut(index as usize)
    }

    /// Doubles the number of slots, up to the limit. Lent slots stay as they are.
    fn grow(&mut self) {
        #[cfg(feature = "alloc")]
        if let Slots::Grown { slots, limit } = &mut self.slots {
            let before = slots.len();
            let after = before.saturating_mul(2).max(8).min(*limit);
            if slots.try_reserve_exact(after.saturating_sub(before)).is_err() {
                return;
            }
            slots.resize(after, Slot::EMPTY);
            for index in (before..after).rev() {
                self.set_free(index as u32);
            }
            self.rehash();
        }
    }
}

/// Ids that the peer chose.
impl<D: Data> InFlight<'_, D> {
    /// The id of a request, as the peer wrote it.
    pub(crate) fn id(&self, ticket: Ticket) -> &[u8] {
        let length = self.get(ticket).map_or(0, Data::id_length);
        self.text(ticket).get(..length).unwrap_or_default()
    }

    /// Finds the request with this id.
    pub(crate) fn find(&self, id: Json<'_>) -> Option<Ticket> {
        let mut index = self.slot(self.bucket_of(id))?.bucket;
        while let Some(slot) = self.slot(index) {
            let ticket = Ticket { slot: index, generation: slot.generation };
            if same_id(Json::trusted(self.id(ticket)), id) {
                return Some(ticket);
            }
            index = slot.next;
        }
        None
    }

    /// Makes a request findable by its id. Its text has to be set.
    pub(crate) fn link_id(&mut self, ticket: Ticket) {
        let bucket = self.bucket_of(Json::trusted(self.id(ticket)));
        let Some(chain) = self.slot_mut(bucket) else { return };
        let first = core::mem::replace(&mut chain.bucket, ticket.slot);
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.next = first;
        }
    }

    /// Makes a request unfindable: from now on its text is what its id was.
    pub(crate) fn forget_id(&mut self, ticket: Ticket) {
        self.unlink_id(ticket);
        let length = self.id(ticket).len();
        if let Some(slot) = self.slot_mut(ticket.slot) {
            (slot.next, slot.text_length) = (NONE, length as u16);
        }
    }

    fn unlink_id(&mut self, ticket: Ticket) {
        let id = self.id(ticket);
        if id.is_empty() {
            return;
        }
        let bucket = self.bucket_of(Json::trusted(id));
        let next = self.slot(ticket.slot).map_or(NONE, |slot| slot.next);
        let Some(chain) = self.slot_mut(bucket) else { return };
        if chain.bucket == ticket.slot {
            chain.bucket = next;
            return;
        }
        let mut index = chain.bucket;
        while let Some(slot) = self.slot_mut(index) {
            if slot.next == ticket.slot {
                slot.next = next;
                return;
            }
            index = slot.next;
        }
    }

    /// Builds the chains anew: the number of buckets or the seed has changed.
    fn rehash(&mut self) {
        for slot in self.slots_mut() {
            slot.bucket = NONE;
        }
        for index in 0..self.slots_ref().len() as u32 {
            if let Some((ticket, data)) = self.at(index)
                && data.id_length() > 0
            {
                self.link_id(ticket);
            }
        }
    }

    fn bucket_of(&self, id: Json<'_>) -> u32 {
        let hash = match id.string() {
            Some(text) => hash_text(self.seed, text),
            None => hash::hash(self.seed, id.bytes().iter().copied()),
        };
        // The upper half of the product: evenly spread over any number of buckets, without a division.
        let buckets = self.slots_ref().len() as u64;
        (u64::from(hash).wrapping_mul(buckets) >> 32) as u32
    }
}

/// Hashes what a string says, however it is escaped; a quote before it tells it from a number.
pub(crate) fn hash_text(seed: u64, text: Str<'_>) -> u32 {
    match text.as_str() {
        Some(plain) => hash::hash(seed, core::iter::once(b'"').chain(plain.bytes())),
        None => {
            let decoded = text.chars().flat_map(|char| {
                let mut bytes = [0; 4];
                let length = char.encode_utf8(&mut bytes).len();
                bytes.into_iter().take(length)
            });
            hash::hash(seed, core::iter::once(b'"').chain(decoded))
        }
    }
}

impl<D> Slot<D> {
    fn is(&self, ticket: Ticket) -> bool {
        self.taken && self.generation == ticket.generation
    }
}

#[cfg(test)]
mod tests;
