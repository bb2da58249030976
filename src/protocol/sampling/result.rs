//! A model's message: written by a client, viewed by a server.
//!
//! Specification: *Sampling*, *Message content*.

use crate::json::{Json, Kind, Str, WriteText, Writer};
use crate::protocol::objects::annotations::Role;
use crate::protocol::objects::application_json::{once, write_object, written_json};
use crate::protocol::objects::content::{BlockView, ContentBlock, ContentView};
use crate::protocol::objects::result_array::ResultArray;
use crate::protocol::revision::{Revision, WireFeature};

/// Writes the content blocks of a model's message. Without blocks, the client writes an empty text block. Revisions
/// before `2025-11-25` allow only one block: with several blocks, the response is not valid.
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
    pieces: ResultArray,
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

    /// Adds audio with its media type, such as `audio/wav`. In `2024-11-05`, which has no audio, the client writes a
    /// placeholder text.
    pub fn audio(&mut self, bytes: &[u8], mime_type: &str) {
        self.piece().audio(bytes, mime_type);
    }

    /// Adds a tool use (from `2025-11-25` on).
    ///
    /// `id` is the id of the use, and `tool` is the name of the tool. `input` writes the members of the arguments.
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

    /// Adds any other content block. `block` writes an object. The `type` of the object must be allowed in a sampling
    /// message. Otherwise the response is not valid.
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

/// Returns whether a sampling message of this revision may contain this type of block.
fn allows_block(revision: Revision, kind: &str) -> bool {
    match kind {
        "text" | "image" => true,
        "audio" => revision.has(WireFeature::Audio),
        "tool_use" | "tool_result" => revision.has(WireFeature::SamplingTools),
        _ => false,
    }
}

/// Writes a model's message. A single content block becomes an object, which every revision allows. Several content
/// blocks become an array. A message without blocks gets an empty text block. Omits an empty `stop_reason`. Returns
/// `false` if the message is not valid in the revision.
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
    let mut sampled = Sampled { out, revision, pieces: ResultArray::within() };
    if let Some(body) = body.take() {
        body(&mut sampled);
    }
    if sampled.pieces.count == 0 {
        sampled.text("");
    }
    let ResultArray { count, valid, .. } = sampled.pieces;
    if count == 1 {
        out.cut(before, after_bracket);
    } else {
        out.end_array();
    }
    valid && (count == 1 || revision.has(WireFeature::SamplingBlocks))
}

/// The result of a sampling request.
#[derive(Debug, Clone, Copy)]
pub struct SampledView<'a> {
    role: Role,
    content: Json<'a>,
    model: Str<'a>,
    stop_reason: Option<Str<'a>>,
}

impl<'a> SampledView<'a> {
    /// Reads a result. Returns `None` if the role, the content or the name of the model is missing or not valid.
    #[must_use]
    pub fn from_json(result: Json<'a>) -> Option<SampledView<'a>> {
        let [role, content, model, stop] = result.pick(["role", "content", "model", "stopReason"]);
        let role = Role::from_json(role?.string()?)?;
        let content = content.filter(|content| matches!(content.kind(), Kind::Object | Kind::Array))?;
        let (model, stop_reason) = (model?.string()?, stop.and_then(Json::string));
        Some(SampledView { role, content, model, stop_reason })
    }

    /// Returns the role of the speaker, usually the assistant.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the content, one item per block. On the wire, the content is a single block or an array.
    pub fn content(&self) -> impl Iterator<Item = ContentView<'a>> + use<'a> {
        self.blocks().map(|block| block.content())
    }

    /// Returns the content blocks, with their annotations.
    pub fn blocks(&self) -> impl Iterator<Item = BlockView<'a>> + use<'a> {
        BlockView::one_or_many(Some(self.content)).filter(|block| block.raw().kind() == Kind::Object)
    }

    /// Returns the text of the first text block.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        self.blocks().find_map(|block| block.text())
    }

    /// Returns the name of the model.
    #[must_use]
    pub fn model(&self) -> Str<'a> {
        self.model
    }

    /// Returns the stop reason: `endTurn`, `stopSequence`, `maxTokens`, `toolUse`, or another reason.
    #[must_use]
    pub fn stop_reason(&self) -> Option<Str<'a>> {
        self.stop_reason
    }
}
