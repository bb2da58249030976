//! Dispatch of inbound requests and notifications, `notifications/cancelled` included.

use crate::error::ProtocolError;
use crate::framing::outbound_message::{SessionKey, StreamId};
use crate::framing::{Content, Line, LineDecoder};
use crate::json::{DEPTH_LIMIT, Envelope, Json, Kind, MemberIndex, ScanErrorKind, Shape, Span, Str};
use crate::peer::inbound::{self, Source};
use crate::peer::lifecycle::{State, Trigger};
use crate::peer::request::Request as InFlightRequest;
use crate::protocol::meta::RequestMeta;
use crate::protocol::methods::{self, Method};
use crate::protocol::revision::{Revision, Revisions};
use crate::rpc::{self, Class, Invalid, Object, Outcome};
use crate::server::compatibility;
use crate::server::feature::{Feature, Request};
use crate::server::handshake;
use crate::server::pending_event::{PendingEvent, Spans};
use crate::server::reply::Pending;
use crate::server::request_cache::MethodPlace;
use crate::server::request_context::Context;
use crate::server::server_state::ServerState;

/// The result of handling a line or a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// Handled without an event. The response to a request is a result.
    Done,
    /// Refused or dropped, with this error as the event. The response to a request is an error.
    ProtocolError(ProtocolError),
    /// Handled with an event, which is in `ServerState::pending_event`.
    Event,
    /// The client sent `exit`: treat the input as ended.
    Exit,
    /// A batch has begun. The next steps handle its members.
    BatchBegun,
}

/// Whether a message may need a response. Such a message is a request, or an invalid message that may be a request.
pub(crate) fn may_need_response(class: &Class) -> bool {
    match class {
        Class::Request { .. } => true,
        Class::Invalid { answerable, .. } => *answerable,
        _ => false,
    }
}

/// Whether an unreadable line may need a response.
#[inline(never)]
pub(crate) fn unreadable_line_needs_response(input: &LineDecoder<'_>, content: Content) -> bool {
    let envelope = &input.envelope();
    match content {
        Content::Message => true,
        Content::Truncated | Content::StreamClosed => false,
        _ if envelope.looks_like_response() => false,
        Content::TooLong { .. } => !is_notification(envelope),
        Content::Broken(_) => true,
    }
}

/// Whether an oversized line is a notification, judged by its members alone.
fn is_notification(envelope: &Envelope) -> bool {
    envelope.shape == Shape::Object && envelope.id.is_none()
}

/// Handles a valid JSON text.
///
/// The output has space for a response if the class may need one. `index` is the scanner's index of the parameters.
pub(crate) fn handle_message(
    state: &mut ServerState<'_>,
    line: &[u8],
    class: Class,
    index: Option<&MemberIndex>,
    stream: StreamId,
    spans: &mut Spans,
) -> Received {
    let too_long = |id: Span| id.range().len() > state.id_limit();
    match class {
        // A request with a long id counts as an invalid message, because its error has no id. Errors without an id are
        // limited.
        Class::Request { id, .. } if too_long(id) => {
            let error = ProtocolError::IdTooLong { limit: state.id_limit() };
            return Received::ProtocolError(state.refuse(b"", stream, error));
        }
        // An error without an id may be a response to a server request, so it does not reset the count.
        Class::Invalid { .. } | Class::ErrorWithoutId { .. } => {}
        _ => state.invalid_in_a_row = 0,
    }
    match class {
        Class::Request { id, method, params } => {
            (spans.id, spans.subject) = (id, rpc::with_quotes(method));
            let id = rpc::view(line, id).bytes();
            let pending = Pending::from_line(id, stream, state.batches.in_line());
            let params = Object::new(line, params, index);
            let [meta, name, arguments] = [Span::MISSING; 3];
            let request = &mut Request { state, spans, params, meta, name, arguments, pending };
            handle_request(request, rpc::text(line, method))
        }
        Class::Notification { method, params } => {
            spans.subject = rpc::with_quotes(method);
            handle_notification(state, line, rpc::text(line, method), params, stream, spans)
        }
        Class::Response { id, outcome } => handle_response(state, line, rpc::view(line, id), outcome, spans),
        Class::ErrorWithoutId { error } => {
            let code = rpc::view(line, error).get("code").and_then(Json::integer);
            let code = code.and_then(|code| code.try_into().ok()).unwrap_or(0);
            Received::ProtocolError(ProtocolError::ErrorWithoutId { code })
        }
        Class::Invalid { id, why, answerable } => {
            let error = match why {
                Invalid::Batch => match state.batch_hooks() {
                    Some(hooks) => return hooks.begin(state, line, stream),
                    None => ProtocolError::Batch,
                },
                Invalid::NotAnObject => ProtocolError::NotAnObject,
                Invalid::Version => ProtocolError::WrongJsonRpcVersion,
                Invalid::Id => ProtocolError::InvalidId,
                Invalid::Method => ProtocolError::InvalidMethod,
            };
            Received::ProtocolError(if answerable {
                state.refuse(rpc::view(line, id).bytes(), stream, error)
            } else {
                error
            })
        }
    }
}

