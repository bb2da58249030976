//! Writers for the common parts of results and errors.

use crate::error::ProtocolError;
use crate::json::writer::member_cache::MemberCache;
use crate::json::{Str, WriteText, Writer};
use crate::protocol::revision::{Revision, Revisions, WireFeature};
use crate::server::config::ServerConfig;
use crate::server::server_state::Shape;

/// Maximum length of an unsupported version that the error quotes, in bytes.
const QUOTED_VERSION: usize = 32;

/// Writes `{"jsonrpc":"2.0","id":…,"result":{` and the first members of the result.
pub(crate) fn begin_result(
    out: &mut Writer<'_>,
    id: &[u8],
    config: &ServerConfig<'_>,
    revision: Revision,
    shape: Shape,
    cache: &mut MemberCache,
) {
    out.wrapped(r#"{"jsonrpc":"2.0","id":"#, id, r#","result":{"#);
    if revision.has(WireFeature::ResultTypes) {
        match shape {
            Shape::Result => {
                out.cached_members(cache, revision.position(), |out| config.write_head(revision, shape, out))
            }
            Shape::Extension => {}
            _ => config.write_head(revision, shape, out),
        }
    }
}

/// Writes the message of the error object for a `ProtocolError`.
pub(crate) fn write_error(out: &mut Writer<'_>, error: ProtocolError, detail: Option<&dyn WriteText>) {
    out.key("message");
    match (detail, error) {
        (Some(detail), _) => out.display(&(error.message(), ": ", detail)),
        (None, ProtocolError::TooManyInFlight { limit }) => {
            out.display(&(error.message(), " (at most ", limit, ")"))
        }
        (None, ProtocolError::ReplyTooLarge { limit }) => {
            out.display(&(error.message(), " (at most ", limit, " bytes)"));
        }
        _ => out.display(&error.message()),
    }
}

/// Writes the message and the data of the unsupported-revision error. Quotes the requested version if it is short and
/// consists of harmless characters.
pub(crate) fn write_unsupported(out: &mut Writer<'_>, requested: Str<'_>, offer: Revisions) {
    out.key("message");
    out.display(&ProtocolError::UnsupportedRevision.message());
    out.key("data");
    out.begin_object();
    write_revisions("supported", offer, out);
    let quotable = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    let requested = requested.raw();
    let looks_like_one = requested.len() <= QUOTED_VERSION && requested.bytes().all(quotable);
    out.field_string("requested", if looks_like_one { requested } else { "?" });
    out.end_object();
}

/// Writes a member with a list of revisions, newest first.
pub(crate) fn write_revisions(key: &str, revisions: Revisions, out: &mut Writer<'_>) {
    out.key(key);
    out.begin_array();
    revisions.newest_first().for_each(|revision| out.string(revision.as_str()));
    out.end_array();
}
