//! Writers for the common parts of results and errors.

use crate::error::ProtocolError;
use crate::json::writer::member_cache::MemberCache;
use crate::json::{Str, WriteText, Writer};
use crate::protocol::objects::tool_result::ToolResult;
use crate::protocol::revision::{Revision, Revisions, WireFeature};
use crate::server::config::ServerConfig;
use crate::server::feature::{Received, Request};
use crate::server::server_state::{NegotiatedSession, Shape};

/// Maximum length of an unsupported version that the error quotes, in bytes.
const QUOTED_VERSION: usize = 32;

/// Writes `{"jsonrpc":"2.0","id":…,"result":{`. In the stateless era, also writes the first members of the result,
/// unless the body writes them.
#[inline]
pub(crate) fn begin_result(
    out: &mut Writer<'_>,
    id: &[u8],
    config: &ServerConfig<'_>,
    revision: Revision,
    shape: Shape,
    cache: &mut MemberCache,
) {
    out.wrapped(r#"{"jsonrpc":"2.0","id":"#, id, r#","result":{"#);
    if let Some(era) = config.stateless
        && revision.has(WireFeature::ResultTypes)
    {
        (era.write_head)(out, config, revision, shape, cache);
    }
}

/// Returns the id of an error response, or the text for a missing id. Up to `2025-06-18` the text is `null`. Since
/// `2025-11-25` the text is empty, and the error has no member `id`.
///
/// If `session` is `None`, the text is `null`, unless the server supports only the stateless era.
#[cold]
pub(crate) fn id_or_missing<'i>(
    id: &'i [u8],
    config: &ServerConfig<'_>,
    session: &Option<NegotiatedSession>,
) -> &'i [u8] {
    if !id.is_empty() {
        return id;
    }
    let only_stateless = !config.revisions.intersects(Revisions::HANDSHAKE);
    let omitted = match session {
        Some(session) => session.revision.has(WireFeature::OmittedErrorIds),
        None => only_stateless,
    };
    if omitted { b"" } else { b"null" }
}

/// Returns a function that writes a tool result, with the contents that `body` writes. The `bool` argument is whether
/// to add empty structured content if the result has none. The function returns whether the result is valid, and
/// whether the result is a failure. Only the first call of the function runs `body`.
pub(crate) fn once_tool_result(
    body: impl FnOnce(&mut ToolResult<'_, '_>),
) -> impl FnMut(&mut Writer<'_>, Revision, bool) -> (bool, bool) {
    let mut body = Some(body);
    move |out, revision, pad_structured| {
        let mut result = ToolResult::begin(out, revision);
        if let Some(body) = body.take() {
            body(&mut result);
        }
        let is_failure = result.is_failed();
        (result.end(pad_structured), is_failure)
    }
}

/// Writes the message of an error object.
pub(crate) fn write_error_message(out: &mut Writer<'_>, message: &dyn WriteText) {
    out.field_display("message", message);
}

/// Writes the message of the error object for a `ProtocolError`. If `detail` is `None`, the message ends with the limit
/// of the error, if any.
pub(crate) fn write_error(out: &mut Writer<'_>, error: ProtocolError, detail: Option<&dyn WriteText>) {
    let limit = match error {
        ProtocolError::TooManyInFlight { limit } => Some((limit, ")")),
        ProtocolError::ReplyTooLarge { limit } => Some((limit, " bytes)")),
        _ => None,
    };
    let (separator, detail): (_, &dyn WriteText) = match (detail, &limit) {
        (Some(detail), _) => (": ", detail),
        (None, Some(limit)) => (" (at most ", limit),
        (None, None) => ("", &""),
    };
    write_error_message(out, &(error.message(), separator, detail));
}

/// Refuses a request that names an unsupported revision.
pub(crate) fn refuse_revision(
    request: &mut Request<'_, '_>,
    code: i32,
    requested: Str<'_>,
    offer: Revisions,
) -> Received {
    let mut write = |out: &mut Writer<'_>| write_unsupported(out, requested, offer);
    request.refuse_with(ProtocolError::UnsupportedRevision, code, &mut write)
}

/// Writes the message and the data of the unsupported-revision error. Writes `?` in place of a requested version that
/// is long or has unusual characters.
pub(super) fn write_unsupported(out: &mut Writer<'_>, requested: Str<'_>, offer: Revisions) {
    write_error_message(out, &ProtocolError::UnsupportedRevision.message());
    out.begin_object_at("data");
    write_revisions("supported", offer, out);
    let quotable = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let requested = requested.raw();
    let looks_like_one = requested.len() <= QUOTED_VERSION && requested.bytes().all(quotable);
    out.field_string("requested", if looks_like_one { requested } else { "?" });
    out.end_object();
}

/// Writes a member with a list of revisions, newest first.
pub(crate) fn write_revisions(key: &str, revisions: Revisions, out: &mut Writer<'_>) {
    out.begin_array_at(key);
    revisions.newest_first().for_each(|revision| out.string(revision.as_str()));
    out.end_array();
}
