//! Writers for the results of server requests, with validation.
//!
//! Each function writes the members of a result, and returns whether the application wrote what the revision allows.

use crate::json::{Json, Kind, WriteText, Writer};
use crate::protocol::content::{ContentBlock, Items};
use crate::protocol::revision::{Revision, WireFeature};

/// The user's choice about a form or a URL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    Accept,
    Decline,
    Cancel,
}

impl Action {
    pub(crate) fn write(self, out: &mut Writer<'_>) {
        out.field_string(
            "action",
            match self {
                Action::Accept => "accept",
                Action::Decline => "decline",
                Action::Cancel => "cancel",
            },
        );
    }
}

/// Writes a submitted form. `content` writes an object of strings, numbers and booleans, and from 2025-11-25 on arrays
/// of strings.
pub(crate) fn write_form(
    out: &mut Writer<'_>,
    revision: Revision,
    content: &mut dyn FnMut(&mut Writer<'_>) -> bool,
) -> bool {
    Action::Accept.write(out);
    out.key("content");
    let from = out.len();
    let valid = content(out);
    let lists = revision.has(WireFeature::FormChoices);
    let fits = |value: Json<'_>| match value.kind() {
        Kind::String | Kind::Number | Kind::Bool => true,
        Kind::Array => lists && value.elements().all(|entry| entry.kind() == Kind::String),
        Kind::Null | Kind::Object => false,
    };
    let fit =
        |content: Json<'_>| content.kind() == Kind::Object && content.members().all(|(_, value)| fits(value));
    valid && written_json(out, from).is_none_or(fit)
}

/// Writes an object whose members `body` writes. Returns whether they are valid.
pub(crate) fn write_object(out: &mut Writer<'_>, body: &mut dyn FnMut(&mut Writer<'_>)) -> bool {
    out.begin_object();
    let valid = out.members_checked(body).is_ok();
    out.end_object();
    valid
}

/// The JSON written from the position `from` on. Returns `None` if the output has overflowed, because the message is
/// not sent then.
fn written_json<'w>(out: &'w Writer<'_>, from: usize) -> Option<Json<'w>> {
    if out.overflowed() {
        return None;
    }
    out.written().get(from..).filter(|text| !text.is_empty()).map(Json::trusted)
}

/// Writes the roots of a client, one by one.
#[derive(Debug)]
pub struct Roots<'w, 'a> {
    out: &'w mut Writer<'a>,
    valid: bool,
}

impl Roots<'_, '_> {
    /// Adds a root: its URI, and its human-readable name unless that is empty. The URI must start with `file://` and be
    /// percent-encoded (`file:///my%20files`).
    pub fn add(&mut self, uri: &str, name: &str) {
        // RFC 3986 requires these characters to be percent-encoded.
        let is_uri = |byte: u8| byte.is_ascii_graphic() && !br#""<>\^`{|}"#.contains(&byte);
        self.valid &= uri.starts_with("file://") && uri.bytes().all(is_uri);
        self.out.begin_object();
        self.out.field_string("uri", uri);
        if !name.is_empty() {
            self.out.field_string("name", name);
        }
        self.out.end_object();
    }
}

/// Writes a result with roots. It calls `body` once.
pub(crate) fn write_roots(out: &mut Writer<'_>, body: &mut Option<impl FnOnce(&mut Roots<'_, '_>)>) -> bool {
    out.key("roots");
    out.begin_array();
    let mut roots = Roots { out, valid: true };
    if let Some(body) = body.take() {
        body(&mut roots);
    }
    let valid = roots.valid;
    out.end_array();
    valid
}

/// Writes the content blocks of a model's message. Revisions before `2025-11-25` allow only one.
///
/// ```
/// # use mcp_proto::client::ServerRequest;
/// # fn answer(request: ServerRequest<'_>, png: &[u8]) {
/// request.sampled("a-model", "endTurn", |content| content.image(png, "image/png"));
/// # }
/// ```
#[derive(Debug)]
pub struct Sampled<'w, 'a> {
    out: &'w mut Writer<'a>,
    revision: Revision,
    pieces: Items,
}

