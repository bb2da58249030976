//! Which slot is next: the lowest one that is free, and the one whose deadline comes first. Neither depends on the order in
//! which slots were taken and let go: that may depend on how fast output drains, and what is written must not.
//!
//! A tree whose nodes are the slots. Each one knows both of all that hang below it, itself included, so the first slot
//! knows them of all.
#![allow(clippy::as_conversions, reason = "tables are cut to what 16 bits count")]

use crate::json::FAST;
use crate::peer::slots::{
    CHAINS, Data, InFlight, LAST, NEVER, NO_CHAIN, NONE, RETIRED, Slot, Ticket, UNSTARTED,
};
use crate::time::Millis;

impl<D: Data> InFlight<'_, D> {
    /// When the next deadline is.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Millis> {
        match self.slot(self.slot(0)?.earliest.into())?.deadline() {
            NEVER | UNSTARTED => None,
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
        self.leave_unstarted(ticket);
        if let Some(slot) = self.taken_mut(ticket) {
            slot.set_deadline(deadline.map_or(NEVER, |deadline| deadline.min(LAST)));
            self.settle_deadline(ticket.slot);
        }
    }

    /// The lowest free slot that is no spare one, or `NONE`.
    #[cfg_attr(not(target_os = "none"), inline)]
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

    /// The spare slot, if it is the lowest free one. It is spare no more.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(crate) fn take_spare(&mut self) -> Option<u32> {
        let index = u32::from(*self.spare.first()?);
        if index >= self.lowest_free() {
            return None;
        }
        self.spare = NO_CHAIN;
        Some(index)
    }

    /// A slot was let go, and has no deadline any more.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(crate) fn settle_free(&mut self, index: u32) {
        let can_be_spare =
            self.spare == NO_CHAIN && self.slot(index).is_some_and(|slot| slot.generation != RETIRED);
        if !FAST || !can_be_spare {
            return self.settle(index);
        }
        self.spare = [index as u16; CHAINS];
        // If nothing is in flight, nothing has a deadline, and none is the earliest.
        if self.taken > 0 {
            self.settle_deadline(index);
        }
    }

    /// A slot was let go that cannot be the spare one, or both of the following: tells the slots that it hangs below.
    fn settle(&mut self, index: u32) {
        self.settle_as::<true, true>(index);
    }

    /// A slot was taken. It has no deadline yet, as before.
    #[inline]
    pub(crate) fn settle_taken(&mut self, index: u32) {
        // To look at one half only takes less time, but as much code again.
        if FAST { self.settle_as::<true, false>(index) } else { self.settle(index) }
    }

    /// A slot has another deadline.
    #[inline]
    pub(crate) fn settle_deadline(&mut self, index: u32) {
        if FAST { self.settle_as::<false, true>(index) } else { self.settle(index) }
    }

    fn settle_as<const FREE: bool, const TIME: bool>(&mut self, index: u32) {
        let (spare, slots) = (self.spare(), self.slots_mut());
        let mut at = index;
        // Above one that knows what it knew before, and does not know of this slot, nobody hears anything new.
        while settle_node::<D, FREE, TIME>(slots, at, index, spare) {
            let Some(below) = at.checked_sub(1) else { return };
            at = below / 2;
        }
    }

    /// The same for every slot.
    pub(crate) fn settle_all(&mut self) {
        let (spare, slots) = (self.spare(), self.slots_mut());
        for at in (0..slots.len() as u32).rev() {
            settle_node::<D, true, true>(slots, at, NONE, spare);
        }
    }

    /// The spare slot, or `NONE`.
    #[inline]
    fn spare(&self) -> u32 {
        self.spare.first().map_or(NONE, |spare| u32::from(*spare))
    }
}

/// Finds out what a slot knows from itself and the two below it: of free ones, and of deadlines. `false`: that is what it knew, and
/// the earliest is not `index`, whose deadline may be another one. (To look at that would take small machines more code.)
#[cfg_attr(not(target_os = "none"), inline(always))]
fn settle_node<D, const FREE: bool, const TIME: bool>(
    slots: &mut [Slot<D>],
    at: u32,
    index: u32,
    spare: u32,
) -> bool {
    let Some(slot) = slots.get(at as usize) else { return true };
    let is_free = FREE && !slot.is_taken() && slot.generation != RETIRED && (!FAST || at != spare);
    let mut lowest = if is_free { at } else { NONE };
    let (mut earliest, mut deadline) = (at, slot.deadline());
    let left = at.saturating_mul(2).saturating_add(1);
    for below in [left, left.saturating_add(1)] {
        let Some(slot) = slots.get(below as usize) else { break };
        if FREE {
            lowest = lowest.min(slot.lowest.into());
        }
        if TIME {
            let candidate = u32::from(slot.earliest);
            let comes = slots.get(candidate as usize).map_or(NEVER, Slot::deadline);
            if comes < deadline {
                (earliest, deadline) = (candidate, comes);
            }
        }
    }
    let Some(slot) = slots.get_mut(at as usize) else { return true };
    let mut known = FAST;
    if FREE {
        known &= slot.lowest == lowest as u16;
        slot.lowest = lowest as u16;
    }
    if TIME {
        known &= slot.earliest == earliest as u16 && earliest != index;
        slot.earliest = earliest as u16;
    }
    !known
}
