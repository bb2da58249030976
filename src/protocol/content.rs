//! Writers for content blocks and resource contents, for each revision.
//!
//! Specification: *Server features*, *Tools*, *Tool result*, and *Prompts*, *Prompt messages*.

use crate::json::{WriteText, Writer};
use crate::protocol::annotations::{Annotations, Role};
use crate::protocol::base_metadata::not_an_object;
use crate::protocol::resource::Resource;
use crate::protocol::revision::{Revision, WireFeature};

/// The default media types of text and binary resources. Some clients require one with every resource.
const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";

/// State of an array in a result. The first element opens the array, so that other members can precede and follow it.
#[derive(Debug)]
pub(crate) struct Items {
    key: &'static str,
    position: Position,
    pub(crate) count: usize,
    /// Whether all elements so far are valid.
    pub(crate) valid: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    Before,
    Inside,
    After,
}

impl Items {
    pub(crate) fn new(key: &'static str) -> Items {
        Items { key, position: Position::Before, count: 0, valid: true }
    }

    /// Creates the state of an array that is already open.
    pub(crate) fn within() -> Items {
        Items { key: "", position: Position::Inside, count: 0, valid: true }
    }

    /// Whether the array is not opened yet.
    pub(crate) fn not_begun(&self) -> bool {
        self.position == Position::Before
    }

    /// Opens the array if necessary, so that the next value becomes an element. Returns `false` if the array is closed.
    pub(crate) fn element(&mut self, out: &mut Writer<'_>) -> bool {
        match self.position {
            Position::Before => {
                out.key(self.key);
                out.begin_array();
                self.position = Position::Inside;
            }
            Position::Inside => {}
            Position::After => {
                self.valid = false;
                return false;
            }
        }
        self.count = self.count.saturating_add(1);
        true
    }

    /// Closes the array if it is open, so that the next value becomes a member of the result.
    pub(crate) fn member(&mut self, out: &mut Writer<'_>) {
        if self.position == Position::Inside {
            out.end_array();
            self.position = Position::After;
        }
    }

    /// Completes the array: opens it if necessary and closes it.
    pub(crate) fn end(&mut self, out: &mut Writer<'_>) {
        if self.position == Position::Before {
            out.key(self.key);
            out.begin_array();
            self.position = Position::Inside;
        }
        self.member(out);
    }
}

/// A content block. Set annotations and `_meta` first, then write the block with one of `text`, `image`, `audio`,
/// `resource_text`, `resource_blob` and `link`.
///
/// ```
/// # use mcp_proto::server::Call;
/// use mcp_proto::{Annotations, Role};
/// # fn answer(call: Call<'_>, png: &[u8]) {
/// call.content(|result| {
///     result.text("The plot:");
///     result.block().annotations(Annotations::new().audience(&[Role::User])).image(png, "image/png");
/// });
/// # }
/// ```
#[must_use = "nothing is written before a method such as `text` is called"]
#[derive(Debug)]
pub struct ContentBlock<'w, 'a> {
    out: &'w mut Writer<'a>,
    items: &'w mut Items,
    revision: Revision,
    /// The role of the speaker, for a message of a prompt.
    role: Option<Role>,
    annotations: Annotations<'w>,
    meta: Option<&'w str>,
}

impl<'w, 'a> ContentBlock<'w, 'a> {
    pub(crate) fn new(
        out: &'w mut Writer<'a>,
        items: &'w mut Items,
        revision: Revision,
        role: Option<Role>,
    ) -> ContentBlock<'w, 'a> {
        ContentBlock { out, items, revision, role, annotations: Annotations::new(), meta: None }
    }

    /// Sets the annotations. (A link has the annotations of the linked resource.)
    pub fn annotations(mut self, annotations: Annotations<'w>) -> Self {
        self.annotations = annotations;
        self
    }

    /// Sets `_meta`, the JSON text of an object (from `2025-06-18` on). If the text is invalid, the whole result
    /// becomes an error.
    pub fn meta(mut self, json: &'w str) -> Self {
        self.meta = Some(json);
        self
    }

    /// Writes text.
    pub fn text(self, text: impl WriteText) {
        self.piece(Piece::Text(&text));
    }

    /// Writes an image with its media type, such as `image/png`.
    pub fn image(self, bytes: &[u8], mime_type: &str) {
        self.piece(Piece::Image { bytes, mime_type });
    }

    /// Writes audio with its media type, such as `audio/wav`. In `2024-11-05`, which has no audio, the block is a text
    /// placeholder.
    pub fn audio(self, bytes: &[u8], mime_type: &str) {
        self.piece(Piece::Audio { bytes, mime_type });
    }

