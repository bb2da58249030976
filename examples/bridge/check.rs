//! Checks of requests, before the bridge passes them to a server process.

use mcp_proto::json::Json;
use mcp_proto::rpc::{Message, MessageKind, code};
use mcp_proto::{Revision, WireFeature};
use mcp_proto_http::server::AllowList;

use crate::connection::Request;
use crate::message::{self, has_method};
use crate::options::Served;

pub(crate) const PATH: &str = "/mcp";

/// An error response of the bridge itself: its status, error code and reason.
pub(crate) struct Refusal(pub(crate) u16, pub(crate) i32, pub(crate) &'static str);

/// Checks the path, `Host` and `Origin`. Permits a request without `Origin`.
pub(crate) fn head(served: &Served, request: &Request) -> Result<(), Refusal> {
    if request.path != PATH {
        return Err(Refusal(404, code::INVALID_REQUEST, "the path is not /mcp"));
    }
    let host = request.host.as_deref().unwrap_or_default().as_bytes();
    let hosts: Vec<&str> = served.hosts.iter().map(String::as_str).collect();
    if !AllowList::Loopback.has_host(host) && !AllowList::Names(&hosts).has_host(host) {
        return Err(Refusal(403, code::INVALID_REQUEST, "`Host` is not allowed: see --host"));
    }
    let origins: Vec<&str> = served.origins.iter().map(String::as_str).collect();
    if let Some(origin) = request.origin.as_deref().map(str::as_bytes)
        && !AllowList::Loopback.has_origin(origin)
        && !AllowList::Names(&origins).has_origin(origin)
    {
        return Err(Refusal(403, code::INVALID_REQUEST, "`Origin` is not allowed: see --origin"));
    }
    Ok(())
}

/// Checks the header field `MCP-Protocol-Version` of a request of the handshake era. Permits a missing field.
pub(crate) fn handshake_version(request: &Request) -> Result<(), Refusal> {
    let is_known =
        |field: &String| Revision::parse(field).is_some_and(|revision| revision.has(WireFeature::Handshake));
    if request.version.as_ref().is_none_or(is_known) {
        return Ok(());
    }
    Err(Refusal(400, code::INVALID_REQUEST, "no session has the version in `MCP-Protocol-Version`"))
}

/// Returns the JSON text for an unknown id in an error response: empty if the revision of the request omits the id.
pub(crate) fn missing_id(request: &Request) -> &'static [u8] {
    let revision = request.version.as_deref().and_then(Revision::parse);
    let is_omitted = revision.is_some_and(|revision| revision.has(WireFeature::OmittedErrorIds));
    if is_omitted { b"" } else { b"null" }
}

/// Compares the header fields with the body. Returns whether the message is of the stateless era.
///
/// # Errors
/// A header field is missing or differs from the body, or `_meta` lacks a required member. If `_meta` has no version,
/// an unknown version in `MCP-Protocol-Version` is also an error.
pub(crate) fn body(request: &Request, body: &Message<'_>) -> Result<bool, Refusal> {
    let version = message::meta(body, message::VERSION).and_then(Json::string);
    let Some(version) = version else {
        let field = request.version.as_deref().and_then(Revision::parse);
        return match field {
            Some(Revision::V2026_07_28) => {
                Err(Refusal(400, code::INVALID_PARAMS, "`_meta` has no protocol version"))
            }
            _ => handshake_version(request).map(|()| false),
        };
    };
    if request.version.as_ref().is_none_or(|field| version != **field) {
        return Err(Refusal(400, code::HEADER_MISMATCH, "`MCP-Protocol-Version` differs from the body"));
    }
    // The specification requires no further header fields for notifications.
    if body.kind() != MessageKind::Request {
        return Ok(true);
    }
    if message::meta(body, message::CAPABILITIES).is_none() {
        return Err(Refusal(400, code::INVALID_PARAMS, "`_meta` has no client capabilities"));
    }
    if !request.mcp_method.as_ref().is_some_and(|method| has_method(body, method)) {
        return Err(Refusal(400, code::HEADER_MISMATCH, "`Mcp-Method` differs from the body"));
    }
    if let Some(name) = message::name(body) {
        let field = request.mcp_name.as_deref();
        // Accept a name in base64 without a comparison. The server process reads only the body, so a different name has
        // no effect.
        if !field.is_some_and(|field| field.starts_with("=?base64?") || name == *field) {
            return Err(Refusal(400, code::HEADER_MISMATCH, "`Mcp-Name` differs from the body"));
        }
    }
    Ok(true)
}
