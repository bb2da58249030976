//! An HTTP request that carries a message, opens or resumes a stream, or ends the session.

use core::fmt;

use mcp_proto::json::{Json, Str, TooShort};
use mcp_proto::rpc::Message;
use mcp_proto::{Era, Revision, methods};

use super::header_value::encode_value;
use super::tool_headers::ToolHeaders;
use crate::fields::{NAMED, VERSION_KEY};

/// The method of an HTTP request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Sends a message.
    Post,
    /// Opens or resumes a stream of events.
    Get,
    /// Ends the session.
    Delete,
}

impl Method {
    /// Returns the method as HTTP writes it.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Post => "POST",
            Method::Get => "GET",
            Method::Delete => "DELETE",
        }
    }
}

/// An HTTP request that the application sends to the URL of the server, or to its [endpoint](Request::endpoint).
///
/// The application adds fields of its own, such as `Host` and `Authorization`.
pub struct Request<'r> {
    pub(super) method: Method,
    pub(super) message: Option<Message<'r>>,
    pub(super) session: Option<&'r str>,
    pub(super) endpoint: Option<&'r str>,
    pub(super) revision: Option<Revision>,
    pub(super) last_event_id: Option<&'r str>,
    pub(super) tool_headers: &'r ToolHeaders<'r>,
}

impl<'r> Request<'r> {
    /// Returns the HTTP method.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// Returns the endpoint to which the application sends the request. `None` means the URL of the server. Only a
    /// server of HTTP+SSE (2024-11-05) names an endpoint.
    ///
    /// The endpoint is a URI, or a reference relative to the URL: see [`resolve_endpoint`](super::resolve_endpoint).
    /// The endpoint is a secret, because it names the session.
    #[must_use]
    pub fn endpoint(&self) -> Option<&'r str> {
        self.endpoint
    }

    /// Returns the body: one JSON text. Only a POST has a body; `None` means no body.
    #[must_use]
    pub fn body(&self) -> Option<&'r [u8]> {
        self.message.map(|message| message.bytes())
    }

    /// Calls `each` with the name and the value of each header field. `scratch` holds one value at a time or, for a
    /// parameter of a tool, one name with its value.
    ///
    /// # Errors
    ///
    /// Returns the length that `scratch` needs for the first field that does not fit. For a parameter of a tool,
    /// `scratch` must hold the name and the value together. After an error, the application must not send the request,
    /// because fields are missing.
    pub fn fields(&self, scratch: &mut [u8], each: &mut dyn FnMut(&str, &str)) -> Result<(), TooShort> {
        each("Accept", if self.method == Method::Get { "text/event-stream" } else { ACCEPT });
        if self.message.is_some() {
            each("Content-Type", "application/json");
        }
        if let Some(id) = self.session {
            each("Mcp-Session-Id", id);
        }
        if let Some(id) = self.last_event_id {
            each("Last-Event-ID", id);
        }
        let version = self.message.and_then(stateless_version);
        match (version, self.revision) {
            (Some(version), _) => each("MCP-Protocol-Version", encode_value(version, scratch)?),
            (None, Some(revision)) => each("MCP-Protocol-Version", revision.as_str()),
            (None, None) => {}
        }
        let Some(message) = self.message else { return Ok(()) };
        let Some(method) = message.method().and_then(Json::string) else { return Ok(()) };
        // In the stateless era, `Mcp-Method` also repeats the method of a notification.
        if version.is_some() || self.revision.is_some_and(|revision| revision.era() == Era::Stateless) {
            each("Mcp-Method", encode_value(method, scratch)?);
        }
        let Some(key) = name_member(method).filter(|_| version.is_some()) else { return Ok(()) };
        let [name, arguments] = message.pick_params([key, "arguments"]);
        let Some(name) = name.and_then(Json::string) else { return Ok(()) };
        each("Mcp-Name", encode_value(name, scratch)?);
        match arguments.filter(|_| method == methods::TOOLS_CALL.name()) {
            Some(arguments) => self.parameter_fields(name, arguments, scratch, each),
            None => Ok(()),
        }
    }

    /// Calls `each` with a field for each parameter that the tool's schema marks with `x-mcp-header`.
    fn parameter_fields(
        &self,
        tool: Str<'_>,
        arguments: Json<'_>,
        scratch: &mut [u8],
        each: &mut dyn FnMut(&str, &str),
    ) -> Result<(), TooShort> {
        let mut result = Ok(());
        self.tool_headers.for_each(tool, arguments, &mut |name, value| {
            if result.is_ok() {
                result = parameter_field(name, value, scratch, each);
            }
        });
        result
    }
}

impl fmt::Debug for Request<'_> {
    /// Shows the method only, because the session id, the event id and the endpoint are secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request").field("method", &self.method).finish_non_exhaustive()
    }
}

const ACCEPT: &str = "application/json, text/event-stream";
const PREFIX: &str = "Mcp-Param-";

fn parameter_field(
    name: &str,
    value: Json<'_>,
    scratch: &mut [u8],
    each: &mut dyn FnMut(&str, &str),
) -> Result<(), TooShort> {
    let length = PREFIX.len().saturating_add(name.len());
    let with_name = |TooShort { needed }| TooShort { needed: needed.saturating_add(length) };
    let Some((field, scratch)) = scratch.split_at_mut_checked(length) else {
        let value = value.string().and_then(|text| encode_value(text, &mut []).err());
        return Err(with_name(value.unwrap_or(TooShort { needed: 0 })));
    };
    for (place, byte) in field.iter_mut().zip(PREFIX.bytes().chain(name.bytes())) {
        *place = byte;
    }
    let Ok(field) = core::str::from_utf8(field) else { return Ok(()) };
    if let Some(text) = value.string() {
        each(field, encode_value(text, scratch).map_err(with_name)?);
    } else if let Some(value) = value.boolean() {
        each(field, if value { "true" } else { "false" });
    } else if let Some(text) = value.number() {
        each(field, text);
    }
    Ok(())
}

/// Returns the revision in `_meta` of a message's parameters. Returns `None` if there is no revision, as in the
/// handshake era.
pub(super) fn stateless_version(message: Message<'_>) -> Option<Str<'_>> {
    let [meta] = message.pick_params(["_meta"]);
    meta?.get(VERSION_KEY)?.string()
}

/// Returns the name of the parameter that `Mcp-Name` repeats, or `None` for a method without this field.
fn name_member(method: Str<'_>) -> Option<&'static str> {
    NAMED.into_iter().find(|(name, _)| method == **name).map(|(_, member)| member)
}
