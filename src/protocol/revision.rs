//! Table of the protocol's revisions and their wire features.
//!
//! To add a revision, add a row to [`Revision`]. The rows of [`WireFeature`] describe the additions and removals of
//! each revision. No other file of this crate names a particular revision in its code, except in tests and examples.

use crate::json::{WriteText, prints};
use crate::protocol::named_values::named_values;

named_values! {
    /// A revision of the protocol. Revisions are ordered from old to new. [`WireFeature`] lists the features of each
    /// revision.
    ///
    /// Specification: every revision, *Versioning*.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[cfg_attr(feature = "defmt", derive(defmt::Format))]
    #[non_exhaustive]
    pub enum Revision {
        /// `2024-11-05`
        V2024_11_05 = "2024-11-05",
        /// `2025-03-26`: batches, audio, tool annotations, progress messages.
        V2025_03_26 = "2025-03-26",
        /// `2025-06-18`: structured results, titles, elicitation.
        V2025_06_18 = "2025-06-18",
        /// `2025-11-25`: icons, URL elicitation, tool errors for invalid arguments.
        V2025_11_25 = "2025-11-25",
        /// `2026-07-28`: no handshake. Every request contains its revision and capabilities.
        V2026_07_28 = "2026-07-28",
    }

    /// All revisions, oldest first.
    pub const ALL;
    pub(crate) fn from_json;
}

