//! Views of tools and their results.

use crate::client::members::Members;
use crate::client::views::implementation::icons;
use crate::client::views::{BlockView, ContentView, IconView, list, object, text, view};
use crate::json::{Json, Kind, Str};

view! {
    /// A tool, as the server describes it.
    ///
    /// Specification: *Tools*, *Tool*.
    ToolView with meta
}

/// A schema that accepts any object.
const ANY_OBJECT: &[u8] = br#"{"type":"object"}"#;

impl<'a> ToolView<'a> {
    /// The name, which [`Client::call_with`](crate::Client::call_with) takes.
    #[must_use]
    pub fn name(&self) -> Option<Str<'a>> {
        text(self.json, "name")
    }

    /// The title member. For the title shown to users see [`display_name`](ToolView::display_name), which has fallbacks.
    #[must_use]
    pub fn title(&self) -> Option<Str<'a>> {
        text(self.json, "title")
    }

    /// The display name: the title, else the title of the hints, else the name.
    #[must_use]
    pub fn display_name(&self) -> Option<Str<'a>> {
        let titles = [self.title(), self.hints().title()];
        titles.into_iter().flatten().find(|title| !title.is_empty()).or_else(|| self.name())
    }

    /// The description.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.json, "description")
    }

    /// The JSON Schema of the arguments. If the server omits it or sends an empty one, a schema that accepts any
    /// object.
    #[must_use]
    pub fn input_schema(&self) -> Json<'a> {
        let schema = object(self.json, "inputSchema").filter(|schema| schema.members().next().is_some());
        schema.unwrap_or(Json::trusted(ANY_OBJECT))
    }

    /// The JSON Schema of structured results.
    #[must_use]
    pub fn output_schema(&self) -> Option<Json<'a>> {
        self.json.get("outputSchema")
    }

    /// The hints about the tool's behavior.
    #[must_use]
    pub fn hints(&self) -> ToolHintsView<'a> {
        ToolHintsView::from_json(self.json.get("annotations").unwrap_or(Json::NULL))
    }

    /// The icons.
    pub fn icons(&self) -> impl Iterator<Item = IconView<'a>> + use<'a> {
        icons(self.json)
    }
}

view! {
    /// Hints about a tool's behavior. Do not rely on hints of an untrusted server. Missing hints have the
    /// specification's defaults, which assume the worst.
    ///
    /// Specification: *Tools*, *ToolAnnotations*.
    ToolHintsView
}

impl<'a> ToolHintsView<'a> {
    /// The title in the annotations.
    #[must_use]
    pub fn title(&self) -> Option<Str<'a>> {
        text(self.json, "title")
    }

    /// Whether the tool has no side effects. Default: false.
    #[must_use]
    pub fn read_only(&self) -> bool {
        self.flag("readOnlyHint", false)
    }

    /// Whether the tool may destroy data. Default: true. Meaningless for a read-only tool.
    #[must_use]
    pub fn destructive(&self) -> bool {
        self.flag("destructiveHint", true)
    }

    /// Whether a repeated call with the same arguments has no further effect. Default: false. Meaningless for a
    /// read-only tool.
    #[must_use]
    pub fn idempotent(&self) -> bool {
        self.flag("idempotentHint", false)
    }

    /// Whether the tool interacts with external entities, such as the web. Default: true.
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
/// use mcp_proto::{client::ToolResultView, json::Json};
/// let kept = br#"{"content":[{"type":"text","text":"hi"}]}"#;
/// let result = ToolResultView::from_json(Json::parse(kept)?);
/// assert!(!result.is_error() && result.text().unwrap() == "hi");
/// # Ok::<(), mcp_proto::json::ScanError>(())
/// ```
///
/// Specification: *Tools*, *Tool result*.
#[derive(Clone, Copy)]
pub struct ToolResultView<'a> {
    members: Members<'a>,
    /// The content, if the lookup is done already.
    content: Option<Json<'a>>,
}

impl<'a> ToolResultView<'a> {
    /// Views this value. A value that is not an object has no members.
    #[must_use]
    pub fn from_json(json: Json<'a>) -> ToolResultView<'a> {
        ToolResultView { members: Members::new(json), content: None }
    }

    pub(crate) fn with(members: Members<'a>, content: Option<Json<'a>>) -> ToolResultView<'a> {
        ToolResultView { members, content }
    }

    /// The whole value, as the server wrote it.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.members.json()
    }

    /// The `_meta` object.
    #[must_use]
    pub fn meta(&self) -> Option<Json<'a>> {
        self.members.get("_meta").filter(|meta| meta.kind() == Kind::Object)
    }

    /// Whether the tool reports an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.members.get("isError").and_then(Json::boolean) == Some(true)
    }

    /// The content, one item per block. Empty if the server omitted it.
    pub fn content(&self) -> impl Iterator<Item = ContentView<'a>> + use<'a> {
        self.blocks().map(|block| block.content())
    }

    /// The content blocks with their annotations.
    pub fn blocks(&self) -> impl Iterator<Item = BlockView<'a>> + use<'a> {
        self.content.map_or_else(|| list(self.raw(), "content"), Json::elements).map(BlockView::from_json)
    }

    /// The first text block.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        let content = self.content.or_else(|| self.members.get("content"))?;
        // The view of the first block extends to the end of the array, because its members are found without its length.
        let first = match content.bytes() {
            [b'[', rest @ ..] => BlockView::from_json(Json::trusted(rest)).text(),
            _ => None,
        };
        first.or_else(|| content.elements().skip(1).map(BlockView::from_json).find_map(|block| block.text()))
    }

    /// The structured content: an object, or any value in `2026-07-28`.
    #[must_use]
    pub fn structured(&self) -> Option<Json<'a>> {
        self.members.get("structuredContent")
    }
}

/// Prints the raw value only, because the content is a part of it.
impl core::fmt::Debug for ToolResultView<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ToolResult").field("json", &self.raw()).finish()
    }
}
