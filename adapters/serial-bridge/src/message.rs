//! Classifies lines: messages, and the readable parts of damaged messages.

use std::iter;

use mcp_proto::Revision;
use mcp_proto::json::{DEPTH_LIMIT, Json, Kind, Member, ScanErrorKind, Scanner};
use mcp_proto::rpc::{Message, MessageKind};

/// A line that is not a message, with the parts that are reliable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Damaged {
    /// The JSON text of the id. `None` if the id is missing, invalid, or possibly incomplete.
    pub(crate) id: Option<String>,
    pub(crate) kind: DamagedKind,
    pub(crate) why: String,
    /// Whether the line was parsed as JSON.
    pub(crate) is_json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DamagedKind {
    Request,
    Response,
    /// The readable part has neither a method nor a result nor an error.
    Unknown,
}

/// Parses a line. The caller has removed white space and control characters around the message.
///
/// # Errors
/// The line is not JSON, not a message, or a batch that is empty or has an invalid member.
pub(crate) fn parse(line: &[u8]) -> Result<Message<'_>, Damaged> {
    let Ok(message) = Message::parse(line) else { return Err(salvage(line)) };
    let is_sound = match message.kind() {
        MessageKind::Batch => members(line).next().is_some() && members(line).all(is_member),
        kind => kind != MessageKind::Invalid,
    };
    if is_sound {
        return Ok(message);
    }
    Err(invalid(&message))
}

/// Parses a line of the board. Official clients ignore a message without its version, and an error without its code or
/// text, so such a line counts as damaged.
///
/// # Errors
/// The line is damaged as for [`parse`], or lacks a version, a code or a text. The members of a batch may lack these
/// parts.
pub(crate) fn parse_strictly(line: &[u8]) -> Result<Message<'_>, Damaged> {
    let message = parse(line)?;
    let has_version = Json::parse(line).is_ok_and(|json| json.get("jsonrpc").is_some());
    let has_text = |error: Json<'_>| error.get("message").is_some_and(|text| text.string().is_some());
    let has_error = message.error().is_none_or(|error| error_code(&message).is_some() && has_text(error));
    let is_strict = has_version && has_error || message.kind() == MessageKind::Batch;
    if is_strict { Ok(message) } else { Err(invalid(&message)) }
}

/// Returns the readable parts of JSON that is not a valid message.
fn invalid(message: &Message<'_>) -> Damaged {
    let has_outcome = message.result().is_some() || message.error().is_some();
    Damaged {
        id: message.id().filter(|id| is_id(*id)).map(|id| id.raw().to_owned()),
        kind: damaged_kind(message.method().is_some(), has_outcome),
        why: "not a JSON-RPC message".into(),
        is_json: true,
    }
}

/// Returns the batch with the members for which `passes` returns `true`, or `None` if no member passes.
pub(crate) fn filter_batch(batch: &[u8], mut passes: impl FnMut(&Message<'_>) -> bool) -> Option<Vec<u8>> {
    let members: Vec<&[u8]> = members(batch).map(|member| member.bytes()).collect();
    let mut passed = members.clone();
    passed.retain(|member| Message::parse(member).is_ok_and(|message| passes(&message)));
    match passed.len() {
        0 => None,
        count if count == members.len() => Some(batch.to_owned()),
        _ => Some([b"[", &*passed.join(&b","[..]), b"]"].concat()),
    }
}

/// Returns the JSON texts of the ids of the requests in a line.
pub(crate) fn request_ids(line: &[u8]) -> Vec<String> {
    let id = |message: Message<'_>| {
        message.id().filter(|id| message.method().is_some() && is_id(*id)).map(|id| id.raw().to_owned())
    };
    match Message::parse(line) {
        Ok(message) if message.kind() == MessageKind::Batch => {
            members(line).filter_map(|member| id(Message::parse(member.bytes()).ok()?)).collect()
        }
        Ok(message) => id(message).into_iter().collect(),
        Err(_) => Vec::new(),
    }
}

/// Returns the members of a batch.
fn members(batch: &[u8]) -> impl Iterator<Item = Json<'_>> {
    Json::parse(batch).ok().into_iter().flat_map(Json::elements)
}

