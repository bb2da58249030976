//! Base metadata of list entries: name, title, description, icons and `_meta`.

use crate::json::Writer;
use crate::protocol::objects::application_json::{Objects, write_raw};
use crate::protocol::objects::icon::Icons;
use crate::protocol::objects::size;
use crate::protocol::revision::{Revision, Revisions, WireFeature};

/// The names of text members, and the revisions that define each member.
pub(crate) type Names = [(&'static str, Revisions)];

/// Writes the text members that the revision defines.
pub(crate) fn write_texts(names: &Names, texts: &[Option<&str>], revision: Revision, out: &mut Writer<'_>) {
    for ((name, revisions), text) in names.iter().zip(texts) {
        if revisions.contains(revision) {
            out.field_optional(name, *text);
        }
    }
}

/// An entry of a list: a tool, resource, resource template or prompt.
pub(crate) trait ListedObject {
    /// Name of the result member that contains the list.
    const LIST: &'static str;

    /// Returns the key of the entry: a name, URI or URI template.
    fn key(&self) -> &str;

    /// Returns the application's JSON texts, which must be objects.
    fn objects(&self) -> Objects<'_>;

    /// Writes the entry with the members that the revision defines.
    fn write(&self, revision: Revision, out: &mut Writer<'_>);
}

/// The base metadata of a list entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BaseMetadata<'t> {
    /// The texts in the order of `NAMES`.
    texts: [Option<&'t str>; 3],
    pub(crate) icons: Icons<'t>,
    /// The JSON text of an object.
    pub(crate) meta: Option<&'t str>,
}

const NAMES: &Names =
    &[("name", Revisions::ALL), ("title", WireFeature::Titles.revisions()), ("description", Revisions::ALL)];

impl<'t> BaseMetadata<'t> {
    pub(crate) const fn new(name: &'t str) -> BaseMetadata<'t> {
        BaseMetadata { texts: [Some(name), None, None], icons: Icons::NONE, meta: None }
    }

    pub(crate) const fn name(&self) -> &'t str {
        match self.texts {
            [Some(name), ..] => name,
            _ => "",
        }
    }

    pub(crate) const fn title(&self) -> Option<&'t str> {
        let [_, title, _] = self.texts;
        title
    }

    pub(crate) const fn set_title(&mut self, text: &'t str) {
        let [_, title, _] = &mut self.texts;
        *title = Some(text);
    }

    #[cfg(all(feature = "derive", feature = "std"))]
    pub(crate) fn has_description(&self) -> bool {
        let [.., description] = self.texts;
        description.is_some()
    }

    pub(crate) const fn set_description(&mut self, text: &'t str) {
        let [.., description] = &mut self.texts;
        *description = Some(text);
    }

    /// Returns the maximum size of the members in any revision, in bytes.
    pub(crate) const fn size(&self) -> usize {
        let [name, title, description] = self.texts;
        size::text("name", name)
            .saturating_add(size::text("title", title))
            .saturating_add(size::text("description", description))
            .saturating_add(self.icons.size())
            .saturating_add(size::raw("_meta", self.meta))
    }

    /// Writes the members that the revision defines. The caller must check that `_meta` is an object.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        write_texts(NAMES, &self.texts, revision, out);
        self.icons.write(revision, out);
        if revision.has(WireFeature::ObjectMeta) {
            write_raw("_meta", self.meta, out);
        }
    }
}

/// Adds the common builder methods and `name` to a list entry.
macro_rules! base_metadata {
    ($entry:ident) => {
        impl<'t> $entry<'t> {
            /// Sets the title, a human-readable name (from `2025-06-18` on).
            #[must_use]
            pub const fn title(mut self, title: &'t str) -> Self {
                self.base.set_title(title);
                self
            }

            /// Sets the description for the model.
            #[must_use]
            pub const fn description(mut self, text: &'t str) -> Self {
                self.base.set_description(text);
                self
            }

            /// Sets the icons (from `2025-11-25` on).
            #[must_use]
            pub const fn icons(mut self, icons: &'t [$crate::Icon<'t>]) -> Self {
                self.base.icons = $crate::protocol::objects::icon::Icons::new(icons);
                self
            }

            /// Sets `_meta`, the JSON text of an object (from `2025-06-18` on).
            #[must_use]
            pub const fn meta(mut self, json: &'t str) -> Self {
                self.base.meta = Some(json);
                self
            }

            /// Returns the name.
            #[must_use]
            pub const fn name(&self) -> &'t str {
                self.base.name()
            }
        }
    };
}
pub(crate) use base_metadata;
