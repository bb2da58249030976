//! Content: what tools return, prompts consist of and models read, in the form that each revision has.
//!
//! Specification: *Server features*, *Tools*, *Tool result*, and *Prompts*, *Prompt messages*.

use crate::json::{WriteText, Writer};
use crate::protocol::annotations::{Annotations, Role};
use crate::protocol::base_metadata::not_an_object;
use crate::protocol::resource::Resource;
use crate::protocol::revision::Revision;

/// The media type of text that has no other, and of bytes. Some clients want one with every resource.
const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";

/// An array in a result that its first element opens, so that other members can stand before it and behind it.
#[derive(Debug)]
pub(crate) struct Items {
    key: &'static str,
    place: Place,
    pub(crate) count: usize,
    /// Whether all that was written can be sent.
    pub(crate) valid: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Before,
    Within,
    Behind,
}

impl Items {
    pub(crate) fn new(key: &'static str) -> Items {
        Items { key, place: Place::Before, count: 0, valid: true }
    }

    /// An array that is open already.
    pub(crate) fn within() -> Items {
        Items { key: "", place: Place::Within, count: 0, valid: true }
    }

    /// Whether nothing of the array is written yet.
    pub(crate) fn not_begun(&self) -> bool {
        self.place == Place::Before
    }

    /// Makes sure that the next value is an element. `false`: the array is closed already.
    pub(crate) fn element(&mut self, out: &mut Writer<'_>) -> bool {
        match self.place {
            Place::Before => {
                out.key(self.key);
                out.begin_array();
                self.place = Place::Within;
            }
            Place::Within => {}
            Place::Behind => {
                self.valid = false;
                return false;
            }
        }
        self.count = self.count.saturating_add(1);
        true
    }

    /// Makes sure that what comes next is a member of the result.
    pub(crate) fn member(&mut self, out: &mut Writer<'_>) {
        if self.place == Place::Within {
            out.end_array();
            self.place = Place::Behind;
        }
    }

    /// The array is there, and closed.
    pub(crate) fn end(&mut self, out: &mut Writer<'_>) {
        if self.place == Place::Before {
            out.key(self.key);
            out.begin_array();
            self.place = Place::Within;
        }
        self.member(out);
    }
}

/// One piece of content. One of `text`, `image`, `audio`, `resource_text`, `resource_blob` and `link` writes it; what it
/// is annotated with is said before that.
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
#[must_use = "nothing is written until it is said what it is"]
#[derive(Debug)]
pub struct ContentBlock<'w, 'a> {
    out: &'w mut Writer<'a>,
    items: &'w mut Items,
    revision: Revision,
    /// In a prompt: who says it.
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

    /// For whom it is, and how much it matters. (A link has the annotations of what it links to.)
    pub fn annotations(mut self, annotations: Annotations<'w>) -> Self {
        self.annotations = annotations;
        self
    }

    /// Its `_meta`: an object, as JSON text (from `2025-06-18` on). If it is none, the whole answer becomes an error.
    pub fn meta(mut self, json: &'w str) -> Self {
        self.meta = Some(json);
        self
    }

    /// Text.
    pub fn text(self, text: impl WriteText) {
        self.piece(Piece::Text(&text));
    }

    /// An image, with its media type: `image/png`.
    pub fn image(self, bytes: &[u8], mime_type: &str) {
        self.piece(Piece::Image { bytes, mime_type });
    }

    /// Sound, with its media type: `audio/wav`. `2024-11-05` has none, and gets a text that says so.
    pub fn audio(self, bytes: &[u8], mime_type: &str) {
        self.piece(Piece::Audio { bytes, mime_type });
    }

    fn piece(self, piece: Piece<'_>) {
        let revision = self.revision;
        self.write(&mut |out| piece.write(revision, out));
    }

    /// A resource with its text in it. Without a media type it is `text/plain`.
    pub fn resource_text(self, uri: &str, mime_type: Option<&str>, text: impl WriteText) {
        self.resource(uri, mime_type, Body::Text(&text));
    }

    /// A resource with its bytes in it. Without a media type it is `application/octet-stream`.
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

    /// A resource that the client can read (from `2025-06-18` on; older revisions get a text with its name and URI).
    pub fn link(mut self, resource: &Resource<'w>) {
        if self.revision < Revision::V2025_06_18 {
            self.annotations = resource.annotations;
            return self.text((resource.shown_name(), ": ", resource.uri));
        }
        (self.annotations, self.meta) = (Annotations::new(), None);
        let revision = self.revision;
        let valid = self.write(&mut |out| {
            out.field_string("type", "resource_link");
            resource.write_members(revision, out);
        });
        *valid &= not_an_object(resource.objects()).is_none();
    }

    /// Writes the block, and returns whether all is valid so far.
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
        if let Some(meta) = meta.filter(|_| revision >= Revision::V2025_06_18) {
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

/// A piece of content that stands by itself.
#[derive(Clone, Copy)]
pub(crate) enum Piece<'x> {
    Text(&'x dyn WriteText),
    Image { bytes: &'x [u8], mime_type: &'x str },
    Audio { bytes: &'x [u8], mime_type: &'x str },
}

impl Piece<'_> {
    /// Writes its members.
    pub(crate) fn write(self, revision: Revision, out: &mut Writer<'_>) {
        let (kind, bytes, mime_type) = match self {
            Piece::Text(text) => {
                out.members(r#""type":"text","text":"#);
                return out.display(text);
            }
            Piece::Audio { bytes, mime_type } if revision < Revision::V2025_03_26 => {
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

/// Whether the result of a tool may have such a structured value.
pub(crate) fn may_be_structured(revision: Revision, is_object: bool) -> bool {
    match revision {
        Revision::V2024_11_05 | Revision::V2025_03_26 => false,
        Revision::V2025_06_18 | Revision::V2025_11_25 => is_object,
        Revision::V2026_07_28 => true,
    }
}

/// What a resource contains.
#[derive(Clone, Copy)]
pub(crate) enum Body<'x> {
    Text(&'x dyn WriteText),
    Blob(&'x [u8]),
}

/// What a resource contains, and under which URI.
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
