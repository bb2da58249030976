//! Catalogue lookup and duplicate detection, shared by features.

use crate::protocol::objects::base_metadata::ListedObject;
use crate::protocol::objects::prompt::Prompt;
use crate::protocol::objects::resource::{Resource, ResourceTemplate};
use crate::protocol::objects::tool::Tool;
use crate::server::config::ServerConfig;
use crate::server::features::extensions::Extensions;

/// The catalogues that a lookup can search. The catalogue of extensions has one entry per feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Catalogue {
    Tools,
    Resources,
    Templates,
    Prompts,
    Extensions,
}

/// The result of a catalogue lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found<'f> {
    /// The catalogue has no such entry.
    Absent,
    /// The list is dynamic, so the entry may exist.
    Dynamic,
    Tool(&'f Tool<'f>),
    Resource(&'f Resource<'f>),
    Template(&'f ResourceTemplate<'f>),
    Prompt(&'f Prompt<'f>),
    Extensions(&'f Extensions<'f>),
}

impl Found<'_> {
    pub(crate) fn is_absent(self) -> bool {
        matches!(self, Found::Absent)
    }
}

/// Finds the entry with a key that `is` accepts. The key is a name, URI or URI template.
pub(crate) fn find<'i>(
    config: &'i ServerConfig<'i>,
    catalogue: Catalogue,
    is: &dyn Fn(&str) -> bool,
) -> Found<'i> {
    let mut found = config.features.iter().map(|feature| feature.find(catalogue, is));
    found.find(|found| !found.is_absent()).unwrap_or(Found::Absent)
}

/// Finds the entry of a catalogue with a key that `is` accepts. A catalogue of `None` is a dynamic list.
pub(crate) fn find_in<'f, E: ListedObject>(
    catalogue: Option<&'f [E]>,
    is: &dyn Fn(&str) -> bool,
    found: fn(&'f E) -> Found<'f>,
) -> Found<'f> {
    match catalogue {
        Some(entries) => entries.iter().find(|entry| is(entry.key())).map_or(Found::Absent, found),
        None => Found::Dynamic,
    }
}

/// Whether two strings are equal. The operator `==` is not `const`.
pub(crate) const fn same(left: &str, right: &str) -> bool {
    let (mut left, mut right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    while let ([first, left_tail @ ..], [second, right_tail @ ..]) = (left, right) {
        if *first != *second {
            return false;
        }
        (left, right) = (left_tail, right_tail);
    }
    true
}

/// Defines a `const fn` that finds a duplicate key.
macro_rules! duplicate_of {
    ($name:ident, $entry:ident, $($key:tt)+) => {
        /// Returns the index of the first entry that repeats an earlier key.
        const fn $name(entries: &[$entry<'_>]) -> Option<usize> {
            let (mut rest, mut index) = (entries, 0usize);
            while let [entry, tail @ ..] = rest {
                rest = tail;
                let mut earlier = entries;
                let mut other = 0usize;
                while let [before, tail @ ..] = earlier
                    && other < index
                {
                    if $crate::server::features::catalogue::same(before.$($key)+, entry.$($key)+) {
                        return Some(index);
                    }
                    earlier = tail;
                    other = other.wrapping_add(1);
                }
                index = index.wrapping_add(1);
            }
            None
        }
    };
}
pub(crate) use duplicate_of;
