//! The keys of `_meta`, and what a request says about itself there.
//!
//! Specification: 2026-07-28, *Base protocol*, *`_meta`*.

use crate::json::{Json, Kind, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::level::Level;
use crate::protocol::revision::Revision;

pub(crate) const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub(crate) const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub(crate) const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub(crate) const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub(crate) const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub(crate) const SUBSCRIPTION_ID: &str = "io.modelcontextprotocol/subscriptionId";
pub(crate) const PROGRESS_TOKEN: &str = "progressToken";

/// What a client's machine says by itself in the `_meta` of a request.
pub(crate) const OF_REQUESTS: [&str; 5] =
    [PROTOCOL_VERSION, CLIENT_CAPABILITIES, CLIENT_INFO, LOG_LEVEL, PROGRESS_TOKEN];

/// What a request of the stateless era says about itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RequestMeta<'a> {
    /// The revision as it is written; `None` if it is no string.
    pub(crate) version: Option<crate::json::Str<'a>>,
    pub(crate) capabilities: Option<ClientCapabilities>,
    pub(crate) level: Option<Result<Level, ()>>,
}

impl<'a> RequestMeta<'a> {
    /// `None`: the request does not belong to the stateless era.
    pub(crate) fn from_json(meta: Json<'a>) -> Option<RequestMeta<'a>> {
        let [version, capabilities, level] = meta.pick([PROTOCOL_VERSION, CLIENT_CAPABILITIES, LOG_LEVEL]);
        let version = version.filter(|value| !value.is_null())?;
        Some(RequestMeta {
            version: version.string(),
            capabilities: capabilities
                .filter(|value| value.kind() == Kind::Object)
                .map(ClientCapabilities::from_json),
            level: level
                .filter(|value| !value.is_null())
                .map(|value| value.string().and_then(Level::from_json).ok_or(())),
        })
    }

    /// The revision, if it is a known one.
    pub(crate) fn revision(&self) -> Option<Revision> {
        self.version.and_then(Revision::from_json)
    }
}

/// `"_meta":{"progressToken":…}` of a request that has nothing else to say about itself.
pub(crate) fn write_progress_token(token: u64, out: &mut Writer<'_>) {
    out.key("_meta");
    out.begin_object();
    out.key(PROGRESS_TOKEN);
    out.unsigned(token);
    out.end_object();
}

/// The token under which the requester wants to hear of progress: a string or an integer, as it is written.
pub(crate) fn progress_token(meta: Json<'_>) -> Option<Json<'_>> {
    meta.get(PROGRESS_TOKEN).filter(|token| crate::rpc::is_id(*token))
}
