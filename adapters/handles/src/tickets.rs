//! What belongs to requests that are open.

use std::mem;

use mcp_proto::Ticket;

/// What belongs to some requests, by their tickets.
///
/// There are some hundred at most, each of which occupies somebody: looking through all of them costs nothing beside that, and less
/// code than a table that is hashed.
pub(crate) struct Tickets<T> {
    open: Vec<(Ticket, T)>,
}

impl<T> Default for Tickets<T> {
    fn default() -> Self {
        Tickets { open: Vec::new() }
    }
}

impl<T> Tickets<T> {
    /// A ticket is given out once.
    pub(crate) fn insert(&mut self, ticket: Ticket, what: T) {
        self.open.push((ticket, what));
    }

    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<T> {
        let at = self.open.iter().position(|(open, _)| *open == ticket)?;
        Some(self.open.swap_remove(at).1)
    }

    /// Takes out all those.
    pub(crate) fn take_all(&mut self, which: impl Fn(&T) -> bool) -> Vec<(Ticket, T)> {
        let (taken, left) = mem::take(&mut self.open).into_iter().partition(|(_, what)| which(what));
        self.open = left;
        taken
    }
}

impl<T> IntoIterator for Tickets<T> {
    type Item = (Ticket, T);
    type IntoIter = std::vec::IntoIter<(Ticket, T)>;

    fn into_iter(self) -> Self::IntoIter {
        self.open.into_iter()
    }
}
