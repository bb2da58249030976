//! Dispatches inbound messages: passes requests to features, and handles `notifications/cancelled` and other
//! notifications, responses and invalid messages.

use crate::error::ProtocolError;
use crate::framing::outbound_message::StreamId;
use crate::framing::{LineDecoder, LineKind};
use crate::json::{Json, Kind, Member, Scanner, Shape, Span, Str, WriteText};
use crate::peer::lifecycle::State;
use crate::peer::{error_without_id, inbound, unreadable_line_error};
use crate::protocol::methods::{self, Method};
use crate::protocol::revision::Revision;
use crate::rpc::{self, Class, Invalid, Object};
use crate::server::feature::{Feature, Request};
use crate::server::pending_event::{PendingEvent, Spans};
use crate::server::reply::Pending;
use crate::server::request_cache::MethodPlace;
use crate::server::server_state::ServerState;

/// The result of handling a line or a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// Handled without an event. A request has its response, or is deferred.
    Done,
    /// Handled with an error, which is in `Peer::pending_error`. The error causes an event, unless
    /// `Peer::drop_late_error` drops the error. If the message is a request, its response is an error. Exceptions: With
    /// [`ProtocolError::ListSplit`] the response is a valid list, and with [`ProtocolError::Muted`] there is no
    /// response.
    Failed,
    /// Handled with an event, which is in `ServerState::pending_event`.
    Event,
    /// The client sent `exit`: treat the input as ended.
    Exit,
    /// A batch has begun. The next steps handle the members of the batch.
    BatchBegun,
}

/// Returns whether a message may need a response. Such a message is a request, or an invalid message that may be a
/// request.
pub(crate) fn may_need_response(class: Class) -> bool {
    matches!(class, Class::Request | Class::Invalid(_))
}

/// Returns whether an unreadable line, or the next member of a batch, may need a response.
#[cold]
pub(crate) fn unreadable_line_needs_response(input: &LineDecoder<'_>, line: LineKind) -> bool {
    let scanner = input.scanner();
    match line {
        LineKind::Message => true,
        LineKind::Truncated | LineKind::StreamClosed => false,
        // Never respond to a message that may be a response, because two peers could then exchange errors forever.
        _ if scanner.looks_like_response() => false,
        LineKind::TooLong => !is_notification(scanner),
        _ => true,
    }
}

/// Returns whether an oversized line counts as a notification: an object without an id.
fn is_notification(scanner: &Scanner) -> bool {
    scanner.shape() == Shape::Object && !scanner.has(Member::Id)
}

/// Handles a valid JSON text.
///
/// If the class may need a response, the caller must have reserved space for a response.
#[inline(never)]
pub(crate) fn handle_message(
    state: &mut ServerState<'_>,
    line: &[u8],
    scanner: &Scanner,
    class: Class,
    stream: StreamId,
    spans: &mut Spans,
) -> Received {
    match class {
        Class::Request => {
            spans.id = scanner.span(Member::Id);
            let id = rpc::view(line, spans.id).bytes();
            let limit = state.config.limits.id;
            if id.len() > limit {
                // The error response has no id, so the request counts as an invalid message: `refuse` limits such
                // responses.
                return state.refuse(b"", stream, ProtocolError::IdTooLong { limit }, None);
            }
            state.invalid_in_a_row = 0;
            let method = scanner.span(Member::Method);
            let batched = state.batches.in_line();
            let mut request = Request {
                state,
                spans,
                params: Object::new(line, scanner.params(line), scanner.inner(Member::Params)),
                method,
                pending: Pending::from_line(id, stream, batched),
            };
            request.find_members();
            handle_request(&mut request, rpc::text(line, method))
        }
        Class::Notification => {
            state.invalid_in_a_row = 0;
            spans.subject = scanner.span(Member::Method);
            let method = rpc::text(line, spans.subject);
            handle_notification(state, line, method, scanner.params(line), stream, spans)
        }
        Class::Response | Class::MalformedResponse => {
            state.invalid_in_a_row = 0;
            handle_response(state, line, scanner, class, spans)
        }
        // The client may respond to each error of the server with an error without an id. If these errors reset
        // `invalid_in_a_row`, the limit would have no effect.
        Class::ErrorWithoutId => state.fail(error_without_id(rpc::view(line, scanner.span(Member::Error)))),
        Class::Invalid(why) | Class::Unanswerable(why) => {
            let id = may_need_response(class).then(|| scanner.valid_id(line).bytes(line));
            handle_invalid(state, line, why, id, stream)
        }
    }
}

