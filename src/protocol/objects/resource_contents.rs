//! Contents of resources: written by a server, viewed by a client.
//!
//! Specification: *Resources*, *Resource contents*, and *Reading resources*.

use crate::json::{Str, WriteBody, WriteText, Writer};
use crate::protocol::objects::base64::Base64;
use crate::protocol::objects::cache_hints::Freshness;
use crate::protocol::objects::result_array::ResultArray;
use crate::protocol::objects::view::{entries, text, view};

/// Default media type of a text resource. The server always sends a media type, because some clients require one.
const TEXT: &str = "text/plain";
const BYTES: &str = "application/octet-stream";
const JSON: &str = "application/json";

/// The contents of a resource.
#[derive(Clone, Copy)]
pub(crate) enum Body<'x> {
    Text(&'x dyn WriteText),
    Blob(&'x [u8]),
}

/// Writes the contents of a resource with its URI.
pub(crate) fn write_contents(
    out: &mut Writer<'_>,
    uri: &dyn WriteText,
    mime_type: Option<&str>,
    body: Body<'_>,
) {
    begin_contents(out, uri, mime_type, matches!(body, Body::Text(_)));
    match body {
        Body::Text(text) => out.display(text),
        Body::Blob(bytes) => out.base64(bytes),
    }
    out.end_object();
}

/// Writes the contents of a resource with its URI. The text is the JSON that `value` writes. Returns whether
/// this JSON is valid, as reported by `value`. After an overflow, always returns `true`.
pub(crate) fn write_json_contents(
    out: &mut Writer<'_>,
    uri: &str,
    mime_type: Option<&str>,
    value: &mut dyn WriteBody,
) -> bool {
    out.begin_object();
    out.field_string("uri", uri);
    out.field_string("mimeType", mime_type.unwrap_or(JSON));
    // The text is an escaped copy of the value. The value stands before the text until the copy is complete.
    let before = out.mark();
    out.key("text");
    let from = out.len();
    let is_valid = value.write(out) || out.overflowed();
    let to = out.len();
    out.members(r#""text":""#);
    out.escape_own(from, to);
    out.token("\"");
    out.cut(before, to);
    out.end_object();
    is_valid
}

/// Writes the contents of a resource up to the value of the member `text` or `blob`.
pub(crate) fn begin_contents(
    out: &mut Writer<'_>,
    uri: &dyn WriteText,
    mime_type: Option<&str>,
    is_text: bool,
) {
    let (key, fallback) = if is_text { ("text", TEXT) } else { ("blob", BYTES) };
    out.begin_object();
    out.field_display("uri", uri);
    out.field_string("mimeType", mime_type.unwrap_or(fallback));
    out.key(key);
}

/// Writes the contents of a resource.
#[derive(Debug)]
pub struct Contents<'w, 'a> {
    out: &'w mut Writer<'a>,
    items: ResultArray,
}

impl<'w, 'a> Contents<'w, 'a> {
    pub(crate) fn begin(out: &'w mut Writer<'a>) -> Contents<'w, 'a> {
        Contents { out, items: ResultArray::new("contents") }
    }

    /// Completes the list. Returns `false` if the list is not valid.
    pub(crate) fn end(mut self) -> bool {
        self.items.end(self.out);
        self.items.valid
    }

    /// Adds text. The default media type is `text/plain`.
    pub fn text(&mut self, uri: &str, mime_type: Option<&str>, text: impl WriteText) {
        self.add(uri, mime_type, Body::Text(&text));
    }

    /// Adds bytes. The default media type is `application/octet-stream`.
    pub fn blob(&mut self, uri: &str, mime_type: Option<&str>, bytes: &[u8]) {
        self.add(uri, mime_type, Body::Blob(bytes));
    }

    fn add(&mut self, uri: &str, mime_type: Option<&str>, body: Body<'_>) {
        if self.items.element(self.out) {
            write_contents(self.out, &uri, mime_type, body);
        }
    }
}

view! {
    /// The contents of a resource, or of one part of a resource.
    ///
    /// The contents are text or binary data.
    ///
    /// Specification: *Resources*, *Resource contents*.
    ResourceContentsView with meta, mime
}

impl<'a> ResourceContentsView<'a> {
    /// Returns the URI of the requested resource, or of a part of this resource.
    #[must_use]
    pub fn uri(&self) -> Option<Str<'a>> {
        text(self.json, "uri")
    }

    /// Returns the text. Returns `None` for binary contents.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        text(self.json, "text")
    }

    /// Returns the binary data. Returns `None` for text.
    #[must_use]
    pub fn blob(&self) -> Option<Base64<'a>> {
        text(self.json, "blob").map(Base64::new)
    }
}

view! {
    /// The result of `resources/read`.
    ///
    /// Specification: *Resources*, *Reading resources*.
    ReadResultView with meta
}

impl<'a> ReadResultView<'a> {
    /// Returns the parts of the contents. A directory, for example, can have several parts.
    pub fn contents(&self) -> impl Iterator<Item = ResourceContentsView<'a>> + use<'a> {
        entries(self.json, "contents").map(ResourceContentsView::from_json)
    }

    /// Returns the text of the first text part.
    #[must_use]
    pub fn text(&self) -> Option<Str<'a>> {
        self.contents().find_map(|contents| contents.text())
    }

    /// Returns the cache hints of the result: lifetime and scope.
    #[must_use]
    pub fn freshness(&self) -> Freshness {
        Freshness::from_json(self.json)
    }
}
