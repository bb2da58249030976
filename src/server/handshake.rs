//! The handshake era, up to 2025-11-25: `initialize`, the session and its requests.
//!
//! Specification: up to 2025-11-25, *Lifecycle*.

use crate::error::ProtocolError;
use crate::framing::outbound_message::SessionKey;
use crate::json::{Kind, Span, Str, Writer};
use crate::peer::lifecycle::{State, Trigger};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::{Revision, Revisions};
use crate::rpc;
use crate::server::compatibility;
use crate::server::config::ServerConfig;
use crate::server::dispatch::{find_extension, find_feature};
use crate::server::feature::{Received, Request};
use crate::server::pending_event::PendingEvent;
use crate::server::server_state::{NegotiatedSession, ServerState};

/// Code of the handshake era. A configuration without revisions of this era does not refer to this code, so that the
/// linker can drop the code.
pub(crate) struct HandshakeEra {
    /// Handles a request of this era.
    pub(crate) handle: fn(&mut Request<'_, '_>, Str<'_>) -> Received,
    /// Handles a notification of the client about its session. Returns `None` for any other notification.
    pub(crate) handle_notification: fn(&mut ServerState<'_>, &[u8], Str<'_>, Span) -> Option<Received>,
    /// Writes the members of the result of `initialize`.
    pub(crate) write_initialize: fn(&ServerConfig<'_>, Revision, &mut Writer<'_>),
}

/// Refuses an `initialize` with an unsupported version, and names the supported revisions.
pub(crate) type RejectVersion = fn(&mut Request<'_, '_>, Str<'_>, Revisions) -> Received;

impl HandshakeEra {
    const CODE: HandshakeEra = HandshakeEra { handle, handle_notification, write_initialize };

    pub(crate) const fn in_revisions(revisions: Revisions) -> Option<&'static HandshakeEra> {
        if revisions.intersects(Revisions::HANDSHAKE) { Some(&HandshakeEra::CODE) } else { None }
    }
}

/// Handles a request of the handshake era.
fn handle(request: &mut Request<'_, '_>, method: Str<'_>) -> Received {
    if method.is_name(methods::INITIALIZE.name) {
        return initialize(request);
    }
    let Some(NegotiatedSession { revision, capabilities, .. }) = request.state.peer.session else {
        return handle_without_session(request, method);
    };
    // Ignore `inputResponses` and `requestState`, because clients of this era do not retry requests with input.
    (request.spans.responses, request.spans.state) = (Span::MISSING, Span::MISSING);
    let context = &mut request.pending.context;
    context.set_revision(revision);
    context.capabilities = capabilities;
    if request.state.session_key != SessionKey::NONE {
        context.set_keyed();
    }
    let feature = find_feature(request.state, revision, method);
    if feature.is_none() {
        if method.is_name(methods::PING.name) {
            return request.result(&mut |_: &mut Writer<'_>| {});
        }
        if compatibility::is_shutdown(request.state, method) {
            return compatibility::shutdown(request);
        }
    }
    let Some((feature, method_index)) = feature.or_else(|| find_extension(request.state, method, true))
    else {
        return request.unknown_method(method);
    };
    // In state `Ready` a request causes no transition.
    if request.state.peer.lifecycle.state() != State::Ready
        && let Some(refused) = before_initialized(request, method)
    {
        return refused;
    }
    feature.handle(method_index, request)
}

/// Applies the transition of a request before `notifications/initialized`. Returns the refusal if the configuration
/// requires a [strict handshake](ServerConfig::strict_handshake), otherwise `None`. Always accepts `logging/setLevel`,
/// without a transition.
#[cold]
fn before_initialized(request: &mut Request<'_, '_>, method: Str<'_>) -> Option<Received> {
    if method.is_name(methods::LOGGING_SET_LEVEL.name) {
        return None;
    }
    if request.state.config.strict_handshake {
        let detail = "no `notifications/initialized` yet";
        return Some(request.refuse_text(ProtocolError::NotInitialized, detail));
    }
    request.state.peer.lifecycle.apply(Trigger::Request);
    None
}

/// Handles a request before `initialize`.
#[cold]
fn handle_without_session(request: &mut Request<'_, '_>, method: Str<'_>) -> Received {
    let config = request.state.config;
    if let Some(revision) = config.revisions.and(Revisions::HANDSHAKE).latest() {
        request.pending.context.set_revision(revision);
    }
    if method.is_name(methods::PING.name) {
        return request.result(&mut |_: &mut Writer<'_>| {});
    }
    match config.stateless {
        Some(era) => (era.refuse_without_meta)(request, method),
        None if method.is_name(methods::SERVER_DISCOVER.name) => request.unknown_method(method),
        None => request.refuse(ProtocolError::NotInitialized, &method),
    }
}

/// Handles `notifications/initialized`, and `exit` of LSP.
fn handle_notification(
    state: &mut ServerState<'_>,
    line: &[u8],
    method: Str<'_>,
    params: Span,
) -> Option<Received> {
    if method.is_name(methods::INITIALIZED.name) {
        if !state.peer.lifecycle.apply(Trigger::Initialized) {
            return Some(state.fail(ProtocolError::UnknownNotification));
        }
        if let Some(session) = &mut state.peer.session {
            session.complete = true;
        }
        return Some(state.emit(PendingEvent::Ready));
    }
    compatibility::is_exit(state, method, rpc::view(line, params)).then_some(Received::Exit)
}

#[inline(never)]
fn initialize(request: &mut Request<'_, '_>) -> Received {
    let offer = request.state.config.revisions.and(Revisions::HANDSHAKE);
    let [version, capabilities, client] =
        request.params.spans(&["protocolVersion", "capabilities", "clientInfo"]);
    let Some(requested) = request.view(version).string() else {
        return request.invalid_params("`protocolVersion` must be a string");
    };
    if request.kind(capabilities) != Kind::Object {
        return request.invalid_params("`capabilities` must be an object");
    }
    let info = request.view(client);
    let has_text = |name| info.get(name).is_some_and(|value| value.kind() == Kind::String);
    if !has_text("name") || !has_text("version") {
        return request.invalid_params("`clientInfo` needs a `name` and a `version`");
    }
    let known = Revision::from_json(requested).filter(|revision| offer.contains(*revision));
    let revision = match (known, request.state.config.reject_version) {
        (Some(revision), _) => revision,
        (None, Some(reject)) => return reject(request, requested, offer),
        (None, None) => offer.latest().unwrap_or(Revision::OLDEST),
    };
    let first = request.state.peer.lifecycle.apply(Trigger::Initialize);
    // Never restart one of several sessions, because a restart drops the requests of all sessions.
    let restart = request.state.config.restart.filter(|_| request.state.session_key == SessionKey::NONE);
    let again = !first && restart.is_some() && request.state.peer.lifecycle.apply(Trigger::Restart);
    if !first && !again {
        return request.refuse_text(ProtocolError::AlreadyInitialized, "reconnect");
    }
    // Also restart if the `initialize` has the id of a request in flight, because only a new client reuses such an id.
    if let Some(restart) = restart
        && (again || request.is_duplicate(request.state.session_key.stream()))
    {
        restart(request.state);
    }
    request.state.peer.session = Some(NegotiatedSession {
        revision,
        capabilities: ClientCapabilities::from_json(request.view(capabilities)),
        level: None,
        complete: false,
    });
    request.pending.context.set_revision(revision);
    let config = request.state.config;
    let responded = request.result(&mut |out: &mut Writer<'_>| write_initialize(config, revision, out));
    if responded == Received::Failed {
        return responded;
    }
    (request.spans.arguments, request.spans.meta) = (client, capabilities);
    request.state.emit(PendingEvent::Connected(revision))
}

/// Writes the members of the result of `initialize`.
fn write_initialize(config: &ServerConfig<'_>, revision: Revision, out: &mut Writer<'_>) {
    out.field_string("protocolVersion", revision.as_str());
    config.write_capabilities(revision, out);
    out.key("serverInfo");
    config.identity.write(revision, out);
    config.write_instructions(out);
}