/// Defines the features. Each feature has a first revision. A removed feature also has a last revision.
macro_rules! features {
    ($($(#[$doc:meta])* $feature:ident = $first:ident $(..= $last:ident)?,)*) => {
        /// A part of the protocol that some revisions lack.
        ///
        /// ```
        /// use mcp_proto::{Revision, Revisions, WireFeature};
        /// assert!(Revision::V2025_11_25.has(WireFeature::Icons));
        /// assert_eq!(WireFeature::Batches.revisions(), Revisions::only(Revision::V2025_03_26));
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum WireFeature {
            $($(#[$doc])* $feature,)*
        }

        impl WireFeature {
            /// All features, in the order of their first revision.
            pub const ALL: &[WireFeature] = &[$(WireFeature::$feature),*];

            /// Returns the first and the last revision that have the feature.
            #[inline(always)]
            const fn range(self) -> [Revision; 2] {
                match self {
                    $(WireFeature::$feature => [Revision::$first, [$(Revision::$last,)? Revision::LATEST][0]],)*
                }
            }
        }
    };
}

features! {
    /// The handshake `initialize`, its session, and `ping`.
    Handshake = V2024_11_05..=V2025_11_25,
    /// Requests that a server sends to its client as JSON-RPC requests. Later revisions use results instead: see
    /// [`InputRequired`](Self::InputRequired).
    ServerRequests = V2024_11_05..=V2025_11_25,
    /// `resources/subscribe` and `resources/unsubscribe`.
    ResourceSubscriptions = V2024_11_05..=V2025_11_25,
    /// The request `logging/setLevel` for the log level of a session.
    SessionLogLevel = V2024_11_05..=V2025_11_25,
    /// `notifications/roots/list_changed` and its capability.
    RootsListChanged = V2024_11_05..=V2025_11_25,
    /// The error code -32002 for an unknown resource. Other revisions use -32602.
    ResourceNotFoundCode = V2024_11_05..=V2025_11_25,
    /// Several messages in a JSON array.
    Batches = V2025_03_26..=V2025_03_26,
    /// Audio content.
    Audio = V2025_03_26,
    /// Hints about a tool's behavior.
    ToolAnnotations = V2025_03_26,
    /// `message` in progress notifications.
    ProgressMessages = V2025_03_26,
    /// The capability `completions`. The method `completion/complete` is older.
    CompletionsCapability = V2025_03_26,
    /// `title` in base metadata.
    Titles = V2025_06_18,
    /// `_meta` of list entries and content blocks.
    ObjectMeta = V2025_06_18,
    /// `lastModified` in annotations.
    LastModified = V2025_06_18,
    /// Structured results of tools. The value is an object.
    StructuredContent = V2025_06_18,
    /// The schema of a tool's structured results.
    OutputSchemas = V2025_06_18,
    /// Content that links to a resource.
    ResourceLinks = V2025_06_18,
    /// The values of other arguments in a completion request.
    CompletionContext = V2025_06_18,
    /// Requests for user input with forms.
    Elicitation = V2025_06_18,
    /// Icons of implementations and list entries.
    Icons = V2025_11_25,
    /// `description` and `websiteUrl` of implementations.
    ImplementationDetails = V2025_11_25,
    /// The modes of elicitation, in requests and in the capability.
    ElicitationModes = V2025_11_25,
    /// Elicitation with a URL.
    UrlElicitation = V2025_11_25,
    /// Ids of URL elicitations, `notifications/elicitation/complete`, and the error -32042.
    ElicitationIds = V2025_11_25..=V2025_11_25,
    /// Form fields with several values, titled values, and defaults of any type.
    FormChoices = V2025_11_25,
    /// Tools in sampling, and the capabilities for tools and context.
    SamplingTools = V2025_11_25,
    /// Several content blocks in a sampling message.
    SamplingBlocks = V2025_11_25,
    /// Tool results that report invalid arguments. The model can then correct the arguments.
    ArgumentErrorResults = V2025_11_25,
    /// Error responses that omit an unknown `id`. Other revisions write `null`.
    OmittedErrorIds = V2025_11_25,
    /// Tasks as a part of the specification.
    Tasks = V2025_11_25..=V2025_11_25,
    /// The request `server/discover`, and requests with revision and capabilities in `_meta`.
    StatelessRequests = V2026_07_28,
    /// `resultType` and cache hints in results.
    ResultTypes = V2026_07_28,
    /// Results that require input, and requests with input responses.
    InputRequired = V2026_07_28,
    /// `subscriptions/listen`.
    Subscriptions = V2026_07_28,
    /// The log level in the `_meta` of a request.
    RequestLogLevel = V2026_07_28,
    /// The capability `extensions`.
    Extensions = V2026_07_28,
    /// Tasks as an extension.
    TasksExtension = V2026_07_28,
    /// Structured results of any type.
    StructuredValues = V2026_07_28,
    /// The error code -32021 for a missing client capability. Other revisions use -32600.
    MissingCapabilityCode = V2026_07_28,
    /// Empty cursors as valid cursors.
    EmptyCursors = V2026_07_28,
}

impl WireFeature {
    /// Returns the revisions that have the feature.
    #[must_use]
    pub const fn revisions(self) -> Revisions {
        let [first, last] = self.range();
        Revisions::since(first).and(Revisions::until(last))
    }
}

/// The connection model: a handshake with a session, or stateless requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Era {
    /// Sessions that `initialize` opens (up to `2025-11-25`).
    Handshake,
    /// Requests that contain their revision and capabilities (since `2026-07-28`).
    Stateless,
}

impl Revision {
    /// Returns whether the revision has this feature.
    // Always inlined, because the check of a constant feature is at most two comparisons.
    #[must_use]
    #[inline(always)]
    pub const fn has(self, feature: WireFeature) -> bool {
        let [first, last] = feature.range();
        first.position() <= self.position() && self.position() <= last.position()
    }

    /// Returns the revision with exactly this name. Returns `None` for any other text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Revision> {
        Revision::ALL.into_iter().find(|revision| revision.as_str() == text)
    }

    /// Returns the era of the revision.
    #[must_use]
    pub const fn era(self) -> Era {
        if self.has(WireFeature::StatelessRequests) { Era::Stateless } else { Era::Handshake }
    }

    pub(crate) const OLDEST: Revision = {
        let [oldest, ..] = Revision::ALL;
        oldest
    };
    const LATEST: Revision = {
        let [.., latest] = Revision::ALL;
        latest
    };

    /// Returns the index in [`ALL`](Revision::ALL).
    #[inline(always)]
    #[expect(clippy::as_conversions, reason = "the discriminants are the row numbers of the table")]
    pub(crate) const fn position(self) -> u32 {
        self as u32
    }

    const fn bit(self) -> u8 {
        1u8.wrapping_shl(self.position())
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

// A set has eight bits, and `Context` of the server stores a revision's index in three bits.
const _: () = assert!(Revision::ALL.len() <= 8);

impl Revisions {
    /// The empty set.
    pub const NONE: Revisions = Revisions(0);
    /// All revisions.
    pub const ALL: Revisions = Revisions::until(Revision::LATEST);
    /// The revisions with a handshake.
    pub const HANDSHAKE: Revisions = WireFeature::Handshake.revisions();
    /// The revisions without a handshake.
    pub const STATELESS: Revisions = WireFeature::StatelessRequests.revisions();

    /// Returns the set that contains only this revision.
    #[must_use]
    pub const fn only(revision: Revision) -> Revisions {
        Revisions(revision.bit())
    }

    /// Returns this revision and every later revision.
    #[must_use]
    pub const fn since(revision: Revision) -> Revisions {
        Revisions(Revisions::ALL.0 & !revision.bit().wrapping_sub(1))
    }

    /// Returns this revision and every earlier revision.
    #[must_use]
    pub const fn until(revision: Revision) -> Revisions {
        Revisions(revision.bit() | revision.bit().wrapping_sub(1))
    }

    /// Returns this set with an additional revision.
    #[must_use]
    pub const fn with(self, revision: Revision) -> Revisions {
        Revisions(self.0 | revision.bit())
    }

    /// Returns the union of both sets.
    pub(crate) const fn or(self, other: Revisions) -> Revisions {
        Revisions(self.0 | other.0)
    }

    /// Returns the intersection of both sets.
    #[must_use]
    pub const fn and(self, other: Revisions) -> Revisions {
        Revisions(self.0 & other.0)
    }

    /// Returns whether the set contains this revision.
    #[must_use]
    pub const fn contains(self, revision: Revision) -> bool {
        self.0 & revision.bit() != 0
    }

    /// Returns whether both sets have a revision in common.
    #[must_use]
    pub const fn intersects(self, other: Revisions) -> bool {
        self.0 & other.0 != 0
    }

    /// Returns whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the revisions of the set, starting with the newest.
    pub fn newest_first(self) -> impl Iterator<Item = Revision> {
        let mut left = self;
        core::iter::from_fn(move || left.take_latest())
    }

    fn take_latest(&mut self) -> Option<Revision> {
        let latest = *Revision::ALL.iter().rev().find(|revision| self.contains(**revision))?;
        self.0 &= !latest.bit();
        Some(latest)
    }

    /// Returns the newest revision of the set, or `None` if the set is empty.
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
        assert_eq!(Revisions::ALL.latest(), Revision::ALL.into_iter().last());
        assert_eq!(Revisions::ALL.and(Revisions::STATELESS), Revisions::STATELESS);
        assert_eq!(Revisions::HANDSHAKE.and(Revisions::STATELESS).latest(), None);
        for first in Revision::ALL {
            for revision in Revision::ALL {
                assert_eq!(Revisions::since(first).contains(revision), revision >= first);
                assert_eq!(Revisions::until(first).contains(revision), revision <= first);
            }
        }
    }

    #[test]
    fn features_are_sorted_by_first_revision() {
        let first = |feature: &WireFeature| Revision::ALL.into_iter().find(|it| it.has(*feature)).unwrap();
        assert!(WireFeature::ALL.is_sorted_by_key(first));
    }

    #[test]
    fn each_revision_has_a_handshake_or_stateless_requests() {
        for revision in Revision::ALL {
            assert_ne!(revision.has(WireFeature::Handshake), revision.has(WireFeature::StatelessRequests));
        }
    }
}
