//! The order of deadlines: a binary heap whose places are fields of the slots.

use super::{Data, InFlight, NONE, Ticket};
use crate::time::Millis;

impl<D: Data> InFlight<'_, D> {
    /// When the next deadline is.
    pub(crate) fn next_deadline(&self) -> Option<Millis> {
        (self.timed > 0).then(|| self.deadline_at(0))
    }

    /// The request whose deadline has come. It keeps its deadline until that is set anew or the request ends.
    pub(crate) fn due(&self, now: Millis) -> Option<Ticket> {
        if self.next_deadline()? > now {
            return None;
        }
        self.at(self.slot(0)?.heap).map(|(ticket, _)| ticket)
    }

    /// Sets, moves or (with `None`) removes the deadline of a request.
    pub(crate) fn set_deadline(&mut self, ticket: Ticket, deadline: Option<Millis>) {
        if self.get(ticket).is_none() {
            return;
        }
        let place = self.slot(ticket.slot).map_or(NONE, |slot| slot.place);
        match deadline {
            Some(deadline) => {
                if let Some(slot) = self.slot_mut(ticket.slot) {
                    slot.deadline = deadline;
                }
                let place = if place == NONE { self.append(ticket.slot) } else { place };
                self.settle(place);
            }
            None if place != NONE => self.remove(place),
            None => {}
        }
    }

    fn append(&mut self, slot: u32) -> u32 {
        let place = self.timed;
        self.timed = self.timed.saturating_add(1);
        self.put(place, slot);
        place
    }

    fn remove(&mut self, place: u32) {
        let removed = self.slot_at(place);
        self.timed = self.timed.saturating_sub(1);
        let last = self.slot_at(self.timed);
        if let Some(slot) = self.slot_mut(removed) {
            slot.place = NONE;
        }
        if place != self.timed {
            self.put(place, last);
            self.settle(place);
        }
    }

    /// Moves what stands at `place` up or down to where it belongs.
    fn settle(&mut self, mut place: u32) {
        while let Some(above) = place.checked_sub(1).map(|below| below / 2)
            && self.deadline_at(place) < self.deadline_at(above)
        {
            self.swap(place, above);
            place = above;
        }
        loop {
            let left = place.saturating_mul(2).saturating_add(1);
            let mut first = place;
            for below in [left, left.saturating_add(1)] {
                if below < self.timed && self.deadline_at(below) < self.deadline_at(first) {
                    first = below;
                }
            }
            if first == place {
                return;
            }
            self.swap(place, first);
            place = first;
        }
    }

    fn swap(&mut self, left: u32, right: u32) {
        let (on_left, on_right) = (self.slot_at(left), self.slot_at(right));
        self.put(left, on_right);
        self.put(right, on_left);
    }

    fn put(&mut self, place: u32, slot: u32) {
        if let Some(at) = self.slot_mut(place) {
            at.heap = slot;
        }
        if let Some(slot) = self.slot_mut(slot) {
            slot.place = place;
        }
    }

    fn slot_at(&self, place: u32) -> u32 {
        self.slot(place).map_or(NONE, |slot| slot.heap)
    }

    fn deadline_at(&self, place: u32) -> Millis {
        self.slot(self.slot_at(place)).map_or(Millis(u64::MAX), |slot| slot.deadline)
    }
}
