//! Requests whose time starts when the host says next what time it is: a chain beside the order of deadlines, which would have
//! to be set right twice.
#![allow(clippy::as_conversions, reason = "tables are cut to what 16 bits count")]

use super::{Data, InFlight, NEVER, NONE, Ticket, UNSTARTED};
use crate::time::Millis;

impl<D: Data> InFlight<'_, D> {
    /// Remembers that the time of a request is to be started: it is [due to be](InFlight::take_unstarted) from now on. It must
    /// have no id of a peer, and no deadline.
    pub(crate) fn start_later(&mut self, ticket: Ticket) {
        if !D::STARTS_LATER {
            return self.set_deadline(ticket, Some(Millis::ZERO));
        }
        let next = self.unstarted;
        if let Some(slot) = self.taken_mut(ticket) {
            slot.set_deadline(UNSTARTED);
            slot.next = next;
            self.unstarted = ticket.slot as u16;
        }
    }

    /// Whether the time of a request is to be started.
    #[inline]
    pub(crate) fn has_unstarted(&self) -> bool {
        D::STARTS_LATER && self.unstarted != NONE as u16
    }

    /// A request whose time is to be started now. It is not handed out again.
    pub(crate) fn take_unstarted(&mut self) -> Option<Ticket> {
        if !self.has_unstarted() {
            return None;
        }
        let index = self.unstarted.into();
        let slot = self.slot_mut(index)?;
        slot.set_deadline(NEVER);
        let next = core::mem::replace(&mut slot.next, NONE as u16);
        let ticket = Ticket { slot: index, generation: slot.generation };
        self.unstarted = next;
        Some(ticket)
    }

    /// Something else happens to a request. If its time was to be started, all of these leave the chain, and are due at once
    /// instead: that costs more, but seldom happens.
    #[inline]
    pub(super) fn leave_unstarted(&mut self, ticket: Ticket) {
        let leaves = |table: &Self| table.slot(ticket.slot).is_some_and(|slot| slot.deadline() == UNSTARTED);
        if self.has_unstarted() && leaves(self) {
            while let Some(other) = self.take_unstarted() {
                self.set_deadline(other, Some(Millis::ZERO));
            }
        }
    }
}
