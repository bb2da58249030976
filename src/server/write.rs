//! How a server's messages are written: the envelope of answers, and what is the same for every feature.

use crate::fault::Fault;
use crate::json::{Str, Writer};
use crate::rpc::code;
use crate::server::info::ServerInfo;
use crate::types::level::Level;
use crate::version::{Revision, Revisions};

/// The longest text of a revision that is quoted back.
const QUOTED_VERSION: usize = 32;

/// The kinds of results (`2026-07-28`): this is all.
pub(crate) const COMPLETE: &str = "complete";
/// This is what is needed first.
pub(crate) const INPUT_REQUIRED: &str = "input_required";

/// `{"jsonrpc":"2.0","id":…,"result":{…}}`
pub(crate) fn write_result(
    kind: &str,
    out: &mut Writer<'_>,
    id: &[u8],
    info: &ServerInfo<'_>,
    revision: Revision,
    identify: bool,
    body: &mut dyn FnMut(&mut Writer<'_>),
) {
    out.token(r#"{"jsonrpc":"2.0","id":"#);
    out.json_bytes(id);
    out.token(r#","result":{"#);
    info.write_result_head(kind, revision, identify, out);
    body(out);
    out.token("}}");
}

/// `{"jsonrpc":"2.0","id":…,"error":{…}}`
pub(crate) fn write_error(out: &mut Writer<'_>, id: Option<&[u8]>, error: &mut dyn FnMut(&mut Writer<'_>)) {
    out.token(r#"{"jsonrpc":"2.0""#);
    if let Some(id) = id {
        out.token(r#","id":"#);
        out.json_bytes(id);
    }
    out.token(r#","error":{"#);
    error(out);
    out.token("}}");
}

/// The members of an error that is a fault's.
pub(crate) fn write_fault(out: &mut Writer<'_>, fault: Fault) {
    out.key("code");
    out.integer(fault.code().unwrap_or(code::INTERNAL_ERROR).into());
    out.key("message");
    match fault {
        Fault::TooManyInFlight { limit } => out.display(&(fault.message(), " (at most ", limit, ")")),
        Fault::ReplyTooLarge { limit } => out.display(&(fault.message(), " (at most ", limit, " bytes)")),
        _ => out.display(&fault.message()),
    }
}

/// The members of an error about a revision. What was asked for is quoted if it looks like a revision.
pub(crate) fn write_unsupported(out: &mut Writer<'_>, code: i32, asked: Str<'_>, offer: Revisions) {
    out.key("code");
    out.integer(code.into());
    out.key("message");
    out.display(&Fault::UnsupportedRevision.message());
    out.key("data");
    out.begin_object();
    out.key("supported");
    out.begin_array();
    for revision in offer.newest_first() {
        out.string(revision.as_str());
    }
    out.end_array();
    out.key("requested");
    let quotable = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    match asked.as_str() {
        Some(text) if text.len() <= QUOTED_VERSION && text.bytes().all(quotable) => out.string(text),
        _ => out.string("?"),
    }
    out.end_object();
}

/// A log message.
pub(crate) fn write_log(
    out: &mut Writer<'_>,
    level: Level,
    logger: Option<&str>,
    data: &mut dyn FnMut(&mut Writer<'_>) -> bool,
) {
    out.token(r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"#);
    out.string(level.as_str());
    if let Some(logger) = logger {
        out.key("logger");
        out.string(logger);
    }
    out.key("data");
    if !data(out) {
        out.fail();
    }
    out.token("}}");
}
