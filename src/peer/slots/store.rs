//! Where slots and texts are: lent by the host, or on the heap, where there is as much of both as is used.
#![allow(clippy::as_conversions, reason = "tables are cut to what 16 bits count, slots and the text in each")]

use crate::buffer::Room;
use crate::json::Writer;
use crate::peer::slots::{Data, InFlight, Slot, Ticket};
use crate::platform::copy;

/// Slots, and an equal part of the text for each.
pub(crate) enum Store<'b, D> {
    Lent {
        slots: &'b mut [Slot<D>],
        text: &'b mut [u8],
    },
    #[cfg(feature = "alloc")]
    Grown {
        slots: alloc::vec::Vec<Slot<D>>,
        text: alloc::vec::Vec<u8>,
        limit: usize,
        /// The most text that a slot can have.
        longest: u16,
    },
}

/// From this many slots on, tables grow by a quarter: to double them would cost memory that nobody uses.
#[cfg(feature = "alloc")]
const MANY: usize = 1024;

/// The least text that a slot of a growing table has, if any has some: most ids fit.
#[cfg(feature = "alloc")]
const SHORT: u16 = 16;

#[cfg(feature = "alloc")]
impl<D> Store<'static, D> {
    pub(crate) fn grown(limit: usize, longest: usize) -> Store<'static, D> {
        let longest = longest.min(usize::from(crate::peer::slots::FREE).saturating_sub(1)) as u16;
        Store::Grown { slots: alloc::vec::Vec::new(), text: alloc::vec::Vec::new(), limit, longest }
    }
}

