//! The result of a tool: its content, piece by piece, and what stands beside that.
//!
//! Specification: *Tools*, *Tool result*.

use crate::json::{Mark, WriteText, Writer};
use crate::protocol::annotations::Annotations;
use crate::protocol::content::{ContentBlock, Items, may_be_structured};
use crate::protocol::resource::Resource;
use crate::protocol::revision::Revision;
use crate::server::reply::write_once;

/// What a tool returns: any number of pieces of content, a structured value beside them, and whether the tool failed.
///
/// The pieces are one array, so what stands beside them comes before the first or after the last of them. A result in
/// which it comes between two is refused, as one that is not valid JSON: the client gets an error, and the next event is
/// a [`ProtocolError`](crate::ProtocolError).
#[derive(Debug)]
pub struct ToolResult<'w, 'a> {
    out: &'w mut Writer<'a>,
    items: Items,
    revision: Revision,
    failed: bool,
    structured: Option<Structured>,
}

/// Where the structured value stands.
#[derive(Debug)]
struct Structured {
    /// Before its key.
    before: Mark,
    from: usize,
    to: usize,
    /// Whether the revision knows such a value. If not, it is taken out again.
    stays: bool,
}

impl<'w, 'a> ToolResult<'w, 'a> {
    pub(crate) fn begin(out: &'w mut Writer<'a>, revision: Revision) -> ToolResult<'w, 'a> {
        ToolResult { out, items: Items::new("content"), revision, failed: false, structured: None }
    }

    /// Begins a piece that has annotations or a `_meta` of its own.
    pub fn block(&mut self) -> ContentBlock<'_, 'a> {
        ContentBlock::new(self.out, &mut self.items, self.revision, None)
    }

    /// Begins a piece for somebody, or of some importance.
    pub fn annotated<'n>(&'n mut self, annotations: Annotations<'n>) -> ContentBlock<'n, 'a> {
        self.block().annotations(annotations)
    }

    /// Adds a piece of text.
    pub fn text(&mut self, text: impl WriteText) {
        self.block().text(text);
    }

    /// Adds an image, with its media type: `image/png`.
    pub fn image(&mut self, bytes: &[u8], mime_type: &str) {
        self.block().image(bytes, mime_type);
    }

    /// Adds sound, with its media type: see [`ContentBlock::audio`].
    pub fn audio(&mut self, bytes: &[u8], mime_type: &str) {
        self.block().audio(bytes, mime_type);
    }

    /// Adds a resource with its text in it. Without a media type it is `text/plain`.
    pub fn resource_text(&mut self, uri: &str, mime_type: Option<&str>, text: impl WriteText) {
        self.block().resource_text(uri, mime_type, text);
    }

    /// Adds a resource with its bytes in it. Without a media type it is `application/octet-stream`.
    pub fn resource_blob(&mut self, uri: &str, mime_type: Option<&str>, bytes: &[u8]) {
        self.block().resource_blob(uri, mime_type, bytes);
    }

    /// Adds a resource that the client can read: see [`ContentBlock::link`].
    pub fn link(&mut self, resource: &Resource<'_>) {
        self.block().link(resource);
    }

    /// Adds the structured value (from `2025-06-18` on; up to `2025-11-25` only an object). If there are no pieces, it
    /// is mirrored as text for clients that do not know it.
    #[cfg(feature = "serde")]
    pub fn structured<T: serde_core::Serialize + ?Sized>(&mut self, value: &T) {
        self.set_structured(&mut |out| out.serialize(value).is_ok());
    }

    /// The same for a value that `body` writes.
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

    /// Sets the `_meta` of the result: an object, as JSON text. This comes first, before anything else.
    pub fn meta(&mut self, json: &str) {
        let first = self.items.not_begun() && self.structured.is_none();
        // A result of the stateless era may have one, with the server's name in it: it is the last thing before this.
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

    /// Completes the result. `false`: it is not valid.
    pub(crate) fn end(mut self, pads: bool) -> bool {
        match &self.structured {
            Some(Structured { from, to, .. }) if self.items.count == 0 => {
                let (from, to) = (*from, *to);
                self.items.element(self.out);
                self.out.members(r#"{"type":"text","text":""#);
                self.out.escape_own(from, to);
                self.out.token("\"}");
            }
            // Some clients want at least one piece.
            None if self.items.count == 0 => self.text(""),
            _ => {}
        }
        self.items.end(self.out);
        write_end(self.out, self.failed, pads && self.structured.is_none());
        if let Some(Structured { before, to, stays: false, .. }) = self.structured {
            self.out.cut(before, to);
        }
        self.items.valid
    }
}

/// A result of one text.
pub(crate) fn write_text(out: &mut Writer<'_>, text: &dyn WriteText, failed: bool, pads: bool) {
    out.members(r#""content":[{"type":"text","text":"#);
    out.display(text);
    out.token("}]");
    write_end(out, failed, pads);
}

/// What stands behind the content.
fn write_end(out: &mut Writer<'_>, failed: bool, pads: bool) {
    if failed {
        out.field_boolean("isError", true);
    }
    if pads {
        out.key("structuredContent");
        out.token("{}");
    }
}
