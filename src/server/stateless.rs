//! The stateless era, 2026-07-28: requests that name their revision, and `server/discover`.
//!
//! Specification: 2026-07-28, *Versioning* and *Discovery*.

use crate::error::ProtocolError;
use crate::json::writer::member_cache::MemberCache;
use crate::json::{Json, Kind, Span, Str, Writer};
use crate::protocol::meta::{self, RequestMeta};
use crate::protocol::methods;
use crate::protocol::objects::cache_hints::Freshness;
use crate::protocol::revision::{Revision, Revisions};
use crate::rpc::code;
use crate::server::config::ServerConfig;
use crate::server::dispatch::{find_extension, find_feature};
use crate::server::feature::{Received, Request};
use crate::server::request_cache::RequestCache;
use crate::server::server_state::Shape;
use crate::server::write_message::{refuse_revision, write_revisions};

/// Code of the stateless era. A configuration without revisions of this era does not refer to this code, so that its
/// server does not link the code.
pub(crate) struct StatelessEra {
    /// Parses the `_meta` of a request. Returns `None` if the request does not belong to this era.
    pub(crate) parse_meta: fn(&mut RequestCache, Json<'_>) -> Option<RequestMeta>,
    /// Handles a request of this era.
    pub(crate) handle: fn(&mut Request<'_, '_>, Str<'_>, &RequestMeta) -> Received,
    /// Refuses a request that has neither a session nor a revision.
    pub(crate) refuse_without_meta: fn(&mut Request<'_, '_>, Str<'_>) -> Received,
    /// Checks the input of a retried request. Returns the refusal if the input is not valid.
    pub(crate) check_input: fn(&mut Request<'_, '_>) -> Option<Received>,
    /// Writes the first members of a result, unless the body writes them (`Shape::Extension`).
    pub(crate) write_head: fn(&mut Writer<'_>, &ServerConfig<'_>, Revision, Shape, &mut MemberCache),
    /// Writes the members of the result of `server/discover`.
    pub(crate) write_discover: fn(&ServerConfig<'_>, Revision, &mut Writer<'_>),
}

impl StatelessEra {
    const fn new(refuse_without_meta: fn(&mut Request<'_, '_>, Str<'_>) -> Received) -> StatelessEra {
        StatelessEra {
            parse_meta: RequestCache::parse_meta,
            handle,
            refuse_without_meta,
            check_input,
            write_head,
            write_discover,
        }
    }

    /// The code of a server that supports only this era.
    const ALONE: StatelessEra = StatelessEra::new(refuse_handshake_era);
    /// The code of a server with both eras.
    const BESIDE_HANDSHAKE: StatelessEra = StatelessEra::new(refuse_missing_meta);

    pub(crate) const fn in_revisions(revisions: Revisions) -> Option<&'static StatelessEra> {
        match (revisions.intersects(Revisions::STATELESS), revisions.intersects(Revisions::HANDSHAKE)) {
            (true, false) => Some(&StatelessEra::ALONE),
            (true, true) => Some(&StatelessEra::BESIDE_HANDSHAKE),
            (false, _) => None,
        }
    }
}

/// Detail of the error for an incomplete `_meta`.
const NEEDED: &str = "`_meta` needs `io.modelcontextprotocol/protocolVersion` and `.../clientCapabilities`";

/// Handles a request of the stateless era. The `_meta` of the request names the revision.
fn handle(request: &mut Request<'_, '_>, method: Str<'_>, meta: &RequestMeta) -> Received {
    let offer = request.state.config.revisions.and(Revisions::STATELESS);
    let revision = meta.revision.filter(|revision| offer.contains(*revision));
    let (Some(revision), Some(capabilities)) = (revision, meta.capabilities) else {
        return refuse_meta(request, meta, offer);
    };
    request.pending.context.set_revision(revision);
    request.pending.context.capabilities = capabilities;
    let feature = find_feature(request.state, revision, method);
    let is_discover = feature.is_none() && method.is_name(methods::SERVER_DISCOVER.name);
    let feature =
        if is_discover { None } else { feature.or_else(|| find_extension(request.state, method, true)) };
    if feature.is_none() && !is_discover {
        return request.unknown_method(method);
    }
    // Check the level after the method, in the order of the specification.
    match meta.level.transpose() {
        Ok(level) => request.pending.context.set_level(level),
        Err(()) => return request.invalid_params("unknown log level in `_meta`"),
    }
    match feature {
        Some((feature, method)) => feature.handle(method, request),
        None => discover(request),
    }
}

/// Refuses a request whose `_meta` is incomplete or names an unsupported revision.
#[cold]
fn refuse_meta(request: &mut Request<'_, '_>, meta: &RequestMeta, offer: Revisions) -> Received {
    let version = request.view(request.spans.meta).get(meta::PROTOCOL_VERSION);
    match version.and_then(Json::string).filter(|_| meta.capabilities.is_some()) {
        Some(version) => refuse_revision(request, code::UNSUPPORTED_PROTOCOL_VERSION, version, offer),
        None => request.invalid_params(NEEDED),
    }
}

/// Refuses a request without a revision, before `initialize`.
fn refuse_missing_meta(request: &mut Request<'_, '_>, _: Str<'_>) -> Received {
    request.refuse(ProtocolError::InvalidParams, &(NEEDED, ", or send `initialize` first"))
}

/// Refuses a request of the handshake era. If the request is an `initialize` with a string as its version, the error
/// contains the supported revisions.
fn refuse_handshake_era(request: &mut Request<'_, '_>, method: Str<'_>) -> Received {
    if !method.is_name(methods::INITIALIZE.name) {
        return request.invalid_params(NEEDED);
    }
    match request.param("protocolVersion").string() {
        Some(requested) => {
            let offer = request.state.config.revisions;
            refuse_revision(request, code::METHOD_NOT_FOUND, requested, offer)
        }
        None => request.invalid_params("`protocolVersion` must be a string"),
    }
}

fn check_input(request: &mut Request<'_, '_>) -> Option<Received> {
    let [responses, state] = [request.spans.responses, request.spans.state].map(|span| request.present(span));
    let is_wrong = |part: Span, kind| !part.is_missing() && request.kind(part) != kind;
    if is_wrong(responses, Kind::Object) || is_wrong(state, Kind::String) {
        let what = "`inputResponses` must be an object, `requestState` a string";
        return Some(request.invalid_params(what));
    }
    (request.spans.responses, request.spans.state) = (responses, state);
    None
}

#[cold]
fn discover(request: &mut Request<'_, '_>) -> Received {
    let (config, revision) = (request.state.config, request.pending.context.revision());
    request.respond(Shape::Discovery, &mut |out: &mut Writer<'_>| write_discover(config, revision, out))
}

/// Writes the members of the result of `server/discover`.
fn write_discover(config: &ServerConfig<'_>, revision: Revision, out: &mut Writer<'_>) {
    write_revisions("supportedVersions", config.revisions, out);
    config.write_capabilities(revision, out);
    config.write_instructions(out);
}

/// Writes the first members of a result, unless the body writes them (`Shape::Extension`).
fn write_head(
    out: &mut Writer<'_>,
    config: &ServerConfig<'_>,
    revision: Revision,
    shape: Shape,
    cache: &mut MemberCache,
) {
    match shape {
        Shape::Result => {
            out.cached_members(cache, revision.position(), |out| write_members(config, revision, shape, out));
        }
        Shape::Extension => {}
        _ => write_members(config, revision, shape, out),
    }
}

/// Writes the first members of a result: its `resultType`, the server's identity, and the lifetime of a cacheable
/// result. A configuration may omit the identity, except from the result of `server/discover`.
fn write_members(config: &ServerConfig<'_>, revision: Revision, shape: Shape, out: &mut Writer<'_>) {
    let kind = match shape {
        Shape::InputRequired => "input_required",
        Shape::Task => "task",
        _ => "complete",
    };
    out.field_string("resultType", kind);
    if config.identify || shape == Shape::Discovery {
        out.begin_object_at("_meta");
        out.key(meta::SERVER_INFO);
        config.identity.write(revision, out);
        out.end_object();
    }
    if matches!(shape, Shape::List | Shape::Discovery) {
        Freshness { fresh_for: config.fresh_for, shared: config.shared_cache }.write(out);
    }
}
