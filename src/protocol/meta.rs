//! Keys of `_meta`, and the metadata of a request.
//!
//! Specification: 2026-07-28, *Base protocol*, *`_meta`*.

use crate::json::{Json, Kind, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::level::Level;
use crate::protocol::revision::Revision;
use crate::rpc::Object;

pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
pub(crate) const PROGRESS_TOKEN: &str = "progressToken";

/// The `_meta` members that the client itself writes in a request.
pub(crate) const OF_REQUESTS: [&str; 5] =
    [PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROGRESS_TOKEN];

/// The metadata of a request of `2026-07-28`: see [`Server::request_meta`](crate::Server::request_meta).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RequestMeta {
    /// The revision that the request names. `None` if the name is unknown or not a string.
    pub revision: Option<Revision>,
    /// The capabilities of the client. `None` if the member is missing or not an object.
    pub capabilities: Option<ClientCapabilities>,
    /// The log level. `Some(Err(()))` means that the level is not valid.
    pub(crate) level: Option<Result<Level, ()>>,
}

impl RequestMeta {
    /// Reads the metadata. Returns `None` if `meta` has no revision. The request then does not belong to the stateless
    /// era.
    pub(crate) fn from_json(meta: Json<'_>) -> Option<RequestMeta> {
        let [version, capabilities, level] =
            Object::from_json(meta).spans(&[PROTOCOL_VERSION, CLIENT_CAPABILITIES, LOG_LEVEL]);
        let (name, capabilities, level) = (meta.part(version), meta.part(capabilities), meta.part(level));
        if name.is_null() {
            return None;
        }
        let is_object = capabilities.kind() == Kind::Object;
        Some(RequestMeta {
            revision: name.string().and_then(Revision::from_json),
            capabilities: is_object.then(|| ClientCapabilities::from_json(capabilities)),
            level: match level.is_null() {
                true => None,
                false => Some(level.string().and_then(Level::from_json).ok_or(())),
            },
        })
    }
}

/// Writes `"_meta":{"progressToken":…}`, for a request without other metadata.
pub(crate) fn write_progress_token(token: u64, out: &mut Writer<'_>) {
    out.begin_object_at("_meta");
    out.field_unsigned(PROGRESS_TOKEN, token);
    out.end_object();
}

/// Returns the progress token as raw JSON. Returns `None` if the token is missing, or neither a string nor an integer.
pub(crate) fn progress_token(meta: Json<'_>) -> Option<Json<'_>> {
    meta.get(PROGRESS_TOKEN).filter(|token| crate::rpc::is_id(*token))
}
