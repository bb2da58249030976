//! Dispatch of received messages: responses, server requests, notifications.

use crate::error::ProtocolError;
use crate::framing::outbound_message::StreamId;
use crate::framing::{Content, Line};
use crate::json::{DEPTH_LIMIT, Decimal, Envelope, Json, Kind, ScanErrorKind, Span, Str};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::WireFeature;
use crate::rpc::{self, Class, Invalid, Outcome, span_of};

use crate::client::client_state::{ClientState, ID_LIMIT};
use crate::client::event::Listed;
use crate::client::method::Method;
use crate::client::outbound_request::{Clock, Progress, Stage};
use crate::client::pending_event::{PendingEvent, PendingFailure, PendingOutcome};
use crate::client::server_requests::CurrentRequest;
use crate::protocol::objects::members::{Members, ResultIndex};

/// The result of processing a line.
pub(crate) enum Received {
    /// Processed without an event.
    Done,
    /// Refused or ignored.
    ProtocolError(ProtocolError),
    /// Processed with an event for the application.
    Event(PendingEvent),
}

impl From<Option<PendingEvent>> for Received {
    fn from(pending_event: Option<PendingEvent>) -> Received {
        pending_event.map_or(Received::Done, Received::Event)
    }
}

/// Processes a valid JSON text. For a request, the caller has reserved space for the response. `index` locates the
/// members of a result.
pub(crate) fn dispatch(
    core: &mut ClientState<'_>,
    line: &[u8],
    class: Class<'_>,
    index: Option<ResultIndex<'_>>,
    stream: StreamId,
) -> Received {
    match class {
        Class::Request { id, method, params } => request(core, line, id, method.string(), params, stream),
        Class::Notification { method, params } => notification(core, line, method, params),
        Class::Response { id, outcome } => response(core, line, id, outcome, index),
        Class::ErrorWithoutId { error } => match core.connecting.filter(|_| core.unsent_connect.is_none()) {
            // While connecting, an error without id belongs to the connecting request or to an abandoned probe.
            Some(_) if !core::mem::take(&mut core.probe_abandoned) => {
                core.handle_connect_response(line, Outcome::Error(error)).into()
            }
            _ => {
                let code = error.get("code").and_then(Json::integer);
                let code = code.and_then(|code| code.try_into().ok()).unwrap_or(0);
                Received::ProtocolError(ProtocolError::ErrorWithoutId { code })
            }
        },
        // No method, result or error: a malformed response, if a request with this id is pending.
        Class::Invalid { why: Invalid::Method, id: Some(id), .. }
            if Json::trusted(line).get("method").is_none() && is_pending_response(core, id) =>
        {
            response(core, line, id, Outcome::Malformed, None)
        }
        Class::Invalid { why, .. } => Received::ProtocolError(match why {
            Invalid::Batch => ProtocolError::Batch,
            Invalid::NotAnObject => ProtocolError::NotAnObject,
            Invalid::Version => ProtocolError::WrongJsonRpcVersion,
            Invalid::Id => ProtocolError::InvalidId,
            Invalid::Method => ProtocolError::InvalidMethod,
        }),
    }
}

