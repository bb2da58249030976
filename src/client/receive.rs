//! Dispatch of received messages: responses, requests of the server, notifications.

use core::mem;

use crate::error::ProtocolError;
use crate::framing::outbound_message::StreamId;
use crate::framing::{LineDecoder, LineKind};
use crate::json::{Json, Kind, Member, Scanner, Span, Str};
use crate::peer::lifecycle::State;
use crate::peer::outbound::IssuedId;
use crate::peer::request::Inbound;
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::peer::{error_without_id, inbound, unreadable_line_error};
use crate::platform::cold_path;
use crate::protocol::methods;
use crate::protocol::revision::WireFeature;
use crate::rpc::{self, Class, Invalid, Object, Outcome};

use crate::client::client_state::{ClientState, ID_LIMIT};
use crate::client::event::Listed;
use crate::client::method_properties::Method;
use crate::client::pending_event::{PendingEvent, PendingFailure, PendingOutcome};
use crate::client::server_requests::input_request::InputKind;

/// Processes a line that is valid JSON, and returns the error of an invalid or unexpected message. For a request, the
/// caller must have reserved space for the response.
#[inline]
pub(crate) fn handle_message(
    state: &mut ClientState<'_>,
    line: &[u8],
    scanner: &Scanner,
    class: Class,
    stream: StreamId,
) -> Result<(), ProtocolError> {
    let is_response = match class {
        Class::Response | Class::MalformedResponse => true,
        Class::Invalid(Invalid::Method) => is_pending_response(state, line, scanner),
        _ => false,
    };
    match is_response {
        true => handle_response(state, line, scanner, class),
        false => handle_other_message(state, line, scanner, class, stream),
    }
}

/// Processes a message that is not a response to a request, and returns the error of an invalid or unexpected message.
// Not inlined, so that the code of responses stays contiguous in the instruction cache.
#[inline(never)]
fn handle_other_message(
    state: &mut ClientState<'_>,
    line: &[u8],
    scanner: &Scanner,
    class: Class,
    stream: StreamId,
) -> Result<(), ProtocolError> {
    let (method, params) = (scanner.span(Member::Method), scanner.params(line));
    match class {
        Class::Request => handle_request(state, line, scanner.span(Member::Id), method, params, stream),
        Class::Notification => handle_notification(state, line, method, params),
        Class::Invalid(why) | Class::Unanswerable(why) => Err(why.into()),
        // Only an error without an id arrives here. The caller handles all other responses.
        Class::Response | Class::MalformedResponse | Class::ErrorWithoutId => {
            handle_error_without_id(state, line, scanner.span(Member::Error))
        }
    }
}

#[cold]
fn handle_error_without_id(
    state: &mut ClientState<'_>,
    line: &[u8],
    error: Span,
) -> Result<(), ProtocolError> {
    // While the connecting request awaits its response, an error without an id counts as this response. After an
    // abandoned probe, the first such error may respond to the probe, so the client only reports this error.
    let is_connecting = state.connecting.is_some() && state.unsent_connect.is_none();
    if is_connecting && !mem::take(&mut state.probe_abandoned) {
        state.handle_connect_response(line, Outcome::Error(error));
        return Ok(());
    }
    Err(error_without_id(rpc::view(line, error)))
}

