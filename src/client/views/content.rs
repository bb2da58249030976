//! Pieces of content: what tools, prompts and models say, and how models use tools.

use crate::client::views::{
    Base64, Resource, ResourceContents, ToolResult, list, number, object, text, view,
};
use crate::json::{Decimal, Json, Kind, Str};
use crate::protocol::annotations::Role;

view! {
    /// A piece of content, with what is said about it.
    ///
    /// Specification: *Tools*, *Tool result*; *Prompts*, *PromptMessage*; *Sampling*, *SamplingMessage*.
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
    /// The model wants a tool to be used (sampling).
    ToolUse {
        /// The name of this use, for its result.
        id: Str<'a>,
        /// The tool.
        name: Str<'a>,
        /// Its arguments: an object.
        input: Json<'a>,
    },
    /// What came of that.
    ToolResult {
        /// Which use it is the result of.
        tool_use_id: Str<'a>,
        /// The result.
        result: ToolResult<'a>,
    },
    /// Something else, as the peer wrote it: of a kind that is not known, or without what belongs to its kind.
    Other(Json<'a>),
}

impl<'a> Block<'a> {
    /// What it is.
    #[must_use]
    pub fn content(&self) -> Content<'a> {
        let [kind, text, data, mime] = self.json.pick(["type", "text", "data", "mimeType"]);
        let mime = mime.and_then(Json::string);
        let data = data.and_then(Json::string).map(Base64::new);
        let found = match kind.and_then(Json::string) {
            Some(kind) if kind == "text" => text.and_then(Json::string).map(Content::Text),
            Some(kind) if kind == "image" => data.map(|data| Content::Image { data, mime }),
            Some(kind) if kind == "audio" => data.map(|data| Content::Audio { data, mime }),
            Some(kind) if kind == "resource" => resource(object(self.json, "resource").unwrap_or(self.json)),
            Some(kind) if kind == "resource_link" => link(self.json),
            Some(kind) if kind == "tool_use" => tool_use(self.json),
            Some(kind) if kind == "tool_result" => tool_result(self.json),
            _ => None,
        };
        found.unwrap_or(Content::Other(self.json))
    }

    /// Its text, if it is [text](Content::Text): for those who do not ask for the rest.
    pub(crate) fn text(&self) -> Option<Str<'a>> {
        let [kind, text] = self.json.pick(["type", "text"]);
        let is_text = kind.and_then(Json::string).is_some_and(|kind| kind == "text");
        text.filter(|_| is_text).and_then(Json::string)
    }

    /// The pieces of a member that is one or an array of them.
    pub(crate) fn one_or_many(content: Option<Json<'a>>) -> impl Iterator<Item = Block<'a>> + use<'a> {
        let one = content.filter(|content| content.kind() == Kind::Object);
        content.unwrap_or(Json::NULL).elements().chain(one).map(Block::from_json)
    }

    /// For whom it is, how important, and how old.
    #[must_use]
    pub fn annotations(&self) -> Annotations<'a> {
        Annotations::from_json(self.json.get("annotations").unwrap_or(Json::NULL))
    }
}

/// An embedded resource. Some servers embed one with nothing in it: that is a link.
fn resource(json: Json<'_>) -> Option<Content<'_>> {
    let contents = ResourceContents::from_json(json);
    let is_full = contents.text().is_some() || contents.blob().is_some();
    if is_full { Some(Content::Resource(contents)) } else { link(json) }
}

fn link(json: Json<'_>) -> Option<Content<'_>> {
    let resource = Resource::from_json(json);
    resource.uri().map(|_| Content::Link(resource))
}

fn tool_use(json: Json<'_>) -> Option<Content<'_>> {
    let [id, name, input] = json.pick(["id", "name", "input"]);
    let input = input.filter(|input| input.kind() == Kind::Object).unwrap_or(Json::EMPTY_OBJECT);
    Some(Content::ToolUse { id: id?.string()?, name: name?.string()?, input })
}

fn tool_result(json: Json<'_>) -> Option<Content<'_>> {
    Some(Content::ToolResult { tool_use_id: text(json, "toolUseId")?, result: ToolResult::from_json(json) })
}

view! {
    /// For whom something is, how important, and how old. Servers may leave all of it out.
    ///
    /// Specification: *Resources*, *Annotations*.
    Annotations
}

impl<'a> Annotations<'a> {
    /// For whom it is; none if the server does not say.
    pub fn audience(&self) -> impl Iterator<Item = Role> + use<'a> {
        list(self.json, "audience").filter_map(Role::from_json)
    }

    /// Whether it is for `role`: it is for everybody if the server does not say.
    #[must_use]
    pub fn is_for(&self, role: Role) -> bool {
        self.audience().next().is_none() || self.audience().any(|one| one == role)
    }

    /// How important it is, from 0, which can be left out, to 1, which cannot.
    #[must_use]
    pub fn priority(&self) -> Option<Decimal> {
        number(self.json, "priority")
    }

    /// When it was last changed: a time as ISO 8601 writes it.
    #[must_use]
    pub fn last_modified(&self) -> Option<Str<'a>> {
        text(self.json, "lastModified")
    }
}
