//! Views of implementation metadata and icons.

use crate::client::views::{entries, list, named, text, view};
use crate::json::{Json, Str};

view! {
    /// A server's description of itself, which is not verified.
    ///
    /// Specification: *Lifecycle*, *Implementation*.
    ImplementationView
}

named!(ImplementationView, "The programmatic name.", "The description.");

impl<'a> ImplementationView<'a> {
    /// The version.
    #[must_use]
    pub fn version(&self) -> Option<Str<'a>> {
        text(self.json, "version")
    }

    /// The URL of its website.
    #[must_use]
    pub fn website(&self) -> Option<Str<'a>> {
        text(self.json, "websiteUrl")
    }

    /// The icons.
    pub fn icons(&self) -> impl Iterator<Item = IconView<'a>> + use<'a> {
        icons(self.json)
    }
}

view! {
    /// An icon. The server chooses its URI, so check it before fetching.
    ///
    /// Specification: *Icons*.
    IconView
}

impl<'a> IconView<'a> {
    /// The URI of the image: an `https` or a `data` URI.
    #[must_use]
    pub fn source(&self) -> Option<Str<'a>> {
        text(self.json, "src")
    }

    /// The MIME type.
    #[must_use]
    pub fn mime(&self) -> Option<Str<'a>> {
        text(self.json, "mimeType")
    }

    /// The intended sizes: `48x48`, or `any`.
    pub fn sizes(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.json, "sizes").filter_map(Json::string)
    }

    /// The intended theme: `light` or `dark`.
    #[must_use]
    pub fn theme(&self) -> Option<Str<'a>> {
        text(self.json, "theme")
    }
}

pub(super) fn icons<'a>(json: Json<'a>) -> impl Iterator<Item = IconView<'a>> + use<'a> {
    entries(json, "icons").map(IconView::from_json)
}