/// Processes a line that is not valid JSON, or was discarded.
///
/// Responds to a request only if its id is intact: the line is too long, too deep, or cut by the link.
pub(crate) fn invalid_line(
    core: &mut ClientState<'_>,
    bytes: &[u8],
    line: Line,
    envelope: &Envelope,
) -> Received {
    let (id, fault, failure) = match line.content {
        Content::Message | Content::Truncated | Content::StreamClosed => {
            return Received::ProtocolError(ProtocolError::Truncated);
        }
        Content::Broken(error) if error.kind.leaves_members() => {
            let fault = match error.kind {
                ScanErrorKind::TooDeep => ProtocolError::TooDeep { limit: core.info.depth.min(DEPTH_LIMIT) },
                _ => ProtocolError::NotJson(error),
            };
            (envelope.id.and_then(|id| bytes.get(id.range())), fault, RequestFailure::Invalid)
        }
        Content::Broken(error) => return Received::ProtocolError(ProtocolError::NotJson(error)),
        Content::TooLong { id_fits, limit } => {
            (id_fits.then_some(bytes), ProtocolError::LineTooLong { limit }, RequestFailure::TooLong)
        }
    };
    let Some(id) = id.filter(|id| rpc::is_id(Json::trusted(id))) else {
        return Received::ProtocolError(fault);
    };
    if envelope.method.is_some() {
        if core.answers_requests() && id.len() <= ID_LIMIT {
            core.answer(id, line.stream, Some(fault));
        }
        return Received::ProtocolError(fault);
    }
    let id = Json::trusted(id);
    if is_connecting(core, id) {
        return core.fail_connect(PendingFailure::InvalidResponse).into();
    }
    match core.find_pending(id) {
        Some((ticket, method)) => {
            Received::Event(end_request(core, ticket, method, PendingOutcome::Failed(failure)))
        }
        // Even a broken response to a ping proves that the server is alive.
        None if core.keep_alive.accept_any_response(id) => Received::Done,
        None => Received::ProtocolError(fault),
    }
}

/// Handles a request of the server. The handshake era permits `ping` and input requests that match the declared
/// capabilities.
fn request(
    core: &mut ClientState<'_>,
    line: &[u8],
    id: Json<'_>,
    method: Str<'_>,
    params: Option<Json<'_>>,
    stream: StreamId,
) -> Received {
    let id_text = id.bytes();
    if !core.answers_requests() {
        // The specification forbids any response, even an error.
        return Received::ProtocolError(ProtocolError::UnknownMethod);
    }
    if id_text.len() > ID_LIMIT {
        return Received::ProtocolError(ProtocolError::IdTooLong { limit: ID_LIMIT });
    }
    let refused = match () {
        () if core.in_flight.find(id, StreamId::NONE).is_some() => ProtocolError::DuplicateId,
        () if method == methods::PING.name => {
            core.answer(id_text, stream, None);
            return Received::Done;
        }
        () => match core.check_server_request(method, params, stream) {
            Ok(context) => {
                let id = span_of(line, id_text);
                let params = params.map(|params| span_of(line, params.bytes()));
                core.current_request = Some(CurrentRequest { id, stream });
                return Received::Event(PendingEvent::ServerRequest { id, params, context });
            }
            Err(fault) => fault,
        },
    };
    core.answer(id_text, stream, Some(refused));
    Received::ProtocolError(refused)
}

/// Whether the message is a request for the application, whose response needs transmit space.
pub(crate) fn is_input_request(core: &ClientState<'_>, class: &Class<'_>) -> bool {
    match class {
        Class::Request { method, .. } => core.accepts_method(method.string()),
        _ => false,
    }
}

fn notification(
    core: &mut ClientState<'_>,
    line: &[u8],
    name: Str<'_>,
    params: Option<Json<'_>>,
) -> Received {
    let object = params.filter(|params| params.kind() == Kind::Object);
    if name == methods::PROGRESS.name {
        return match object {
            Some(params) => progress(core, line, params),
            None => Received::ProtocolError(ProtocolError::InvalidParams),
        };
    }
    if name == methods::MESSAGE.name {
        return match object {
            Some(params) => Received::Event(PendingEvent::Log { params: span_of(line, params.bytes()) }),
            None => Received::ProtocolError(ProtocolError::InvalidParams),
        };
    }
    if name == methods::CANCELLED.name {
        return cancelled(core, line, object);
    }
    let lists = [
        (methods::TOOLS_LIST_CHANGED.name, Listed::Tools),
        (methods::RESOURCES_LIST_CHANGED.name, Listed::Resources),
        (methods::PROMPTS_LIST_CHANGED.name, Listed::Prompts),
    ];
    let view = object.unwrap_or(Json::EMPTY_OBJECT);
    let pending_event = match lists.into_iter().find(|(method, _)| name == **method) {
        Some((_, listed)) => core.list_changed(view, listed),
        None if name == methods::RESOURCES_UPDATED.name => core.resource_updated(line, view),
        None if name == methods::SUBSCRIPTIONS_ACKNOWLEDGED.name && !core.answers_requests() => {
            match object {
                Some(params) => core.acknowledged(line, span_of(line, params.bytes())),
                None => Err(ProtocolError::UnknownSubscription),
            }
        }
        None => Ok(PendingEvent::Notification {
            method: span_of(line, name.raw().as_bytes()),
            params: params.map(|params| span_of(line, params.bytes())),
        }),
    };
    pending_event.map_or_else(Received::ProtocolError, Received::Event)
}

