//! The results of a scanner for the framing layer.
#![allow(clippy::as_conversions, reason = "members are few: they index a table of that size")]

use super::{Envelope, MISSING, Member, ScanError, ScanErrorKind, Scanner, Span, State, Step};

impl Scanner {
    /// Returns the members seen so far, even after an error. An open member ends at the current position.
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

    /// Returns the depth limit.
    pub(crate) fn limit(&self) -> u8 {
        self.limit
    }

    /// Returns the error that [`finish`](Scanner::finish) returned.
    pub(crate) fn error(&self) -> ScanError {
        let kind = if let State::Failed(kind) = self.state { kind } else { ScanErrorKind::Empty };
        ScanError { kind, at: self.position }
    }

    /// Records that the sender abandoned the text at the wrong byte. Keeps the spans that end before it.
    pub(crate) fn give_up(&mut self) {
        let mut envelope = self.envelope();
        envelope.cut(self.position);
        if envelope.id.is_none()
            && let Some(id) = self.members.get_mut(Member::Id as usize)
        {
            *id = MISSING;
        }
        self.state = State::Failed(ScanErrorKind::GivenUp);
    }

    /// Replaces the result with `envelope`, from another scan.
    pub(crate) fn adopt(&mut self, envelope: &Envelope) {
        let Envelope { shape, jsonrpc, id, method, params, result, error } = *envelope;
        for (slot, span) in self.members.iter_mut().zip([jsonrpc, id, method, params, result, error]) {
            *slot = span.unwrap_or(MISSING);
        }
        (self.shape, self.state) = (shape, State::Between(Step::After));
    }

    /// Stores six spans in place of the members until the next text. Sharing the storage saves memory.
    pub(crate) fn set_places(&mut self, places: [Span; 6]) {
        self.members = places;
    }

    /// Returns the spans that [`set_places`](Scanner::set_places) stored.
    pub(crate) fn places(&self) -> [Span; 6] {
        self.members
    }
}
