//! Protocol revisions; eras: handshake (to 2025-11-25) and stateless (2026-07-28).

use crate::json::{Str, WriteText, prints};

/// A revision of the protocol. Revisions are ordered by age, so `revision >= other` means that the features of `other`
/// are available.
///
/// Specification: every revision, *Versioning*.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// `2024-11-05`
    V2024_11_05,
    /// `2025-03-26`: batches, audio, tool annotations, progress messages.
    V2025_03_26,
    /// `2025-06-18`: structured results, titles, elicitation.
    V2025_06_18,
    /// `2025-11-25`: icons, URL elicitation, tool errors for invalid arguments.
    V2025_11_25,
    /// `2026-07-28`: no handshake; every request carries its version and capabilities.
    V2026_07_28,
}

/// The connection model: a handshake with a session, or self-contained requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Era {
    /// `initialize` opens a session (revisions up to `2025-11-25`).
    Handshake,
    /// Every request carries its revision and capabilities (revision `2026-07-28`).
    Stateless,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Revision; 5] = [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ];

    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Revision::V2024_11_05 => "2024-11-05",
            Revision::V2025_03_26 => "2025-03-26",
            Revision::V2025_06_18 => "2025-06-18",
            Revision::V2025_11_25 => "2025-11-25",
            Revision::V2026_07_28 => "2026-07-28",
        }
    }

    /// The revision with exactly this name. Names are not compared by order or prefix.
    #[must_use]
    pub fn parse(text: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    pub(crate) fn from_json(text: Str<'_>) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| text == *revision.as_str())
    }

    /// The era of the revision.
    #[must_use]
    pub const fn era(self) -> Era {
        match self {
            Revision::V2026_07_28 => Era::Stateless,
            _ => Era::Handshake,
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Revision::V2024_11_05 => 1,
            Revision::V2025_03_26 => 2,
            Revision::V2025_06_18 => 4,
            Revision::V2025_11_25 => 8,
            Revision::V2026_07_28 => 16,
        }
    }
}

impl WriteText for Revision {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(self.as_str());
    }
}

prints!(Revision);

/// A set of revisions.
///
/// ```
/// use mcp_proto::{Revision, Revisions};
/// let two = Revisions::only(Revision::V2025_11_25).with(Revision::V2026_07_28);
/// assert!(two.contains(Revision::V2026_07_28) && !two.contains(Revision::V2024_11_05));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Revisions(u8);

impl Revisions {
    /// The empty set.
    pub const NONE: Revisions = Revisions(0);
    /// All revisions.
    pub const ALL: Revisions = Revisions(31);
    /// The four revisions with a handshake.
    pub const HANDSHAKE: Revisions = Revisions(15);
    /// The revision without a handshake.
    pub const STATELESS: Revisions = Revisions(16);

    /// The set of this revision only.
    #[must_use]
    pub const fn only(revision: Revision) -> Revisions {
        Revisions(revision.bit())
    }

    /// This revision and every later one.
    #[must_use]
    pub const fn since(revision: Revision) -> Revisions {
        Revisions(31 & !(revision.bit().wrapping_sub(1)))
    }

    /// This set with one more revision.
    #[must_use]
    pub const fn with(self, revision: Revision) -> Revisions {
        Revisions(self.0 | revision.bit())
    }

    /// The intersection of both sets.
    #[must_use]
    pub const fn and(self, other: Revisions) -> Revisions {
        Revisions(self.0 & other.0)
    }

    /// Whether the set contains this revision.
    #[must_use]
    pub const fn contains(self, revision: Revision) -> bool {
        self.0 & revision.bit() != 0
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The revisions of the set, newest first, which is the order of preference.
    pub fn newest_first(self) -> impl Iterator<Item = Revision> {
        let mut left = self;
        core::iter::from_fn(move || left.take_latest())
    }

    fn take_latest(&mut self) -> Option<Revision> {
        let latest = Revision::ALL.into_iter().rev().find(|revision| self.contains(*revision))?;
        self.0 &= !latest.bit();
        Some(latest)
    }

    /// The newest revision of the set.
    #[must_use]
    pub fn latest(mut self) -> Option<Revision> {
        self.take_latest()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn revision_parses_exact_name_only() {
        for revision in Revision::ALL {
            assert_eq!(Revision::parse(revision.as_str()), Some(revision));
        }
        for text in ["", "1.0.0", "2025-11", "2025-11-25 ", "2026-07-29", "DRAFT-2026-v1"] {
            assert_eq!(Revision::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn revision_sets_contain_their_members() {
        assert_eq!(Revisions::HANDSHAKE.latest(), Some(Revision::V2025_11_25));
        assert_eq!(Revisions::ALL.latest(), Some(Revision::V2026_07_28));
        assert_eq!(Revisions::ALL.and(Revisions::STATELESS), Revisions::STATELESS);
        assert_eq!(Revisions::HANDSHAKE.and(Revisions::STATELESS).latest(), None);
        for first in Revision::ALL {
            for revision in Revision::ALL {
                assert_eq!(Revisions::since(first).contains(revision), revision >= first);
            }
        }
    }
}
