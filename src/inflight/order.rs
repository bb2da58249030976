//! Which slot is next: the lowest one that is free, and the one whose deadline comes first. Neither depends on the order in
//! which slots were taken and let go: that may depend on how fast output drains, and what is written must not.
//!
//! A tree whose nodes are the slots. Each one knows both of all that hang below it, itself included, so the first slot
//! knows them of all.
#![allow(clippy::as_conversions, reason = "tables are cut to what 16 bits count")]

use super::{Data, InFlight, LAST, NEVER, NONE, RETIRED, Slot, Ticket};
use crate::time::Millis;

impl<D: Data> InFlight<'_, D> {
    /// When the next deadline is.
    pub(crate) fn next_deadline(&self) -> Option<Millis> {
        match self.slot(self.slot(0)?.earliest.into())?.deadline() {
            NEVER => None,
            LAST => Some(Millis(u64::MAX)),
            deadline => Some(deadline),
        }
    }

    /// The request whose deadline has come. It keeps its deadline until that is set anew or the request ends.
    pub(crate) fn due(&self, now: Millis) -> Option<Ticket> {
        if self.next_deadline()? > now {
            return None;
        }
        self.at(self.slot(0)?.earliest.into()).map(|(ticket, _)| ticket)
    }

    /// Sets, moves or (with `None`) removes the deadline of a request.
    pub(crate) fn set_deadline(&mut self, ticket: Ticket, deadline: Option<Millis>) {
        if let Some(slot) = self.taken_mut(ticket) {
            slot.set_deadline(deadline.map_or(NEVER, |deadline| deadline.min(LAST)));
            self.settle(ticket.slot);
        }
    }

    /// The lowest free slot, or `NONE`.
    pub(super) fn lowest_free(&self) -> u32 {
        self.slot(0).map_or(NONE, |slot| slot.lowest.into())
    }

    /// A slot was taken or let go, or has another deadline: tells the slots that it hangs below.
    pub(super) fn settle(&mut self, index: u32) {
        let mut at = index;
        self.settle_node(at);
        while let Some(above) = at.checked_sub(1) {
            at = above / 2;
            self.settle_node(at);
        }
    }

    /// The same for every slot.
    pub(super) fn settle_all(&mut self) {
        for index in (0..self.slots_ref().len() as u32).rev() {
            self.settle_node(index);
        }
    }

    /// Finds out what a slot knows from itself and the two below it.
    fn settle_node(&mut self, at: u32) {
        let Some(slot) = self.slot(at) else { return };
        let is_free = !slot.is_taken() && slot.generation != RETIRED;
        let mut lowest = if is_free { at } else { NONE };
        let (mut earliest, mut deadline) = (at, slot.deadline());
        let left = at.saturating_mul(2).saturating_add(1);
        for below in [left, left.saturating_add(1)] {
            let Some(slot) = self.slot(below) else { break };
            lowest = lowest.min(slot.lowest.into());
            let candidate = u32::from(slot.earliest);
            let comes = self.slot(candidate).map_or(NEVER, Slot::deadline);
            if comes < deadline {
                (earliest, deadline) = (candidate, comes);
            }
        }
        if let Some(slot) = self.slot_mut(at) {
            (slot.lowest, slot.earliest) = (lowest as u16, earliest as u16);
        }
    }
}
