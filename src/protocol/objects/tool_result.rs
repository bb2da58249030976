//! Results of tools: written by a server, viewed by a client.
//!
//! Specification: *Tools*, *Tool result*.

use crate::json::{Json, Kind, Mark, Str, WriteBody, WriteText, Writer};
use crate::protocol::objects::annotations::Annotations;
use crate::protocol::objects::application_json::write_once;
use crate::protocol::objects::content::{BlockView, ContentBlock, ContentView};
use crate::protocol::objects::resource::Resource;
use crate::protocol::objects::result_array::ResultArray;
use crate::protocol::objects::view::list;
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::Object;

/// Writes a tool result: content blocks, structured content and the error flag.
///
/// All blocks belong to one array. Write structured content at most once, before the first block or after the last
/// block. Write `_meta` before blocks and structured content. Otherwise the result is not valid. The client then
/// receives an error, and the next event is a [`ProtocolError`](crate::ProtocolError).
#[derive(Debug)]
pub struct ToolResult<'w, 'a> {
    out: &'w mut Writer<'a>,
    items: ResultArray,
    revision: Revision,
    failed: bool,
    structured: Option<Structured>,
}

/// The position of the structured content in the output.
#[derive(Debug)]
struct Structured {
    /// The mark in the output before the key `structuredContent`.
    before: Mark,
    from: usize,
    to: usize,
    /// Whether the revision allows the value. If not, `end` removes the member.
    stays: bool,
}

impl<'w, 'a> ToolResult<'w, 'a> {
    pub(crate) fn begin(out: &'w mut Writer<'a>, revision: Revision) -> ToolResult<'w, 'a> {
        ToolResult { out, items: ResultArray::new("content"), revision, failed: false, structured: None }
    }

    /// Begins a content block, which may have annotations and `_meta`.
    pub fn block(&mut self) -> ContentBlock<'_, 'a> {
        ContentBlock::new(self.out, &mut self.items, self.revision, None)
    }

