//! What is meant for people to look at: who somebody is, and icons.

use crate::client::views::{entries, list, named, text, view};
use crate::json::{Json, Str};

view! {
    /// Who a server says it is. Not to be trusted.
    ///
    /// Specification: *Lifecycle*, *Implementation*.
    Implementation
}

named!(Implementation, "Its name, for programs.", "What it is for.");

impl<'a> Implementation<'a> {
    /// Its version.
    #[must_use]
    pub fn version(&self) -> Option<Str<'a>> {
        text(self.json, "version")
    }

    /// Where to read about it.
    #[must_use]
    pub fn website(&self) -> Option<Str<'a>> {
        text(self.json, "websiteUrl")
    }

    /// Its icons.
    pub fn icons(&self) -> impl Iterator<Item = Icon<'a>> + use<'a> {
        icons(self.json)
    }
}

view! {
    /// An icon. Where it comes from is the server's choice, so look before you fetch.
    ///
    /// Specification: *Icons*.
    Icon
}

impl<'a> Icon<'a> {
    /// Where it is: an `https` or a `data` URI.
    #[must_use]
    pub fn source(&self) -> Option<Str<'a>> {
        text(self.json, "src")
    }

    /// Its MIME type.
    #[must_use]
    pub fn mime(&self) -> Option<Str<'a>> {
        text(self.json, "mimeType")
    }

    /// The sizes that it is meant for: `48x48`, or `any`.
    pub fn sizes(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.json, "sizes").filter_map(Json::string)
    }

    /// The background that it is meant for: `light` or `dark`.
    #[must_use]
    pub fn theme(&self) -> Option<Str<'a>> {
        text(self.json, "theme")
    }
}

pub(super) fn icons<'a>(json: Json<'a>) -> impl Iterator<Item = Icon<'a>> + use<'a> {
    entries(json, "icons").map(Icon::from_json)
}
