//! Checks of a body, in the order of the specification: JSON, era, `_meta`, header fields, version, session.

use mcp_proto::json::{Json, Kind};
use mcp_proto::methods;
use mcp_proto::rpc::{Message, MessageKind, code};
use mcp_proto::server::{RequestMeta, Server};
use mcp_proto::{Era, Revision, Revisions, WireFeature};

use super::config::{HttpConfig, SessionMode};
use super::header_value::{equals_string, inner_bytes};
use super::parameters;
use super::policy::Policy;
use super::request::RequestHead;
use super::response::{Detail, Refusal};
use crate::fields::{NAMED, VERSION_KEY};

/// A body that passed the checks.
#[derive(Debug, Clone, Copy)]
pub(super) struct CheckedBody<'m> {
    pub(super) message: Message<'m>,
    pub(super) is_modern: bool,
    pub(super) kind: BodyKind,
    /// In the handshake era, the revision of the session. If this revision is unknown, the revision in
    /// `MCP-Protocol-Version`, except for `initialize`. In all other cases, [`ASSUMED`].
    pub(super) revision: Revision,
}

/// The kind of a body, which determines its response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyKind {
    Initialize,
    /// `subscriptions/listen`
    Listen,
    Request,
    /// An array with an element that needs a response.
    Batch,
    /// Notifications or responses. The server responds with 202.
    OneWay,
    /// `notifications/initialized`, which only a stored session needs.
    Initialized,
}

/// The refusal of a body, and the id of its request as JSON. The id is `None` if the body is not a request with a valid
/// id.
pub(super) type RefusedBody<'m> = (Refusal, Option<&'m [u8]>);

/// The revision of a client that sends no version (rule C-S2 of `docs/http-rules.md`).
const ASSUMED: Revision = Revision::V2025_03_26;

/// The size of the buffer for a method with escapes, in bytes: enough for all methods that the checks compare.
const METHOD_SIZE: usize = 64;

/// Methods for the tasks of `2025-11-25`.
const TASK_METHODS: [methods::Method; 4] =
    [methods::TASKS_GET, methods::TASKS_RESULT, methods::TASKS_LIST, methods::TASKS_CANCEL];

/// The size of the buffer for a tool name with escapes, in bytes.
const NAME_SIZE: usize = 256;

/// Returns the decoded text of a string, or no bytes if a text with escapes does not fit into `buffer`.
fn decoded<'t>(string: Json<'t>, buffer: &'t mut [u8]) -> &'t [u8] {
    let inner = inner_bytes(string);
    if !inner.contains(&b'\\') {
        return inner;
    }
    match string.string().map(|text| text.copy_to(buffer)) {
        Some(Ok(text)) => text.as_bytes(),
        _ => &[],
    }
}

const fn refuse(code: i32, reason: &'static str) -> Refusal {
    Refusal::new(400, code, reason)
}

const fn mismatch(reason: &'static str) -> Refusal {
    refuse(code::HEADER_MISMATCH, reason)
}

/// Returns the revision that the header field `MCP-Protocol-Version` names. Returns `None` without the field, and for
/// an unknown revision.
pub(super) fn header_revision(head: &RequestHead<'_>) -> Option<Revision> {
    revision_named(head.field("mcp-protocol-version")?)
}

/// Returns the revision with this name, or `None` if the name is unknown.
fn revision_named(name: &[u8]) -> Option<Revision> {
    Revision::ALL.into_iter().rev().find(|revision| revision.as_str().as_bytes() == name)
}

/// Returns whether the header field `MCP-Protocol-Version` alone shows that the request belongs to `2026-07-28`.
pub(super) fn is_modern_head(head: &RequestHead<'_>) -> bool {
    header_revision(head).is_some_and(|revision| revision.era() == Era::Stateless)
}