/// Begins a batch, or refuses a message that is not a JSON-RPC message. Sends no response if `id` is `None`.
#[cold]
fn handle_invalid(
    state: &mut ServerState<'_>,
    line: &[u8],
    why: Invalid,
    id: Option<&[u8]>,
    stream: StreamId,
) -> Received {
    if why == Invalid::Batch
        && let Some(hooks) = state.batch_hooks()
    {
        return (hooks.begin)(state, line, stream);
    }
    let error = why.into();
    match id {
        Some(id) => state.refuse(id, stream, error, None),
        None => state.fail(error),
    }
}

impl ServerState<'_> {
    /// Sets the error that the server reports next, and returns [`Received::Failed`].
    #[cold]
    pub(crate) fn fail(&mut self, error: ProtocolError) -> Received {
        self.peer.pending_error = Some(error);
        Received::Failed
    }

    /// Responds to an invalid message with an error, and reports the error. If `id` is empty or too long, the error
    /// response has no id.
    ///
    /// Outside of batches and streams, [`Limits::invalid_in_a_row`](crate::server::Limits) limits consecutive error
    /// responses without an id. After the limit, sends no response to such a message, and reports only `Muted`.
    #[cold]
    pub(crate) fn refuse(
        &mut self,
        id: &[u8],
        stream: StreamId,
        error: ProtocolError,
        detail: Option<&dyn WriteText>,
    ) -> Received {
        let id = if id.len() <= self.config.limits.id { id } else { b"" };
        // Errors within a batch have no limit, because they share one line. Errors on a stream have no limit either,
        // because the transport expects one response to each request.
        if id.is_empty() && !self.batches.in_line() && stream == StreamId::NONE {
            if self.invalid_in_a_row >= self.config.limits.invalid_in_a_row {
                return self.fail(ProtocolError::Muted);
            }
            self.invalid_in_a_row = self.invalid_in_a_row.saturating_add(1);
        }
        let pending = Pending::from_line(id, stream, self.batches.in_line());
        self.write_error_response(&pending, error, detail);
        self.fail(error)
    }
}

/// Handles a line that is invalid JSON, nested too deeply, truncated or oversized, or that has lost bytes.
#[cold]
#[inline(never)]
pub(crate) fn handle_unreadable_line(
    state: &mut ServerState<'_>,
    input: &LineDecoder<'_>,
    line: LineKind,
) -> Received {
    let error = unreadable_line_error(input, line);
    if !unreadable_line_needs_response(input, line) {
        return state.fail(error);
    }
    let id = if line == LineKind::TooLong {
        let id = input.intact_id();
        if rpc::is_id(Json::trusted(id)) { id } else { b"" }
    } else {
        let bytes = input.bytes();
        match Class::new(bytes, input.scanner(), false) {
            Class::Request | Class::Invalid(_) => input.scanner().valid_id(bytes).bytes(bytes),
            _ if line == LineKind::TooDeep => return state.fail(error),
            // The id may follow the JSON error or the gap, so the id is unknown.
            _ => b"",
        }
    };
    if line == LineKind::Gap && id.is_empty() {
        return state.fail(error);
    }
    let detail: Option<&dyn WriteText> = match &error {
        ProtocolError::NotJson(error) => Some(error),
        _ => None,
    };
    state.refuse(id, input.stream(), error, detail)
}

#[inline]
fn handle_request(request: &mut Request<'_, '_>, method: Str<'_>) -> Received {
    let params = request.params;
    let well_formed = params.span().is_missing() || params.kind() == Kind::Object;
    let config = request.state.config;
    let meta = match config.stateless {
        Some(era) if !request.spans.meta.is_missing() => {
            (era.parse_meta)(&mut request.state.request_cache, rpc::view(params.line(), request.spans.meta))
        }
        _ => None,
    };
    let (stream, session) = (request.pending.stream, request.state.session_key);
    let owner = if meta.is_some() { stream } else { session.stream() };
    if request.is_duplicate(owner)
        && let Some(refused) = refuse_duplicate(request, method, meta.is_some())
    {
        return refused;
    }
    if request.state.peer.lifecycle.state() == State::Draining {
        return request.refuse_text(ProtocolError::ShuttingDown, "reconnect");
    }
    if !well_formed {
        return request.invalid_params("`params` must be an object");
    }
    match (config.stateless, &meta, config.handshake) {
        (Some(era), Some(meta), _) => (era.handle)(request, method, meta),
        (_, _, Some(era)) => (era.handle)(request, method),
        (Some(era), None, None) => (era.refuse_without_meta)(request, method),
        // `Server::new` refuses a configuration without revisions.
        (None, _, None) => request.unknown_method(method),
    }
}

