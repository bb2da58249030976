//! Catalog lookup and duplicate detection, shared by features.

use crate::error::{ConfigError, EntryName};
use crate::peer::tasks::options::AutomaticTasks;
use crate::protocol::objects::base_metadata::ListedObject;
use crate::protocol::objects::prompt::Prompt;
use crate::protocol::objects::resource::{Resource, ResourceTemplate};
use crate::protocol::objects::skill;
use crate::protocol::objects::tool::Tool;
use crate::server::config::ServerConfig;
use crate::server::event::MakeEvent;
use crate::server::feature::Feature;
use crate::server::features::extensions::{Extensions, extensions_of, is_experimental};
use crate::server::features::skills::is_skills;

/// The entries of a feature's list. Only a dynamic list refers to the code of its event, so that servers with static
/// lists do not link this code.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Entries<'t, E> {
    /// Empty if the list is dynamic.
    pub(crate) fixed: &'t [E],
    /// The function that makes the event with which the application provides a page. `None` if the list is static.
    pub(crate) event: Option<MakeEvent>,
}

impl<'t, E> Entries<'t, E> {
    pub(crate) const fn fixed(entries: &'t [E]) -> Entries<'t, E> {
        Entries { fixed: entries, event: None }
    }

    pub(crate) const fn dynamic(event: MakeEvent) -> Entries<'t, E> {
        Entries { fixed: &[], event: Some(event) }
    }
}

/// The catalogs that a lookup can search. `Extensions`, `Experimental` and `AutomaticTasks` are not lists: the lookup
/// returns the declaration of a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Catalog {
    Tools,
    Resources,
    Templates,
    Prompts,
    Extensions,
    Experimental,
    AutomaticTasks,
}

/// The result of a catalog lookup.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found<'f> {
    /// The catalog has no such entry.
    Absent,
    /// The list is dynamic, so the entry may exist.
    Dynamic,
    Tool(&'f Tool<'f>),
    Resource(&'f Resource<'f>),
    Template(&'f ResourceTemplate<'f>),
    Prompt(&'f Prompt<'f>),
    Extensions(&'f Extensions<'f>),
    Experimental,
    AutomaticTasks(AutomaticTasks),
}

impl<'f> Found<'f> {
    pub(crate) fn is_absent(self) -> bool {
        matches!(self, Found::Absent)
    }

    /// Returns the key of the entry. The key is empty for a result without a key.
    fn key(self) -> &'f str {
        match self {
            Found::Tool(tool) => tool.key(),
            Found::Resource(resource) => resource.key(),
            Found::Template(template) => template.key(),
            Found::Prompt(prompt) => prompt.key(),
            Found::Absent
            | Found::Dynamic
            | Found::Extensions(_)
            | Found::Experimental
            | Found::AutomaticTasks(_) => "",
        }
    }
}

/// An entry type of the catalogs that the server joins across features.
pub(crate) trait Listed<'f>: ListedObject {
    const CATALOG: Catalog;

    fn from_found(found: Found<'f>) -> Option<&'f Self>;
}

macro_rules! listed {
    ($($entry:ident, $catalog:ident, $found:ident;)*) => {$(
        impl<'f> Listed<'f> for $entry<'f> {
            const CATALOG: Catalog = Catalog::$catalog;

            fn from_found(found: Found<'f>) -> Option<&'f Self> {
                match found {
                    Found::$found(entry) => Some(entry),
                    _ => None,
                }
            }
        }
    )*};
}

listed! {
    Tool, Tools, Tool;
    Resource, Resources, Resource;
    ResourceTemplate, Templates, Template;
    Prompt, Prompts, Prompt;
}

/// Finds the first entry whose key satisfies the predicate. The key is a name, URI or URI template.
pub(crate) fn find<'i>(
    config: &'i ServerConfig<'i>,
    catalog: Catalog,
    matches: &dyn Fn(&str) -> bool,
) -> Found<'i> {
    find_among(config.features, catalog, matches)
}

/// Finds the first entry whose key satisfies the predicate. Returns `None` if there is no such entry, or if the list is
/// dynamic.
pub(crate) fn find_entry<'i, E: Listed<'i>>(
    config: &'i ServerConfig<'i>,
    matches: &dyn Fn(&str) -> bool,
) -> Option<&'i E> {
    E::from_found(find(config, E::CATALOG, matches))
}

fn find_among<'i>(
    features: &'i [&'i dyn Feature],
    catalog: Catalog,
    matches: &dyn Fn(&str) -> bool,
) -> Found<'i> {
    let mut found = features.iter().map(|feature| feature.find(catalog, matches));
    found.find(|found| !found.is_absent()).unwrap_or(Found::Absent)
}

/// Whether the server joins features of one kind, such as two `Tools`, so that their entries form one list. Boards
/// without a heap do not link the code that joins features.
pub(crate) const JOINS: bool = cfg!(feature = "alloc");