/// Processes a line that is not valid JSON, is nested too deeply, or was discarded by the decoder.
///
/// If the line is the response to a request in flight, this request ends with a failure. For the probe, there are two
/// exceptions. If the response lost bytes, the function returns the error, and repeats the probe, unless the probe was
/// already repeated or the input has ended. If the response is invalid or nested too deeply, the client falls back to
/// the handshake if possible.
///
/// For any other line, except a response to a ping, returns the error. A line with the member `method` counts as a
/// request. If its id is intact and not too long, the function also responds to this request with the error, except in
/// the stateless era.
pub(crate) fn handle_unreadable_line(
    state: &mut ClientState<'_>,
    input: &LineDecoder<'_>,
    line: LineKind,
) -> Result<(), ProtocolError> {
    let error = unreadable_line_error(input, line);
    let id = input.intact_id();
    if !rpc::is_id(Json::trusted(id)) {
        return Err(error);
    }
    if input.scanner().has(Member::Method) {
        if state.responds_to_requests() && id.len() <= ID_LIMIT {
            state.respond_by_itself(id, input.stream(), Some(error));
        }
        return Err(error);
    }
    let id = Json::trusted(id);
    if is_connecting(state, id) {
        match error {
            ProtocolError::LineTooLong { limit } => {
                state.fail_connect(PendingFailure::ResponseTooLong { limit });
            }
            // A response that lost bytes does not show the era of the server.
            _ if line == LineKind::Gap && state.peer.lifecycle.state() == State::Probing => {
                state.repeat_lost_probe();
                return Err(error);
            }
            _ => state.handle_connect_failure(PendingFailure::InvalidResponse),
        }
        return Ok(());
    }
    match state.peer.find_awaiting(id) {
        Some(ticket) => {
            let failure =
                if line == LineKind::TooLong { RequestFailure::TooLong } else { RequestFailure::Invalid };
            end_request(state, ticket, PendingOutcome::Failed(failure));
            Ok(())
        }
        // Even an unreadable response to a ping proves that the server is alive.
        None if state.accept_ping_response(id) => Ok(()),
        None => Err(error),
    }
}

/// Handles a request of the server. In the handshake era, the client accepts `ping`, requests for declared input,
/// requests about its tasks, and the configured methods of extensions. The client refuses all other requests.
fn handle_request(
    state: &mut ClientState<'_>,
    line: &[u8],
    id: Span,
    method: Span,
    params: Span,
    stream: StreamId,
) -> Result<(), ProtocolError> {
    let id_view = rpc::view(line, id);
    let id_text = id_view.bytes();
    if !state.responds_to_requests() {
        // In the stateless era, the specification forbids any response, even an error.
        return Err(ProtocolError::UnknownMethod);
    }
    if id_text.len() > ID_LIMIT {
        return Err(ProtocolError::IdTooLong { limit: ID_LIMIT });
    }
    let params_view = Some(rpc::view(line, params)).filter(|_| !params.is_missing());
    let refused = match requested_input(state, rpc::text(line, method)) {
        _ if state.peer.in_flight.find(id_view, StreamId::NONE).is_some() => ProtocolError::DuplicateId,
        Some(InputKind::Task) => {
            let Some(hooks) = state.client_task_hooks() else { return Ok(()) };
            let params = params_view.unwrap_or(Json::EMPTY_OBJECT);
            return (hooks.on_request)(state, id_view, rpc::text(line, method), params, stream);
        }
        Some(kind) => {
            let requests = state.config.server_requests.ok_or(ProtocolError::UnknownMethod);
            match requests.and_then(|requests| (requests.check)(state, kind, params_view, stream)) {
                Ok(context) => {
                    (state.request_id, state.peer.response_pending) = (id, true);
                    state.emit(PendingEvent::ServerRequest { id, method, params, context });
                    return Ok(());
                }
                Err(error) => error,
            }
        }
        None if rpc::text(line, method).is_name(methods::PING.name) => {
            state.respond_by_itself(id_text, stream, None);
            return Ok(());
        }
        None => ProtocolError::UnknownMethod,
    };
    state.respond_by_itself(id_text, stream, Some(refused));
    Err(refused)
}

/// Returns the kind of a request of the server with this method. Returns `None` if the client does not accept the
/// method, and for `ping`.
pub(crate) fn requested_input(state: &ClientState<'_>, method: Str<'_>) -> Option<InputKind> {
    (state.config.server_requests?.kind_of_method)(state, method)
}

/// A notification that the client recognizes.
#[derive(Clone, Copy)]
enum Notification {
    Progress,
    Message,
    Cancelled,
    ListChanged(Listed),
    Updated,
    Acknowledged,
}

