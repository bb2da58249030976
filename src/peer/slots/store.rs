//! Storage of slots and their texts: lent by the caller, or on the heap, where the storage grows on demand.
#![allow(
    clippy::as_conversions,
    reason = "the number of slots and the length of their texts are limited to 16 bits"
)]

use core::ops::Range;

use crate::buffer::BufferMut;
use crate::json::{WriteBody, Writer};
use crate::peer::slots::{Data, InFlight, Slot, Ticket};
use crate::platform::{copy, move_down};

/// Slots and text. Each slot owns an equal share of the text.
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
        /// Maximum length of the text of a slot.
        longest: u16,
    },
}

/// A table with at least this number of slots grows by a quarter, to save memory. Smaller tables start with eight slots
/// and double.
#[cfg(feature = "alloc")]
const LARGE_TABLE: usize = 1024;

/// Minimum length of a slot's share after a growing table has stored its first text, unless the maximum length of a
/// text is shorter. Most ids fit into this length.
#[cfg(feature = "alloc")]
const MIN_SHARE: u16 = 16;

#[cfg(feature = "alloc")]
impl<D> Store<'static, D> {
    pub(crate) fn grown(limit: usize, longest: usize) -> Store<'static, D> {
        let longest = longest.min(u16::MAX.into()) as u16;
        Store::Grown { slots: alloc::vec::Vec::new(), text: alloc::vec::Vec::new(), limit, longest }
    }
}

impl<D: Data> InFlight<'_, D> {
    /// Returns the maximum length of the text of a request.
    pub(crate) fn text_limit(&self) -> usize {
        match &self.store {
            Store::Lent { .. } => self.share.into(),
            #[cfg(feature = "alloc")]
            Store::Grown { longest, .. } => (*longest).into(),
        }
    }

    /// Returns the text of a request; empty if the request has ended.
    pub(crate) fn text(&self, ticket: Ticket) -> &[u8] {
        let Some(slot) = self.taken_slot(ticket) else { return &[] };
        let text = match &self.store {
            Store::Lent { text, .. } => &**text,
            #[cfg(feature = "alloc")]
            Store::Grown { text, .. } => text,
        };
        let from = self.text_start(ticket);
        let to = from.wrapping_add(slot.text_length.into());
        text.get(from..to).unwrap_or_default()
    }

    /// Keeps the first `kept` bytes of the text of a request, and replaces the rest with `piece`. Returns `false` if
    /// `piece` does not fit, if the text is shorter than `kept`, or if the request has ended.
    pub(crate) fn set_text_after(&mut self, ticket: Ticket, kept: usize, piece: &[u8]) -> bool {
        let length = kept.wrapping_add(piece.len());
        if self.text(ticket).len() < kept {
            return false;
        }
        let space = self.text_space(ticket, length);
        let Some(target) = space.and_then(|text| text.get_mut(kept..length)) else { return false };
        copy(target, piece);
        self.set_text_length(ticket, length)
    }

    /// Keeps the first `kept` bytes of the text of a request, and replaces the rest with the output of `body`.
    ///
    /// Returns `false` if the output does not fit, if `body` calls [`Writer::fail`], if the text is shorter than
    /// `kept`, or if the request has ended. The text then has its old length, but its bytes after `kept` may have
    /// changed.
    pub(crate) fn write_text(&mut self, ticket: Ticket, kept: usize, body: &mut dyn WriteBody) -> bool {
        #[cfg(feature = "alloc")]
        if let Store::Grown { longest, .. } = &self.store {
            // The text grows only after `body` has run, because `body` can run only once, and the length of its output
            // is unknown before.
            let limit = usize::from(*longest).saturating_sub(kept);
            let mut bytes = alloc::vec::Vec::new();
            let mut writer = Writer::new(BufferMut::Grown { bytes: &mut bytes, limit }, 0, limit);
            body.write(&mut writer);
            let Some(end) = writer.finish() else { return false };
            return self.set_text_after(ticket, kept, bytes.get(..end).unwrap_or_default());
        }
        if self.text(ticket).len() < kept {
            return false;
        }
        let Some(space) = self.text_space(ticket, 0) else { return false };
        let limit = space.len();
        let mut writer = Writer::new(BufferMut::Lent(space), kept, limit);
        body.write(&mut writer);
        let Some(end) = writer.finish() else { return false };
        self.set_text_length(ticket, end)
    }

    /// Replaces a part of the text of a request with `piece`. Returns `false` if the text ends before `part` ends, if
    /// `piece` does not fit, or if the request has ended.
    pub(crate) fn splice_text(&mut self, ticket: Ticket, part: Range<usize>, piece: &[u8]) -> bool {
        let length = self.text(ticket).len();
        let Some(rest) = length.checked_sub(part.end) else { return false };
        let tail = part.start.saturating_add(piece.len());
        let end = tail.saturating_add(rest);
        let Some(text) = self.text_space(ticket, end).filter(|text| end <= text.len()) else { return false };
        if part.end < tail {
            // The tail moves up, so its last byte moves first.
            for offset in (0..rest).rev() {
                let byte = text.get(part.end.wrapping_add(offset)).copied().unwrap_or_default();
                if let Some(target) = text.get_mut(tail.wrapping_add(offset)) {
                    *target = byte;
                }
            }
        } else {
            move_down(text, part.end, tail, rest);
        }
        if let Some(target) = text.get_mut(part.start..tail) {
            copy(target, piece);
        }
        self.set_text_length(ticket, end)
    }

    fn set_text_length(&mut self, ticket: Ticket, length: usize) -> bool {
        if let Some(slot) = self.slot_mut(ticket.slot) {
            slot.text_length = length as u16;
        }
        true
    }

    /// Returns the request's whole share of the text, grown to at least `length` bytes.
    ///
    /// Returns `None` if the request has ended or the share cannot have this length.
    pub(super) fn text_space(&mut self, ticket: Ticket, length: usize) -> Option<&mut [u8]> {
        self.get(ticket)?;
        if length > self.share.into() {
            self.grow_text(length)?;
        }
        let from = self.text_start(ticket);
        let to = from.wrapping_add(self.share.into());
        match &mut self.store {
            Store::Lent { text, .. } => text.get_mut(from..to),
            #[cfg(feature = "alloc")]
            Store::Grown { text, .. } => text.get_mut(from..to),
        }
    }

    fn text_start(&self, ticket: Ticket) -> usize {
        // The index and the share have 16 bits each, so the product does not wrap.
        (ticket.slot as usize).wrapping_mul(self.share.into())
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

    /// Grows the share of each slot to at least `length` bytes. Returns `None` if the slots are lent, the length
    /// exceeds the limit, or the heap is exhausted.
    fn grow_text(&mut self, length: usize) -> Option<()> {
        match &mut self.store {
            Store::Lent { .. } => {
                _ = length;
                None
            }
            #[cfg(feature = "alloc")]
            Store::Grown { slots, text, longest, .. } => {
                let needed = u16::try_from(length).ok().filter(|needed| needed <= longest)?;
                let share = needed.max(self.share.saturating_mul(2)).max(MIN_SHARE).min(*longest);
                let mut grown = alloc::vec::Vec::new();
                grown.try_reserve_exact(slots.len().saturating_mul(share.into())).ok()?;
                for index in 1..=slots.len() {
                    let before = index.saturating_sub(1).saturating_mul(self.share.into());
                    let after = before.saturating_add(self.share.into());
                    grown.extend_from_slice(text.get(before..after).unwrap_or_default());
                    grown.resize(index.saturating_mul(share.into()), 0);
                }
                (*text, self.share) = (grown, share);
                Some(())
            }
        }
    }

    /// Adds slots, up to the limit. No effect if the slots are lent or the heap is exhausted.
    #[cold]
    #[inline(never)]
    pub(crate) fn grow(&mut self) {
        #[cfg(feature = "alloc")]
        if let Store::Grown { slots, text, limit, .. } = &mut self.store {
            let before = slots.len();
            let more = if before < LARGE_TABLE { before.max(8) } else { before / 4 };
            let after = before.saturating_add(more).min(*limit);
            let text_after = after.saturating_mul(self.share.into());
            if slots.try_reserve_exact(after.saturating_sub(before)).is_err()
                || text.try_reserve_exact(text_after.saturating_sub(text.len())).is_err()
            {
                return;
            }
            slots.resize(after, Slot::EMPTY);
            text.resize(text_after, 0);
            self.rebuild_tree();
            self.rehash();
        }
    }
}