impl<'a> Sampled<'_, 'a> {
    /// Adds text.
    pub fn text(&mut self, text: impl WriteText) {
        self.piece().text(text);
    }

    /// Adds an image with its media type, such as `image/png`.
    pub fn image(&mut self, bytes: &[u8], mime_type: &str) {
        self.piece().image(bytes, mime_type);
    }

    /// Adds audio with its media type, such as `audio/wav`. `2024-11-05` has no audio, so the client writes a text that
    /// says so.
    pub fn audio(&mut self, bytes: &[u8], mime_type: &str) {
        self.piece().audio(bytes, mime_type);
    }

    /// Adds a tool use (from `2025-11-25` on): its id, the tool's name, and the members of its arguments, which `input`
    /// writes.
    pub fn tool_use(&mut self, id: &str, tool: &str, input: impl FnOnce(&mut Writer<'_>)) {
        self.pieces.element(self.out);
        self.pieces.valid &= allows_block(self.revision, "tool_use");
        self.out.begin_object();
        self.out.field_string("type", "tool_use");
        self.out.field_string("id", id);
        self.out.field_string("name", tool);
        self.out.key("input");
        self.pieces.valid &= write_object(self.out, &mut once(input));
        self.out.end_object();
    }

    /// Adds any other content block. `block` writes an object whose `type` is allowed in a sampling message.
    pub fn block(&mut self, block: impl FnOnce(&mut Writer<'_>)) {
        self.pieces.element(self.out);
        let (mut block, mut from) = (once(block), 0);
        let mut write = |out: &mut Writer<'_>| {
            from = out.len();
            block(out);
        };
        let checked = self.out.value_checked(&mut write).is_ok();
        self.pieces.valid &= checked
            && written_json(self.out, from).is_none_or(|block| {
                let kind = block.get("type").and_then(Json::string).and_then(|kind| kind.as_str());
                kind.is_some_and(|kind| allows_block(self.revision, kind))
            });
    }

    fn piece(&mut self) -> ContentBlock<'_, 'a> {
        ContentBlock::new(self.out, &mut self.pieces, self.revision, None)
    }
}

/// Whether this revision allows a content block of this type in a sampling message.
fn allows_block(revision: Revision, kind: &str) -> bool {
    match kind {
        "text" | "image" => true,
        "audio" => revision.has(WireFeature::Audio),
        "tool_use" | "tool_result" => revision.has(WireFeature::SamplingTools),
        _ => false,
    }
}

/// Wraps an `FnOnce` as an `FnMut` that does nothing after the first call.
pub(crate) fn once(body: impl FnOnce(&mut Writer<'_>)) -> impl FnMut(&mut Writer<'_>) {
    let mut body = Some(body);
    move |out: &mut Writer<'_>| {
        if let Some(body) = body.take() {
            body(out);
        }
    }
}

/// Writes a model's message. A single content block is written as an object, which every revision allows; several are
/// an array.
pub(crate) fn write_sampled(
    out: &mut Writer<'_>,
    revision: Revision,
    model: &str,
    stop_reason: &str,
    body: &mut Option<impl FnOnce(&mut Sampled<'_, '_>)>,
) -> bool {
    out.field_string("role", "assistant");
    out.field_string("model", model);
    if !stop_reason.is_empty() {
        out.field_string("stopReason", stop_reason);
    }
    out.key("content");
    let before = out.mark();
    out.begin_array();
    let after_bracket = out.len();
    let mut sampled = Sampled { out, revision, pieces: Items::within() };
    if let Some(body) = body.take() {
        body(&mut sampled);
    }
    if sampled.pieces.count == 0 {
        sampled.text("");
    }
    let Items { count, valid, .. } = sampled.pieces;
    if count == 1 {
        out.cut(before, after_bracket);
    } else {
        out.end_array();
    }
    valid && (count == 1 || revision.has(WireFeature::SamplingBlocks))
}