    /// Begins a content block with these annotations.
    pub fn annotated<'n>(&'n mut self, annotations: Annotations<'n>) -> ContentBlock<'n, 'a> {
        self.block().annotations(annotations)
    }

    /// Adds a text block.
    pub fn text(&mut self, text: impl WriteText) {
        self.block().text(text);
    }

    /// Adds an image with its media type, such as `image/png`.
    pub fn image(&mut self, bytes: &[u8], mime_type: &str) {
        self.block().image(bytes, mime_type);
    }

    /// Adds audio with its media type, like [`ContentBlock::audio`].
    pub fn audio(&mut self, bytes: &[u8], mime_type: &str) {
        self.block().audio(bytes, mime_type);
    }

    /// Adds an embedded resource with text. The default media type is `text/plain`.
    pub fn resource_text(&mut self, uri: &str, mime_type: Option<&str>, text: impl WriteText) {
        self.block().resource_text(uri, mime_type, text);
    }

    /// Adds an embedded resource with bytes. The default media type is `application/octet-stream`.
    pub fn resource_blob(&mut self, uri: &str, mime_type: Option<&str>, bytes: &[u8]) {
        self.block().resource_blob(uri, mime_type, bytes);
    }

    /// Adds a link to a resource, like [`ContentBlock::link`].
    pub fn link(&mut self, resource: &Resource<'_>) {
        self.block().link(resource);
    }

    /// Adds structured content. Before `2025-06-18`, the server omits every value. From `2025-06-18` to `2025-11-25`,
    /// the server omits a value that is not an object.
    ///
    /// If the result has no content blocks, the server sends the value as a text block, even if it omits the structured
    /// content. Clients that do not support structured content need this text.
    #[cfg(feature = "serde")]
    pub fn structured<T: serde_core::Serialize + ?Sized>(&mut self, value: &T) {
        self.set_structured(&mut |out: &mut Writer<'_>| out.serialize(value).is_ok());
    }

    /// Adds the structured content that `body` writes, under the same rules as `structured`.
    pub fn structured_with(&mut self, body: impl FnOnce(&mut Writer<'_>)) {
        let mut body = Some(body);
        self.set_structured(&mut |out: &mut Writer<'_>| write_once(out, &mut body));
    }

    fn set_structured(&mut self, value: &mut dyn WriteBody) {
        self.items.member(self.out);
        let before = self.out.mark();
        self.out.key("structuredContent");
        let from = self.out.len();
        let written = value.write(self.out) || self.out.overflowed();
        self.items.valid &= written && self.structured.is_none();
        let stays = may_be_structured(self.revision, self.out.ends_with(b'}'));
        self.structured = Some(Structured { before, from, to: self.out.len(), stays });
    }

    /// Sets `_meta`, the JSON text of an object. Call this method before any block or structured content.
    pub fn meta(&mut self, json: &str) {
        let first = self.items.not_begun() && self.structured.is_none();
        // In the stateless era, the previous member may be a `_meta` with the server's name.
        let written = if self.out.reopen_object() {
            let written = self.out.raw_members(json);
            self.out.end_object();
            written
        } else {
            self.out.key("_meta");
            self.out.raw_object(json)
        };
        self.items.valid &= first && (written || self.out.overflowed());
    }

    /// Marks the result as a failure of the tool.
    pub fn failed(&mut self) {
        self.failed = true;
    }

    /// Returns whether the result is marked as a failure.
    pub(crate) fn is_failed(&self) -> bool {
        self.failed
    }

    /// Returns the structured content. Returns `None` if none was written, if the result is not valid, or if the output
    /// has overflowed.
    #[cfg(all(feature = "derive", feature = "std", debug_assertions))]
    pub(crate) fn structured_json(&self) -> Option<Json<'_>> {
        let structured = self.structured.as_ref().filter(|_| self.items.valid)?;
        crate::protocol::objects::application_json::written_json(self.out, structured.from)
    }

    /// Removes the structured content, adds this text, and marks the result as a failure. Call this method only if the
    /// result has no content blocks.
    #[cfg(all(feature = "derive", feature = "std", debug_assertions))]
    pub(crate) fn fail_instead(&mut self, text: impl WriteText) {
        if let Some(structured) = self.structured.take() {
            self.out.rollback(structured.before);
        }
        self.failed();
        self.text(text);
    }

    /// Completes the result. Returns `false` if the result is not valid. `pad_structured` adds an empty object to a
    /// result without structured content.
    pub(crate) fn end(&mut self, pad_structured: bool) -> bool {
        // Some clients require at least one content block.
        if self.items.count == 0 {
            self.items.element(self.out);
            self.out.members(r#"{"type":"text","text":""#);
            if let Some(Structured { from, to, .. }) = self.structured {
                self.out.escape_own(from, to);
            }
            self.out.token("\"}");
        }
        self.items.end(self.out);
        write_end(self.out, self.failed, pad_structured && self.structured.is_none());
        if let Some(Structured { before, to, stays: false, .. }) = self.structured {
            self.out.cut(before, to);
        }
        self.items.valid
    }
}

/// Writes a result with one text block.
#[inline]
pub(crate) fn write_text(out: &mut Writer<'_>, text: &dyn WriteText, failed: bool, pad_structured: bool) {
    out.members(r#""content":[{"type":"text","text":""#);
    out.inside(text);
    out.token("\"}]");
    write_end(out, failed, pad_structured);
}

/// Writes the members that follow the content. `pad_structured` adds an empty object as structured content.
#[inline]
pub(crate) fn write_end(out: &mut Writer<'_>, failed: bool, pad_structured: bool) {
    if failed {
        out.field_boolean("isError", true);
    }
    if pad_structured {
        out.key("structuredContent");
        out.token("{}");
    }
}

/// Returns whether the revision allows this structured content. `is_object` is whether the content is a JSON object.
pub(crate) fn may_be_structured(revision: Revision, is_object: bool) -> bool {
    revision.has(WireFeature::StructuredValues) || is_object && revision.has(WireFeature::StructuredContent)
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
    result: Object<'a>,
    /// The member `content`, if the caller of [`with`](ToolResultView::with) has already looked it up.
    content: Option<Json<'a>>,
}

impl<'a> ToolResultView<'a> {
    /// Creates a view of this value. A value that is not an object has no members.
    #[must_use]
    pub fn from_json(json: Json<'a>) -> ToolResultView<'a> {
        ToolResultView { result: Object::from_json(json), content: None }
    }

    #[inline]
    pub(crate) fn with(result: Object<'a>, content: Option<Json<'a>>) -> ToolResultView<'a> {
        ToolResultView { result, content }
    }

    /// Returns the whole value, exactly as the peer wrote it.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.result.json()
    }

    /// Returns the `_meta` object.
    #[must_use]
    pub fn meta(&self) -> Option<Json<'a>> {
        self.result.get("_meta").filter(|meta| meta.kind() == Kind::Object)
    }

    /// Returns whether the tool reports an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.result.get("isError").and_then(Json::boolean) == Some(true)
    }

    /// Returns the content, one item per block. The iterator is empty if the server omitted the content.
    pub fn content(&self) -> impl Iterator<Item = ContentView<'a>> + use<'a> {
        self.blocks().map(|block| block.content())
    }

    /// Returns the content blocks with their annotations.
    pub fn blocks(&self) -> impl Iterator<Item = BlockView<'a>> + use<'a> {
        self.content.map_or_else(|| list(self.raw(), "content"), Json::elements).map(BlockView::from_json)
    }

    /// Returns the text of the first text block.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        let content = self.content.or_else(|| self.result.get("content"))?;
        // The search for the end of the first block would cost a scan. The view of the first block therefore extends to
        // the end of the array. The lookup of members stops at the closing brace of the block.
        let first = match content.bytes() {
            [b'[', rest @ ..] => BlockView::from_json(Json::trusted(rest)).text(),
            _ => None,
        };
        first.or_else(|| text_after_first(content))
    }

    /// Returns the structured content, a value of any type. Before `2026-07-28`, the specification requires an object.
    #[must_use]
    pub fn structured(&self) -> Option<Json<'a>> {
        self.result.get("structuredContent")
    }

    /// Decodes the structured content. Without a heap, use [`structured`](ToolResultView::structured) and
    /// [`Json::decode_in`].
    ///
    /// ```
    /// use mcp_proto::{client::ToolResultView, json::Json};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Reading {
    ///     celsius: i32,
    /// }
    /// let result = Json::parse(br#"{"content":[],"structuredContent":{"celsius":21}}"#)?;
    /// let reading: Reading = ToolResultView::from_json(result).structured_as()?;
    /// assert_eq!(reading.celsius, 21);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The result has no structured content, or the content does not fit the type.
    #[cfg(all(feature = "serde", feature = "alloc"))]
    pub fn structured_as<T: serde_core::de::DeserializeOwned>(&self) -> Result<T, crate::json::TypedError> {
        match self.structured() {
            Some(content) => content.decode(),
            None => Err(crate::json::TypedError::new(&"the result has no structured content")),
        }
    }
}

/// Returns the text of the first text block after the first block.
#[inline(never)]
fn text_after_first(content: Json<'_>) -> Option<Str<'_>> {
    content.elements().skip(1).map(BlockView::from_json).find_map(|block| block.text())
}

/// Prints only the raw value, which includes the content.
impl core::fmt::Debug for ToolResultView<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ToolResult").field("json", &self.raw()).finish()
    }
}