impl ServerState<'_> {
    /// Responds to an invalid message with an error.
    ///
    /// If `id` is empty or too long, the error has no id. The server limits consecutive errors without an id.
    pub(crate) fn refuse(&mut self, id: &[u8], stream: StreamId, error: ProtocolError) -> ProtocolError {
        let id = if id.len() <= self.id_limit() { id } else { b"" };
        // Errors within a batch share one line, so they are not limited.
        if id.is_empty() && !self.batches.in_line() {
            if self.invalid_in_a_row >= self.config.limits.invalid_in_a_row {
                return ProtocolError::Muted;
            }
            self.invalid_in_a_row = self.invalid_in_a_row.saturating_add(1);
        }
        let pending = Pending::from_line(id, stream, self.batches.in_line());
        match &error {
            ProtocolError::NotJson(scan_error) => {
                self.write_error_response(&pending, error, Some(scan_error))
            }
            _ => self.write_error_response(&pending, error, None),
        }
        error
    }
}

/// Handles a line that is invalid JSON, truncated or oversized.
#[inline(never)]
pub(crate) fn handle_unreadable_line(
    state: &mut ServerState<'_>,
    input: &LineDecoder<'_>,
    line: Line,
) -> Received {
    let Line { content, stream, .. } = line;
    let (bytes, envelope) = (input.bytes(), &input.envelope());
    if let Some(ended) =
        state.outbound_hooks.and_then(|hooks| hooks.on_unreadable_line(state, bytes, content, envelope))
    {
        return ended;
    }
    Received::ProtocolError(match content {
        Content::Message | Content::Truncated | Content::StreamClosed => ProtocolError::Truncated,
        Content::Broken(scan_error) => {
            let error = match scan_error.kind {
                ScanErrorKind::TooDeep => {
                    ProtocolError::TooDeep { limit: state.config.limits.depth.min(DEPTH_LIMIT) }
                }
                _ => ProtocolError::NotJson(scan_error),
            };
            let id = match Class::new(bytes, input.scanner(), false) {
                Class::Request { id, .. } | Class::Invalid { id, answerable: true, .. } => id,
                _ if scan_error.kind == ScanErrorKind::TooDeep => return Received::ProtocolError(error),
                // The id may stand behind the error.
                _ => Span::MISSING,
            };
            // Never respond to a possible response, because two peers could exchange errors forever.
            let is_abandoned = scan_error.kind == ScanErrorKind::GivenUp && id.is_missing();
            if is_abandoned || envelope.looks_like_response() {
                return Received::ProtocolError(error);
            }
            state.refuse(rpc::view(bytes, id).bytes(), stream, error)
        }
        Content::TooLong { id_fits, limit } => {
            let error = ProtocolError::LineTooLong { limit };
            if envelope.looks_like_response() || is_notification(envelope) {
                return Received::ProtocolError(error);
            }
            let is_id = id_fits && rpc::is_id(Json::trusted(bytes));
            state.refuse(if is_id { bytes } else { b"" }, stream, error)
        }
    })
}

