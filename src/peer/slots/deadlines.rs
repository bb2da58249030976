//! Tree over the slots: finds the lowest free slot, and the request whose deadline expires first.
//!
//! Each slot is a node of a binary tree and stores both values for its subtree. The first slot therefore stores both
//! values for all slots. Neither value depends on the order in which slots were taken and released. This order depends
//! on the speed of the transport, but the content of the output must not depend on this speed.
#![allow(clippy::as_conversions, reason = "the number of slots is limited to 16 bits")]

use crate::peer::slots::{Data, InFlight, LAST, NEVER, NONE, RETIRED, Slot, Ticket};
use crate::platform::cold_path;
use crate::time::Millis;

impl<D: Data> InFlight<'_, D> {
    /// Returns the earliest deadline before [`LAST`]. Returns `None` if no request has such a deadline.
    #[inline]
    pub(crate) fn next_deadline(&self) -> Option<Millis> {
        let earliest = self.slot(0)?.earliest.into();
        self.slot(earliest).map(Slot::deadline).filter(|deadline| *deadline < LAST)
    }

    /// Returns the request with the earliest deadline, if this deadline has expired at `now`.
    ///
    /// The request keeps the deadline until the request ends or the caller sets another deadline.
    pub(crate) fn due(&self, now: Millis) -> Option<Ticket> {
        let index = self.slot(0)?.earliest.into();
        let slot = self.slot(index)?;
        let deadline = slot.deadline();
        // At the time `LAST`, a deadline of `LAST` has not expired, because the deadline may stand for `u64::MAX`.
        // `NEVER` never expires.
        if deadline > now || deadline == now && deadline >= LAST {
            return None;
        }
        Some(Ticket { slot: index, generation: slot.generation })
    }

    /// Sets the deadline of a request, or removes the deadline if `deadline` is `None`.
    #[inline]
    pub(crate) fn set_deadline(&mut self, ticket: Ticket, deadline: Option<Millis>) {
        if let Some(slot) = self.taken_slot_mut(ticket) {
            slot.set_deadline(to_stored(deadline));
            self.update_tree(ticket.slot);
        }
    }

    /// Returns the lowest free slot, or `NONE`.
    fn lowest_free(&self) -> u32 {
        self.slot(0).map_or(NONE, |slot| slot.lowest_free.into())
    }

    /// Returns the lowest free slot, or `NONE`. First grows the table if no slot is free.
    pub(crate) fn free_slot(&mut self) -> u32 {
        if self.lowest_free() == NONE {
            cold_path();
            self.grow();
        }
        self.lowest_free()
    }

    /// Updates the tree after the slot was taken, was released, or got another deadline.
    // Not inlined, because the function is large and has three callers.
    #[inline(never)]
    pub(crate) fn update_tree(&mut self, index: u32) {
        let slots = self.slots_mut();
        let mut at = index;
        // Stops at the first node whose ancestors need no update.
        while update_node(slots, at, index) {
            let Some(previous) = at.checked_sub(1) else { return };
            at = previous / 2;
        }
    }

    /// Updates every node of the tree.
    pub(crate) fn rebuild_tree(&mut self) {
        let slots = self.slots_mut();
        for at in (0..slots.len() as u32).rev() {
            update_node(slots, at, NONE);
        }
    }
}

/// Converts a deadline to its form in a slot.
pub(crate) fn to_stored(deadline: Option<Millis>) -> Millis {
    deadline.map_or(NEVER, |deadline| deadline.min(LAST))
}

/// Computes the values of the node `at` from its slot and children. `index` is the slot that has changed, or `NONE`.
///
/// Returns `false` if the ancestors need no update: the values are the same, and `index`, whose deadline may have
/// changed, is not the earliest slot.
#[inline]
fn update_node<D>(slots: &mut [Slot<D>], at: u32, index: u32) -> bool {
    let Some(slot) = slots.get(at as usize) else { return true };
    let is_free = !slot.is_taken() && slot.generation != RETIRED;
    let mut lowest_free = if is_free { at as u16 } else { NONE as u16 };
    let (mut earliest, mut deadline) = (at as u16, slot.deadline());
    // An index has 16 bits, so this arithmetic does not wrap.
    let left = at.wrapping_mul(2).wrapping_add(1);
    for child in [left, left.wrapping_add(1)] {
        let Some(child) = slots.get(child as usize) else { break };
        lowest_free = lowest_free.min(child.lowest_free);
        let candidate = slots.get(usize::from(child.earliest)).map_or(NEVER, Slot::deadline);
        if candidate < deadline {
            (earliest, deadline) = (child.earliest, candidate);
        }
    }
    let Some(slot) = slots.get_mut(at as usize) else { return true };
    let is_unchanged = (slot.lowest_free, slot.earliest) == (lowest_free, earliest);
    (slot.lowest_free, slot.earliest) = (lowest_free, earliest);
    !is_unchanged || u32::from(earliest) == index
}
