//! Event `Request`: a request with a method of an extension, and its response.
//!
//! Specification: 2026-07-28, *Extensions*.

use crate::error::ProtocolError;
use crate::framing::LineDecoder;
use crate::json::{Json, Writer, text_of};
use crate::peer::slots::Ticket;
use crate::protocol::meta;
use crate::protocol::objects::application_json::once;
use crate::protocol::revision::WireFeature;
use crate::server::event::{Event, RequestParts, part, spans_of};
use crate::server::feature::{Received, Request};
use crate::server::pending_event::{RequestKind, Spans};
use crate::server::reply::Reply;
use crate::server::request_methods::{request_event, request_methods};
use crate::server::server_state::{ServerState, Shape};

/// A request with a method of an [extension](crate::server::Extensions): method, parameters and response methods.
///
/// Every response method consumes the request. Only [`defer`](Self::defer) can fail. On failure, this method returns
/// the request. If the application drops the request, the next poll responds with an error (-32603).
///
/// A request may stay open as a subscription of the extension: [defer](ExtensionRequest::defer) it with
/// [`Millis::MAX`](crate::Millis::MAX), and send notifications with
/// [`Server::notify_subscription`](crate::Server::notify_subscription).
#[must_use = "a request needs a response"]
#[derive(Debug)]
pub struct ExtensionRequest<'a> {
    parts: RequestParts<'a>,
}

/// Emits a request. The subject of the event is the method of the request.
pub(crate) fn emit_extension_request(request: &mut Request<'_, '_>) -> Received {
    request.emit_with_params(RequestKind::Extension, request.method, ExtensionRequest::event)
}

/// Returns the event of a notification. The span `subject` is the method.
pub(crate) fn notification_event<'e>(
    input: &'e LineDecoder<'_>,
    _: &'e ServerState<'_>,
    _: Ticket,
) -> Option<Event<'e>> {
    let Spans { subject, arguments, .. } = spans_of(input);
    let params = Some(part(input, arguments)).filter(|_| !arguments.is_missing());
    Some(Event::Notification { method: text_of(part(input, subject).bytes()), params })
}

impl<'a> ExtensionRequest<'a> {
    /// Returns the method of the request.
    #[must_use]
    pub fn method(&self) -> &'a str {
        self.parts.subject
    }

    /// Returns the parameters as an object, which is empty if the request has no parameters.
    #[must_use]
    pub fn params(&self) -> Json<'a> {
        self.parts.params()
    }

    /// Responds with a result. `members` writes the keys and values of the result.
    pub fn result_with(self, members: impl FnOnce(&mut Writer<'_>)) {
        self.parts.reply.result_with(members);
    }

    /// Responds with a result. `value` must serialize to an object.
    #[cfg(feature = "serde")]
    pub fn result<T: serde_core::Serialize + ?Sized>(self, value: &T) {
        self.parts.reply.result_value(value);
    }

    /// Responds with a result of an extension's own type: see
    /// [`Reply::result_of_type`](crate::server::Reply::result_of_type).
    pub fn result_of_type(self, result_type: &str, members: impl FnOnce(&mut Writer<'_>)) {
        self.parts.reply.result_of_type(result_type, members);
    }

    /// Responds that the client did not declare the extension with this name:
    /// see [`Reply::require_extension`](crate::server::Reply::require_extension).
    pub fn require_extension(self, name: &str) {
        self.parts.reply.require_extension(name);
    }
}

request_event!(ExtensionRequest, Request);
request_methods!(ExtensionRequest);

impl Reply<'_> {
    /// Responds to [`ExtensionRequest`] with a result. `members` writes the keys and values of the result.
    pub fn result_with(self, members: impl FnOnce(&mut Writer<'_>)) {
        let fits = matches!(self.pending.context.kind, RequestKind::Extension);
        let mut members = once(members);
        self.result(fits, Shape::Result, &mut |out: &mut Writer<'_>| {
            out.members_checked(&mut members).is_ok()
        });
    }

    /// Responds to [`ExtensionRequest`] with a result. `value` must serialize to an object.
    #[cfg(feature = "serde")]
    pub fn result_value<T: serde_core::Serialize + ?Sized>(self, value: &T) {
        let fits = matches!(self.pending.context.kind, RequestKind::Extension);
        self.result(fits, Shape::Result, &mut |out: &mut Writer<'_>| out.serialize_members(value));
    }

    /// Responds with a result of an extension's own type (`2026-07-28`). `members` writes the keys and values of the
    /// result. The server itself writes `resultType`. Unless the results are
    /// [anonymous](crate::server::ServerConfig::anonymous_results), the server also writes `_meta`.
    ///
    /// Only clients that declared the extension accept such a result: check
    /// [`Call::extension`](crate::server::Call::extension) first. In earlier revisions, the response is an error, and
    /// the next event is [`ProtocolError::InvalidReply`].
    pub fn result_of_type(self, result_type: &str, members: impl FnOnce(&mut Writer<'_>)) {
        if !self.pending.context.revision().has(WireFeature::ResultTypes) {
            return self.refuse_and_report(ProtocolError::InvalidReply);
        }
        let (mut members, config, revision) = (once(members), self.config, self.pending.context.revision());
        self.respond(Shape::Extension, &mut |out: &mut Writer<'_>| {
            out.field_string("resultType", result_type);
            if config.identify {
                out.begin_object_at("_meta");
                out.key(meta::SERVER_INFO);
                config.identity.write(revision, out);
                out.end_object();
            }
            out.members_checked(&mut members).is_ok()
        });
    }

    /// Responds that the client did not declare the extension with this name.
    ///
    /// The error code is -32021 in `2026-07-28`, and -32600 in earlier revisions. The member
    /// `data.requiredCapabilities` names the extension.
    pub fn require_extension(self, name: &str) {
        self.require_declared(&mut |out: &mut Writer<'_>| write_extension(name, out));
    }
}

/// Writes client capabilities that consist of one extension.
pub(crate) fn write_extension(name: &str, out: &mut Writer<'_>) {
    out.begin_object();
    out.begin_object_at("extensions");
    out.key(name);
    out.token("{}");
    out.end_object();
    out.end_object();
}

/// Returns the settings of an extension in the `_meta` of a request. Returns `None` if `_meta` does not declare the
/// extension.
pub(crate) fn extension_in<'a>(meta: Json<'a>, name: &str) -> Option<Json<'a>> {
    meta.get(meta::CLIENT_CAPABILITIES)?.get("extensions")?.get(name)
}