impl<D: Data> InFlight<'_, D> {
    /// The most text that a request can keep.
    pub(crate) fn text_limit(&self) -> usize {
        match &self.store {
            Store::Lent { .. } => self.part.into(),
            #[cfg(feature = "alloc")]
            Store::Grown { longest, .. } => (*longest).into(),
        }
    }

    /// The text of a request.
    pub(crate) fn text(&self, ticket: Ticket) -> &[u8] {
        let Some(slot) = self.taken(ticket) else { return &[] };
        let text = match &self.store {
            Store::Lent { text, .. } => &**text,
            #[cfg(feature = "alloc")]
            Store::Grown { text, .. } => text,
        };
        let from = self.text_start(ticket);
        let to = from.wrapping_add(slot.text_length.into());
        text.get(from..to).unwrap_or_default()
    }

    /// Keeps `pieces`, one after the other, as the text of a request. `false`: there is no room for them.
    pub(crate) fn set_text(&mut self, ticket: Ticket, pieces: [&[u8]; 2]) -> bool {
        let [first, second] = pieces;
        let length = first.len().wrapping_add(second.len());
        let room = self.text_room(ticket, length).and_then(|text| text.split_at_mut_checked(first.len()));
        let Some((head, tail)) = room else { return false };
        copy(head, first);
        copy(tail, second);
        self.set_text_length(ticket, length)
    }

    /// Keeps `piece` behind the first `kept` bytes of the text of a request. `false`: there is no room for it.
    pub(crate) fn set_text_after(&mut self, ticket: Ticket, kept: usize, piece: &[u8]) -> bool {
        let length = kept.wrapping_add(piece.len());
        if self.text(ticket).len() < kept {
            return false;
        }
        let room = self.text_room(ticket, length);
        let Some(place) = room.and_then(|text| text.get_mut(kept..length)) else { return false };
        copy(place, piece);
        self.set_text_length(ticket, length)
    }

    /// Keeps what `body` writes as the text of a request. `false`: there is no room for it, and the
    /// text is still as long as before.
    pub(crate) fn write_text(&mut self, ticket: Ticket, body: &mut dyn FnMut(&mut Writer<'_>)) -> bool {
        let length = match &self.store {
            Store::Lent { .. } => 0,
            #[cfg(feature = "alloc")]
            Store::Grown { .. } => {
                let mut writer = Writer::measure();
                body(&mut writer);
                writer.len()
            }
        };
        let Some(room) = self.text_room(ticket, length) else { return false };
        let limit = room.len();
        let mut writer = Writer::new(Room::Lent(room), 0, limit);
        body(&mut writer);
        let Ok(end) = writer.finish() else { return false };
        self.set_text_length(ticket, end)
    }

    fn set_text_length(&mut self, ticket: Ticket, length: usize) -> bool {
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.text_length = length as u16;
        }
        true
    }

    /// All of the text that a request owns: at least `length` bytes. `None`: it has ended, or there cannot be so many.
    fn text_room(&mut self, ticket: Ticket, length: usize) -> Option<&mut [u8]> {
        self.get(ticket)?;
        if length > self.part.into() {
            self.grow_text(length)?;
        }
        let from = self.text_start(ticket);
        let to = from.wrapping_add(self.part.into());
        match &mut self.store {
            Store::Lent { text, .. } => text.get_mut(from..to),
            #[cfg(feature = "alloc")]
            Store::Grown { text, .. } => text.get_mut(from..to),
        }
    }

    fn text_start(&self, ticket: Ticket) -> usize {
        (ticket.slot as usize).saturating_mul(self.part.into())
    }

    pub(crate) fn slots_ref(&self) -> &[Slot<D>] {
        match &self.store {
            Store::Lent { slots, .. } => slots,
            #[cfg(feature = "alloc")]
            Store::Grown { slots, .. } => slots,
        }
    }

    pub(crate) fn slots_mut(&mut self) -> &mut [Slot<D>] {
        match &mut self.store {
            Store::Lent { slots, .. } => slots,
            #[cfg(feature = "alloc")]
            Store::Grown { slots, .. } => slots,
        }
    }

    /// Gives each slot room for so much text. `None`: that is more than a slot may have, or the heap is exhausted.
    fn grow_text(&mut self, length: usize) -> Option<()> {
        match &mut self.store {
            Store::Lent { .. } => {
                _ = length;
                None
            }
            #[cfg(feature = "alloc")]
            Store::Grown { slots, text, longest, .. } => {
                let needed = u16::try_from(length).ok().filter(|needed| needed <= longest)?;
                let part = needed.max(self.part.saturating_mul(2)).max(SHORT).min(*longest);
                let mut grown = alloc::vec::Vec::new();
                grown.try_reserve_exact(slots.len().saturating_mul(part.into())).ok()?;
                for index in 1..=slots.len() {
                    let before = index.saturating_sub(1).saturating_mul(self.part.into());
                    let after = before.saturating_add(self.part.into());
                    grown.extend_from_slice(text.get(before..after).unwrap_or_default());
                    grown.resize(index.saturating_mul(part.into()), 0);
                }
                (*text, self.part) = (grown, part);
                Some(())
            }
        }
    }

    /// Adds slots, up to the limit. Lent ones stay as they are.
    pub(crate) fn grow(&mut self) {
        #[cfg(feature = "alloc")]
        if let Store::Grown { slots, text, limit, .. } = &mut self.store {
            let before = slots.len();
            let more = if before < MANY { before.max(8) } else { before / 4 };
            let after = before.saturating_add(more).min(*limit);
            let text_after = after.saturating_mul(self.part.into());
            if slots.try_reserve_exact(after.saturating_sub(before)).is_err()
                || text.try_reserve_exact(text_after.saturating_sub(text.len())).is_err()
            {
                return;
            }
            slots.resize(after, Slot::EMPTY);
            text.resize(text_after, 0);
            self.settle_all();
            self.rehash();
        }
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    impl Data for u16 {
        const EMPTY: u16 = 0;
    }

    /// The texts of all requests, while some become longer and the table grows.
    #[test]
    fn texts_stay_what_they_are_while_the_table_and_its_parts_grow() {
        let mut table: InFlight<'_, u16> = InFlight::grown(3000, 100);
        let mut kept: Vec<(Ticket, String)> = Vec::new();
        let lengths = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 99, 100];
        for n in 0..3000usize {
            let ticket = table.take(7, None).unwrap();
            // Each length comes first when there are many slots, or few.
            let length = lengths[(n / 230).min(lengths.len() - 1)];
            let text: String = (0..length).map(|at| char::from(b'a' + ((n + at) % 26) as u8)).collect();
            assert!(match n % 3 {
                0 => table.set_text(ticket, [text.as_bytes(), b""]),
                1 => table.set_text_after(ticket, 0, text.as_bytes()),
                _ => table.write_text(ticket, &mut |out| out.json_bytes(text.as_bytes())),
            });
            kept.push((ticket, text));
            if n % 229 == 0 || n % 230 == 0 {
                assert!(kept.iter().all(|(ticket, text)| table.text(*ticket) == text.as_bytes()), "{n}");
            }
        }
        assert!(kept.iter().all(|(ticket, text)| table.text(*ticket) == text.as_bytes()));
        assert!(table.take(7, None).is_none(), "the limit");
        let (first, text) = &kept[0];
        assert!(
            !table.set_text(*first, [&[b'x'; 101], b""]) && !table.set_text_after(*first, 0, &[b'x'; 101])
        );
        assert!(!table.write_text(*first, &mut |out| out.string(core::str::from_utf8(&[b'x'; 99]).unwrap())));
        assert_eq!((table.text(*first), table.text_limit()), (text.as_bytes(), 100));
    }

    #[test]
    fn what_nobody_uses_is_not_there() {
        let sizes = |table: &InFlight<'_, u16>| match &table.store {
            Store::Grown { slots, text, .. } => (slots.capacity(), text.capacity()),
            Store::Lent { .. } => (0, 0),
        };
        let mut table: InFlight<'_, u16> = InFlight::grown(60_000, 4096);
        assert_eq!(sizes(&table), (0, 0));
        let tickets: Vec<_> = (0..8).map(|_| table.take(7, None).unwrap()).collect();
        assert_eq!(sizes(&table), (8, 0));
        assert!(table.set_text(tickets[3], [b"0123456789", b"abcdef"]));
        assert_eq!(sizes(&table), (8, 8 * 16));
        assert!(table.set_text(tickets[3], [b"0123456789", b"abcdefg"]));
        assert_eq!(sizes(&table), (8, 8 * 32));
        (0..5000).for_each(|_| _ = table.take(7, None).unwrap());
        let (slots, text) = sizes(&table);
        assert!((5008..5008 * 5 / 4 + 1).contains(&slots) && text == slots * 32, "{slots} {text}");
    }
}
