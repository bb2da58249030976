//! Event `ReadResource` (`resources/read`) and its response.
//!
//! Specification: *Resources*, *Reading resources*.

use crate::error::ProtocolError;
use crate::json::{Chars, WriteBody, WriteText, Writer};
use crate::protocol::objects::application_json::write_once;
use crate::protocol::objects::resource::{Resource, ResourceTemplate};
use crate::protocol::objects::resource_contents::{Body, Contents, write_contents, write_json_contents};
use crate::protocol::uri_template::{self, Variable};
use crate::server::event::RequestParts;
use crate::server::features::resources::{unknown_resource_code, write_not_found};
use crate::server::pending_event::RequestKind;
use crate::server::reply::Reply;
use crate::server::request_methods::{input_methods, request_event, request_methods};
use crate::server::server_state::Shape;

/// A request to read a resource (`resources/read`): URI and response methods.
///
/// Every response method consumes the request. Only [`chunked_text`](Self::chunked_text),
/// [`chunked_blob`](Self::chunked_blob) and [`defer`](Self::defer) can fail. On failure, these methods return the
/// request. If the application drops the request, the next poll responds with an error (-32603).
///
/// ```
/// use mcp_proto::server::ReadResource;
/// fn read(request: ReadResource<'_>) {
///     match (request.uri(), request.variable("number")) {
///         ("board://log", _) => request.text("nothing happened"),
///         (_, Some(number)) if number == "13" => request.text("high"),
///         _ => request.not_found(),
///     }
/// }
/// ```
///
/// Specification: *Resources*, *Reading resources*.
#[must_use = "a request needs a response"]
#[derive(Debug)]
pub struct ReadResource<'a> {
    pub(crate) parts: RequestParts<'a>,
}

impl<'a> ReadResource<'a> {
    /// Returns the URI of the resource.
    #[must_use]
    pub fn uri(&self) -> &'a str {
        self.parts.subject
    }

    /// Returns the entry of the URI in a static catalog of resources. Returns `None` if no entry has the URI.
    #[must_use]
    pub fn resource(&self) -> Option<&'a Resource<'a>> {
        self.parts.reply.find(&|uri| uri == self.parts.subject)
    }

    /// Returns the first template of a static catalog whose pattern matches the URI. Returns `None` if no template
    /// matches.
    #[must_use]
    pub fn template(&self) -> Option<&'a ResourceTemplate<'a>> {
        let matches =
            |template: &str| uri_template::find(template, Chars::new(self.parts.subject), "").is_some();
        self.parts.reply.find(&matches)
    }

    /// Returns the value of a variable of the matching [`template`](Self::template). Returns `None` if no template
    /// matches, or if the template does not have the variable.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<Variable<'a>> {
        uri_template::value_of(self.template()?.uri, self.parts.subject, name)
    }

    /// Returns the media type of the matching resource or template in a catalog. Returns `None` if no entry matches, or
    /// if the entry has no media type.
    pub(crate) fn mime_type(&self) -> Option<&'a str> {
        match self.resource() {
            Some(resource) => resource.mime_type,
            None => self.template()?.mime_type,
        }
    }

    /// Responds with text. The media type comes from the catalog, or else is `text/plain`.
    pub fn text(self, text: impl WriteText) {
        self.respond_one(Body::Text(&text));
    }

    /// Responds with bytes. The media type comes from the catalog, or else is `application/octet-stream`.
    pub fn blob(self, bytes: &[u8]) {
        self.respond_one(Body::Blob(bytes));
    }

    /// Responds with a value as JSON text. The media type comes from the catalog, or else is `application/json`.
    #[cfg(feature = "serde")]
    pub fn json<T: serde_core::Serialize + ?Sized>(self, value: &T) {
        self.respond_json(&mut |out: &mut Writer<'_>| out.serialize(value).is_ok());
    }

    /// Responds with the JSON value that `body` writes, like [`json`](Self::json).
    pub fn json_with(self, body: impl FnOnce(&mut Writer<'_>)) {
        let mut body = Some(body);
        self.respond_json(&mut |out: &mut Writer<'_>| write_once(out, &mut body));
    }

    fn respond_json(self, value: &mut dyn WriteBody) {
        let (uri, mime_type) = (self.parts.subject, self.mime_type());
        self.parts.reply.result(true, Shape::List, &mut |out: &mut Writer<'_>| {
            out.begin_array_at("contents");
            let valid = write_json_contents(out, uri, mime_type, value);
            out.end_array();
            valid
        });
    }

    fn respond_one(self, body: Body<'_>) {
        let (uri, mime_type) = (self.parts.subject, self.mime_type());
        self.parts.reply.result(true, Shape::List, &mut |out: &mut Writer<'_>| {
            out.begin_array_at("contents");
            write_contents(out, &uri, mime_type, body);
            out.end_array();
        });
    }

    /// Responds with any number of contents. The contents belong to the resource, or to its parts.
    pub fn contents(self, body: impl FnOnce(&mut Contents<'_, '_>)) {
        self.parts.reply.contents(body);
    }

    /// Responds that the resource does not exist: -32002, or -32602 since `2026-07-28`.
    pub fn not_found(self) {
        self.parts.reply.not_found(self.parts.subject);
    }
}

request_event!(ReadResource, ReadResource);
request_methods!(ReadResource);
input_methods!(ReadResource);

impl Reply<'_> {
    /// Responds to [`ReadResource`] with any number of contents.
    pub fn contents(self, body: impl FnOnce(&mut Contents<'_, '_>)) {
        let fits = matches!(self.pending.context.kind, RequestKind::ReadResource);
        let mut body = Some(body);
        self.result(fits, Shape::List, &mut |out: &mut Writer<'_>| {
            let mut contents = Contents::begin(out);
            if let Some(body) = body.take() {
                body(&mut contents);
            }
            contents.end()
        });
    }

    /// Responds that the resource with this URI does not exist. The code is -32002, or -32602 since `2026-07-28`.
    pub fn not_found(self, uri: &str) {
        let code = unknown_resource_code(self.pending.context.revision());
        let fits = matches!(self.pending.context.kind, RequestKind::ReadResource);
        self.result(fits, Shape::Error(code), &mut |out: &mut Writer<'_>| {
            write_not_found(out, ProtocolError::UnknownResource { code }, &mut |out: &mut Writer<'_>| {
                out.string(uri)
            });
        });
    }
}