/// Returns the revision of the handshake era that the header field `MCP-Protocol-Version` names, or `None` without the
/// field. Fails if the field names anything but a revision of the handshake era that the server supports.
pub(super) fn handshake_revision(
    config: &HttpConfig<'_>,
    head: &RequestHead<'_>,
) -> Result<Option<Revision>, Refusal> {
    let offer = config.revisions.and(Revisions::HANDSHAKE);
    let revision = header_revision(head).filter(|revision| offer.contains(*revision));
    if revision.is_none() && head.field("mcp-protocol-version").is_some() {
        let reason = "the server does not support the version in `MCP-Protocol-Version`";
        return Err(refuse(code::INVALID_REQUEST, reason));
    }
    Ok(revision)
}

/// Checks a body. Returns the refusal of the first check that fails. `session` is the revision of the session that the
/// head names. The outer `None` means that the head names no session, and the inner `None` that the session has no
/// revision yet. `user` is the user of the request.
pub(super) fn check<'m>(
    config: &HttpConfig<'_>,
    policy: &impl Policy,
    server: &Server<'_>,
    head: &RequestHead<'_>,
    session: Option<Option<Revision>>,
    user: u64,
    body: &'m [u8],
) -> Result<CheckedBody<'m>, RefusedBody<'m>> {
    let message =
        server.parse(body).map_err(|_| (refuse(code::PARSE_ERROR, "the body is not valid JSON"), None))?;
    check_message(config, policy, server, head, session, user, message)
        .map_err(|refusal| (refusal, request_id(message)))
}

/// Returns the id of a request as JSON. Returns `None` for an invalid id, and for a message that is not a request.
pub(super) fn request_id(message: Message<'_>) -> Option<&[u8]> {
    let id = message.id().filter(|id| id.kind() == Kind::String || id.is_integer_text());
    id.filter(|_| message.kind() == MessageKind::Request).map(Json::bytes)
}

fn check_message<'m>(
    config: &HttpConfig<'_>,
    policy: &impl Policy,
    server: &Server<'_>,
    head: &RequestHead<'_>,
    session: Option<Option<Revision>>,
    user: u64,
    message: Message<'m>,
) -> Result<CheckedBody<'m>, Refusal> {
    if message.id().is_some_and(|id| id.bytes().len() > config.limits.id) {
        return Err(refuse(code::INVALID_REQUEST, "the id of the request is too long"));
    }
    let mut buffer = [0; METHOD_SIZE];
    let method = message.method().map_or(&[][..], |method| decoded(method, &mut buffer));
    let is = |name: &str| method == name.as_bytes();
    let kind = match message.kind() {
        MessageKind::Invalid => {
            return Err(refuse(code::INVALID_REQUEST, "the body is not a JSON-RPC message"));
        }
        MessageKind::Batch if is_empty(message) => {
            return Err(refuse(code::INVALID_REQUEST, "the array is empty"));
        }
        MessageKind::Batch if has_request(message) => BodyKind::Batch,
        MessageKind::Request if is(methods::INITIALIZE.name()) => BodyKind::Initialize,
        MessageKind::Request if is(methods::SUBSCRIPTIONS_LISTEN.name()) => BodyKind::Listen,
        MessageKind::Request => BodyKind::Request,
        MessageKind::Notification if is(methods::INITIALIZED.name()) => BodyKind::Initialized,
        MessageKind::Batch | MessageKind::Notification | MessageKind::Response => BodyKind::OneWay,
    };
    let params = Params::new(message, method);
    let only_modern = is_stateless_only(config, policy);
    let is_request = message.kind() == MessageKind::Request;
    let meta = params.meta.filter(|_| is_request).and_then(|meta| server.request_meta(meta));
    let is_modern = is_modern_head(head) || only_modern || meta.is_some();
    let revision = ASSUMED;
    let checked = CheckedBody { message, is_modern, kind, revision };
    if is_modern {
        let is_old_initialize = only_modern && kind == BodyKind::Initialize && meta.is_none();
        match message.kind() {
            MessageKind::Request if is_old_initialize => {
                let reason = "this endpoint speaks 2026-07-28 only, which has no `initialize`";
                let mut refusal = refuse(code::UNSUPPORTED_PROTOCOL_VERSION, reason);
                refusal.detail = Detail::Requested(params.named.map(inner_bytes).and_then(revision_named));
                return Err(refusal);
            }
            MessageKind::Request => check_modern(policy, head, message, meta, &params)?,
            MessageKind::Notification => {}
            _ => {
                let reason = "2026-07-28 has no responses and no batches in a body";
                return Err(refuse(code::INVALID_REQUEST, reason));
            }
        }
        return Ok(checked);
    }
    let revision = match kind {
        BodyKind::Initialize => revision,
        _ => handshake_revision(config, head)?.unwrap_or(revision),
    };
    if config.mode == SessionMode::Sessions && kind != BodyKind::Initialize && session.is_none() {
        return Err(refuse(code::INVALID_REQUEST, "`Mcp-Session-Id` is missing"));
    }
    let revision = session.flatten().unwrap_or(revision);
    if message.kind() == MessageKind::Batch && !revision.has(WireFeature::Batches) {
        return Err(refuse(code::INVALID_REQUEST, "only 2025-03-26 has batches"));
    }
    if config.mode != SessionMode::Sessions {
        check_stored_session(message, revision, user)?;
    }
    Ok(CheckedBody { revision, ..checked })
}