const NOTIFICATIONS: [(&str, Notification); 8] = [
    (methods::PROGRESS.name, Notification::Progress),
    (methods::MESSAGE.name, Notification::Message),
    (methods::CANCELLED.name, Notification::Cancelled),
    (methods::TOOLS_LIST_CHANGED.name, Notification::ListChanged(Listed::Tools)),
    (methods::RESOURCES_LIST_CHANGED.name, Notification::ListChanged(Listed::Resources)),
    (methods::PROMPTS_LIST_CHANGED.name, Notification::ListChanged(Listed::Prompts)),
    (methods::RESOURCES_UPDATED.name, Notification::Updated),
    (methods::SUBSCRIPTIONS_ACKNOWLEDGED.name, Notification::Acknowledged),
];

fn handle_notification(
    state: &mut ClientState<'_>,
    line: &[u8],
    method: Span,
    params: Span,
) -> Result<(), ProtocolError> {
    let name = rpc::text(line, method);
    let known = NOTIFICATIONS.iter().find(|(known, _)| name == *known).map(|(_, known)| *known);
    let is_object = rpc::kind(line, params) == Kind::Object;
    let object = if is_object { params } else { Span::MISSING };
    match known {
        Some(Notification::Progress | Notification::Message) if !is_object => {
            return Err(ProtocolError::InvalidParams);
        }
        Some(Notification::Progress) => return handle_progress(state, line, params),
        Some(Notification::Message) => state.emit(PendingEvent::Log { params }),
        Some(Notification::Cancelled) => return handle_cancelled(state, line, object),
        Some(Notification::ListChanged(listed)) => {
            return state.handle_list_change(rpc::view(line, object), listed);
        }
        Some(Notification::Updated) => return state.handle_update(line, object),
        Some(Notification::Acknowledged) if !state.responds_to_requests() => {
            return state.handle_acknowledgment(line, object);
        }
        Some(Notification::Acknowledged) | None => {
            let task = Object::new(line, object, None);
            let is_task =
                state.config.tasks.is_some_and(|tasks| (tasks.hooks.on_notification)(state, name, task));
            if !is_task {
                let subscription = state.find_related_request(rpc::view(line, object))?;
                state.emit(PendingEvent::Notification { method, params, subscription });
            }
        }
    }
    Ok(())
}

/// Handles the cancellation of a request that the server sent or, in the stateless era, of a subscription.
fn handle_cancelled(state: &mut ClientState<'_>, line: &[u8], params: Span) -> Result<(), ProtocolError> {
    let Some((id, reason)) = inbound::parse_cancellation(line, params) else {
        return Err(ProtocolError::InvalidParams);
    };
    if !state.responds_to_requests() {
        // In the stateless era, a server can cancel nothing but a subscription.
        return state.end_subscription(id);
    }
    let Some(ticket) = state.peer.in_flight.find(id, StreamId::NONE) else {
        return Err(ProtocolError::UnknownCancel);
    };
    let is_for_application = state.peer.in_flight.inbound(ticket).is_some_and(Inbound::is_for_application);
    state.peer.in_flight.release(ticket);
    if is_for_application {
        state.emit(PendingEvent::Cancelled { ticket, reason });
    }
    Ok(())
}

fn handle_progress(state: &mut ClientState<'_>, line: &[u8], params: Span) -> Result<(), ProtocolError> {
    let view = rpc::view(line, params);
    let recorded = state.peer.record_progress(view).or_else(|error| {
        let tasks = state.config.tasks.ok_or(error)?;
        (tasks.hooks.find_progress)(state, view).ok_or(error)
    });
    state.emit(PendingEvent::Progress { ticket: recorded?, params });
    Ok(())
}

fn is_connecting(state: &ClientState<'_>, id: Json<'_>) -> bool {
    matches!(state.peer.find_issued(id), IssuedId::Other(sequence) if state.is_connect_sequence(sequence))
}

/// Returns whether an invalid message is a malformed response: a message with the id of a pending request or a ping,
/// but without method, result and error.
#[cold]
#[inline(never)]
fn is_pending_response(state: &mut ClientState<'_>, line: &[u8], scanner: &Scanner) -> bool {
    let id = rpc::view(line, scanner.valid_id(line));
    !scanner.has(Member::Method)
        && (is_connecting(state, id)
            || state.peer.find_awaiting(id).is_some()
            || state.accept_ping_response(id))
}

