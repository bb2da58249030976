//! The members of a JSON-RPC message, and the shape of a text.

use super::NOWHERE;
use crate::json::skip::after_prefix;
use core::ops::Range;

/// The kind of the outermost value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `{...}`
    Object,
    /// `[...]`
    Array,
    /// A string, a number, `true`, `false` or `null`.
    Other,
}

/// A member of a JSON-RPC message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Member {
    /// `jsonrpc`
    Jsonrpc,
    /// `id`
    Id,
    /// `method`
    Method,
    /// `params`
    Params,
    /// `result`
    Result,
    /// `error`
    Error,
}

impl Member {
    /// The members with their names. A quote ends each name.
    const ALL: [(&'static [u8], Member); 6] = [
        (b"jsonrpc\"", Member::Jsonrpc),
        (b"id\"", Member::Id),
        (b"method\"", Member::Method),
        (b"params\"", Member::Params),
        (b"result\"", Member::Result),
        (b"error\"", Member::Error),
    ];

    /// Returns the member whose name is at the start of `text`, and the bytes after the closing quote. Returns `None`
    /// for any other name.
    #[inline]
    pub(super) fn at_start(text: &[u8]) -> Option<(Member, &[u8])> {
        Member::ALL.iter().find_map(|(name, member)| Some((*member, after_prefix(text, name)?)))
    }
}

/// The start of a name. `candidates` has a set bit for each [`Member`] whose name starts with the same letters.
#[derive(Clone, Copy, Debug)]
pub(super) struct PartialName {
    length: u8,
    candidates: u8,
}

impl PartialName {
    pub(super) const EMPTY: PartialName = PartialName { length: 0, candidates: u8::MAX };

    /// Adds a letter. The letter 0 rules out every [`Member`].
    pub(super) fn push(&mut self, letter: u8) {
        for (index, (name, _)) in Member::ALL.iter().enumerate() {
            if name.get(usize::from(self.length)) != Some(&letter) {
                self.candidates &= !(1 << index);
            }
        }
        self.length = self.length.saturating_add(1);
    }

    /// Returns the member with exactly the name read so far, or `None`.
    pub(super) fn member(self) -> Option<Member> {
        let of_length = |(index, (name, _)): &(usize, &(&[u8], Member))| {
            self.candidates >> index & 1 != 0 && name.len() == usize::from(self.length).wrapping_add(1)
        };
        Member::ALL.iter().enumerate().find(of_length).map(|(_, (_, member))| *member)
    }
}

/// The position of a value: byte offsets from the start of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The first byte.
    pub(crate) start: usize,
    /// One past the last byte.
    pub(crate) end: usize,
}

impl Span {
    /// The span of a missing value. A [`Json`](crate::json::Json) view of a missing value counts as `null`.
    pub(crate) const MISSING: Span = Span { start: NOWHERE, end: 0 };

    pub(crate) fn is_missing(self) -> bool {
        self.start == NOWHERE
    }

    /// Returns the bytes of a text at the span. Returns no bytes for a missing span.
    // This function is not inlined, because a bounds check in each of its many callers takes much flash.
    #[inline(never)]
    pub(crate) fn bytes(self, text: &[u8]) -> &[u8] {
        text.get(self.range()).unwrap_or_default()
    }

    /// Returns the span as a range.
    pub(crate) const fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

/// The position of a value that may still be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenSpan {
    /// The first byte.
    pub start: usize,
    /// One past the last byte; `None` while the value is open.
    pub end: Option<usize>,
}