/// Refuses a request with the id of another request in flight. Returns `None` for an `initialize` that may restart the
/// session.
#[cold]
fn refuse_duplicate(request: &mut Request<'_, '_>, method: Str<'_>, is_stateless: bool) -> Option<Received> {
    let can_restart = !is_stateless && request.state.config.restart.is_some();
    if can_restart && method.is_name(methods::INITIALIZE.name) {
        return None;
    }
    Some(request.refuse_text(ProtocolError::DuplicateId, "use another id"))
}

/// Finds the feature with this method of the specification, and the index of the method in the feature. Returns `None`
/// if the revision or the server lacks the method.
///
/// Caches the last method, because consecutive requests often have the same method.
#[inline]
pub(crate) fn find_feature<'b>(
    state: &mut ServerState<'b>,
    revision: Revision,
    name: Str<'_>,
) -> Option<(&'b dyn Feature, usize)> {
    if let Some(MethodPlace { method, feature, index }) = state.request_cache.method()
        && is_called(method, revision, name)
        && let Some(feature) = state.config.features.get(usize::from(feature))
    {
        return Some((*feature, index.into()));
    }
    search_features(state, revision, name)
}

fn is_called(method: &Method, revision: Revision, name: Str<'_>) -> bool {
    name.is_name(method.name) && method.by_client.contains(revision)
}

#[cold]
#[inline(never)]
fn search_features<'b>(
    state: &mut ServerState<'b>,
    revision: Revision,
    name: Str<'_>,
) -> Option<(&'b dyn Feature, usize)> {
    for (place, feature) in state.config.features.iter().enumerate() {
        for (index, method) in feature.methods().iter().enumerate() {
            if is_called(method, revision, name) {
                if let (Ok(feature), Ok(index)) = (place.try_into(), index.try_into()) {
                    state.request_cache.set_method(MethodPlace { method, feature, index });
                }
                return Some((*feature, index));
            }
        }
    }
    None
}

/// Finds the feature with this request or notification of an extension. The returned index is `usize::MAX`, because
/// such a method has no index. Returns `None` if no feature has the method.
#[inline(never)]
pub(crate) fn find_extension<'b>(
    state: &ServerState<'b>,
    name: Str<'_>,
    is_request: bool,
) -> Option<(&'b dyn Feature, usize)> {
    let mut features = state.config.features.iter().copied();
    Some((features.find(|feature| feature.has_extension_method(name, is_request))?, usize::MAX))
}

#[cold]
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
    if let Some(era) = state.config.handshake
        && let Some(received) = (era.handle_notification)(state, line, method, params)
    {
        return received;
    }
    if let Some(received) =
        state.outbound_hooks().and_then(|hooks| (hooks.on_notification)(state, line, method, params, spans))
    {
        return received;
    }
    if method.is_name(methods::PROGRESS.name) {
        return state.fail(ProtocolError::UnknownProgress);
    }
    if let Some((feature, _)) = find_extension(state, method, false) {
        spans.arguments = params;
        return feature.emit_notification(state);
    }
    state.fail(ProtocolError::UnknownNotification)
}

fn handle_cancelled(
    state: &mut ServerState<'_>,
    line: &[u8],
    params: Span,
    stream: StreamId,
    spans: &mut Spans,
) -> Received {
    let Some((id, reason)) = inbound::parse_cancellation(line, params) else {
        return state.fail(ProtocolError::InvalidParams);
    };
    // A notification does not name its era. Search the requests of the stream first, then the requests of the session.
    let find = |owner| state.find_in_flight(id, owner);
    let Some(ticket) = find(stream).or_else(|| find(state.session_key.stream())) else {
        return state.fail(ProtocolError::UnknownCancel);
    };
    if !state.poll_chunks(ticket) {
        state.end_in_flight(ticket);
    }
    spans.arguments = reason;
    state.emit(PendingEvent::Cancelled(ticket))
}

#[cold]
fn handle_response(
    state: &mut ServerState<'_>,
    line: &[u8],
    scanner: &Scanner,
    class: Class,
    spans: &mut Spans,
) -> Received {
    let id = rpc::view(line, scanner.span(Member::Id));
    let error = match class {
        Class::MalformedResponse => ProtocolError::MalformedResponse,
        _ if state.keep_alive_hooks.is_some_and(|hooks| (hooks.record_response)(state, id)) => {
            return Received::Done;
        }
        _ => ProtocolError::UnknownResponse,
    };
    let received = state.outbound_hooks().and_then(|hooks| (hooks.on_response)(state, line, scanner, spans));
    received.unwrap_or_else(|| state.fail(error))
}
