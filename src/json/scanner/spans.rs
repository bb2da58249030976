//! The results of a scanner, for `LineDecoder` and the code that reads messages.
#![allow(clippy::as_conversions, reason = "a small enum value widens to `usize`")]

use super::text::UNIT;
use super::{Member, MemberIndex, NOWHERE, ScanError, ScanErrorKind, Scanner, Shape, Span, State};
use crate::platform::cold_path;

impl Scanner {
    /// Returns the span of a member. The span of a member that was not seen is [`Span::MISSING`]. An open member ends
    /// at the current position.
    pub(crate) fn span(&self, member: Member) -> Span {
        match self.members.get(member as usize) {
            Some(Span { start, end: NOWHERE }) if *start != NOWHERE => {
                cold_path();
                Span { start: *start, end: self.position }
            }
            Some(span) => *span,
            None => Span::MISSING,
        }
    }

    /// Returns whether the scanner saw a member.
    pub(crate) fn has(&self, member: Member) -> bool {
        !self.span(member).is_missing()
    }

    /// Returns whether the id has no fraction and no exponent. The result has a meaning only if the id is a complete
    /// number.
    pub(crate) fn has_integer_id(&self) -> bool {
        self.integer_id
    }

    /// Returns the kind of the outermost value.
    pub(crate) fn shape(&self) -> Shape {
        self.shape
    }

    /// Sets the offset of the next text within a larger text. The spans then refer to the larger text.
    pub(crate) fn set_position(&mut self, position: usize) {
        self.position = position;
    }

    /// Returns whether no error was found so far. Too many levels count as an error only after
    /// [`finish`](Scanner::finish).
    pub(crate) fn is_valid(&self) -> bool {
        !matches!(self.state, State::Failed(_))
    }

    /// Returns the number of bytes at the end of an incomplete string that belong to an incomplete character or escape.
    pub(crate) fn unfinished(&self) -> usize {
        let high_surrogate = if self.half { UNIT } else { 0 };
        usize::from(self.carried).wrapping_add(high_surrogate)
    }

    /// Removes a scanned part of a string. The spans then refer to the text without the part. Resets the member index.
    pub(crate) fn remove(&mut self, part: Span) {
        let length = part.end.saturating_sub(part.start);
        let move_back = |at: &mut usize| {
            if *at != NOWHERE && *at >= part.end {
                *at = at.wrapping_sub(length);
            }
        };
        move_back(&mut self.position);
        move_back(&mut self.deep_at);
        for span in self.members.iter_mut().filter(|span| !span.is_missing()) {
            move_back(&mut span.start);
            move_back(&mut span.end);
        }
        self.record(MemberIndex::reset);
    }

    /// Returns the depth limit.
    pub(crate) fn limit(&self) -> u8 {
        self.limit
    }

    /// Returns the error of an invalid text. The caller must have called [`finish`](Scanner::finish).
    pub(crate) fn error(&self) -> ScanError {
        let kind = if let State::Failed(kind) = self.state { kind } else { ScanErrorKind::Empty };
        ScanError { kind, at: self.position }
    }

    /// Changes the error of an invalid text to [`ScanErrorKind::Gap`].
    pub(crate) fn mark_gap(&mut self) {
        self.state = State::Failed(ScanErrorKind::Gap);
    }

    /// Drops the id of an invalid text unless the id is reliable. An id that ends at the error may be incomplete. An id
    /// without a method, result or error may belong to a request or to a response.
    pub(crate) fn drop_unreliable_id(&mut self) {
        let has_kind = self.has(Member::Method) || self.has(Member::Result) || self.has(Member::Error);
        let is_complete = self.span(Member::Id).end < self.position;
        if !(has_kind && is_complete)
            && let Some(id) = self.members.get_mut(Member::Id as usize)
        {
            *id = Span::MISSING;
        }
    }

    /// Returns the table of members, or the spans that [`set_table`](Scanner::set_table) has stored in their place.
    pub(crate) fn table(&self) -> &[Span; 6] {
        &self.members
    }

    /// Replaces the table of members. After the scan of a line, `LineDecoder` stores the spans of the event in this
    /// table.
    pub(crate) fn set_table(&mut self, spans: [Span; 6]) {
        self.members = spans;
    }
}
