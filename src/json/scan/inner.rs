//! On hosts, where the members of `params` and of `result` stand: the scanner passes them anyway, and who looks for some of
//! them need not walk over all.

use super::{Member, Scanner, Span};
use crate::json::swar::FAST;
use crate::json::view::Json;

/// How many members are kept. Hardly any request or result of the protocol has more.
const KEPT: usize = 8;

/// No place, and none after it.
const FULL: u8 = u8::MAX;

/// The members of `params` or `result`, in the order of the text, if they were all passed at once and their names have no
/// escapes.
#[derive(Clone, Debug)]
pub(crate) struct MemberIndex {
    /// Whose members these are; `None`: they are not known.
    of: Option<Member>,
    count: u8,
    /// The place of the member that is passed, while they are kept; [`FULL`] if they are not, or are too many.
    next: u8,
    places: [Place; KEPT],
}

/// Offsets from the start of the text, which is shorter than 4 GiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) name: u32,
    pub(super) name_end: u32,
    pub(super) start: u32,
    pub(super) end: u32,
}

impl Place {
    pub(super) const NOWHERE: Place = Place { name: 0, name_end: 0, start: 0, end: 0 };
}

/// One on hosts, elsewhere none: there flash and memory are short, and texts too.
pub(super) type MemberIndexes = [MemberIndex; FAST as usize];

impl MemberIndex {
    pub(super) const UNKNOWN: MemberIndex =
        MemberIndex { of: None, count: 0, next: FULL, places: [Place::NOWHERE; KEPT] };

    /// The members, in the order of the text. `text` is what was scanned.
    #[inline]
    pub(crate) fn members<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = (&'t [u8], Json<'t>)> {
        self.places.iter().take(self.count.into()).filter_map(|place| {
            let name = text.get(place.name as usize..place.name_end as usize)?;
            Some((name, Json::exact(text.get(place.start as usize..place.end as usize)?)))
        })
    }

    /// The names of the members, and where their values stand, in the order of the text. `text` is what was scanned.
    #[inline(always)]
    pub(crate) fn spans<'t>(&self, text: &'t [u8]) -> impl Iterator<Item = (&'t [u8], Span)> {
        let places = self.places.get(..self.count.into()).unwrap_or_default();
        places.iter().map(|place| {
            let name = text.get(place.name as usize..place.name_end as usize).unwrap_or_default();
            (name, Span { start: place.start as usize, end: place.end as usize })
        })
    }

    /// Several members in one pass; of duplicates the last. `text` is what was scanned.
    #[inline]
    pub(crate) fn pick<'t, const N: usize>(&self, text: &'t [u8], keys: [&str; N]) -> [Option<Json<'t>>; N] {
        let mut found = [None; N];
        for place in self.places.iter().take(self.count.into()) {
            let name = text.get(place.name as usize..place.name_end as usize).unwrap_or_default();
            for (key, value) in keys.iter().zip(&mut found) {
                if name == key.as_bytes() {
                    *value = text.get(place.start as usize..place.end as usize).map(Json::exact);
                }
            }
        }
        found
    }
}

impl Scanner {
    /// The members of `params` or `result`, as far as they are known; see [`MemberIndex`].
    pub(crate) fn inner(&self, of: Member) -> Option<&MemberIndex> {
        self.inner.first().filter(|inner| inner.of == Some(of))
    }

    /// A new text begins.
    #[inline(always)]
    pub(super) fn forget_inner(&mut self) {
        if let Some(inner) = self.inner.first_mut() {
            inner.of = None;
        }
    }

    /// A member of the message begins: what was known of another of that name does not count any more.
    #[inline(always)]
    pub(super) fn forget_inner_of(&mut self, member: Option<Member>) {
        if let Some(inner) = self.inner.first_mut()
            && inner.of == member
        {
            inner.of = None;
        }
    }

    /// An object begins that is the value of a member of the message. Whether its members are kept depends on whose they are.
    #[inline(always)]
    pub(super) fn begin_inner(&mut self) {
        let Some(inner) = self.inner.first_mut() else { return };
        inner.next = FULL;
        if let Some(Member::Params | Member::Result) = self.current {
            inner.of = None;
            if u32::try_from(self.position).is_ok() {
                inner.next = 0;
            }
        }
    }

    /// What comes next was not passed from its start.
    #[inline(always)]
    pub(super) fn keep_none(&mut self) {
        if let Some(inner) = self.inner.first_mut() {
            inner.next = FULL;
        }
    }

    /// A member begins: where its name stands, and where its value starts.
    #[inline(always)]
    pub(super) fn keep(&mut self, [name, name_end, start]: [usize; 3]) {
        let Some(inner) = self.inner.first_mut() else { return };
        match inner.places.get_mut(usize::from(inner.next)) {
            Some(place) => {
                *place = Place { name: name as u32, name_end: name_end as u32, start: start as u32, end: 0 };
            }
            None => inner.next = FULL,
        }
    }

    /// It has ended.
    #[inline(always)]
    pub(super) fn kept(&mut self, end: usize) {
        let Some(inner) = self.inner.first_mut() else { return };
        if let Some(place) = inner.places.get_mut(usize::from(inner.next)) {
            place.end = end as u32;
            inner.next = inner.next.wrapping_add(1);
        }
    }

    /// The object has ended: if all of its members were kept, they are known.
    #[inline(always)]
    pub(super) fn end_inner(&mut self) {
        if let Some(inner) = self.inner.first_mut()
            && inner.next != FULL
        {
            (inner.of, inner.count) = (self.current, inner.next);
        }
    }
}
