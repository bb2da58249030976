//! Views of resources, templates and their contents.

use crate::client::views::implementation::icons;
use crate::client::views::{AnnotationsView, Base64, Freshness, IconView, entries, named, text, view};
use crate::json::{Json, Str};

view! {
    /// A resource, as the server describes it: a list entry or a link in content.
    ///
    /// Specification: *Resources*, *Resource*.
    ResourceView with meta
}

view! {
    /// A resource template, as the server describes it.
    ///
    /// Specification: *Resources*, *Resource templates*.
    ResourceTemplateView with meta
}

/// Adds the common getters of resources and templates.
macro_rules! entry {
    ($name:ident) => {
        named!($name, "The programmatic name.", "The description.");

        impl<'a> $name<'a> {
            /// The MIME type.
            #[must_use]
            pub fn mime(&self) -> Option<Str<'a>> {
                text(self.json, "mimeType")
            }

            /// The annotations: audience, priority and age.
            #[must_use]
            pub fn annotations(&self) -> AnnotationsView<'a> {
                AnnotationsView::from_json(self.json.get("annotations").unwrap_or(Json::NULL))
            }

            /// The icons.
            pub fn icons(&self) -> impl Iterator<Item = IconView<'a>> + use<'a> {
                icons(self.json)
            }
        }
    };
}

entry!(ResourceView);
entry!(ResourceTemplateView);

impl<'a> ResourceView<'a> {
    /// The URI, which [`Client::read_resource`](crate::Client::read_resource) takes.
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }

    /// The size in bytes, before any encoding.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.json.get("size")?.unsigned()
    }
}

impl<'a> ResourceTemplateView<'a> {
    /// The URI template (RFC 6570).
    #[must_use]
    pub fn uri_template(&self) -> Option<Str<'a>> {
        text(self.json, "uriTemplate")
    }
}

view! {
    /// The contents of a resource, or of one part of it: text or binary data.
    ///
    /// Specification: *Resources*, *Resource contents*.
    ResourceContentsView with meta
}

impl<'a> ResourceContentsView<'a> {
    /// The URI of the resource, or of a part of the requested one.
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }

    /// The MIME type.
    #[must_use]
    pub fn mime(&self) -> Option<Str<'a>> {
        text(self.json, "mimeType")
    }

    /// The text, unless the contents are binary.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        text(self.json, "text")
    }

    /// The binary data, unless the contents are text.
    #[must_use]
    pub fn blob(&self) -> Option<Base64<'a>> {
        text(self.json, "blob").map(Base64::new)
    }
}

view! {
    /// The result of `resources/read`.
    ///
    /// Specification: *Resources*, *Reading resources*.
    ReadResultView with meta
}

impl<'a> ReadResultView<'a> {
    /// The contents, part by part. A directory, for example, has several parts.
    pub fn contents(&self) -> impl Iterator<Item = ResourceContentsView<'a>> + use<'a> {
        entries(self.json, "contents").map(ResourceContentsView::from_json)
    }

    /// The first part that is text.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        self.contents().find_map(|contents| contents.text())
    }

    /// How long the application may cache the result.
    #[must_use]
    pub fn freshness(&self) -> Freshness {
        Freshness::from_json(self.json)
    }
}