/// Returns the entry at an index of the joined catalogs of all features. Returns `None` after the last entry.
#[cfg(feature = "alloc")]
pub(crate) fn entry_at<'i, E: Listed<'i>>(config: &'i ServerConfig<'i>, index: usize) -> Option<&'i E> {
    let mut left = index;
    for feature in config.features {
        match feature.entry(E::CATALOG, left) {
            Ok(found) => return E::from_found(found),
            Err(length) => left = left.wrapping_sub(length),
        }
    }
    None
}

/// Returns `None`, because the server does not join features.
#[cfg(not(feature = "alloc"))]
pub(crate) fn entry_at<'i, E: Listed<'i>>(_: &'i ServerConfig<'i>, _index: usize) -> Option<&'i E> {
    None
}

/// Finds the first feature whose list is dynamic, or has an entry whose key satisfies the predicate. Returns `None` if
/// there is no such feature, or if the server does not join features.
pub(crate) fn owner<'i>(
    config: &'i ServerConfig<'i>,
    catalog: Catalog,
    matches: &dyn Fn(&str) -> bool,
) -> Option<&'i dyn Feature> {
    let mut features = config.features.iter().copied().filter(|_| JOINS);
    features.find(|feature| !feature.find(catalog, matches).is_absent())
}

/// Checks the features that the server joins. No key may occur in two catalogs of one kind. Beside a dynamic list, all
/// other catalogs of this kind must be empty. Two features may declare one extension only with the same settings, and
/// must not have the same filter member. There may be at most one catalog of skills, and at most one feature with
/// experimental capabilities.
pub(crate) fn check_joined(config: &ServerConfig<'_>) -> Result<(), ConfigError> {
    for (index, feature) in config.features.iter().enumerate().filter(|_| JOINS) {
        let earlier = config.features.get(..index).unwrap_or_default();
        if is_skills(*feature) && earlier.iter().any(|other| is_skills(*other)) {
            return Err(ConfigError::RepeatedEntry { name: EntryName::new(skill::EXTENSION) });
        }
        if is_experimental(*feature) && earlier.iter().any(|other| is_experimental(*other)) {
            return Err(ConfigError::RepeatedEntry { name: EntryName::new("experimental") });
        }
        let contradiction =
            |other: &&dyn Feature| extensions_of(*feature)?.contradiction(extensions_of(*other)?);
        if let Some(name) = earlier.iter().find_map(contradiction) {
            return Err(ConfigError::RepeatedEntry { name: EntryName::new(name) });
        }
        for catalog in [Catalog::Tools, Catalog::Resources, Catalog::Templates, Catalog::Prompts] {
            let first = find_among(earlier, catalog, &|_| true);
            if first.is_absent() {
                continue;
            }
            let is_known = |key: &str| !find_among(earlier, catalog, &|known| known == key).is_absent();
            match (first, feature.find(catalog, &is_known)) {
                (_, Found::Absent) => {}
                (Found::Dynamic, _) | (_, Found::Dynamic) => return Err(ConfigError::JoinedDynamicList),
                (_, found) => {
                    return Err(ConfigError::RepeatedEntry { name: EntryName::new(found.key()) });
                }
            }
        }
    }
    Ok(())
}

/// Finds the first entry of a list whose key satisfies the predicate. Returns `Found::Dynamic` if the list is dynamic.
pub(crate) fn find_in<'f, E: ListedObject>(
    entries: &Entries<'f, E>,
    matches: &dyn Fn(&str) -> bool,
    found: fn(&'f E) -> Found<'f>,
) -> Found<'f> {
    match entries.event {
        None => entries.fixed.iter().find(|entry| matches(entry.key())).map_or(Found::Absent, found),
        Some(_) => Found::Dynamic,
    }
}

/// Returns the entry of a list at this index. If there is no such entry, returns the number of entries as the error.
#[cfg(feature = "alloc")]
pub(crate) fn entry_in<'f, E>(
    entries: &Entries<'f, E>,
    index: usize,
    found: fn(&'f E) -> Found<'f>,
) -> Result<Found<'f>, usize> {
    entries.fixed.get(index).map(found).ok_or(entries.fixed.len())
}

/// Returns the index of the first entry that satisfies a condition, in a `const fn`. The condition may use the index.
macro_rules! position {
    ($entries:expr, |$entry:ident, $index:ident| $condition:expr) => {{
        let (mut rest, mut $index, mut found) = ($entries, 0usize, None);
        while let [$entry, tail @ ..] = rest {
            if $condition {
                found = Some($index);
                break;
            }
            (rest, $index) = (tail, $index.wrapping_add(1));
        }
        found
    }};
}

/// Defines a `const fn` that finds a duplicate key.
macro_rules! duplicate_of {
    ($name:ident, $entry:ident, $($key:tt)+) => {
        /// Returns the index of the first entry that repeats an earlier key.
        const fn $name(entries: &[$entry<'_>]) -> Option<usize> {
            use $crate::protocol::objects::const_text::is_same_text;
            use $crate::server::features::catalog::position;

            position!(entries, |entry, index| {
                let key = entry.$($key)+;
                let first = position!(entries, |other, at| at == index || is_same_text(other.$($key)+, key));
                matches!(first, Some(first) if first < index)
            })
        }
    };
}
pub(crate) use {duplicate_of, position};
