//! Hash index of the peer's request ids: chains of slots per bucket.
//!
//! The hash uses the caller's seed, which the peer should not know.
#![allow(
    clippy::as_conversions,
    reason = "the number of slots and the length of their texts are limited to 16 bits"
)]

use crate::framing::outbound_message::StreamId;
use crate::json::Json;
use crate::peer::slots::{Data, InFlight, NONE, Slot, Ticket};
use crate::platform::copy;
use crate::rpc::{hash_id, same_id};

impl<D: Data> InFlight<'_, D> {
    /// Returns the id that the peer gave to a request, as written in the message; empty without an id.
    pub(crate) fn id(&self, ticket: Ticket) -> &[u8] {
        self.id_and_rest(ticket).0
    }

    /// Returns the id that the peer gave to a request, even if the request has expired. An expired request is not in
    /// the index, but the slot still has the text of its id.
    pub(crate) fn id_or_text(&self, ticket: Ticket) -> &[u8] {
        match self.id(ticket) {
            b"" => self.text(ticket),
            id => id,
        }
    }

    /// Returns the text of a request after its id.
    pub(crate) fn text_after_id(&self, ticket: Ticket) -> &[u8] {
        self.id_and_rest(ticket).1
    }

    fn id_and_rest(&self, ticket: Ticket) -> (&[u8], &[u8]) {
        let length = self.slot(ticket.slot).map_or(0, |slot| slot.id_length.into());
        self.text(ticket).split_at_checked(length).unwrap_or_default()
    }

    /// Returns the request of `owner` with this id: see [`Data::owner`].
    pub(crate) fn find(&self, id: Json<'_>, owner: StreamId) -> Option<Ticket> {
        if self.taken == 0 {
            return None;
        }
        let mut index = self.slot(self.bucket_of(id, owner))?.bucket.into();
        while let Some(slot) = self.slot(index) {
            let ticket = Ticket { slot: index, generation: slot.generation };
            if same_id(Json::exact(self.id(ticket)), id)
                && slot.data.as_ref().is_some_and(|data| data.owner() == owner)
            {
                return Some(ticket);
            }
            index = slot.next.into();
        }
        None
    }

    /// Stores `id`, followed by `more`, as the request's text, and indexes the id.
    ///
    /// Returns `false` if the text does not fit, or if the request has ended.
    pub(crate) fn set_id(&mut self, ticket: Ticket, id: &[u8], more: &[u8]) -> bool {
        let length = id.len().wrapping_add(more.len());
        let space = self.text_space(ticket, length).and_then(|text| text.split_at_mut_checked(id.len()));
        let Some((head, tail)) = space else { return false };
        copy(head, id);
        copy(tail, more);
        if let Some(slot) = self.slot_mut(ticket.slot) {
            (slot.text_length, slot.id_length) = (length as u16, id.len() as u16);
        }
        self.link_id(ticket);
        true
    }

    fn link_id(&mut self, ticket: Ticket) {
        let Some(chain) = self.bucket_slot(ticket) else { return };
        let first = core::mem::replace(&mut chain.bucket, ticket.slot as u16);
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.next = first;
        }
    }

    /// Removes a request from the index. The former id of the request becomes the whole text of the slot.
    pub(crate) fn remove_id(&mut self, ticket: Ticket) {
        self.unlink_id(ticket);
        if let Some(slot) = self.taken_slot_mut(ticket) {
            slot.text_length = core::mem::take(&mut slot.id_length);
        }
    }

    // Not inlined, because a client rarely calls this method: most of its slots hold no id of the peer.
    #[inline(never)]
    pub(crate) fn unlink_id(&mut self, ticket: Ticket) {
        let slot = self.taken_slot_mut(ticket).filter(|slot| slot.id_length > 0);
        let Some(slot) = slot else { return };
        let next = core::mem::replace(&mut slot.next, NONE as u16);
        let Some(chain) = self.bucket_slot(ticket) else { return };
        let own = ticket.slot as u16;
        if chain.bucket == own {
            chain.bucket = next;
            return;
        }
        let mut index = chain.bucket;
        while let Some(slot) = self.slot_mut(index.into()) {
            if slot.next == own {
                slot.next = next;
                return;
            }
            index = slot.next;
        }
    }

    /// Rebuilds the chains for another seed or number of buckets.
    pub(crate) fn rehash(&mut self) {
        for slot in self.slots_mut() {
            slot.bucket = NONE as u16;
        }
        for index in 0..self.slots_ref().len() as u32 {
            if let Some((ticket, _)) = self.request_in_slot(index)
                && !self.id(ticket).is_empty()
            {
                self.link_id(ticket);
            }
        }
    }

    /// Returns the slot that stores the start of this request's chain.
    fn bucket_slot(&mut self, ticket: Ticket) -> Option<&mut Slot<D>> {
        let owner = self.get(ticket)?.owner();
        self.slot_mut(self.bucket_of(Json::exact(self.id(ticket)), owner))
    }

    fn bucket_of(&self, id: Json<'_>, StreamId(owner): StreamId) -> u32 {
        // Several owners may use the same id, so the owner is a part of the key.
        let seed = self.seed() ^ u64::from(owner);
        let hash = hash_id(seed, id);
        // The upper half of the product spreads hashes evenly over any number of buckets, without a division.
        let buckets = self.slots_ref().len() as u64;
        (u64::from(hash).wrapping_mul(buckets) >> 32) as u32
    }
}