#[cfg(all(test, feature = "alloc"))]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    impl Data for u16 {}

    #[test]
    fn growth_of_slots_and_shares_keeps_all_texts() {
        let mut table: InFlight<'_, u16> = InFlight::grown(3000, 100);
        let mut requests: Vec<(Ticket, String)> = Vec::new();
        let lengths = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 99, 100];
        for n in 0..3000usize {
            let ticket = table.take(7, None).unwrap();
            // Each length begins at a different number of requests in the table.
            let length = lengths[(n / 230).min(lengths.len() - 1)];
            let text: String = (0..length).map(|at| char::from(b'a' + ((n + at) % 26) as u8)).collect();
            assert!(match n % 3 {
                0 => table.splice_text(ticket, 0..0, text.as_bytes()),
                1 => table.set_text_after(ticket, 0, text.as_bytes()),
                _ => table.write_text(ticket, 0, &mut |out: &mut Writer<'_>| out.json_bytes(text.as_bytes())),
            });
            requests.push((ticket, text));
            if n % 229 == 0 || n % 230 == 0 {
                assert!(requests.iter().all(|(ticket, text)| table.text(*ticket) == text.as_bytes()), "{n}");
            }
        }
        assert!(requests.iter().all(|(ticket, text)| table.text(*ticket) == text.as_bytes()));
        assert!(table.take(7, None).is_none(), "the table is full");
        let (first, text) = &requests[0];
        assert!(!table.set_text_after(*first, 0, &[b'x'; 101]));
        assert!(!table.write_text(*first, 0, &mut |out: &mut Writer<'_>| {
            out.string(core::str::from_utf8(&[b'x'; 99]).unwrap())
        }));
        assert_eq!((table.text(*first), table.text_limit()), (text.as_bytes(), 100));
    }

    #[test]
    fn grown_table_allocates_only_on_demand() {
        let sizes = |table: &InFlight<'_, u16>| match &table.store {
            Store::Grown { slots, text, .. } => (slots.capacity(), text.capacity()),
            Store::Lent { .. } => (0, 0),
        };
        let mut table: InFlight<'_, u16> = InFlight::grown(60_000, 4096);
        assert_eq!(sizes(&table), (0, 0));
        let tickets: Vec<_> = (0..8).map(|_| table.take(7, None).unwrap()).collect();
        assert_eq!(sizes(&table), (8, 0));
        assert!(table.set_text_after(tickets[3], 0, b"0123456789abcdef"));
        assert_eq!(sizes(&table), (8, 8 * 16));
        assert!(table.set_text_after(tickets[3], 0, b"0123456789abcdefg"));
        assert_eq!(sizes(&table), (8, 8 * 32));
        (0..5000).for_each(|_| _ = table.take(7, None).unwrap());
        let (slots, text) = sizes(&table);
        assert!((5008..5008 * 5 / 4 + 1).contains(&slots) && text == slots * 32, "{slots} {text}");
    }
}