/// Handles a cancellation by the server.
fn cancelled(core: &mut ClientState<'_>, line: &[u8], params: Option<Json<'_>>) -> Received {
    let params = params.unwrap_or(Json::NULL);
    let [id, reason] = params.pick(["requestId", "reason"]);
    let Some(id) = id.filter(|id| rpc::is_id(*id)) else {
        return Received::ProtocolError(ProtocolError::UnknownCancel);
    };
    if !core.answers_requests() {
        // In the stateless era a server can only cancel a subscription.
        return core.subscription_ended(id).map_or_else(Received::ProtocolError, Received::from);
    }
    let reason = reason.filter(|reason| reason.kind() == Kind::String);
    let reason = reason.map(|reason| span_of(line, reason.bytes()));
    match core.cancel_deferred(id, reason) {
        Ok(pending_event) => Received::Event(pending_event),
        Err(fault) => Received::ProtocolError(fault),
    }
}

fn progress(core: &mut ClientState<'_>, line: &[u8], params: Json<'_>) -> Received {
    let [token, progress] = params.pick(["progressToken", "progress"]);
    let progress = progress.and_then(Json::number).and_then(Decimal::parse);
    let (Some(token), Some(progress)) = (token, progress) else {
        return Received::ProtocolError(ProtocolError::InvalidParams);
    };
    let Some(ticket) = core.find_token(token) else {
        return Received::ProtocolError(ProtocolError::UnknownProgress);
    };
    let Some(outgoing) = core.in_flight.get_mut(ticket) else { return Received::Done };
    // Progress that does not grow is reported, but does not restart the timeout.
    if progress.rank() > outgoing.last_progress {
        outgoing.last_progress = progress.rank();
        if outgoing.progress == Progress::ExtendsTimeout && outgoing.clock == Clock::Running {
            let deadline = outgoing.deadline_from(core.now);
            core.in_flight.set_deadline(ticket, Some(deadline));
        }
    }
    Received::Event(PendingEvent::Progress { ticket, params: span_of(line, params.bytes()) })
}

fn is_connecting(core: &ClientState<'_>, id: Json<'_>) -> bool {
    matches!(core.locate_id(id), Some((sequence, None)) if core.is_connect_sequence(sequence))
}

fn is_pending_response(core: &ClientState<'_>, id: Json<'_>) -> bool {
    is_connecting(core, id) || core.find_pending(id).is_some()
}

fn response(
    core: &mut ClientState<'_>,
    line: &[u8],
    id: Json<'_>,
    outcome: Outcome<'_>,
    index: Option<ResultIndex<'_>>,
) -> Received {
    let (sequence, slot) = match core.locate_id(id) {
        Some((sequence, Some(slot))) => (sequence, slot),
        Some((sequence, None)) if core.is_connect_sequence(sequence) => {
            return core.handle_connect_response(line, outcome).into();
        }
        Some((_, None)) => {
            // The response to the abandoned probe.
            core.probe_abandoned = false;
            return Received::Done;
        }
        None if core.keep_alive.accept_any_response(id) => return Received::Done,
        None => return Received::ProtocolError(ProtocolError::UnknownResponse),
    };
    // Late responses are expected; responses to ids that were never used are errors.
    let Some(ticket) = core.find_by_sequence(sequence, slot) else { return Received::Done };
    let Some(outgoing) = core.in_flight.get(ticket) else { return Received::Done };
    match outgoing.stage {
        Stage::Waiting | Stage::Listening => {}
        Stage::Cancelled => {
            // The response arrived before the cancellation was sent, so no cancellation is needed.
            core.set_stage(ticket, Stage::Done);
            return Received::Done;
        }
        _ => return Received::Done,
    }
    let method = outgoing.method;
    Received::Event(match outcome {
        Outcome::Malformed => {
            end_request(core, ticket, method, PendingOutcome::Failed(RequestFailure::Invalid))
        }
        Outcome::Error(error) => {
            end_request(core, ticket, method, PendingOutcome::Error(span_of(line, error.bytes())))
        }
        Outcome::Result(value) => result(core, line, ticket, method, Members::with_index(value, index)),
    })
}