fn handle_request(request: &mut Request<'_, '_>, method: Str<'_>) -> Received {
    let params = request.params;
    let well_formed = params.span().is_missing() || params.kind() == Kind::Object;
    request.find_params();
    let speaks_stateless = request.state.config.revisions.intersects(Revisions::STATELESS);
    let has_meta = speaks_stateless && !request.meta.is_missing();
    let meta = match has_meta {
        true => request.state.request_cache.parse_meta(request.view(request.meta)),
        false => None,
    };
    let may_restart = || {
        meta.is_none() && method.is_name(methods::INITIALIZE.name) && handshake::allows_restart(request.state)
    };
    let (stream, session) = (request.pending.context.stream, request.state.session_key);
    let owner = if meta.is_some() { stream } else { session.stream() };
    if request.is_duplicate(owner) && !may_restart() {
        return request.refuse(ProtocolError::DuplicateId, &"wait for its response, or use another id");
    }
    if request.state.peer.lifecycle.state() == State::Draining {
        return request.refuse(ProtocolError::ShuttingDown, &"reconnect");
    }
    if !well_formed {
        return request.refuse(ProtocolError::InvalidParams, &"`params` must be an object");
    }
    match meta {
        Some(meta) => handle_stateless(request, method, meta),
        None => handle_handshake_era(request, method),
    }
}

/// Detail of the error for an incomplete `_meta`.
const NEEDED: &str = "`_meta` needs `io.modelcontextprotocol/protocolVersion` and `io.modelcontextprotocol/clientCapabilities`";

/// Handles a request of the stateless era, whose `_meta` names its revision.
#[inline(never)]
fn handle_stateless(request: &mut Request<'_, '_>, method: Str<'_>, meta: RequestMeta) -> Received {
    let version = request.view(request.meta).part(meta.version).string();
    let (Some(version), Some(capabilities)) = (version, meta.capabilities) else {
        return request.refuse(ProtocolError::InvalidParams, &NEEDED);
    };
    let offer = request.state.config.revisions.and(Revisions::STATELESS);
    let Some(revision) = meta.revision.filter(|revision| offer.contains(*revision)) else {
        return handshake::unsupported(request, version, offer);
    };
    request.pending.context = Context { revision, capabilities, ..request.pending.context };
    let handler = find_handler(request.state, Some(revision), method);
    if !matches!(handler, Handler::Feature(..) | Handler::Discover) {
        return request.refuse(ProtocolError::UnknownMethod, &method);
    }
    // The level is checked after the method, in the order of the specification.
    match meta.level.transpose() {
        Ok(level) => request.pending.context.level = level,
        Err(()) => return request.refuse(ProtocolError::InvalidParams, &"unknown log level in `_meta`"),
    }
    match handler {
        Handler::Feature(feature, method) => feature.handle(method, request),
        _ => handshake::discover(request),
    }
}

/// The code that handles a method.
enum Handler<'b> {
    /// A feature, with the index of the method in it. A method of an extension has no index.
    Feature(&'b dyn Feature, usize),
    Initialize,
    Ping,
    Discover,
    Shutdown,
    Unknown,
}

