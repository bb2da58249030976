//! The results of a scanner for the framing layer.
#![allow(clippy::as_conversions, reason = "members are few: they index a table of that size")]

use super::{Envelope, Member, NOWHERE, ScanError, ScanErrorKind, Scanner, Span, State, Step};

impl Scanner {
    /// The members that were seen so far, also after an error: an open one ends where the text does.
    pub(crate) fn envelope(&self) -> Envelope {
        let seen = |member| {
            let open = self.member(member)?;
            Some(Span { start: open.start, end: open.end.unwrap_or(self.position) })
        };
        Envelope {
            shape: self.shape,
            jsonrpc: seen(Member::Jsonrpc),
            id: seen(Member::Id),
            method: seen(Member::Method),
            params: seen(Member::Params),
            result: seen(Member::Result),
            error: seen(Member::Error),
        }
    }

    /// The limit of nesting.
    pub(crate) fn limit(&self) -> u8 {
        self.limit
    }

    /// The error that [`finish`](Scanner::finish) has returned.
    pub(crate) fn error(&self) -> ScanError {
        let kind = if let State::Failed(kind) = self.state { kind } else { ScanErrorKind::Empty };
        ScanError { kind, at: self.position }
    }

    /// The sender gave the text up where it is wrong. Keeps the spans that end before.
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

    /// Takes over the result of another scan.
    pub(crate) fn adopt(&mut self, envelope: &Envelope) {
        let Envelope { shape, jsonrpc, id, method, params, result, error } = *envelope;
        for (slot, span) in self.members.iter_mut().zip([jsonrpc, id, method, params, result, error]) {
            *slot = span.unwrap_or(Span { start: NOWHERE, end: NOWHERE });
        }
        (self.shape, self.state) = (shape, State::Between(Step::After));
    }

    /// Stores six spans in place of the members until the next text, because memory for both is scarce.
    pub(crate) fn set_places(&mut self, places: [Span; 6]) {
        self.members = places;
    }

    /// The spans that [`set_places`](Scanner::set_places) has stored.
    pub(crate) fn places(&self) -> [Span; 6] {
        self.members
    }
}
