//! Handshake: `initialize` and `server/discover`, and unsupported versions.
//!
//! Specification: up to 2025-11-25, *Lifecycle*; 2026-07-28, *Versioning* and *Discovery*.

use crate::error::ProtocolError;
use crate::json::{Kind, Str, Writer};
use crate::peer::lifecycle::Trigger;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::revision::{Revision, Revisions};
use crate::rpc::code;
use crate::server::config::{SecondInitialize, ServerConfig, UnknownVersion};
use crate::server::feature::{Received, Request};
use crate::server::pending_event::PendingEvent;
use crate::server::server_state::{NegotiatedSession, ServerState, Shape};
use crate::server::write_message::{write_revisions, write_unsupported};

#[inline(never)]
pub(crate) fn initialize(request: &mut Request<'_, '_>) -> Received {
    let offer = request.state.config.revisions.and(Revisions::HANDSHAKE);
    let [version, capabilities, client] =
        request.params.spans(&["protocolVersion", "capabilities", "clientInfo"]);
    let Some(requested) = request.view(version).string() else {
        return request.refuse(ProtocolError::InvalidParams, &"`protocolVersion` must be a string");
    };
    let Some(latest) = offer.latest() else {
        return unsupported_with(request, code::METHOD_NOT_FOUND, requested, request.state.config.revisions);
    };
    if request.kind(capabilities) != Kind::Object {
        return request.refuse(ProtocolError::InvalidParams, &"`capabilities` must be an object");
    }
    let names = request.view(client).pick(["name", "version"]);
    if !names.iter().all(|value| value.is_some_and(|value| value.string().is_some())) {
        return request
            .refuse(ProtocolError::InvalidParams, &"`clientInfo` must have a `name` and a `version`");
    }
    let known = Revision::from_json(requested).filter(|revision| offer.contains(*revision));
    if known.is_none() && request.state.config.unknown_version == UnknownVersion::Reject {
        return unsupported_with(request, code::INVALID_PARAMS, requested, offer);
    }
    let first = request.state.peer.lifecycle.apply(Trigger::Initialize);
    let again =
        !first && allows_restart(request.state) && request.state.peer.lifecycle.apply(Trigger::Restart);
    if !first && !again {
        return request.refuse(ProtocolError::AlreadyInitialized, &"it does not change");
    }
    // Only a new client reuses the id of a request in flight.
    if again || request.is_duplicate(request.state.session_key.stream()) {
        request.state.restart_session();
    }
    let revision = known.unwrap_or(latest);
    request.state.peer.session = Some(NegotiatedSession {
        revision,
        capabilities: ClientCapabilities::from_json(request.view(capabilities)),
        level: None,
        complete: false,
    });
    request.pending.context.revision = revision;
    let config = request.state.config;
    if let refused @ Received::ProtocolError(_) =
        request.result(&mut |out| write_initialize(config, revision, out))
    {
        return refused;
    }
    (request.spans.arguments, request.spans.meta) = (client, capabilities);
    request.state.emit(PendingEvent::Connected(revision))
}

/// Whether a second `initialize` restarts the session. If so, the second `initialize` may reuse the id of a request in
/// flight.
pub(crate) fn allows_restart(state: &ServerState<'_>) -> bool {
    state.config.second_initialize == SecondInitialize::Restart
}

/// Writes the members of the result of `initialize`.
pub(crate) fn write_initialize(config: &ServerConfig<'_>, revision: Revision, out: &mut Writer<'_>) {
    out.field_string("protocolVersion", revision.as_str());
    config.write_capabilities(revision, out);
    out.key("serverInfo");
    config.identity.write(revision, out);
    config.write_instructions(out);
}

pub(crate) fn discover(request: &mut Request<'_, '_>) -> Received {
    let (config, revision) = (request.state.config, request.pending.context.revision);
    request.respond(Shape::Discovery, &mut |out| write_discover(config, revision, out))
}

/// Writes the members of the result of `server/discover`.
pub(crate) fn write_discover(config: &ServerConfig<'_>, revision: Revision, out: &mut Writer<'_>) {
    write_revisions("supportedVersions", config.revisions, out);
    config.write_capabilities(revision, out);
    config.write_instructions(out);
}

/// Refuses a request that names an unsupported revision of the stateless era.
pub(crate) fn unsupported(request: &mut Request<'_, '_>, requested: Str<'_>, offer: Revisions) -> Received {
    unsupported_with(request, code::UNSUPPORTED_PROTOCOL_VERSION, requested, offer)
}

fn unsupported_with(
    request: &mut Request<'_, '_>,
    code: i32,
    requested: Str<'_>,
    offer: Revisions,
) -> Received {
    let mut write = |out: &mut Writer<'_>| write_unsupported(out, requested, offer);
    request.refuse_with(ProtocolError::UnsupportedRevision, code, &mut write)
}
