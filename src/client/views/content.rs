//! Views of content blocks and annotations.

use crate::client::views::{
    Base64, ResourceContentsView, ResourceView, ToolResultView, list, number, object, text, view,
};
use crate::json::{Decimal, Json, Kind, Str};
use crate::protocol::annotations::Role;

view! {
    /// A content block with its annotations and metadata.
    ///
    /// Specification: *Tools*, *Tool result*; *Prompts*, *PromptMessage*; *Sampling*, *SamplingMessage*.
    BlockView with meta
}

/// The content of a block, by type.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum ContentView<'a> {
    /// Text.
    Text(Str<'a>),
    /// An image.
    Image {
        /// The binary data.
        data: Base64<'a>,
        /// The MIME type.
        mime: Option<Str<'a>>,
    },
    /// Audio.
    Audio {
        /// The binary data.
        data: Base64<'a>,
        /// The MIME type.
        mime: Option<Str<'a>>,
    },
    /// An embedded resource with its contents.
    Resource(ResourceContentsView<'a>),
    /// A link to a resource.
    Link(ResourceView<'a>),
    /// A tool use that the model requests (sampling).
    ToolUse {
        /// The id of this use, which its result refers to.
        id: Str<'a>,
        /// The name of the tool.
        name: Str<'a>,
        /// The arguments, an object.
        input: Json<'a>,
    },
    /// The result of a tool use (sampling).
    ToolResult {
        /// The id of the tool use.
        tool_use_id: Str<'a>,
        /// The result.
        result: ToolResultView<'a>,
    },
    /// Any other block, as raw JSON: its type is unknown, or a required member is missing.
    Other(Json<'a>),
}

impl<'a> BlockView<'a> {
    /// The content, by type.
    #[must_use]
    pub fn content(&self) -> ContentView<'a> {
        let [kind, text, data, mime] = self.json.pick(["type", "text", "data", "mimeType"]);
        let mime = mime.and_then(Json::string);
        let data = data.and_then(Json::string).map(Base64::new);
        let found = match kind.and_then(Json::string) {
            Some(kind) if kind == "text" => text.and_then(Json::string).map(ContentView::Text),
            Some(kind) if kind == "image" => data.map(|data| ContentView::Image { data, mime }),
            Some(kind) if kind == "audio" => data.map(|data| ContentView::Audio { data, mime }),
            Some(kind) if kind == "resource" => resource(object(self.json, "resource").unwrap_or(self.json)),
            Some(kind) if kind == "resource_link" => link(self.json),
            Some(kind) if kind == "tool_use" => tool_use(self.json),
            Some(kind) if kind == "tool_result" => tool_result(self.json),
            _ => None,
        };
        found.unwrap_or(ContentView::Other(self.json))
    }

    /// The text of a [text](ContentView::Text) block. Cheaper than `content`, because it reads two members only.
    pub(crate) fn text(&self) -> Option<Str<'a>> {
        let [kind, text] = self.json.pick(["type", "text"]);
        let is_text = kind.and_then(Json::string).is_some_and(|kind| kind == "text");
        text.filter(|_| is_text).and_then(Json::string)
    }

    /// The blocks of a member that is a single block or an array of blocks.
    pub(crate) fn one_or_many(content: Option<Json<'a>>) -> impl Iterator<Item = BlockView<'a>> + use<'a> {
        let one = content.filter(|content| content.kind() == Kind::Object);
        content.unwrap_or(Json::NULL).elements().chain(one).map(BlockView::from_json)
    }

    /// The annotations: audience, priority and age.
    #[must_use]
    pub fn annotations(&self) -> AnnotationsView<'a> {
        AnnotationsView::from_json(self.json.get("annotations").unwrap_or(Json::NULL))
    }
}

/// Reads an embedded resource. Some servers embed one without contents, which is read as a link.
fn resource(json: Json<'_>) -> Option<ContentView<'_>> {
    let contents = ResourceContentsView::from_json(json);
    let is_full = contents.text().is_some() || contents.blob().is_some();
    if is_full { Some(ContentView::Resource(contents)) } else { link(json) }
}

fn link(json: Json<'_>) -> Option<ContentView<'_>> {
    let resource = ResourceView::from_json(json);
    resource.uri().map(|_| ContentView::Link(resource))
}

fn tool_use(json: Json<'_>) -> Option<ContentView<'_>> {
    let [id, name, input] = json.pick(["id", "name", "input"]);
    let input = input.filter(|input| input.kind() == Kind::Object).unwrap_or(Json::EMPTY_OBJECT);
    Some(ContentView::ToolUse { id: id?.string()?, name: name?.string()?, input })
}

fn tool_result(json: Json<'_>) -> Option<ContentView<'_>> {
    Some(ContentView::ToolResult {
        tool_use_id: text(json, "toolUseId")?,
        result: ToolResultView::from_json(json),
    })
}

view! {
    /// Annotations: audience, priority and age. Servers may omit all of them.
    ///
    /// Specification: *Resources*, *Annotations*.
    AnnotationsView
}

impl<'a> AnnotationsView<'a> {
    /// The intended audience; empty if the server does not specify it.
    pub fn audience(&self) -> impl Iterator<Item = Role> + use<'a> {
        list(self.json, "audience").filter_map(Role::from_json)
    }

    /// Whether the audience includes `role`. Without a specified audience it includes everybody.
    #[must_use]
    pub fn is_for(&self, role: Role) -> bool {
        self.audience().next().is_none() || self.audience().any(|one| one == role)
    }

    /// The importance, from 0 (entirely optional) to 1 (required).
    #[must_use]
    pub fn priority(&self) -> Option<Decimal> {
        number(self.json, "priority")
    }

    /// The time of the last change, in ISO 8601.
    #[must_use]
    pub fn last_modified(&self) -> Option<Str<'a>> {
        text(self.json, "lastModified")
    }
}
