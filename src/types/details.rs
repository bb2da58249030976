//! What tools, resources, templates and prompts all say about themselves.

use crate::json::{ScanError, Writer};
use crate::types::icon::Icons;
use crate::version::Revision;

/// The name of an entry of a list, and what people and models read about it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Details<'t> {
    pub(crate) name: &'t str,
    pub(crate) title: Option<&'t str>,
    pub(crate) description: Option<&'t str>,
    pub(crate) icons: Icons<'t>,
    /// An object, as JSON text.
    pub(crate) meta: Option<&'t str>,
}

impl<'t> Details<'t> {
    pub(crate) const fn new(name: &'t str) -> Details<'t> {
        Details { name, title: None, description: None, icons: Icons::NONE, meta: None }
    }

    /// The members that the revision has. An error: `_meta` is not valid JSON.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) -> Result<(), ScanError> {
        let named = revision >= Revision::V2025_06_18;
        out.field_string("name", self.name);
        out.field_optional("title", self.title.filter(|_| named));
        out.field_optional("description", self.description);
        self.icons.write(revision, out);
        match self.meta.filter(|_| named) {
            Some(meta) => {
                out.key("_meta");
                out.raw(meta)
            }
            None => Ok(()),
        }
    }
}

/// The builders that every entry has.
macro_rules! details {
    ($entry:ident) => {
        impl<'t> $entry<'t> {
            /// A name for people (from `2025-06-18` on).
            #[must_use]
            pub const fn title(mut self, title: &'t str) -> Self {
                self.details.title = Some(title);
                self
            }

            /// What it is, for the model.
            #[must_use]
            pub const fn description(mut self, text: &'t str) -> Self {
                self.details.description = Some(text);
                self
            }

            /// Images to show beside it (from `2025-11-25` on).
            #[must_use]
            pub const fn icons(mut self, icons: &'t [$crate::Icon<'t>]) -> Self {
                self.details.icons = $crate::types::icon::Icons::new(icons);
                self
            }

            /// Its `_meta`: an object, as JSON text (from `2025-06-18` on).
            #[must_use]
            pub const fn meta(mut self, json: &'t str) -> Self {
                self.details.meta = Some(json);
                self
            }

            /// Its name.
            #[must_use]
            pub const fn name(&self) -> &'t str {
                self.details.name
            }
        }
    };
}
pub(crate) use details;
