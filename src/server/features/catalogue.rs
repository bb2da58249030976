//! What all catalogues have in common: no two entries of the same name, and looking for one.

use crate::protocol::resource::{Resource, Template};
use crate::server::config::ServerConfig;
use crate::server::features::prompts::Prompt;
use crate::server::features::tools::Tool;

/// Which catalogue to look in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Catalogue {
    Tools,
    Resources,
    Templates,
    Prompts,
}

/// What a feature knows of an entry.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found<'f> {
    /// It is not in that catalogue.
    Nothing,
    /// The catalogue is the host's: it may be there.
    Perhaps,
    Tool(&'f Tool<'f>),
    Resource(&'f Resource<'f>),
    Template(&'f Template<'f>),
    Prompt(&'f Prompt<'f>),
}

impl Found<'_> {
    pub(crate) fn is_nothing(self) -> bool {
        matches!(self, Found::Nothing)
    }
}

/// What the server's features know of an entry whose key `is` accepts: its name, its URI or its URI template.
pub(crate) fn find<'i>(
    info: &'i ServerConfig<'i>,
    catalogue: Catalogue,
    is: &dyn Fn(&str) -> bool,
) -> Found<'i> {
    let mut found = info.features.iter().map(|feature| feature.find(catalogue, is));
    found.find(|found| !found.is_nothing()).unwrap_or(Found::Nothing)
}

/// Whether two names are the same. (`==` is not for constants.)
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

/// A constant function that tells which entry has the key of an earlier one.
macro_rules! duplicate_of {
    ($name:ident, $entry:ident, $($key:tt)+) => {
        /// The first entry that has the key of an earlier one.
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
