//! How answers to a server are written: what is strict about them, whoever writes their parts.
//!
//! Each function writes the members of an answer, and says whether the host wrote what the revision allows there.

use crate::json::{Json, Kind, WriteText, Writer};
use crate::protocol::content::{ContentBlock, Items};
use crate::protocol::revision::Revision;

/// What the user said to a form or an address.
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

/// A form that was filled in: text, numbers, truth values, and from 2025-11-25 on lists of texts.
/// `content` writes the object.
pub(crate) fn write_form(
    out: &mut Writer<'_>,
    revision: Revision,
    content: &mut dyn FnMut(&mut Writer<'_>) -> bool,
) -> bool {
    Action::Accept.write(out);
    out.key("content");
    let from = out.len();
    let valid = content(out);
    let lists = revision >= Revision::V2025_11_25;
    let fits = |value: Json<'_>| match value.kind() {
        Kind::String | Kind::Number | Kind::Bool => true,
        Kind::Array => lists && value.elements().all(|entry| entry.kind() == Kind::String),
        Kind::Null | Kind::Object => false,
    };
    let fit =
        |content: Json<'_>| content.kind() == Kind::Object && content.members().all(|(_, value)| fits(value));
    valid && written(out, from).is_none_or(fit)
}

/// An object whose members `body` writes.
pub(crate) fn write_object(out: &mut Writer<'_>, body: &mut dyn FnMut(&mut Writer<'_>)) -> bool {
    out.begin_object();
    let valid = out.members_checked(body).is_ok();
    out.end_object();
    valid
}

/// What was written from here on. `None`: it does not fit, and is not sent.
fn written<'w>(out: &'w Writer<'_>, from: usize) -> Option<Json<'w>> {
    if out.overflowed() {
        return None;
    }
    out.written().get(from..).filter(|text| !text.is_empty()).map(Json::trusted)
}

/// The roots of a client, one by one.
#[derive(Debug)]
pub struct Roots<'w, 'a> {
    out: &'w mut Writer<'a>,
    valid: bool,
}

impl Roots<'_, '_> {
    /// Adds a root: its URI, which must start with `file://` and be escaped as URIs are (`file:///my%20files`), and its
    /// name for people, if that is not empty.
    pub fn add(&mut self, uri: &str, name: &str) {
        // What else no URI may have: RFC 3986 wants it escaped.
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

/// The members of an answer with roots. Who adds them is called once.
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

/// What a model has said, piece by piece. Before `2025-11-25` there can only be one.
///
/// ```
/// # use mcp_proto::client::ServerRequest;
/// # fn answer(asked: ServerRequest<'_>, png: &[u8]) {
/// asked.sampled("a-model", "endTurn", |said| said.image(png, "image/png"));
/// # }
/// ```
#[derive(Debug)]
pub struct Sampled<'w, 'a> {
    out: &'w mut Writer<'a>,
    revision: Revision,
    pieces: Items,
}

impl<'a> Sampled<'_, 'a> {
    /// Text.
    pub fn text(&mut self, text: impl WriteText) {
        self.piece().text(text);
    }

    /// An image, with its media type: `image/png`.
    pub fn image(&mut self, bytes: &[u8], mime_type: &str) {
        self.piece().image(bytes, mime_type);
    }

    /// Sound, with its media type: `audio/wav`. `2024-11-05` has none, and gets a text that says so.
    pub fn audio(&mut self, bytes: &[u8], mime_type: &str) {
        self.piece().audio(bytes, mime_type);
    }

    /// The model wants to use a tool (from `2025-11-25` on): the name of this use, the tool, and the members of its
    /// arguments, which `input` writes.
    pub fn tool_use(&mut self, id: &str, tool: &str, input: impl FnOnce(&mut Writer<'_>)) {
        self.pieces.element(self.out);
        self.pieces.valid &= allows(self.revision, "tool_use");
        self.out.begin_object();
        self.out.field_string("type", "tool_use");
        self.out.field_string("id", id);
        self.out.field_string("name", tool);
        self.out.key("input");
        self.pieces.valid &= write_object(self.out, &mut once(input));
        self.out.end_object();
    }

    /// Anything else: a block that `block` writes, an object whose `type` may stand in a sample.
    pub fn block(&mut self, block: impl FnOnce(&mut Writer<'_>)) {
        self.pieces.element(self.out);
        let (mut block, mut from) = (once(block), 0);
        let mut write = |out: &mut Writer<'_>| {
            from = out.len();
            block(out);
        };
        let checked = self.out.value_checked(&mut write).is_ok();
        self.pieces.valid &= checked
            && written(self.out, from).is_none_or(|block| {
                let kind = block.get("type").and_then(Json::string).and_then(|kind| kind.as_str());
                kind.is_some_and(|kind| allows(self.revision, kind))
            });
    }

    fn piece(&mut self) -> ContentBlock<'_, 'a> {
        ContentBlock::new(self.out, &mut self.pieces, self.revision, None)
    }
}

/// Whether a block of this type may stand in a sample of this revision.
fn allows(revision: Revision, kind: &str) -> bool {
    match kind {
        "text" | "image" => true,
        "audio" => revision >= Revision::V2025_03_26,
        "tool_use" | "tool_result" => revision >= Revision::V2025_11_25,
        _ => false,
    }
}

/// What is called once, as what may be called more often.
pub(crate) fn once(body: impl FnOnce(&mut Writer<'_>)) -> impl FnMut(&mut Writer<'_>) {
    let mut body = Some(body);
    move |out: &mut Writer<'_>| {
        if let Some(body) = body.take() {
            body(out);
        }
    }
}

/// A message of the model. One piece stands alone, as every revision has it; several are a list.
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
    let behind_bracket = out.len();
    let mut sampled = Sampled { out, revision, pieces: Items::within() };
    if let Some(body) = body.take() {
        body(&mut sampled);
    }
    if sampled.pieces.count == 0 {
        sampled.text("");
    }
    let Items { count, valid, .. } = sampled.pieces;
    if count == 1 {
        out.cut(before, behind_bracket);
    } else {
        out.end_array();
    }
    valid && (count == 1 || revision >= Revision::V2025_11_25)
}
