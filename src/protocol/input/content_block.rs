//! What a message for a model is made of.
//!
//! Specification: *Sampling*, *Message content*.

use crate::json::{Json, Kind as JsonKind, Writer};
use crate::protocol::content::{Piece, may_be_structured};
use crate::protocol::revision::Revision;

/// A piece of a message for a model.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a>(Kind<'a>);

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Text(&'a str),
    Image { bytes: &'a [u8], mime_type: &'a str },
    Audio { bytes: &'a [u8], mime_type: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: &'a str },
    ToolResult { id: &'a str, content: &'a [Block<'a>], structured: Option<&'a str>, failed: bool },
}

impl<'a> Block<'a> {
    /// Text.
    #[must_use]
    pub const fn text(text: &'a str) -> Block<'a> {
        Block(Kind::Text(text))
    }

    /// A picture, with its MIME type.
    #[must_use]
    pub const fn image(bytes: &'a [u8], mime_type: &'a str) -> Block<'a> {
        Block(Kind::Image { bytes, mime_type })
    }

    /// Sound, with its MIME type. A client of `2024-11-05`, which has none, gets a text that says so.
    #[must_use]
    pub const fn audio(bytes: &'a [u8], mime_type: &'a str) -> Block<'a> {
        Block(Kind::Audio { bytes, mime_type })
    }

    /// The model has called a tool (from `2025-11-25` on): the id of that call, the tool's name, and its arguments as
    /// JSON text, an object.
    #[must_use]
    pub const fn tool_use(id: &'a str, name: &'a str, input: &'a str) -> Block<'a> {
        Block(Kind::ToolUse { id, name, input })
    }

    /// What the call with this id came to (from `2025-11-25` on): text, pictures, sound.
    #[must_use]
    pub const fn tool_result(id: &'a str, content: &'a [Block<'a>]) -> Block<'a> {
        Block(Kind::ToolResult { id, content, structured: None, failed: false })
    }

    /// Of the result of a tool: its structured value, as JSON text. `2025-11-25` has only objects, and does not get others.
    /// Other blocks stay as they are.
    #[must_use]
    pub const fn structured(mut self, json: &'a str) -> Self {
        if let Kind::ToolResult { structured, .. } = &mut self.0 {
            *structured = Some(json);
        }
        self
    }

    /// Of the result of a tool: it has failed. Other blocks stay as they are.
    #[must_use]
    pub const fn failed(mut self) -> Self {
        if let Kind::ToolResult { failed, .. } = &mut self.0 {
            *failed = true;
        }
        self
    }

    /// The id of the call, if this is one.
    pub(super) fn tool_use_id(&self) -> Option<&'a str> {
        if let Kind::ToolUse { id, .. } = self.0 { Some(id) } else { None }
    }

    /// The id of the call that this is the result of, if it is one.
    pub(super) fn tool_result_id(&self) -> Option<&'a str> {
        if let Kind::ToolResult { id, .. } = self.0 { Some(id) } else { None }
    }

    /// Whether it needs a client that lets the model call tools.
    pub(super) fn needs_tools(&self) -> bool {
        matches!(self.0, Kind::ToolUse { .. } | Kind::ToolResult { .. })
    }

    /// Writes it. `false`: it is not valid.
    pub(super) fn write(&self, revision: Revision, out: &mut Writer<'_>) -> bool {
        let mut valid = true;
        out.begin_object();
        match self.0 {
            Kind::Text(text) => Piece::Text(&text).write(revision, out),
            Kind::Image { bytes, mime_type } => Piece::Image { bytes, mime_type }.write(revision, out),
            Kind::Audio { bytes, mime_type } => Piece::Audio { bytes, mime_type }.write(revision, out),
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
                out.begin_array();
                for block in content {
                    valid &= !block.needs_tools() && block.write(revision, out);
                }
                out.end_array();
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

/// Writes the member, if the revision knows such a value. `false`: it is no JSON.
fn write_structured(text: &str, revision: Revision, out: &mut Writer<'_>) -> bool {
    let Ok(value) = Json::parse(text.as_bytes()) else { return false };
    if may_be_structured(revision, value.kind() == JsonKind::Object) {
        out.field_json("structuredContent", value);
    }
    true
}
