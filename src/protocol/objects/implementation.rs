//! Identity of a server or client: `Implementation`, `serverInfo`, `clientInfo`.
//!
//! Specification: *Lifecycle*, *Initialization*; 2026-07-28, *Base protocol*, *`_meta`*.

use crate::json::{Str, Writer};
use crate::protocol::objects::base_metadata::{Names, write_texts};
use crate::protocol::objects::icon::Icons;
use crate::protocol::objects::size;
use crate::protocol::objects::view::{text, view};
use crate::protocol::revision::{Revision, Revisions, WireFeature};

const NAMES: &Names = &[
    ("name", Revisions::ALL),
    ("version", Revisions::ALL),
    ("title", WireFeature::Titles.revisions()),
    ("description", WireFeature::ImplementationDetails.revisions()),
    ("websiteUrl", WireFeature::ImplementationDetails.revisions()),
];

/// The name and version of an implementation, with optional descriptive texts and icons.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Implementation<'i> {
    /// The texts in the order of `NAMES`.
    texts: [Option<&'i str>; 5],
    icons: Icons<'i>,
}

impl<'i> Implementation<'i> {
    pub(crate) const fn new(name: &'i str, version: &'i str) -> Implementation<'i> {
        Implementation { texts: [Some(name), Some(version), None, None, None], icons: Icons::NONE }
    }

    pub(crate) const fn title(mut self, text: &'i str) -> Self {
        let [_, _, title, ..] = &mut self.texts;
        *title = Some(text);
        self
    }

    pub(crate) const fn description(mut self, text: &'i str) -> Self {
        let [.., description, _] = &mut self.texts;
        *description = Some(text);
        self
    }

    pub(crate) const fn website(mut self, url: &'i str) -> Self {
        let [.., website] = &mut self.texts;
        *website = Some(url);
        self
    }

    pub(crate) const fn icons(mut self, icons: Icons<'i>) -> Self {
        self.icons = icons;
        self
    }

    /// Returns the maximum size of the object in any revision, in bytes.
    pub(crate) const fn size(&self) -> usize {
        let [name, version, title, description, website] = self.texts;
        "{}".len()
            .saturating_add(size::text("name", name))
            .saturating_add(size::text("version", version))
            .saturating_add(size::text("title", title))
            .saturating_add(size::text("description", description))
            .saturating_add(size::text("websiteUrl", website))
            .saturating_add(self.icons.size())
    }

    /// Writes the object with the members that the revision defines.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object();
        write_texts(NAMES, &self.texts, revision, out);
        self.icons.write(revision, out);
        out.end_object();
    }
}

view! {
    /// The identity that a server reports. The client does not verify this identity.
    ///
    /// Specification: *Lifecycle*, *Implementation*.
    ImplementationView with base_metadata, icons
}

impl<'a> ImplementationView<'a> {
    /// Returns the version.
    #[must_use]
    pub fn version(&self) -> Option<Str<'a>> {
        text(self.json, "version")
    }

    /// Returns the URL of the server's website.
    #[must_use]
    pub fn website(&self) -> Option<Str<'a>> {
        text(self.json, "websiteUrl")
    }
}
