//! Resources: what there is, and what is in them.

use crate::client::views::implementation::icons;
use crate::client::views::{Annotations, Base64, Freshness, Icon, entries, named, text, view};
use crate::json::{Json, Str};

view! {
    /// A resource, as the server describes it: an entry of the list, or a link in some content.
    ///
    /// Specification: *Resources*, *Resource*.
    Resource with meta
}

view! {
    /// A family of resources, as the server describes it.
    ///
    /// Specification: *Resources*, *Resource templates*.
    ResourceTemplate with meta
}

/// What an entry of either list has.
macro_rules! entry {
    ($name:ident) => {
        named!($name, "Its name, for programs.", "What it is.");

        impl<'a> $name<'a> {
            /// Its MIME type.
            #[must_use]
            pub fn mime(&self) -> Option<Str<'a>> {
                text(self.json, "mimeType")
            }

            /// For whom it is, how important, and how old.
            #[must_use]
            pub fn annotations(&self) -> Annotations<'a> {
                Annotations::from_json(self.json.get("annotations").unwrap_or(Json::NULL))
            }

            /// Its icons.
            pub fn icons(&self) -> impl Iterator<Item = Icon<'a>> + use<'a> {
                icons(self.json)
            }
        }
    };
}

entry!(Resource);
entry!(ResourceTemplate);

impl<'a> Resource<'a> {
    /// Where it is: what [`Client::read_resource`](crate::Client::read_resource) takes.
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }

    /// How large it is, in bytes, before any encoding.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.json.get("size")?.unsigned()
    }
}

impl<'a> ResourceTemplate<'a> {
    /// The URIs of the family: a template of RFC 6570.
    #[must_use]
    pub fn uri_template(&self) -> Option<Str<'a>> {
        text(self.json, "uriTemplate")
    }
}

view! {
    /// What is in a resource, or in one part of it: text or bytes.
    ///
    /// Specification: *Resources*, *Resource contents*.
    ResourceContents with meta
}

impl<'a> ResourceContents<'a> {
    /// Which resource it is, or which part of the one that was asked for.
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }

    /// Its MIME type.
    #[must_use]
    pub fn mime(&self) -> Option<Str<'a>> {
        text(self.json, "mimeType")
    }

    /// The text, if it is text.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        text(self.json, "text")
    }

    /// The bytes, if it is not.
    #[must_use]
    pub fn blob(&self) -> Option<Base64<'a>> {
        text(self.json, "blob").map(Base64::new)
    }
}

view! {
    /// What `resources/read` has answered.
    ///
    /// Specification: *Resources*, *Reading resources*.
    ReadResult with meta
}

impl<'a> ReadResult<'a> {
    /// What is in the resource, part by part: more than one for a folder, say.
    pub fn contents(&self) -> impl Iterator<Item = ResourceContents<'a>> + use<'a> {
        entries(self.json, "contents").map(ResourceContents::from_json)
    }

    /// The first part that is text.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        self.contents().find_map(|contents| contents.text())
    }

    /// How long it may be kept.
    #[must_use]
    pub fn freshness(&self) -> Freshness {
        Freshness::from_json(self.json)
    }
}
