//! The places that a scanner has found, in the hands of who framed the message: taken back, taken over, or exchanged.
#![allow(clippy::as_conversions, reason = "members are few: they index a table of that size")]

use super::{Envelope, Member, NOWHERE, ScanErrorKind, Scanner, Span, State};

impl Scanner {
    /// The text was given up where it is wrong: nothing is left of it that cannot be relied on then.
    pub(crate) fn give_up(&mut self) {
        let mut envelope = self.envelope();
        envelope.cut(self.position);
        if envelope.id.is_none()
            && let Some(id) = self.members.get_mut(Member::Id as usize)
        {
            *id = Span { start: NOWHERE, end: NOWHERE };
        }
        self.state = State::Failed(ScanErrorKind::GivenUp);
    }

    /// As if it had scanned the text in which this was found.
    pub(crate) fn adopt(&mut self, envelope: &Envelope) {
        let Envelope { shape, jsonrpc, id, method, params, result, error } = *envelope;
        for (slot, span) in self.members.iter_mut().zip([jsonrpc, id, method, params, result, error]) {
            *slot = span.unwrap_or(Span { start: NOWHERE, end: NOWHERE });
        }
        (self.shape, self.state) = (shape, State::After);
    }

    /// Other places than those of the members, kept where these were until the next text. Who needs both would need twice
    /// the memory.
    pub(crate) fn set_places(&mut self, places: [Span; 6]) {
        self.members = places;
    }

    pub(crate) fn places(&self) -> [Span; 6] {
        self.members
    }
}
