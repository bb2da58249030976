//! Reading a resource: what is asked for, and the answers.
//!
//! Specification: *Resources*, *Reading resources*.

use crate::error::ProtocolError;
use crate::json::{Chars, WriteText, Writer};
use crate::protocol::content::{Body, Items, write_contents};
use crate::protocol::resource::{Resource, Template};
use crate::protocol::uri_template::{self, Variable};
use crate::server::event::{Event, Parts};
use crate::server::features::catalogue::{Catalogue, Found};
use crate::server::features::resources::{unknown_resource_code, write_not_found};
use crate::server::input_required::InputResponses;
use crate::server::pending_event::RequestKind;
use crate::server::reply::Reply;
use crate::server::request::{request, rounds};
use crate::server::server_state::Shape;

/// A resource is read: its URI, and the right to answer.
///
/// Every answer consumes it, and none can fail. One that is dropped without an answer gets an error (-32603) at the
/// next poll.
///
/// ```
/// use mcp_proto::server::ReadResource;
/// fn read(request: ReadResource<'_>) {
///     match (request.uri(), request.variable("number").and_then(|number| number.as_str())) {
///         ("board://log", _) => request.text("nothing happened"),
///         (_, Some("13")) => request.text("high"),
///         _ => request.not_found(),
///     }
/// }
/// ```
///
/// Specification: *Resources*, *Reading resources*.
#[must_use = "a request has to be answered"]
#[derive(Debug)]
pub struct ReadResource<'a> {
    pub(crate) uri: &'a str,
    pub(crate) returned: InputResponses<'a>,
    pub(crate) reply: Reply<'a>,
}

impl<'a> ReadResource<'a> {
    pub(crate) fn event<'e>(parts: Parts<'e>, reply: Reply<'e>) -> Option<Event<'e>> {
        Some(Event::ReadResource(ReadResource { uri: parts.subject, returned: parts.returned, reply }))
    }

    /// The URI.
    #[must_use]
    pub fn uri(&self) -> &'a str {
        self.uri
    }

    /// The resource's entry in the catalogue, if it has one.
    #[must_use]
    pub fn resource(&self) -> Option<&'a Resource<'a>> {
        match self.reply.find(Catalogue::Resources, &|uri| uri == self.uri) {
            Found::Resource(resource) => Some(resource),
            _ => None,
        }
    }

    /// The first template that stands for the URI, if there is one.
    #[must_use]
    pub fn template(&self) -> Option<&'a Template<'a>> {
        let matches = |template: &str| uri_template::find(template, Chars::new(self.uri), "").is_some();
        match self.reply.find(Catalogue::Templates, &matches) {
            Found::Template(template) => Some(template),
            _ => None,
        }
    }

    /// The value of a variable of that template.
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<Variable<'a>> {
        uri_template::value_of(self.template()?.uri, self.uri, name)
    }

    /// The media type that the catalogue says it has.
    fn mime_type(&self) -> Option<&'a str> {
        match self.resource() {
            Some(resource) => resource.mime_type,
            None => self.template()?.mime_type,
        }
    }

    /// Answers with text, of the media type that the catalogue says, or `text/plain`.
    pub fn text(self, text: impl WriteText) {
        self.one(Body::Text(&text));
    }

    /// Answers with bytes, of the media type that the catalogue says, or `application/octet-stream`.
    pub fn blob(self, bytes: &[u8]) {
        self.one(Body::Blob(bytes));
    }

    fn one(self, body: Body<'_>) {
        let (uri, mime_type) = (self.uri, self.mime_type());
        self.reply.result(true, Shape::List, &mut |out| {
            out.key("contents");
            out.begin_array();
            write_contents(out, uri, mime_type, body);
            out.end_array();
            true
        });
    }

    /// Answers with any number of contents: of the resource, or of what is in it.
    pub fn contents(self, body: impl FnOnce(&mut Contents<'_, '_>)) {
        self.reply.contents(body);
    }

    /// Says that there is no such resource: -32002, or -32602 from `2026-07-28` on.
    pub fn not_found(self) {
        self.reply.not_found(self.uri);
    }
}

request!(ReadResource);
rounds!(ReadResource);

impl Reply<'_> {
    /// Answers [reading a resource](ReadResource) with any number of contents.
    pub fn contents(self, body: impl FnOnce(&mut Contents<'_, '_>)) {
        let fits = self.pending.context.kind == RequestKind::ReadResource;
        let mut body = Some(body);
        self.result(fits, Shape::List, &mut |out| {
            let mut contents = Contents { out, items: Items::new("contents") };
            if let Some(body) = body.take() {
                body(&mut contents);
            }
            let Contents { out, mut items } = contents;
            items.end(out);
            items.valid
        });
    }

    /// Says that there is no resource of this URI, which was asked for: -32002, or -32602 from `2026-07-28` on.
    pub fn not_found(self, uri: &str) {
        let code = unknown_resource_code(self.pending.context.revision);
        let fits = self.pending.context.kind == RequestKind::ReadResource;
        self.result(fits, Shape::Error, &mut |out| {
            write_not_found(out, ProtocolError::UnknownResource { code }, &mut |out| out.string(uri));
            true
        });
    }
}

/// What a resource contains, piece by piece.
#[derive(Debug)]
pub struct Contents<'w, 'a> {
    out: &'w mut Writer<'a>,
    items: Items,
}

impl Contents<'_, '_> {
    /// Adds text. Without a media type it is `text/plain`.
    pub fn text(&mut self, uri: &str, mime_type: Option<&str>, text: impl WriteText) {
        self.add(uri, mime_type, Body::Text(&text));
    }

    /// Adds bytes. Without a media type they are `application/octet-stream`.
    pub fn blob(&mut self, uri: &str, mime_type: Option<&str>, bytes: &[u8]) {
        self.add(uri, mime_type, Body::Blob(bytes));
    }

    fn add(&mut self, uri: &str, mime_type: Option<&str>, body: Body<'_>) {
        if self.items.element(self.out) {
            write_contents(self.out, uri, mime_type, body);
        }
    }
}