/// Finds the handler of a method. Without a revision, no feature handles a method.
///
/// Remembers the last method of a feature, because consecutive requests often have the same method.
fn find_handler<'b>(state: &mut ServerState<'b>, revision: Option<Revision>, name: Str<'_>) -> Handler<'b> {
    let features = if revision.is_some() { state.config.features } else { &[] };
    let is_called = |method: &Method| {
        name.is_name(method.name) && revision.is_some_and(|it| method.by_client.contains(it))
    };
    if let Some(MethodPlace { feature, method }) = state.request_cache.method()
        && let Some(feature) = features.get(usize::from(feature))
        && feature.methods().get(usize::from(method)).is_some_and(is_called)
    {
        return Handler::Feature(*feature, method.into());
    }
    for (index, feature) in features.iter().enumerate() {
        if let Some(method) = feature.methods().iter().position(is_called) {
            if let (Ok(feature), Ok(method)) = (index.try_into(), method.try_into()) {
                state.request_cache.set_method(MethodPlace { feature, method });
            }
            return Handler::Feature(*feature, method);
        }
    }
    match () {
        () if name.is_name(methods::INITIALIZE.name) => Handler::Initialize,
        () if name.is_name(methods::PING.name) => Handler::Ping,
        () if name.is_name(methods::SERVER_DISCOVER.name) => Handler::Discover,
        () if compatibility::is_shutdown(state, name) => Handler::Shutdown,
        () => match find_extension(features, name, true) {
            Some(feature) => Handler::Feature(feature, usize::MAX),
            None => Handler::Unknown,
        },
    }
}

/// Finds the feature with this method of an extension.
#[inline(never)]
fn find_extension<'b>(
    features: &'b [&'b dyn Feature],
    name: Str<'_>,
    is_request: bool,
) -> Option<&'b dyn Feature> {
    features.iter().copied().find(|feature| feature.has_extension_method(name, is_request))
}

/// Handles a request of the handshake era.
fn handle_handshake_era(request: &mut Request<'_, '_>, method: Str<'_>) -> Received {
    let (session, config) = (request.state.peer.session, request.state.config);
    let handler = find_handler(request.state, session.map(|session| session.revision), method);
    if let Handler::Initialize = handler {
        return handshake::initialize(request);
    }
    let revisions = config.revisions;
    if let Some(session) = session {
        request.pending.context.revision = session.revision;
        request.pending.context.capabilities = session.capabilities;
        request.pending.context.is_keyed = request.state.session_key != SessionKey::NONE;
    } else if let Some(revision) = revisions.and(Revisions::HANDSHAKE).latest() {
        request.pending.context.revision = revision;
    } else {
        return refuse_missing_meta(request);
    }
    match handler {
        Handler::Ping => return request.result(&mut |_| {}),
        _ if session.is_some() => {}
        _ if revisions.intersects(Revisions::STATELESS) => return refuse_missing_meta(request),
        Handler::Discover => return request.refuse(ProtocolError::UnknownMethod, &method),
        _ => return request.refuse(ProtocolError::NotInitialized, &method),
    }
    if let Handler::Shutdown = handler {
        return compatibility::shutdown(request);
    }
    // In state `Ready` a request causes no transition.
    if request.state.peer.lifecycle.state() != State::Ready
        && !method.is_name(methods::LOGGING_SET_LEVEL.name)
    {
        if config.strict_handshake {
            return request
                .refuse(ProtocolError::NotInitialized, &"`notifications/initialized` has not arrived");
        }
        request.state.peer.lifecycle.apply(Trigger::Request);
    }
    match handler {
        Handler::Feature(feature, method) => feature.handle(method, request),
        _ => request.refuse(ProtocolError::UnknownMethod, &method),
    }
}

/// Refuses a request that has neither a session nor a revision.
fn refuse_missing_meta(request: &mut Request<'_, '_>) -> Received {
    let how = if request.state.config.revisions.intersects(Revisions::HANDSHAKE) {
        ", or send `initialize` first"
    } else {
        ""
    };
    request.refuse(ProtocolError::InvalidParams, &(NEEDED, how))
}

