//! Which slot is next: the lowest one that is free, and the one whose deadline comes first. Neither depends on the order in
//! which slots were taken and let go: that may depend on how fast output drains, and what is written must not.
//!
//! A tree whose nodes are the slots. Each one knows both of all that hang below it, itself included, so the first slot
//! knows them of all.
#![allow(clippy::as_conversions, reason = "tables are cut to what 16 bits count")]

use crate::peer::slots::{Data, InFlight, LAST, NEVER, NONE, RETIRED, Slot, Ticket};
use crate::time::Millis;

impl<D: Data> InFlight<'_, D> {
    /// When the next deadline is.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Millis> {
        match self.slot(self.slot(0)?.earliest.into())?.deadline() {
            NEVER => None,
            LAST => Some(Millis(u64::MAX)),
            deadline => Some(deadline),
        }
    }

    /// Whether a deadline has come.
    #[inline]
    pub(crate) fn is_due(&self, now: Millis) -> bool {
        self.next_deadline().is_some_and(|deadline| deadline <= now)
    }

    /// The request whose deadline has come. It keeps its deadline until that is set anew or the request ends.
    pub(crate) fn due(&self, now: Millis) -> Option<Ticket> {
        if !self.is_due(now) {
            return None;
        }
        self.at(self.slot(0)?.earliest.into()).map(|(ticket, _)| ticket)
    }

    /// Sets, moves or (with `None`) removes the deadline of a request.
    pub(crate) fn set_deadline(&mut self, ticket: Ticket, deadline: Option<Millis>) {
        if let Some(slot) = self.taken_mut(ticket) {
            slot.set_deadline(kept(deadline));
            self.settle(ticket.slot);
        }
    }

    /// The lowest free slot, or `NONE`.
    fn lowest_free(&self) -> u32 {
        self.slot(0).map_or(NONE, |slot| slot.lowest.into())
    }

    /// The same; of a table that has none, but can grow, a new one.
    pub(crate) fn lowest_or_new(&mut self) -> u32 {
        if self.lowest_free() == NONE {
            self.grow();
        }
        self.lowest_free()
    }

    /// A slot was taken or released, or has another deadline: tells the slots that it hangs below.
    pub(crate) fn settle(&mut self, index: u32) {
        let slots = self.slots_mut();
        let mut at = index;
        // A slot that knows nothing new has nothing new for those below.
        while settle_node(slots, at, index) {
            let Some(below) = at.checked_sub(1) else { return };
            at = below / 2;
        }
    }

    /// The same for every slot.
    pub(crate) fn settle_all(&mut self) {
        let slots = self.slots_mut();
        for at in (0..slots.len() as u32).rev() {
            settle_node(slots, at, NONE);
        }
    }
}

/// The deadline that a slot keeps.
pub(crate) fn kept(deadline: Option<Millis>) -> Millis {
    deadline.map_or(NEVER, |deadline| deadline.min(LAST))
}

/// Finds out what a slot knows from itself and the two that hang below it: of free ones, and of deadlines. `false`: it knew that, and
/// the earliest is not `index`, whose deadline may be another one.
fn settle_node<D>(slots: &mut [Slot<D>], at: u32, index: u32) -> bool {
    let Some(slot) = slots.get(at as usize) else { return true };
    let is_free = !slot.is_taken() && slot.generation != RETIRED;
    let mut lowest = if is_free { at } else { NONE };
    let (mut earliest, mut deadline) = (at, slot.deadline());
    let left = at.saturating_mul(2).saturating_add(1);
    for below in [left, left.saturating_add(1)] {
        let Some(slot) = slots.get(below as usize) else { break };
        lowest = lowest.min(slot.lowest.into());
        let candidate = u32::from(slot.earliest);
        let comes = slots.get(candidate as usize).map_or(NEVER, Slot::deadline);
        if comes < deadline {
            (earliest, deadline) = (candidate, comes);
        }
    }
    let Some(slot) = slots.get_mut(at as usize) else { return true };
    let known = (slot.lowest, slot.earliest) == (lowest as u16, earliest as u16);
    (slot.lowest, slot.earliest) = (lowest as u16, earliest as u16);
    !known || earliest == index
}
