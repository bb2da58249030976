//! Pieces of content: what tools, prompts and models say.

use super::{Base64, Resource, ResourceContents, list, object, text, view};
use crate::json::{Decimal, Json, Str};

view! {
    /// A piece of content, with what is said about it.
    ///
    /// Specification: *Tools*, *Tool result*; *Prompts*, *PromptMessage*.
    Block with meta
}

/// What a piece of content is.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Content<'a> {
    /// Text.
    Text(Str<'a>),
    /// A picture.
    Image {
        /// Its bytes.
        data: Base64<'a>,
        /// Its MIME type.
        mime: Option<Str<'a>>,
    },
    /// A sound.
    Audio {
        /// Its bytes.
        data: Base64<'a>,
        /// Its MIME type.
        mime: Option<Str<'a>>,
    },
    /// A resource, with what is in it.
    Resource(ResourceContents<'a>),
    /// A resource that can be read.
    Link(Resource<'a>),
    /// Something else, as the server wrote it: of a kind that is not known, or without what belongs to its kind.
    Other(Json<'a>),
}

impl<'a> Block<'a> {
    /// What it is.
    #[must_use]
    pub fn content(&self) -> Content<'a> {
        let [kind, text, data, mime] = self.json.pick(["type", "text", "data", "mimeType"]);
        let mime = mime.and_then(Json::string);
        let data = data.and_then(Json::string).map(Base64::of);
        let found = match kind.and_then(Json::string) {
            Some(kind) if kind == "text" => text.and_then(Json::string).map(Content::Text),
            Some(kind) if kind == "image" => data.map(|data| Content::Image { data, mime }),
            Some(kind) if kind == "audio" => data.map(|data| Content::Audio { data, mime }),
            Some(kind) if kind == "resource" => resource(object(self.json, "resource").unwrap_or(self.json)),
            Some(kind) if kind == "resource_link" => link(self.json),
            _ => None,
        };
        found.unwrap_or(Content::Other(self.json))
    }

    /// For whom it is, how important, and how old.
    #[must_use]
    pub fn annotations(&self) -> Annotations<'a> {
        Annotations::of(self.json.get("annotations").unwrap_or(Json::NULL))
    }
}

/// An embedded resource. Some servers embed one with nothing in it: that is a link.
fn resource(json: Json<'_>) -> Option<Content<'_>> {
    let contents = ResourceContents::of(json);
    let is_full = contents.text().is_some() || contents.blob().is_some();
    if is_full { Some(Content::Resource(contents)) } else { link(json) }
}

fn link(json: Json<'_>) -> Option<Content<'_>> {
    let resource = Resource::of(json);
    resource.uri().map(|_| Content::Link(resource))
}

view! {
    /// For whom something is, how important, and how old. Servers may leave all of it out.
    ///
    /// Specification: *Resources*, *Annotations*.
    Annotations
}

/// On which side of a conversation somebody is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
}

impl Role {
    /// The name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Role::User => "user",
            Role::Assistant => "assistant",
        }
    }

    pub(crate) fn of(json: Json<'_>) -> Option<Role> {
        let text = json.string()?;
        [Role::User, Role::Assistant].into_iter().find(|role| text == role.as_str())
    }
}

impl<'a> Annotations<'a> {
    /// For whom it is; none if the server does not say.
    pub fn audience(&self) -> impl Iterator<Item = Role> + use<'a> {
        list(self.json, "audience").filter_map(Role::of)
    }

    /// Whether it is for `role`: it is for everybody if the server does not say.
    #[must_use]
    pub fn is_for(&self, role: Role) -> bool {
        self.audience().next().is_none() || self.audience().any(|one| one == role)
    }

    /// How important it is, from 0, which can be left out, to 1, which cannot.
    #[must_use]
    pub fn priority(&self) -> Option<Decimal> {
        Decimal::parse(self.json.get("priority")?.number()?)
    }

    /// When it was last changed: a time as ISO 8601 writes it.
    #[must_use]
    pub fn last_modified(&self) -> Option<Str<'a>> {
        text(self.json, "lastModified")
    }
}
