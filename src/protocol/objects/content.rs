//! Content blocks of results, prompts and messages: written and viewed.
//!
//! Specification: *Server features*, *Tools*, *Tool result*, and *Prompts*, *Prompt messages*.

use crate::json::{Json, Kind, Str, WriteBody, WriteText, Writer};
use crate::protocol::objects::annotations::{Annotations, Role};
use crate::protocol::objects::application_json::not_an_object;
use crate::protocol::objects::base_metadata::ListedObject;
use crate::protocol::objects::base64::Base64;
use crate::protocol::objects::resource::{Resource, ResourceView};
use crate::protocol::objects::resource_contents::{Body, ResourceContentsView, write_contents};
use crate::protocol::objects::result_array::ResultArray;
use crate::protocol::objects::tool_result::ToolResultView;
use crate::protocol::objects::view::{object, text, view};
use crate::protocol::revision::{Revision, WireFeature};

/// A content block. First set annotations and `_meta`. Then write the block with one of the functions `text`, `image`,
/// `audio`, `resource_text`, `resource_blob` and `link`.
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
    items: &'w mut ResultArray,
    revision: Revision,
    /// The role of the speaker, for a message of a prompt. `None` for any other block.
    role: Option<Role>,
    annotations: Annotations<'w>,
    meta: Option<&'w str>,
}

impl<'w, 'a> ContentBlock<'w, 'a> {
    pub(crate) fn new(
        out: &'w mut Writer<'a>,
        items: &'w mut ResultArray,
        revision: Revision,
        role: Option<Role>,
    ) -> ContentBlock<'w, 'a> {
        ContentBlock { out, items, revision, role, annotations: Annotations::new(), meta: None }
    }

    /// Sets the annotations. A link ignores these annotations and has the annotations of the linked resource.
    pub fn annotations(mut self, annotations: Annotations<'w>) -> Self {
        self.annotations = annotations;
        self
    }

    /// Sets `_meta`, the JSON text of an object. In revisions before `2025-06-18`, the text is ignored. From
    /// `2025-06-18` on, the response is an error instead of a result if the text is not an object. A link ignores this
    /// `_meta` and has the `_meta` of the linked resource.
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
        self.piece(Piece::Media(Media { is_audio: false, bytes, mime_type }));
    }

    /// Writes audio with its media type, such as `audio/wav`. In `2024-11-05`, which has no audio, the function writes
    /// a placeholder text.
    pub fn audio(self, bytes: &[u8], mime_type: &str) {
        self.piece(Piece::Media(Media { is_audio: true, bytes, mime_type }));
    }

    fn piece(self, piece: Piece<'_>) {
        let revision = self.revision;
        self.write(&mut |out: &mut Writer<'_>| piece.write(revision, out));
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
        self.write(&mut |out: &mut Writer<'_>| {
            out.field_string("type", "resource");
            out.key("resource");
            write_contents(out, &uri, mime_type, body);
        });
    }

    /// Writes a link to a resource (from `2025-06-18` on). In older revisions, writes a text block with the display
    /// name and the URI of the resource.
    pub fn link(mut self, resource: &Resource<'w>) {
        if !self.revision.has(WireFeature::ResourceLinks) {
            self.annotations = resource.annotations;
            return self.text((resource.display_name(), ": ", resource.uri));
        }
        (self.annotations, self.meta) = (Annotations::new(), None);
        let revision = self.revision;
        let valid = self.write(&mut |out: &mut Writer<'_>| {
            out.field_string("type", "resource_link");
            resource.write_members(revision, out);
        });
        *valid &= not_an_object(resource.objects()).is_none();
    }

    /// Writes the block. Returns a reference to the validity flag of the array. If the array is already closed, writes
    /// nothing and clears the flag.
    fn write(self, body: &mut dyn WriteBody) -> &'w mut bool {
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
        body.write(out);
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

/// The content of a text, image or audio block.
#[derive(Clone, Copy)]
pub(crate) enum Piece<'x> {
    Text(&'x dyn WriteText),
    Media(Media<'x>),
}

/// The binary data of an image or audio block, with its media type.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Media<'x> {
    pub(crate) is_audio: bool,
    pub(crate) bytes: &'x [u8],
    pub(crate) mime_type: &'x str,
}

impl Piece<'_> {
    /// Writes the members of the block.
    pub(crate) fn write(self, revision: Revision, out: &mut Writer<'_>) {
        let Media { is_audio, bytes, mime_type } = match self {
            Piece::Text(text) => {
                out.members(r#""type":"text","text":"#);
                return out.display(text);
            }
            Piece::Media(media) => media,
        };
        if is_audio && !revision.has(WireFeature::Audio) {
            return Piece::Text(&("[audio: ", mime_type, ", ", bytes.len(), " bytes]")).write(revision, out);
        }
        out.field_string("type", if is_audio { "audio" } else { "image" });
        out.key("data");
        out.base64(bytes);
        out.field_string("mimeType", mime_type);
    }
}

view! {
    /// A content block with its annotations and metadata.
    ///
    /// Specification: *Tools*, *Tool result*; *Prompts*, *PromptMessage*; *Sampling*, *SamplingMessage*.
    BlockView with meta, annotations
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
    /// A link to a resource, or an embedded resource without contents.
    Link(ResourceView<'a>),
    /// A tool use that the model requests (sampling).
    ToolUse {
        /// The id of the tool use. The tool result repeats the id.
        id: Str<'a>,
        /// The name of the tool.
        name: Str<'a>,
        /// The arguments, a JSON object.
        input: Json<'a>,
    },
    /// The result of a tool use (sampling).
    ToolResult {
        /// The id of the tool use.
        tool_use_id: Str<'a>,
        /// The result.
        result: ToolResultView<'a>,
    },
    /// Any other block, as raw JSON. The type is unknown, or a required member is missing or invalid.
    Other(Json<'a>),
}

impl<'a> BlockView<'a> {
    /// Returns the content, by type.
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

    /// Returns the text of a [text](ContentView::Text) block. Faster than `content`, because this function looks up
    /// only two members.
    pub(crate) fn text(&self) -> Option<Str<'a>> {
        let (mut is_text, mut text) = (false, None);
        for (name, value) in self.json.members() {
            if name.is_name("type") {
                is_text = value.string().is_some_and(|kind| kind.is_name("text"));
            } else if name.is_name("text") {
                text = value.string();
            }
        }
        text.filter(|_| is_text)
    }

    /// Returns the blocks of a member, which is a single block or an array of blocks.
    pub(crate) fn one_or_many(content: Option<Json<'a>>) -> impl Iterator<Item = BlockView<'a>> + use<'a> {
        let one = content.filter(|content| content.kind() == Kind::Object);
        content.unwrap_or(Json::NULL).elements().chain(one).map(BlockView::from_json)
    }
}

/// Reads an embedded resource. Returns a link for a resource without contents, which some servers send. Returns `None`
/// for a resource with neither contents nor a URI.
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