/// Refuses a request that needs a session in the table of sessions, and a batch that contains such a request.
fn check_stored_session(message: Message<'_>, revision: Revision, user: u64) -> Result<(), Refusal> {
    let is_refused = |message: Message<'_>| needs_stored_session(message, revision, user);
    let status = match message.kind() {
        MessageKind::Batch if has_element(message, is_refused) => 400,
        _ if is_refused(message) => 200,
        _ => return Ok(()),
    };
    Err(Refusal::new(status, code::METHOD_NOT_FOUND, "the method needs sessions that the server stores"))
}

/// Returns whether an element of an array is a message that satisfies a condition.
fn has_element(batch: Message<'_>, condition: impl Fn(Message<'_>) -> bool) -> bool {
    let elements = Json::parse(batch.bytes()).map(Json::elements);
    let Ok(mut elements) = elements else { return false };
    elements.any(|element| Message::parse(element.bytes()).is_ok_and(&condition))
}

/// Returns whether a request subscribes to a resource, or accesses or creates a task of `2025-11-25` without a user.
/// Returns `false` for any other message.
///
/// The server does not learn when a session outside of the table ends, and the key of that session may later belong to
/// another client. The subscription would take memory forever, and the other client would have access to the task.
fn needs_stored_session(message: Message<'_>, revision: Revision, user: u64) -> bool {
    if message.kind() != MessageKind::Request {
        return false;
    }
    let mut buffer = [0; METHOD_SIZE];
    let method = message.method().map_or(&[][..], |method| decoded(method, &mut buffer));
    let is = |other: &methods::Method| method == other.name().as_bytes();
    let [task] = message.pick_params(["task"]);
    let is_task =
        TASK_METHODS.iter().any(is) || is(&methods::TOOLS_CALL) && task.is_some_and(|task| !task.is_null());
    is(&methods::RESOURCES_SUBSCRIBE) || is_task && user == 0 && revision.has(WireFeature::Tasks)
}

/// Returns whether the endpoint serves only `2026-07-28`.
fn is_stateless_only<P: Policy>(config: &HttpConfig<'_>, _: &P) -> bool {
    !P::HANDSHAKE || config.mode == SessionMode::Off
}

/// The members of `params` that the checks need, found in one pass.
struct Params<'m> {
    meta: Option<Json<'m>>,
    /// The value that `Mcp-Name` repeats, or the version that `initialize` requests.
    named: Option<Json<'m>>,
    /// Whether the method has a value that `Mcp-Name` repeats.
    has_name: bool,
    is_tool_call: bool,
}

