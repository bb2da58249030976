//! Tools: what there is, and what one has answered.

use crate::client::members::Members;
use crate::client::views::implementation::icons;
use crate::client::views::{Block, Content, Icon, list, object, text, view};
use crate::json::{Json, Kind, Str};

view! {
    /// A tool, as the server describes it.
    ///
    /// Specification: *Tools*, *Tool*.
    Tool with meta
}

/// What any object fits.
const ANY_OBJECT: &[u8] = br#"{"type":"object"}"#;

impl<'a> Tool<'a> {
    /// Its name: what [`Client::call_with`](crate::Client::call_with) takes.
    #[must_use]
    pub fn name(&self) -> Option<Str<'a>> {
        text(self.json, "name")
    }

    /// Its title. For people, [`display_name`](Tool::display_name) also looks elsewhere.
    #[must_use]
    pub fn title(&self) -> Option<Str<'a>> {
        text(self.json, "title")
    }

    /// Its name for people: its title, or that of its hints, or its name.
    #[must_use]
    pub fn display_name(&self) -> Option<Str<'a>> {
        let titles = [self.title(), self.hints().title()];
        titles.into_iter().flatten().find(|title| !title.is_empty()).or_else(|| self.name())
    }

    /// What it does.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.json, "description")
    }

    /// The JSON Schema of its arguments. Of a server that leaves it out or empty, the one that any object fits.
    #[must_use]
    pub fn input_schema(&self) -> Json<'a> {
        let schema = object(self.json, "inputSchema").filter(|schema| schema.members().next().is_some());
        schema.unwrap_or(Json::trusted(ANY_OBJECT))
    }

    /// The JSON Schema of its structured results.
    #[must_use]
    pub fn output_schema(&self) -> Option<Json<'a>> {
        self.json.get("outputSchema")
    }

    /// What the server says about how it behaves.
    #[must_use]
    pub fn hints(&self) -> ToolHints<'a> {
        ToolHints::from_json(self.json.get("annotations").unwrap_or(Json::NULL))
    }

    /// Its icons.
    pub fn icons(&self) -> impl Iterator<Item = Icon<'a>> + use<'a> {
        icons(self.json)
    }
}

view! {
    /// How a tool behaves, as the server says: not to be trusted unless the server is. Where it says nothing, these are
    /// the specification's defaults, which assume the worst.
    ///
    /// Specification: *Tools*, *ToolAnnotations*.
    ToolHints
}

impl<'a> ToolHints<'a> {
    /// Its title.
    #[must_use]
    pub fn title(&self) -> Option<Str<'a>> {
        text(self.json, "title")
    }

    /// It changes nothing. False if the server does not say.
    #[must_use]
    pub fn read_only(&self) -> bool {
        self.flag("readOnlyHint", false)
    }

    /// What it changes may be lost. True if the server does not say. Means nothing of what is read-only.
    #[must_use]
    pub fn destructive(&self) -> bool {
        self.flag("destructiveHint", true)
    }

    /// Called again with the same arguments, it changes nothing more. False if the server does not say. Means nothing of
    /// what is read-only.
    #[must_use]
    pub fn idempotent(&self) -> bool {
        self.flag("idempotentHint", false)
    }

    /// It deals with things outside, such as the web. True if the server does not say.
    #[must_use]
    pub fn open_world(&self) -> bool {
        self.flag("openWorldHint", true)
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        self.json.get(name).and_then(Json::boolean).unwrap_or(default)
    }
}

/// The result of a tool.
///
/// ```
/// use mcp_proto::{client::ToolResult, json::Json};
/// let kept = br#"{"content":[{"type":"text","text":"hi"}]}"#;
/// let result = ToolResult::from_json(Json::parse(kept)?);
/// assert!(!result.is_error() && result.text().unwrap() == "hi");
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
///
/// Specification: *Tools*, *Tool result*.
#[derive(Clone, Copy)]
pub struct ToolResult<'a> {
    members: Members<'a>,
    /// The content, if it was found before.
    content: Option<Json<'a>>,
}

impl<'a> ToolResult<'a> {
    /// A view of this value. One that is no object has no members.
    #[must_use]
    pub fn from_json(json: Json<'a>) -> ToolResult<'a> {
        ToolResult { members: Members::new(json), content: None }
    }

    pub(crate) fn with(members: Members<'a>, content: Option<Json<'a>>) -> ToolResult<'a> {
        ToolResult { members, content }
    }

    /// The whole value, as the server wrote it.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.members.json()
    }

    /// What else is said about it: `_meta`, an object.
    #[must_use]
    pub fn meta(&self) -> Option<Json<'a>> {
        self.members.get("_meta").filter(|meta| meta.kind() == Kind::Object)
    }

    /// Whether the tool says that it failed.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.members.get("isError").and_then(Json::boolean) == Some(true)
    }

    /// Its content, piece by piece. None if the server left it out.
    pub fn content(&self) -> impl Iterator<Item = Content<'a>> + use<'a> {
        self.blocks().map(|block| block.content())
    }

    /// Its content, piece by piece, with what is said about each.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'a>> + use<'a> {
        self.content.map_or_else(|| list(self.raw(), "content"), Json::elements).map(Block::from_json)
    }

    /// The first piece of text.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        self.blocks().find_map(|block| block.text())
    }

    /// The structured content: an object, in `2026-07-28` any value.
    #[must_use]
    pub fn structured(&self) -> Option<Json<'a>> {
        self.members.get("structuredContent")
    }
}

/// Where its content was found is nobody's business.
impl core::fmt::Debug for ToolResult<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ToolResult").field("json", &self.raw()).finish()
    }
}
