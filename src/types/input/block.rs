//! What a message for a model is made of.
//!
//! Specification: *Sampling*, *Message content*.

use core::fmt;

use super::write_object;
use crate::json::Writer;
use crate::version::Revision;

/// A piece of a message for a model.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a>(Kind<'a>);

#[derive(Debug, Clone, Copy)]
enum Kind<'a> {
    Text(&'a str),
    Image { data: &'a [u8], mime_type: &'a str },
    Audio { data: &'a [u8], mime_type: &'a str },
    ToolUse { id: &'a str, name: &'a str, input: &'a str },
    ToolResult { id: &'a str, content: &'a [Block<'a>], failed: bool },
}

impl<'a> Block<'a> {
    /// Text.
    #[must_use]
    pub const fn text(text: &'a str) -> Block<'a> {
        Block(Kind::Text(text))
    }

    /// A picture, with its MIME type.
    #[must_use]
    pub const fn image(data: &'a [u8], mime_type: &'a str) -> Block<'a> {
        Block(Kind::Image { data, mime_type })
    }

    /// Sound, with its MIME type. A client of `2024-11-05`, which has none, gets a text that says so.
    #[must_use]
    pub const fn audio(data: &'a [u8], mime_type: &'a str) -> Block<'a> {
        Block(Kind::Audio { data, mime_type })
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
        Block(Kind::ToolResult { id, content, failed: false })
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
            Kind::Text(text) => {
                out.field_string("type", "text");
                out.field_string("text", text);
            }
            Kind::Audio { mime_type, .. } if revision < Revision::V2025_03_26 => {
                out.field_string("type", "text");
                out.key("text");
                out.display(&format_args!("[audio: {mime_type}]"));
            }
            Kind::Image { data, mime_type } => write_bytes("image", data, mime_type, out),
            Kind::Audio { data, mime_type } => write_bytes("audio", data, mime_type, out),
            Kind::ToolUse { id, name, input } => {
                out.field_string("type", "tool_use");
                out.field_string("id", id);
                out.field_string("name", name);
                out.key("input");
                valid = write_object(out, input);
            }
            Kind::ToolResult { id, content, failed } => {
                out.field_string("type", "tool_result");
                out.field_string("toolUseId", id);
                out.key("content");
                out.begin_array();
                for block in content {
                    valid &= !block.needs_tools() && block.write(revision, out);
                }
                out.end_array();
                if failed {
                    out.field_boolean("isError", true);
                }
            }
        }
        out.end_object();
        valid
    }
}

fn write_bytes(kind: &str, data: &[u8], mime_type: &str, out: &mut Writer<'_>) {
    out.field_string("type", kind);
    out.key("data");
    out.display(&Base64(data));
    out.field_string("mimeType", mime_type);
}

/// Bytes as base64, with padding.
struct Base64<'a>(&'a [u8]);

impl fmt::Display for Base64<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let digit = |bits: u32| DIGITS.get((bits & 63) as usize).copied().unwrap_or(b'=');
        for three in self.0.chunks(3) {
            let byte = |at: usize| u32::from(three.get(at).copied().unwrap_or(0));
            let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
            let mut four = [digit(bits >> 18), digit(bits >> 12), digit(bits >> 6), digit(bits)];
            for unused in four.iter_mut().skip(three.len().saturating_add(1)) {
                *unused = b'=';
            }
            f.write_str(core::str::from_utf8(&four).unwrap_or_default())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn bytes_are_written_as_base64() {
        let cases = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (bytes, text) in cases {
            assert_eq!(format!("{}", Base64(bytes.as_bytes())), text);
        }
        assert_eq!(format!("{}", Base64(&[0xff, 0xef, 0xbe])), "/+++");
    }
}