impl<'m> Params<'m> {
    fn new(message: Message<'m>, method: &[u8]) -> Params<'m> {
        let member = NAMED.iter().find(|(name, _)| name.as_bytes() == method).map(|(_, member)| *member);
        let [meta, named] = message.pick_params(["_meta", member.unwrap_or("protocolVersion")]);
        Params { meta, named, has_name: member.is_some(), is_tool_call: method == b"tools/call" }
    }

    /// Returns the version in `_meta`, if it is a string.
    fn version(&self) -> Option<Json<'m>> {
        self.meta?.get(VERSION_KEY).filter(|version| version.kind() == Kind::String)
    }
}

fn check_modern(
    policy: &impl Policy,
    head: &RequestHead<'_>,
    message: Message<'_>,
    meta: Option<RequestMeta>,
    params: &Params<'_>,
) -> Result<(), Refusal> {
    const INCOMPLETE: Refusal = refuse(
        code::INVALID_PARAMS,
        "`_meta` needs `io.modelcontextprotocol/protocolVersion` and `.../clientCapabilities`",
    );
    let version = match meta.filter(|meta| meta.capabilities.is_some()) {
        Some(RequestMeta { revision: Some(known), .. }) => Some(Ok(known.as_str())),
        Some(_) => params.version().map(Err),
        None => None,
    };
    let version = version.ok_or(INCOMPLETE)?;
    if ["mcp-protocol-version", "mcp-method", "mcp-name"].iter().any(|name| head.fields.is_repeated(name)) {
        return Err(mismatch("a header field `Mcp-…` occurs twice"));
    }
    match head.field("mcp-protocol-version") {
        None => return Err(mismatch("the header field `MCP-Protocol-Version` is missing")),
        Some(field) => {
            let is_version = match version {
                Ok(known) => field == known.as_bytes(),
                Err(unknown) => equals_string(field, unknown),
            };
            if !is_version {
                return Err(mismatch("`MCP-Protocol-Version` differs from the version in `_meta`"));
            }
        }
    }
    let Some(method) = message.method() else { return Ok(()) };
    match head.field("mcp-method") {
        None => return Err(mismatch("the header field `Mcp-Method` is missing")),
        Some(field) if !equals_string(field, method) => {
            return Err(mismatch("`Mcp-Method` differs from the method in the body"));
        }
        Some(_) => {}
    }
    if params.has_name {
        let name = params.named.filter(|name| name.kind() == Kind::String);
        match (head.field("mcp-name"), name) {
            // A request without a name in its body: the core server refuses it.
            (_, None) => {}
            (None, Some(_)) => return Err(mismatch("the header field `Mcp-Name` is missing")),
            (Some(field), Some(name)) if !equals_string(field, name) => {
                return Err(mismatch("`Mcp-Name` differs from the name in the body"));
            }
            (Some(_), Some(_)) => {}
        }
    }
    if params.is_tool_call {
        let mut buffer = [0; NAME_SIZE];
        let name = params.named.map_or(&[][..], |name| decoded(name, &mut buffer));
        let schema = core::str::from_utf8(name).ok().and_then(|name| policy.input_schema(name));
        let repeats = |schema| {
            let [arguments] = message.pick_params(["arguments"]);
            parameters::repeat_arguments(schema, arguments, head)
        };
        if schema.is_some_and(|schema| !repeats(schema)) {
            return Err(mismatch("a header field `Mcp-Param-*` differs from its argument"));
        }
    }
    Ok(())
}

fn is_empty(batch: Message<'_>) -> bool {
    Json::parse(batch.bytes()).is_ok_and(|json| json.elements().next().is_none())
}

/// Returns whether an array contains an element that needs a response: a request or an invalid element.
fn has_request(message: Message<'_>) -> bool {
    let elements = Json::parse(message.bytes()).map(Json::elements);
    let Ok(mut elements) = elements else { return false };
    let is_one_way = |element: Json<'_>| {
        let [id, method, result, error] = element.pick(["id", "method", "result", "error"]);
        (method.is_some() && id.is_none()) || (method.is_none() && (result.is_some() || error.is_some()))
    };
    elements.any(|element| !is_one_way(element))
}
