//! `ChunkedContent`: the one string of a chunked response, and the members before it.

use crate::json::Writer;
use crate::protocol::objects::resource_contents::begin_contents;
use crate::protocol::revision::{Revision, WireFeature};
use crate::server::chunks::{BLOB, ChunkState, EMBEDDED, PAD_STRUCTURED, TOOL};
use crate::server::pending_event::RequestKind;

/// The content of a [chunked](crate::server::Call::chunked) response: one string, which the application writes in
/// chunks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChunkedContent<'a> {
    /// A text block of a tool result.
    Text,
    /// An image of a tool result.
    Image {
        /// The media type, such as `image/png`.
        mime_type: &'a str,
    },
    /// Audio of a tool result (since `2025-03-26`).
    Audio {
        /// The media type, such as `audio/wav`.
        mime_type: &'a str,
    },
    /// A resource with text: the contents of a read resource, or a resource embedded in a tool result.
    ResourceText {
        /// The URI of the resource.
        uri: &'a str,
        /// The media type. The default is `text/plain`.
        mime_type: Option<&'a str>,
    },
    /// A resource with bytes: the contents of a read resource, or a resource embedded in a tool result.
    ResourceBlob {
        /// The URI of the resource.
        uri: &'a str,
        /// The media type. The default is `application/octet-stream`.
        mime_type: Option<&'a str>,
    },
}

impl ChunkedContent<'_> {
    /// Returns the state of a response with this content. Returns `None` if the request or the revision does not
    /// permit the content.
    pub(super) fn state(self, kind: RequestKind, revision: Revision) -> Option<ChunkState> {
        let (is_resource, blob) = match self {
            ChunkedContent::Text => (false, 0),
            ChunkedContent::Audio { .. } if !revision.has(WireFeature::Audio) => return None,
            ChunkedContent::Image { .. } | ChunkedContent::Audio { .. } => (false, BLOB),
            ChunkedContent::ResourceText { .. } => (true, 0),
            ChunkedContent::ResourceBlob { .. } => (true, BLOB),
        };
        let kind = match kind {
            RequestKind::CallTool { pad_structured, is_task: false } => {
                TOOL | if pad_structured { PAD_STRUCTURED } else { 0 }
                    | if is_resource { EMBEDDED } else { 0 }
            }
            RequestKind::ReadResource if is_resource => 0,
            _ => return None,
        };
        Some(ChunkState { flags: kind | blob, remaining: 0, remainder: [0; 2] })
    }

    /// Writes the members of a result up to the start of the string.
    pub(super) fn begin(self, chunks: ChunkState, out: &mut Writer<'_>) {
        out.members(if chunks.has(TOOL) { r#""content":["# } else { r#""contents":["# });
        let (kind, mime_type) = match self {
            ChunkedContent::Text => return out.token(r#"{"type":"text","text":""#),
            ChunkedContent::Image { mime_type } => ("image", mime_type),
            ChunkedContent::Audio { mime_type } => ("audio", mime_type),
            ChunkedContent::ResourceText { uri, mime_type }
            | ChunkedContent::ResourceBlob { uri, mime_type } => {
                if chunks.has(EMBEDDED) {
                    out.token(r#"{"type":"resource","resource":"#);
                }
                begin_contents(out, &uri, mime_type, !chunks.has(BLOB));
                return out.token("\"");
            }
        };
        out.begin_object();
        out.field_string("type", kind);
        out.field_string("mimeType", mime_type);
        out.key("data");
        out.token("\"");
    }
}
