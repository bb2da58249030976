//! Requests whose time starts when the host says next what time it is: a chain beside the order of deadlines, which would have
//! to be set right twice.
#![allow(clippy::as_conversions, reason = "tables are cut to what 16 bits count")]

use crate::peer::slots::{CHAINS, Data, InFlight, LAST, NEVER, NO_CHAIN, NONE, Ticket, UNSTARTED};
use crate::time::Millis;

impl<D: Data> InFlight<'_, D> {
    /// Remembers that the time of a request is to be started: it is [due to be](InFlight::take_unstarted) from now on. It must
    /// have no id of a peer, and no deadline.
    pub(crate) fn start_later(&mut self, ticket: Ticket) {
        let [next] = self.unstarted.as_slice() else { return self.set_deadline(ticket, Some(Millis::ZERO)) };
        let next = *next;
        if let Some(slot) = self.taken_mut(ticket) {
            slot.set_deadline(UNSTARTED);
            slot.next = next;
            self.unstarted = [ticket.slot as u16; CHAINS];
        }
    }

    /// Whether the time of a request is to be started.
    #[inline]
    pub(crate) fn has_unstarted(&self) -> bool {
        D::STARTS_LATER && self.unstarted != NO_CHAIN
    }

    /// Starts the time of a request that is to be started now; `start` says when that will be over. `false`: there is none.
    #[cfg_attr(not(target_os = "none"), inline)]
    pub(crate) fn start_next(&mut self, start: impl FnOnce(&mut D) -> Millis) -> bool {
        let Some(ticket) = self.take_unstarted() else { return false };
        if let Some(slot) = self.slot_mut(ticket.slot) {
            let deadline = start(&mut slot.data).min(LAST);
            slot.set_deadline(deadline);
            self.settle_deadline(ticket.slot);
        }
        true
    }

    /// A request whose time is to be started now. It is not handed out again.
    #[cfg_attr(not(target_os = "none"), inline)]
    fn take_unstarted(&mut self) -> Option<Ticket> {
        let index = u32::from(*self.unstarted.first().filter(|_| self.has_unstarted())?);
        let slot = self.slot_mut(index)?;
        slot.set_deadline(NEVER);
        let next = core::mem::replace(&mut slot.next, NONE as u16);
        let ticket = Ticket { slot: index, generation: slot.generation };
        self.unstarted = [next; CHAINS];
        Some(ticket)
    }

    /// Something else happens to a request. If its time was to be started, all of these leave the chain, and are due at once
    /// instead: that costs more, but seldom happens.
    #[inline]
    pub(crate) fn leave_unstarted(&mut self, ticket: Ticket) {
        let leaves = |table: &Self| table.slot(ticket.slot).is_some_and(|slot| slot.deadline() == UNSTARTED);
        if self.has_unstarted() && leaves(self) {
            while let Some(other) = self.take_unstarted() {
                self.set_deadline(other, Some(Millis::ZERO));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::FAST;
    use std::vec::Vec;

    #[derive(Clone, Copy)]
    struct Late;

    impl Data for Late {
        const EMPTY: Late = Late;
        const STARTS_LATER: bool = true;
    }

    fn started(table: &mut InFlight<'_, Late>) -> Vec<Ticket> {
        core::iter::from_fn(|| table.take_unstarted()).collect()
    }

    #[test]
    fn each_is_started_once_and_is_not_due_before() {
        let mut table: InFlight<'_, Late> = InFlight::grown(40, 8);
        for count in [0, 1, 2, 30] {
            let mut tickets: Vec<_> = (0..count).map(|_| table.take(Late).unwrap()).collect();
            tickets.iter().for_each(|ticket| table.start_later(*ticket));
            if FAST {
                assert_eq!((table.has_unstarted(), table.next_deadline()), (count > 0, None));
                assert!(!table.is_due(Millis(u64::MAX)));
                let mut found = started(&mut table);
                found.sort();
                assert_eq!((&found, table.has_unstarted()), (&tickets, false));
            } else {
                assert_eq!((table.has_unstarted(), table.is_due(Millis::ZERO)), (false, count > 0));
            }
            for (n, ticket) in tickets.iter().enumerate().rev() {
                table.set_deadline(*ticket, Some(Millis(n as u64 + 7)));
            }
            assert_eq!(table.next_deadline(), tickets.first().map(|_| Millis(7)));
            tickets.drain(..).for_each(|ticket| table.release(ticket));
        }
    }

    #[test]
    fn who_leaves_early_makes_the_others_due_at_once() {
        type Leaves = fn(&mut InFlight<'_, Late>, Ticket);
        let ways: [(Leaves, bool); 4] = [
            (|table, ticket| table.release(ticket), false),
            (|table, ticket| table.set_deadline(ticket, Some(Millis(9))), true),
            (|table, ticket| table.set_deadline(ticket, None), true),
            (|table, ticket| table.queue(ticket), true),
        ];
        for (way, (leave, stays)) in ways.into_iter().enumerate() {
            for at in 0..3 {
                let mut table: InFlight<'_, Late> = InFlight::grown(4, 8);
                let tickets = [0; 3].map(|_| table.take(Late).unwrap());
                tickets.iter().for_each(|ticket| table.start_later(*ticket));
                leave(&mut table, tickets[at]);
                assert_eq!(
                    (table.take_unstarted(), table.len()),
                    (None, 2 + usize::from(stays)),
                    "{way} {at}"
                );
                for ticket in tickets.into_iter().filter(|ticket| *ticket != tickets[at]) {
                    assert_eq!(table.next_deadline(), Some(Millis::ZERO), "{way} {at}");
                    table.set_deadline(ticket, None);
                }
                table.set_deadline(tickets[at], None);
                assert_eq!(table.next_deadline(), None, "{way} {at}");
                table.clear();
                assert!(!table.has_unstarted() && table.first_queued().is_none());
            }
        }
    }

    #[test]
    fn a_reset_forgets_what_was_to_be_started() {
        let mut table: InFlight<'_, Late> = InFlight::grown(4, 8);
        let ticket = table.take(Late).unwrap();
        table.start_later(ticket);
        table.clear();
        assert_eq!((table.take_unstarted(), table.next_deadline()), (None, None));
    }
}