#[inline(never)]
fn handle_notification(
    state: &mut ServerState<'_>,
    line: &[u8],
    method: Str<'_>,
    params: Span,
    stream: StreamId,
    spans: &mut Spans,
) -> Received {
    if method.is_name(methods::CANCELLED.name) {
        return handle_cancelled(state, line, params, stream, spans);
    }
    if method.is_name(methods::INITIALIZED.name) {
        if !state.peer.lifecycle.apply(Trigger::Initialized) {
            return Received::ProtocolError(ProtocolError::UnknownNotification);
        }
        if let Some(session) = &mut state.peer.session {
            session.complete = true;
        }
        return state.emit(PendingEvent::Ready);
    }
    if let Some(received) =
        state.outbound_hooks.and_then(|hooks| hooks.on_notification(state, line, method, params, spans))
    {
        return received;
    }
    if method.is_name(methods::PROGRESS.name) {
        return Received::ProtocolError(ProtocolError::UnknownProgress);
    }
    if compatibility::is_exit(state, method, rpc::view(line, params)) {
        return Received::Exit;
    }
    if let Some(feature) = find_extension(state.config.features, method, false) {
        spans.arguments = params;
        return feature.emit_notification(state);
    }
    Received::ProtocolError(ProtocolError::UnknownNotification)
}

fn handle_cancelled(
    state: &mut ServerState<'_>,
    line: &[u8],
    params: Span,
    stream: StreamId,
    spans: &mut Spans,
) -> Received {
    let Some((id, reason)) = inbound::parse_cancellation(line, params) else {
        return Received::ProtocolError(ProtocolError::InvalidParams);
    };
    // A notification does not name its era. Search the requests of the stream first, then the requests of the session.
    let find = |owner| state.peer.in_flight.find(id, owner);
    let Some(ticket) = find(stream).or_else(|| find(state.session_key.stream())) else {
        return Received::ProtocolError(ProtocolError::UnknownCancel);
    };
    if !state.poll_chunks(ticket) {
        state.end_in_flight(ticket);
    }
    spans.arguments = reason;
    state.emit(PendingEvent::Cancelled(ticket))
}

fn handle_response(
    state: &mut ServerState<'_>,
    line: &[u8],
    id: Json<'_>,
    outcome: Outcome,
    spans: &mut Spans,
) -> Received {
    let malformed = matches!(outcome, Outcome::Malformed);
    if !malformed && state.keep_alive_hooks.is_some_and(|hooks| hooks.record_response(state, id)) {
        return Received::Done;
    }
    let error = if malformed { ProtocolError::MalformedResponse } else { ProtocolError::UnknownResponse };
    match state.outbound_hooks {
        Some(hooks) => {
            hooks.on_response(state, line, id, outcome, spans).unwrap_or(Received::ProtocolError(error))
        }
        None => Received::ProtocolError(error),
    }
}

impl ServerState<'_> {
    /// Writes queued messages while the output has space. The queue holds errors of expired requests, ends of chunked
    /// responses, and cancellations of outbound requests.
    pub(crate) fn write_queued(&mut self) {
        // While a batch is in the line, the error of an open batch's member cannot be collected.
        while !self.batches.in_line()
            && let Some(ticket) = self.peer.in_flight.queue_front()
            && self.peer.reserve_response()
        {
            match self.peer.in_flight.get(ticket) {
                Some(InFlightRequest::Inbound(inbound)) if inbound.chunks().is_some() => {
                    _ = self.poll_chunks(ticket);
                }
                Some(InFlightRequest::Inbound(inbound)) => {
                    let pending = Pending { source: Source::Slot(ticket), context: inbound.context() };
                    self.write_error_response(&pending, ProtocolError::TookTooLong, None);
                }
                Some(InFlightRequest::Outbound(_)) => {
                    if let Some(hooks) = self.outbound_hooks {
                        hooks.write_cancelled(self, ticket);
                    }
                }
                None => {}
            }
            self.peer.in_flight.dequeue();
            self.end_in_flight(ticket);
        }
    }
}
