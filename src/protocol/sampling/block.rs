//! Content blocks of sampling messages.
//!
//! Specification: *Sampling*, *Message content*.

use crate::json::{Json, Kind as JsonKind, Writer};
use crate::protocol::objects::content::{Media, Piece};
use crate::protocol::objects::tool_result::may_be_structured;
use crate::protocol::revision::Revision;

/// A content block of a sampling message.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a>(Kind<'a>);

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Text(&'a str),
    Media(Media<'a>),
    ToolUse { id: &'a str, name: &'a str, input: &'a str },
    ToolResult { id: &'a str, content: &'a [Block<'a>], structured: Option<&'a str>, failed: bool },
}

impl<'a> Block<'a> {
    /// Creates a text block.
    #[must_use]
    pub const fn text(text: &'a str) -> Block<'a> {
        Block(Kind::Text(text))
    }

    /// Creates an image block with the MIME type of the image.
    #[must_use]
    pub const fn image(bytes: &'a [u8], mime_type: &'a str) -> Block<'a> {
        Block(Kind::Media(Media { is_audio: false, bytes, mime_type }))
    }

    /// Creates an audio block with the MIME type of the audio. In `2024-11-05`, which has no audio, the client
    /// receives a placeholder text.
    #[must_use]
    pub const fn audio(bytes: &'a [u8], mime_type: &'a str) -> Block<'a> {
        Block(Kind::Media(Media { is_audio: true, bytes, mime_type }))
    }

    /// Creates the block of a tool use by the model (from `2025-11-25` on).
    ///
    /// `id` is the id of the use, and `name` is the name of the tool. `input` contains the arguments as the JSON text
    /// of an object.
    #[must_use]
    pub const fn tool_use(id: &'a str, name: &'a str, input: &'a str) -> Block<'a> {
        Block(Kind::ToolUse { id, name, input })
    }

    /// Creates the block of a tool result (from `2025-11-25` on).
    ///
    /// `id` is the id of the tool use. The content must be text, images or audio.
    #[must_use]
    pub const fn tool_result(id: &'a str, content: &'a [Block<'a>]) -> Block<'a> {
        Block(Kind::ToolResult { id, content, structured: None, failed: false })
    }

    /// Sets the structured value of a tool result, as JSON text. In `2025-11-25`, the server omits a value that is not
    /// an object. This setting has no effect on other blocks.
    #[must_use]
    pub const fn structured(mut self, json: &'a str) -> Self {
        if let Kind::ToolResult { structured, .. } = &mut self.0 {
            *structured = Some(json);
        }
        self
    }

    /// Marks a tool result as an error. This setting has no effect on other blocks.
    #[must_use]
    pub const fn failed(mut self) -> Self {
        if let Kind::ToolResult { failed, .. } = &mut self.0 {
            *failed = true;
        }
        self
    }

    /// Returns the id of the tool use, if the block is a tool use or its result. Such a block requires a client with
    /// tool support in sampling.
    pub(super) fn tool_use_id(&self) -> Option<&'a str> {
        match self.0 {
            Kind::ToolUse { id, .. } | Kind::ToolResult { id, .. } => Some(id),
            _ => None,
        }
    }

    pub(super) fn is_tool_result(&self) -> bool {
        matches!(self.0, Kind::ToolResult { .. })
    }

    /// Writes the block. Returns `false` if the block is not valid.
    pub(super) fn write(&self, revision: Revision, out: &mut Writer<'_>) -> bool {
        let mut valid = true;
        out.begin_object();
        match self.0 {
            Kind::Text(text) => Piece::Text(&text).write(revision, out),
            Kind::Media(media) => Piece::Media(media).write(revision, out),
            Kind::ToolUse { id, name, input } => {
                out.field_string("type", "tool_use");
                out.field_string("id", id);
                out.field_string("name", name);
                out.key("input");
                valid = out.raw_object(input);
            }
            Kind::ToolResult { id, content, structured, failed } => {
                out.field_string("type", "tool_result");
                out.field_string("toolUseId", id);
                out.key("content");
                valid = !use_tools(content) && write_array(content, revision, out);
                if let Some(text) = structured {
                    valid &= write_structured(text, revision, out);
                }
                if failed {
                    out.field_boolean("isError", true);
                }
            }
        }
        out.end_object();
        valid
    }
}

/// Returns whether the blocks require a client with tool support in sampling.
pub(super) fn use_tools(blocks: &[Block<'_>]) -> bool {
    blocks.iter().any(|block| block.tool_use_id().is_some())
}

/// Writes an array of blocks. Returns `false` if a block is not valid.
pub(super) fn write_array(blocks: &[Block<'_>], revision: Revision, out: &mut Writer<'_>) -> bool {
    out.begin_array();
    let valid = blocks.iter().all(|block| block.write(revision, out));
    out.end_array();
    valid
}

/// Writes the structured value, if the revision allows the value. Returns `false` if the text is not JSON.
fn write_structured(text: &str, revision: Revision, out: &mut Writer<'_>) -> bool {
    let Ok(value) = Json::parse(text.as_bytes()) else { return false };
    if may_be_structured(revision, value.kind() == JsonKind::Object) {
        out.field_json("structuredContent", value);
    }
    true
}