/// Handles a response. If the class is not [`Class::Response`], the response is malformed.
#[inline]
fn handle_response(
    state: &mut ClientState<'_>,
    line: &[u8],
    scanner: &Scanner,
    class: Class,
) -> Result<(), ProtocolError> {
    let ticket = match state.peer.find_issued(rpc::view(line, scanner.span(Member::Id))) {
        IssuedId::Request(ticket) if state.peer.accept_response(ticket) => ticket,
        _ => {
            cold_path();
            return handle_other_response(state, line, scanner);
        }
    };
    let result = scanner.span(Member::Result);
    if class != Class::Response || result.is_missing() {
        handle_failure(state, ticket, line, scanner);
    } else {
        handle_result(state, ticket, Object::new(line, result, scanner.inner(Member::Result)));
    }
    Ok(())
}

/// Ends a request whose response is malformed or contains an error.
#[cold]
#[inline(never)]
fn handle_failure(state: &mut ClientState<'_>, ticket: Ticket, line: &[u8], scanner: &Scanner) {
    let outcome = match Outcome::new(line, scanner) {
        Outcome::Error(error) => PendingOutcome::Error(error),
        Outcome::Result(_) | Outcome::Malformed => PendingOutcome::Failed(RequestFailure::Invalid),
    };
    end_request(state, ticket, outcome);
}

/// Handles a response that belongs to no open request of the application.
#[cold]
fn handle_other_response(
    state: &mut ClientState<'_>,
    line: &[u8],
    scanner: &Scanner,
) -> Result<(), ProtocolError> {
    let (id, outcome) = (rpc::view(line, scanner.span(Member::Id)), Outcome::new(line, scanner));
    match state.peer.find_issued(id) {
        // A late response is not an error.
        IssuedId::Request(_) | IssuedId::Ended => {
            if let (Some(tasks), Outcome::Result(result)) = (state.config.tasks, outcome) {
                (tasks.hooks.on_late_result)(state, Object::new(line, result, None));
            }
        }
        IssuedId::Other(sequence) if state.is_connect_sequence(sequence) => {
            state.handle_connect_response(line, outcome);
        }
        // The response to the abandoned probe, or to the cancellation of a task that a late result created.
        IssuedId::Other(_) => {
            state.probe_abandoned = false;
            if let Some(era) = state.config.stateless {
                (era.handle_late_probe_response)(state, line, outcome);
            }
        }
        IssuedId::Unknown if state.accept_ping_response(id) => {}
        IssuedId::Unknown => return Err(ProtocolError::UnknownResponse),
    }
    Ok(())
}

/// Handles the result of a pending request.
#[inline]
fn handle_result(state: &mut ClientState<'_>, ticket: Ticket, result: Object<'_>) {
    let method = state.method_of(ticket);
    // Look up all members in one pass, and skip the pass if no member is needed.
    let (has_type, name) = (state.has(WireFeature::ResultTypes), method.member());
    let [mut member, mut kind] = [Span::MISSING; 2];
    if has_type || name.is_some() {
        [member, kind] = result.spans(&[name.unwrap_or_default(), "resultType"]);
    }
    let is_typed = has_type && !kind.is_missing();
    if let Some(tasks) = state.config.tasks {
        let kind = if is_typed { rpc::view(result.line(), kind) } else { Json::NULL };
        if (tasks.hooks.on_result)(state, ticket, kind, result) {
            return;
        }
    }
    if is_typed && handle_result_type(state, ticket, rpc::view(result.line(), kind), result) {
        return;
    }
    match method {
        _ if !method.accepts_result(result, member) => {
            end_request(state, ticket, PendingOutcome::Failed(RequestFailure::Invalid))
        }
        Method::List(list) => state.handle_page(list, ticket, result),
        _ => {
            state.peer.in_flight.release(ticket);
            let outcome = PendingOutcome::Result { result: result.span(), member, is_nested: false };
            state.emit_response(ticket, method, outcome);
        }
    }
}