    fn piece(self, piece: Piece<'_>) {
        let revision = self.revision;
        self.write(&mut |out| piece.write(revision, out));
    }

    /// Writes an embedded text resource. The default media type is `text/plain`.
    pub fn resource_text(self, uri: &str, mime_type: Option<&str>, text: impl WriteText) {
        self.resource(uri, mime_type, Body::Text(&text));
    }

    /// Writes an embedded binary resource. The default media type is `application/octet-stream`.
    pub fn resource_blob(self, uri: &str, mime_type: Option<&str>, bytes: &[u8]) {
        self.resource(uri, mime_type, Body::Blob(bytes));
    }

    fn resource(self, uri: &str, mime_type: Option<&str>, body: Body<'_>) {
        self.write(&mut |out| {
            out.field_string("type", "resource");
            out.key("resource");
            write_contents(out, uri, mime_type, body);
        });
    }

    /// Writes a link to a resource (from `2025-06-18` on; older revisions get a text with its name and URI).
    pub fn link(mut self, resource: &Resource<'w>) {
        if !self.revision.has(WireFeature::ResourceLinks) {
            self.annotations = resource.annotations;
            return self.text((resource.display_name(), ": ", resource.uri));
        }
        (self.annotations, self.meta) = (Annotations::new(), None);
        let revision = self.revision;
        let valid = self.write(&mut |out| {
            out.field_string("type", "resource_link");
            resource.write_members(revision, out);
        });
        *valid &= not_an_object(resource.objects()).is_none();
    }

    /// Writes the block, and returns the validity flag of the array.
    fn write(self, body: &mut dyn FnMut(&mut Writer<'_>)) -> &'w mut bool {
        let ContentBlock { out, items, revision, role, annotations, meta } = self;
        if !items.element(out) {
            return &mut items.valid;
        }
        if let Some(role) = role {
            out.begin_object();
            out.field_string("role", role.as_str());
            out.key("content");
        }
        out.begin_object();
        body(out);
        annotations.write(revision, out);
        if let Some(meta) = meta.filter(|_| revision.has(WireFeature::ObjectMeta)) {
            out.key("_meta");
            items.valid &= out.raw_object(meta);
        }
        out.end_object();
        if role.is_some() {
            out.end_object();
        }
        &mut items.valid
    }
}

/// The content of a block without a resource.
#[derive(Clone, Copy)]
pub(crate) enum Piece<'x> {
    Text(&'x dyn WriteText),
    Image { bytes: &'x [u8], mime_type: &'x str },
    Audio { bytes: &'x [u8], mime_type: &'x str },
}

impl Piece<'_> {
    /// Writes the members of the block.
    pub(crate) fn write(self, revision: Revision, out: &mut Writer<'_>) {
        let (kind, bytes, mime_type) = match self {
            Piece::Text(text) => {
                out.members(r#""type":"text","text":"#);
                return out.display(text);
            }
            Piece::Audio { bytes, mime_type } if !revision.has(WireFeature::Audio) => {
                return Piece::Text(&("[audio: ", mime_type, ", ", bytes.len(), " bytes]"))
                    .write(revision, out);
            }
            Piece::Image { bytes, mime_type } => ("image", bytes, mime_type),
            Piece::Audio { bytes, mime_type } => ("audio", bytes, mime_type),
        };
        out.field_string("type", kind);
        out.key("data");
        out.base64(bytes);
        out.field_string("mimeType", mime_type);
    }
}

/// Whether the revision allows a structured tool result of this type.
pub(crate) fn may_be_structured(revision: Revision, is_object: bool) -> bool {
    revision.has(WireFeature::StructuredValues) || is_object && revision.has(WireFeature::StructuredContent)
}

/// The contents of a resource.
#[derive(Clone, Copy)]
pub(crate) enum Body<'x> {
    Text(&'x dyn WriteText),
    Blob(&'x [u8]),
}

/// Writes the contents of a resource with its URI.
pub(crate) fn write_contents(out: &mut Writer<'_>, uri: &str, mime_type: Option<&str>, body: Body<'_>) {
    let fallback = if matches!(body, Body::Text(_)) { TEXT } else { BYTES };
    out.begin_object();
    out.field_string("uri", uri);
    out.field_string("mimeType", mime_type.unwrap_or(fallback));
    match body {
        Body::Text(text) => {
            out.key("text");
            out.display(text);
        }
        Body::Blob(bytes) => {
            out.key("blob");
            out.base64(bytes);
        }
    }
    out.end_object();
}
