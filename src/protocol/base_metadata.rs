//! Base metadata of tools, resources, templates and prompts: name, title, description, icons.

use crate::json::{Json, Kind, ScanError, Writer};
use crate::protocol::icon::Icons;
use crate::protocol::implementation::{Names, write_texts};
use crate::protocol::revision::{Revision, Revisions, WireFeature};

/// The base metadata of a list entry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Details<'t> {
    /// The texts in the order of `NAMES`.
    texts: [Option<&'t str>; 3],
    pub(crate) icons: Icons<'t>,
    /// The JSON text of an object.
    pub(crate) meta: Option<&'t str>,
}

const NAMES: &Names =
    &[("name", Revisions::ALL), ("title", WireFeature::Titles.revisions()), ("description", Revisions::ALL)];

impl<'t> Details<'t> {
    pub(crate) const fn new(name: &'t str) -> Details<'t> {
        Details { texts: [Some(name), None, None], icons: Icons::NONE, meta: None }
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

    pub(crate) const fn set_description(&mut self, text: &'t str) {
        let [.., description] = &mut self.texts;
        *description = Some(text);
    }

    /// Writes the members that the revision has. The caller has checked that `_meta` is an object.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        write_texts(NAMES, &self.texts, revision, out);
        self.icons.write(revision, out);
        if revision.has(WireFeature::ObjectMeta) {
            write_raw("_meta", self.meta, out);
        }
    }
}

/// JSON texts of the application, each of which must be an object.
pub(crate) type Objects<'t> = [Option<&'t str>; 3];

/// Finds the first text that is not an object. Returns `Some(Some(error))` if it is invalid JSON, `Some(None)` if it is
/// another value, and `None` if all texts are objects.
pub(crate) fn not_an_object(texts: Objects<'_>) -> Option<Option<ScanError>> {
    texts.into_iter().flatten().find_map(|text| match Json::parse(text.as_bytes()) {
        Ok(value) => (value.kind() != Kind::Object).then_some(None),
        Err(error) => Some(Some(error)),
    })
}

/// Writes a member with raw JSON text of the application, if there is one.
pub(crate) fn write_raw(key: &str, text: Option<&str>, out: &mut Writer<'_>) {
    if let Some(text) = text {
        out.key(key);
        out.json(Json::trusted(text.as_bytes()));
    }
}

/// Adds the builder methods that every list entry has.
macro_rules! details {
    ($entry:ident) => {
        impl<'t> $entry<'t> {
            /// Sets the title, a human-readable name (from `2025-06-18` on).
            #[must_use]
            pub const fn title(mut self, title: &'t str) -> Self {
                self.details.set_title(title);
                self
            }

            /// Sets the description for the model.
            #[must_use]
            pub const fn description(mut self, text: &'t str) -> Self {
                self.details.set_description(text);
                self
            }

            /// Sets the icons (from `2025-11-25` on).
            #[must_use]
            pub const fn icons(mut self, icons: &'t [$crate::Icon<'t>]) -> Self {
                self.details.icons = $crate::protocol::icon::Icons::new(icons);
                self
            }

            /// Sets `_meta`, the JSON text of an object (from `2025-06-18` on).
            #[must_use]
            pub const fn meta(mut self, json: &'t str) -> Self {
                self.details.meta = Some(json);
                self
            }

            /// The name.
            #[must_use]
            pub const fn name(&self) -> &'t str {
                self.details.name()
            }
        }
    };
}
pub(crate) use details;