fn is_member(member: Json<'_>) -> bool {
    let kind = Message::parse(member.bytes()).map(|message| message.kind());
    matches!(kind, Ok(MessageKind::Request | MessageKind::Notification | MessageKind::Response))
}

/// Returns the readable parts of a line that is not JSON.
fn salvage(line: &[u8]) -> Damaged {
    let mut scanner = Scanner::new(DEPTH_LIMIT);
    scanner.feed(line);
    let error = scanner.finish().err();
    // An id that ends at the error, for example a number, may be incomplete. Nesting that is too deep damages no id.
    let is_deep = error.is_some_and(|error| error.kind == ScanErrorKind::TooDeep);
    let end = if is_deep { usize::MAX } else { scanner.position() };
    let id = complete_id(&scanner).filter(|id| id.end < end);
    Damaged {
        id: id.and_then(|id| id_text(line.get(id)?)),
        kind: scanned_kind(&scanner),
        why: error.map(|error| error.to_string()).unwrap_or_default(),
        is_json: false,
    }
}

/// Returns the position of the id, or `None` if there is no complete id.
pub(crate) fn complete_id(scanner: &Scanner) -> Option<core::ops::Range<usize>> {
    let id = scanner.member(Member::Id)?;
    Some(id.start..id.end?)
}

/// Returns the JSON text of an id, or `None` if the id is not valid.
pub(crate) fn id_text(bytes: &[u8]) -> Option<String> {
    Json::parse(bytes).ok().filter(|id| is_id(*id)).map(|id| id.raw().to_owned())
}

pub(crate) fn scanned_kind(scanner: &Scanner) -> DamagedKind {
    let has = |member| scanner.member(member).is_some();
    damaged_kind(has(Member::Method), has(Member::Result) || has(Member::Error))
}

fn damaged_kind(has_method: bool, has_outcome: bool) -> DamagedKind {
    match (has_method, has_outcome) {
        (true, _) => DamagedKind::Request,
        (false, true) => DamagedKind::Response,
        (false, false) => DamagedKind::Unknown,
    }
}

fn is_id(id: Json<'_>) -> bool {
    id.kind() == Kind::String || id.is_integer_text()
}

/// Returns a key that is equal for equal ids, regardless of escapes.
pub(crate) fn id_key(id: Json<'_>) -> String {
    match id.string() {
        Some(text) => iter::once('"').chain(text.chars()).collect(),
        None => id.raw().to_owned(),
    }
}

/// Returns the code of an error response. Returns `None` for other messages, and for a code that is not an integer.
pub(crate) fn error_code(response: &Message<'_>) -> Option<i64> {
    response.error()?.get("code")?.integer()
}

/// Returns the revision with this name, or `None` for an unknown name.
pub(crate) fn revision(name: Json<'_>) -> Option<Revision> {
    Revision::ALL.into_iter().find(|revision| name.string().is_some_and(|name| name == *revision.as_str()))
}

/// Removes white space and control characters around a message. An idle serial line may produce zero bytes.
pub(crate) fn trim(line: &[u8]) -> &[u8] {
    let start = line.iter().position(|byte| *byte > b' ').unwrap_or(line.len());
    let end = line.iter().rposition(|byte| *byte > b' ').map_or(start, |last| last + 1);
    &line[start..end]
}

/// Returns an error response as a line. An empty `id` means that the response has no id. `message` must need no escapes
/// in JSON.
pub(crate) fn error_response(id: &str, code: i32, message: &str) -> String {
    debug_assert!(!message.contains(['"', '\\']));
    let id = if id.is_empty() { String::new() } else { format!("\"id\":{id},") };
    format!("{{\"jsonrpc\":\"2.0\",{id}\"error\":{{\"code\":{code},\"message\":\"{message}\"}}}}\n")
}

/// Returns the notification that cancels a request, as a line. `why` must need no escapes in JSON.
pub(crate) fn cancellation(id: &str, why: &str) -> String {
    let line = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"{why}"}}}}"#
    );
    line + "\n"
}

/// Returns a request as a line.
pub(crate) fn request(id: &str, method: &str, params: Option<Json<'_>>) -> String {
    let params = params.map(|params| format!(",\"params\":{}", params.raw())).unwrap_or_default();
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\"{params}}}\n")
}