/// Handles a result by its type. `kind` is the `resultType`. Returns `false` for a complete result, which the caller
/// must handle.
fn handle_result_type(
    state: &mut ClientState<'_>,
    ticket: Ticket,
    kind: Json<'_>,
    result: Object<'_>,
) -> bool {
    let failure = if kind.string().is_some_and(|kind| kind.is_name("input_required")) {
        let handled = match state.config.stateless {
            Some(era) => (era.handle_input_required)(state, ticket, result),
            None => Err(RequestFailure::Invalid),
        };
        match handled {
            Ok(()) => return true,
            Err(failure) => failure,
        }
    } else if state.is_extension_result(kind) && result.kind() == Kind::Object {
        state.peer.in_flight.release(ticket);
        let outcome =
            PendingOutcome::Result { result: result.span(), member: Span::MISSING, is_nested: false };
        // A result of an extension has no typed view, regardless of the method.
        state.emit_response(ticket, Method::Other, outcome);
        return true;
    } else if is_complete(kind) {
        return false;
    } else {
        RequestFailure::Invalid
    };
    end_request(state, ticket, PendingOutcome::Failed(failure));
    true
}

/// Returns whether the `resultType` `kind` marks a complete result. For a missing member, the caller passes `null`.
/// This value also marks a complete result, because older servers omit `resultType`.
pub(crate) fn is_complete(kind: Json<'_>) -> bool {
    kind.is_null() || kind.string().is_some_and(|kind| kind.is_name("complete"))
}

/// Releases a request like `release_request`, and emits the event for its end, if the request has such an event.
#[cold]
pub(crate) fn end_request(state: &mut ClientState<'_>, ticket: Ticket, outcome: PendingOutcome) {
    let method = state.method_of(ticket);
    state.release_request(ticket);
    state.emit_response(ticket, method, outcome);
}

impl ClientState<'_> {
    /// Frees the slot of a request that has ended or was cancelled. If the request is about a task, also ends the
    /// client's subscription to this task. If the request is such a subscription, the client polls the task.
    pub(crate) fn release_request(&mut self, ticket: Ticket) {
        if let Some(tasks) = self.config.tasks {
            (tasks.hooks.on_end)(self, ticket);
        }
        self.peer.in_flight.release(ticket);
    }

    /// Fails the latest request on a stream that has closed, if the request awaits its response. There are two
    /// exceptions. If the request is the probe, the client falls back to the handshake if possible. If the request is
    /// about a task, the client polls the task later.
    pub(crate) fn fail_exchange(&mut self, stream: StreamId) {
        match self.find_on_stream(stream) {
            IssuedId::Request(ticket) if self.peer.awaits_response(ticket) => {
                match self.config.tasks.filter(|_| self.method_of(ticket).is_task()) {
                    Some(tasks) => (tasks.hooks.on_lost)(self, ticket),
                    None => end_request(self, ticket, PendingOutcome::Failed(RequestFailure::Closed)),
                }
            }
            IssuedId::Other(sequence) if self.is_connect_sequence(sequence) => {
                self.handle_connect_failure(PendingFailure::Closed);
            }
            _ => {}
        }
    }

    /// Returns whether the configuration lists this `resultType` of an extension.
    fn is_extension_result(&self, kind: Json<'_>) -> bool {
        kind.string().is_some_and(|kind| self.config.result_types.iter().any(|known| kind.is_name(known)))
    }

    /// Returns whether the connecting request has this sequence number and was sent. A message cannot respond to an
    /// unsent request.
    fn is_connect_sequence(&self, sequence: u64) -> bool {
        self.unsent_connect.is_none()
            && self.connecting.is_some_and(|connecting| connecting.sequence == sequence)
    }

    /// Returns whether the client sent a ping with this id. If this ping is in flight, records its response.
    fn accept_ping_response(&mut self, id: Json<'_>) -> bool {
        self.keep_alive_hooks.is_some_and(|hooks| (hooks.record_response)(self, id))
    }
}
