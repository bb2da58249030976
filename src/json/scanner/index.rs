//! Index of the members of `params` or `result`, for lookups without another pass.
#![allow(
    clippy::as_conversions,
    reason = "`end_member` checks that the offsets fit in 32 bits, and a small enum value widens"
)]

use super::{Member, Scanner, Shape, Span, State, Step};

/// The capacity of the index. Few requests and results of the protocol have more members.
const CAPACITY: usize = 8;

/// The index as an array: empty on 32-bit targets, because they have little memory.
pub(super) type Index = [MemberIndex; INDEXES];
const INDEXES: usize = if usize::BITS < 64 { 0 } else { 1 };
pub(super) const EMPTY: Index = [const { MemberIndex::UNKNOWN }; INDEXES];

/// The value of `next` while no entry is being recorded.
const OFF: u8 = u8::MAX;

/// The members of the last object that was the value of `params` or `result`, in text order. The index is known only
/// if all members fit and no name has escapes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberIndex {
    /// The member whose value is indexed; `None` if the index is not known.
    member: Option<Member>,
    count: u8,
    /// The index of the entry being recorded, or `OFF`.
    next: u8,
    entries: [Entry; CAPACITY],
}

/// The results of a complete scan: the members of the message, and the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scanned {
    shape: Shape,
    members: [Span; 6],
    integer_id: bool,
    index: Index,
}

impl Scanned {
    /// Returns the span of a member, like [`Scanner::span`].
    pub(crate) fn span(&self, member: Member) -> Span {
        self.members.get(member as usize).copied().unwrap_or(Span::MISSING)
    }

    /// Returns the index of `params` or `result`, like [`Scanner::inner`].
    #[inline]
    pub(crate) fn inner(&self, member: Member) -> Option<&MemberIndex> {
        self.index.first().filter(|inner| inner.member == Some(member))
    }
}

/// The offsets of one member's name and value, from the start of the text.
#[derive(Clone, Copy, Debug)]
struct Entry {
    name: u32,
    name_end: u32,
    start: u32,
    end: u32,
}

impl MemberIndex {
    /// Whether scanners of this target have an index.
    pub(crate) const IS_KEPT: bool = INDEXES > 0;

    const UNKNOWN: MemberIndex = MemberIndex {
        member: None,
        count: 0,
        next: OFF,
        entries: [Entry { name: 0, name_end: 0, start: 0, end: 0 }; CAPACITY],
    };

    /// Returns the member names and the spans of the values, in text order. `text` is the scanned text.
    #[inline]
    pub(crate) fn members<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = (&'t [u8], Span)> {
        let entries = self.entries.get(..self.count.into()).unwrap_or_default();
        entries.iter().map(|entry| {
            let name = text.get(entry.name as usize..entry.name_end as usize).unwrap_or_default();
            (name, Span { start: entry.start as usize, end: entry.end as usize })
        })
    }

    /// Stores the spans of the values with these keys, found in one pass. The last duplicate counts. The spans of
    /// missing members do not change. `text` is the scanned text.
    #[inline(always)]
    pub(crate) fn find<const N: usize>(&self, text: &[u8], keys: &[&str; N], mut found: [&mut Span; N]) {
        for (name, value) in self.members(text) {
            for (key, place) in keys.iter().zip(&mut found) {
                if name == key.as_bytes() {
                    **place = value;
                }
            }
        }
    }

    /// Resets the index for the next text.
    pub(super) fn reset(&mut self) {
        (self.member, self.next) = (None, OFF);
    }

    /// Starts a new index if the member is `params` or `result`. The value must be an object.
    #[inline]
    pub(super) fn begin_member(&mut self, member: Member) {
        if matches!(member, Member::Params | Member::Result) {
            (self.member, self.next) = (None, 0);
        }
    }

    /// Drops the index of an earlier member with the same name.
    #[inline]
    pub(super) fn name_member(&mut self, member: Option<Member>) {
        if self.member == member {
            self.member = None;
        }
    }

    /// Records the span of a complete name.
    #[inline]
    pub(super) fn name(&mut self, start: usize, end: usize) {
        if let Some(entry) = self.entry() {
            (entry.name, entry.name_end) = (start as u32, end as u32);
        }
    }

    #[inline]
    pub(super) fn begin_name(&mut self, at: usize) {
        if let Some(entry) = self.entry() {
            entry.name = at as u32;
        }
    }

    #[inline]
    pub(super) fn end_name(&mut self, at: usize) {
        if let Some(entry) = self.entry() {
            entry.name_end = at as u32;
        }
    }

    #[inline]
    pub(super) fn begin_value(&mut self, at: usize) {
        if let Some(entry) = self.entry() {
            entry.start = at as u32;
        }
    }

    /// Records the span of a complete value.
    #[inline]
    pub(super) fn value(&mut self, start: usize, end: usize) {
        self.begin_value(start);
        self.end_value(end);
    }

    #[inline]
    pub(super) fn end_value(&mut self, at: usize) {
        if let Some(entry) = self.entry() {
            entry.end = at as u32;
            self.next = self.next.wrapping_add(1);
        }
    }

    /// Completes the index at the end of a message member's value. The index becomes known only if recording has not
    /// stopped, and the offsets fit in 32 bits.
    #[inline]
    pub(super) fn end_member(&mut self, member: Member, at: usize) {
        if self.next != OFF && u32::try_from(at).is_ok() {
            (self.member, self.count) = (Some(member), self.next);
        }
        self.next = OFF;
    }

    /// Stops recording. The index that was being recorded stays unknown.
    pub(super) fn forget(&mut self) {
        self.next = OFF;
    }

    /// Returns the entry being recorded, if any. If the index is full, stops recording and returns `None`.
    #[inline]
    fn entry(&mut self) -> Option<&mut Entry> {
        let entry = self.entries.get_mut(usize::from(self.next));
        if entry.is_none() {
            self.next = OFF;
        }
        entry
    }
}

impl Scanner {
    /// Returns the index of `params` or `result`. Returns `None` if the index is not known: see [`MemberIndex`].
    #[inline]
    pub(crate) fn inner(&self, member: Member) -> Option<&MemberIndex> {
        self.index.first().filter(|inner| inner.member == Some(member))
    }

    /// Returns the results of a complete scan.
    pub(crate) fn scanned(&self) -> Scanned {
        let Scanner { shape, members, integer_id, index, .. } = *self;
        Scanned { shape, members, integer_id, index }
    }

    /// Replaces the results with the results of another scan of the same text.
    pub(crate) fn adopt(&mut self, scanned: &Scanned) {
        (self.shape, self.members, self.index) = (scanned.shape, scanned.members, scanned.index);
        self.integer_id = scanned.integer_id;
        self.state = State::Between(Step::End);
    }

    /// Updates the index, if the target has one.
    #[inline]
    pub(super) fn record(&mut self, update: impl FnOnce(&mut MemberIndex)) {
        if let Some(index) = self.index.first_mut() {
            update(index);
        }
    }
}
