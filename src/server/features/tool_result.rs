//! `ToolResult`: writes the result of `tools/call`.
//!
//! Specification: *Tools*, *Tool result*.

use crate::json::{Mark, WriteText, Writer};
use crate::protocol::annotations::Annotations;
use crate::protocol::content::{ContentBlock, Items, may_be_structured};
use crate::protocol::resource::Resource;
use crate::protocol::revision::Revision;
use crate::server::reply::write_once;

/// Writes the result of a tool: content blocks, structured content, and whether the tool failed.
///
/// The blocks form one array, so write other members before the first or after the last block. Otherwise the result is
/// not valid: the client gets an error, and the next event is a [`ProtocolError`](crate::ProtocolError).
#[derive(Debug)]
pub struct ToolResult<'w, 'a> {
    out: &'w mut Writer<'a>,
    items: Items,
    revision: Revision,
    failed: bool,
    structured: Option<Structured>,
}

/// The position of the structured content in the output.
#[derive(Debug)]
struct Structured {
    /// The mark before its key.
    before: Mark,
    from: usize,
    to: usize,
    /// Whether the revision allows the value. Otherwise `end` removes it.
    stays: bool,
}

impl<'w, 'a> ToolResult<'w, 'a> {
    pub(crate) fn begin(out: &'w mut Writer<'a>, revision: Revision) -> ToolResult<'w, 'a> {
        ToolResult { out, items: Items::new("content"), revision, failed: false, structured: None }
    }

    /// Begins a content block that may have annotations and a `_meta`.
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

    /// Adds audio with its media type: see [`ContentBlock::audio`].
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

    /// Adds a link to a resource: see [`ContentBlock::link`].
    pub fn link(&mut self, resource: &Resource<'_>) {
        self.block().link(resource);
    }

    /// Adds structured content (since `2025-06-18`; up to `2025-11-25` only an object).
    ///
    /// Without content blocks, it is mirrored as text for clients that do not support it.
    #[cfg(feature = "serde")]
    pub fn structured<T: serde_core::Serialize + ?Sized>(&mut self, value: &T) {
        self.set_structured(&mut |out| out.serialize(value).is_ok());
    }

    /// Adds the structured content that `body` writes.
    pub fn structured_with(&mut self, body: impl FnOnce(&mut Writer<'_>)) {
        let mut body = Some(body);
        self.set_structured(&mut |out| write_once(out, &mut body));
    }

    fn set_structured(&mut self, value: &mut dyn FnMut(&mut Writer<'_>) -> bool) {
        self.items.member(self.out);
        let before = self.out.mark();
        self.out.key("structuredContent");
        let from = self.out.len();
        let written = value(self.out) || self.out.overflowed();
        self.items.valid &= written && self.structured.is_none();
        let is_object = self.out.written().get(from) == Some(&b'{');
        let stays = may_be_structured(self.revision, is_object);
        self.structured = Some(Structured { before, from, to: self.out.len(), stays });
    }

    /// Sets the `_meta` of the result: an object, as JSON text. Call this before all other methods.
    pub fn meta(&mut self, json: &str) {
        let first = self.items.not_begun() && self.structured.is_none();
        // A result of the stateless era may already have a `_meta` with the server's name, as its last member.
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

    /// Completes the result. Returns `false` if it is not valid.
    pub(crate) fn end(mut self, pad_structured: bool) -> bool {
        match &self.structured {
            Some(Structured { from, to, .. }) if self.items.count == 0 => {
                let (from, to) = (*from, *to);
                self.items.element(self.out);
                self.out.members(r#"{"type":"text","text":""#);
                self.out.escape_own(from, to);
                self.out.token("\"}");
            }
            // Some clients require at least one content block.
            None if self.items.count == 0 => self.text(""),
            _ => {}
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
pub(crate) fn write_text(out: &mut Writer<'_>, text: &dyn WriteText, failed: bool, pad_structured: bool) {
    out.members(r#""content":[{"type":"text","text":"#);
    out.display(text);
    out.token("}]");
    write_end(out, failed, pad_structured);
}

/// Writes the members after the content.
fn write_end(out: &mut Writer<'_>, failed: bool, pad_structured: bool) {
    if failed {
        out.field_boolean("isError", true);
    }
    if pad_structured {
        out.key("structuredContent");
        out.token("{}");
    }
}