/// Handles the result of a pending request.
pub(crate) fn result(
    core: &mut ClientState<'_>,
    line: &[u8],
    ticket: Ticket,
    method: Method,
    members: Members<'_>,
) -> PendingEvent {
    let result = members.json();
    // Look up all members in one pass, and skip the pass if no member is needed.
    let [kind, member] = match (core.has(WireFeature::ResultTypes), method.member()) {
        (true, member) => members.pick(["resultType", member.unwrap_or_default()]),
        (_, Some(member)) => [None, members.get(member)],
        (_, None) => [None; 2],
    };
    if kind.and_then(Json::string).is_some_and(|kind| kind == "input_required") {
        return match core.input_required(line, ticket, result) {
            Ok(pending_event) => pending_event,
            Err(failure) => end_request(core, ticket, method, PendingOutcome::Failed(failure)),
        };
    }
    if !method.accepts_result(result, member) || !is_complete(kind) {
        return end_request(core, ticket, method, PendingOutcome::Failed(RequestFailure::Invalid));
    }
    let span = span_of(line, result.bytes());
    match method {
        Method::List(list) => core.handle_page(list, members, ticket, span),
        _ => {
            let member = member.map_or(Span::EMPTY, |member| span_of(line, member.bytes()));
            end_request(core, ticket, method, PendingOutcome::Result { result: span, member })
        }
    }
}

/// Whether `resultType` marks a complete result. Older servers omit it.
pub(crate) fn is_complete(kind: Option<Json<'_>>) -> bool {
    let kind = kind.filter(|kind| !kind.is_null());
    kind.is_none_or(|kind| kind.string().is_some_and(|kind| kind == "complete"))
}

/// Ends a request and frees its slot.
fn end_request(
    core: &mut ClientState<'_>,
    ticket: Ticket,
    method: Method,
    outcome: PendingOutcome,
) -> PendingEvent {
    core.in_flight.release(ticket);
    PendingEvent::Response { ticket, method, outcome }
}

impl ClientState<'_> {
    /// Fails the request that was sent on a closed stream. Returns `None` if its response was received before.
    pub(crate) fn fail_exchange(&mut self, stream: StreamId) -> Option<PendingEvent> {
        let (sequence, slot) = self.locate_stream(stream)?;
        let Some(slot) = slot else {
            let is_connecting = self.is_connect_sequence(sequence);
            return is_connecting.then(|| self.handle_connect_failure(PendingFailure::Closed)).flatten();
        };
        let ticket = self.find_by_sequence(sequence, slot)?;
        let outgoing = self.in_flight.get(ticket)?;
        if !matches!(outgoing.stage, Stage::Waiting | Stage::Listening) {
            return None;
        }
        let outcome = PendingOutcome::Failed(RequestFailure::Closed);
        Some(end_request(self, ticket, outgoing.method, outcome))
    }

    /// Whether the connecting request has this sequence number and was sent. An unsent request has no response.
    fn is_connect_sequence(&self, sequence: u64) -> bool {
        self.unsent_connect.is_none()
            && self.connecting.is_some_and(|connecting| connecting.sequence == sequence)
    }

    /// Whether the server declared a capability.
    pub(crate) fn has_server_capability(&self, capability: ServerCapabilities) -> bool {
        self.peer.is_some_and(|peer| peer.capabilities.has(capability))
    }
}
