//! A small map from tickets to values.

use std::mem;

use mcp_proto::Ticket;

/// A map from tickets to values.
///
/// The entries form an unsorted vector. Most maps hold few entries, and a vector takes less code than a hash table.
pub(crate) struct TicketMap<T> {
    entries: Vec<(Ticket, T)>,
}

impl<T> Default for TicketMap<T> {
    fn default() -> Self {
        TicketMap { entries: Vec::new() }
    }
}

impl<T> TicketMap<T> {
    /// Adds a value. The ticket must not be in the map: tickets are unique.
    pub(crate) fn insert(&mut self, ticket: Ticket, value: T) {
        self.entries.push((ticket, value));
    }

    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<T> {
        let at = self.entries.iter().position(|(known, _)| *known == ticket)?;
        Some(self.entries.swap_remove(at).1)
    }

    /// Removes and returns all entries whose value matches.
    pub(crate) fn take_all(&mut self, matches: impl Fn(&T) -> bool) -> Vec<(Ticket, T)> {
        let (taken, kept) = mem::take(&mut self.entries).into_iter().partition(|(_, value)| matches(value));
        self.entries = kept;
        taken
    }
}

impl<T> IntoIterator for TicketMap<T> {
    type Item = (Ticket, T);
    type IntoIter = std::vec::IntoIter<(Ticket, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}
