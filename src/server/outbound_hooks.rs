//! `OutboundHooks`: responses, timeouts and cancellation of requests that the server sent.
//!
//! The server calls this module only through [`OutboundHooks`], so that a server without outbound requests does not
//! link the module.

use crate::error::ProtocolError;
use crate::framing::outbound_message::{OutboundMessageKind, Routing, SessionKey};
use crate::framing::{LineDecoder, LineKind};
use crate::json::{Json, Kind, Member, Scanner, Span, Str};
use crate::peer::Peer;
use crate::peer::lifecycle::role;
use crate::peer::outbound::IssuedId;
use crate::peer::progress_event::Progress;
use crate::peer::request::{Flags, OutboundState};
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::{meta, methods};
use crate::rpc;
use crate::server::dispatch::Received;
use crate::server::event::Event;
use crate::server::pending_event::{OutboundEvent, PendingEvent, ResponseKind, Spans};
use crate::server::send_request::Response;
use crate::server::server_state::{NegotiatedSession, ServerState};

/// Hooks of outbound requests.
pub(crate) struct OutboundHooks {
    /// Handles the response in the line, with the scanner of the line. Returns `None` if the server never used the id,
    /// or if the request with this id belongs to another session.
    pub(super) on_response: fn(&mut ServerState<'_>, &[u8], &Scanner, &mut Spans) -> Option<Received>,

    /// Handles a line that is unreadable, or a message without a valid `method` that has neither a result nor an error.
    /// Returns `None` if the line is not a response to an outbound request of the current session.
    pub(super) on_invalid_line: fn(&mut ServerState<'_>, &LineDecoder<'_>, LineKind) -> Option<Received>,

    /// Handles progress, and `notifications/roots/list_changed` of a client that declared this notification. Returns
    /// `None` for any other notification.
    pub(super) on_notification:
        fn(&mut ServerState<'_>, &[u8], Str<'_>, Span, &mut Spans) -> Option<Received>,

    /// Converts an [`OutboundEvent`] and its arguments into the [`Event`] for the application.
    pub(super) event: for<'a> fn(OutboundEvent, Json<'a>) -> Event<'a>,

    /// Handles the deadline of a request. Starts or extends the timeout, or ends the request.
    pub(super) on_deadline: fn(&mut ServerState<'_>, Ticket),

    /// Writes the cancellation of the first request in the queue, unless the server has received its response. The
    /// caller must have reserved the space.
    pub(super) write_cancelled: fn(&mut ServerState<'_>, Ticket),

    /// Fails all outbound requests that await a response. Each failure causes an event, except for an input request of
    /// a task that is not open. With `true`, also discards all queued messages, and releases all other requests that
    /// have not failed.
    pub(super) end_all: fn(&mut ServerState<'_>, bool),

    /// Ends one of several sessions: removes its subscriptions, and fails its outbound requests that await a response.
    /// The failures cause the same events as those of `end_all`.
    pub(super) end_session: fn(&mut ServerState<'_>, SessionKey),
}

/// The hooks of outbound requests. Only [`WITH_OUTBOUND`](crate::server::in_flight_hooks::WITH_OUTBOUND) refers to
/// these hooks.
pub(super) const OUTBOUND_HOOKS: &OutboundHooks = &OutboundHooks {
    on_response,
    on_invalid_line,
    on_notification,
    event,
    on_deadline,
    write_cancelled,
    end_all,
    end_session,
};

fn on_response(
    state: &mut ServerState<'_>,
    line: &[u8],
    scanner: &Scanner,
    spans: &mut Spans,
) -> Option<Received> {
    let id = rpc::view(line, scanner.span(Member::Id));
    let ticket = match state.peer.find_issued(id) {
        IssuedId::Request(ticket) if !state.owns_outbound(ticket) => return None,
        IssuedId::Request(ticket) if state.peer.accept_response(ticket) => ticket,
        // A late response is valid. A response to an id that the server never used is an error.
        IssuedId::Request(_) | IssuedId::Ended => return Some(Received::Done),
        IssuedId::Other(_) | IssuedId::Unknown => return None,
    };
    let kind = match rpc::Outcome::new(line, scanner) {
        rpc::Outcome::Malformed => ResponseKind::Failed(RequestFailure::Invalid),
        rpc::Outcome::Error(error) => {
            spans.arguments = error;
            ResponseKind::Error
        }
        rpc::Outcome::Result(result) => {
            spans.arguments = result;
            match rpc::kind(line, result) {
                Kind::Object | Kind::Null => ResponseKind::Result,
                _ => ResponseKind::Failed(RequestFailure::Invalid),
            }
        }
    };
    Some(state.finish(ticket, kind))
}

fn on_invalid_line(state: &mut ServerState<'_>, input: &LineDecoder<'_>, line: LineKind) -> Option<Received> {
    let scanner = input.scanner();
    let is_response = match line {
        LineKind::Message => !scanner.has(Member::Method),
        // The scanner may have stopped before the `method`.
        _ => scanner.looks_like_response(),
    };
    if !is_response {
        return None;
    }
    let failure = if line == LineKind::TooLong { RequestFailure::TooLong } else { RequestFailure::Invalid };
    let id = Some(Json::trusted(input.intact_id())).filter(|id| rpc::is_id(*id))?;
    let ticket = state.peer.find_awaiting(id).filter(|ticket| state.owns_outbound(*ticket))?;
    Some(state.finish(ticket, ResponseKind::Failed(failure)))
}

fn on_notification(
    state: &mut ServerState<'_>,
    line: &[u8],
    method: Str<'_>,
    params: Span,
    spans: &mut Spans,
) -> Option<Received> {
    if method == methods::PROGRESS.name {
        return Some(on_progress(state, line, params, spans));
    }
    let has_roots =
        |session: NegotiatedSession| session.capabilities.has(ClientCapabilities::ROOTS_LIST_CHANGED);
    let changed = method == methods::ROOTS_LIST_CHANGED.name && state.peer.session.is_some_and(has_roots);
    changed.then(|| state.emit(PendingEvent::OutboundEvent(OutboundEvent::RootsChanged)))
}

fn event<'a>(event: OutboundEvent, arguments: Json<'a>) -> Event<'a> {
    match event {
        OutboundEvent::RootsChanged => Event::RootsChanged,
        OutboundEvent::Progress(ticket) => Event::Progress(Progress { ticket, params: arguments }),
        OutboundEvent::Response { ticket, kind } => Event::Response(Response::new(ticket, kind, arguments)),
    }
}

fn on_deadline(state: &mut ServerState<'_>, ticket: Ticket) {
    match state.peer.handle_deadline(ticket) {
        None => {}
        Some(failure @ RequestFailure::TimedOut) => {
            state.peer.queue_cancellation(ticket, "");
            state.emit_response(ticket, ResponseKind::Failed(failure));
        }
        Some(failure) => _ = state.finish(ticket, ResponseKind::Failed(failure)),
    }
}

fn write_cancelled(state: &mut ServerState<'_>, ticket: Ticket) {
    let outbound = state.peer.in_flight.outbound(ticket);
    if let Some(outbound) = outbound.filter(|outbound| outbound.state == OutboundState::CancelPending) {
        let routing = Routing::in_session(OutboundMessageKind::Notification, outbound.data.key());
        let (id, space) = (state.peer.id_of(ticket), state.peer.output.max_reply_size());
        let hooks = state.task_hooks().filter(|_| outbound.flags.has(Flags::TASK_INPUT));
        if let Some(hooks) = hooks {
            return (hooks.write_cancelled)(state, ticket, id, routing);
        }
        let mut write = |reason| state.peer.write_cancellation(ticket, id, routing, reason, space);
        // The cancellation always fits without its reason.
        let _ = write(None).or_else(|_| write(Some("")));
    }
}

fn end_all(state: &mut ServerState<'_>, deferred: bool) {
    if deferred {
        state.peer.in_flight.clear_queue();
    }
    let mut from = 0;
    while let Some(ticket) = state.peer.in_flight.next_from(&mut from) {
        match state.peer.in_flight.outbound(ticket).map(|outbound| outbound.state) {
            Some(OutboundState::AwaitingResponse) => {
                state.peer.fail_request(ticket, RequestFailure::Closed);
            }
            Some(OutboundState::Failed(_)) => {}
            _ if deferred => state.peer.in_flight.release(ticket),
            _ => {}
        }
    }
}

fn end_session(state: &mut ServerState<'_>, key: SessionKey) {
    state.registry.remove_session(key);
    let mut from = 0;
    while let Some(ticket) = state.peer.in_flight.next_from(&mut from) {
        let outbound = state.peer.in_flight.outbound(ticket).filter(|outbound| outbound.data.key() == key);
        if outbound.is_some_and(|outbound| outbound.state == OutboundState::AwaitingResponse) {
            state.peer.fail_request(ticket, RequestFailure::Closed);
        }
    }
}

fn on_progress(state: &mut ServerState<'_>, line: &[u8], params: Span, spans: &mut Spans) -> Received {
    let token = rpc::view(line, params).get(meta::PROGRESS_TOKEN);
    let ticket = token.and_then(|token| state.peer.find_request(token));
    if ticket.is_some_and(|ticket| !state.owns_outbound(ticket)) {
        return state.fail(ProtocolError::UnknownProgress);
    }
    match state.peer.record_progress(rpc::view(line, params)) {
        Ok(ticket) => {
            spans.arguments = params;
            state.emit(PendingEvent::OutboundEvent(OutboundEvent::Progress(ticket)))
        }
        Err(error) => state.fail(error),
    }
}

impl Peer<'_, role::Server> {
    /// Returns the id of an outbound request. The sequence number in the id is the generation of the slot.
    pub(crate) fn id_of(&self, ticket: Ticket) -> u64 {
        self.id_at(ticket.generation.into(), ticket.slot)
    }
}

impl ServerState<'_> {
    /// Ends an outbound request: releases its slot and emits the response. Leaves an input request of a task to the
    /// hooks of tasks.
    fn finish(&mut self, ticket: Ticket, kind: ResponseKind) -> Received {
        let hooks = self.task_hooks();
        if let Some(received) = hooks.and_then(|hooks| (hooks.on_response)(self, ticket, kind)) {
            return received;
        }
        self.peer.in_flight.release(ticket);
        self.emit_response(ticket, kind)
    }

    fn emit_response(&mut self, ticket: Ticket, kind: ResponseKind) -> Received {
        self.emit(PendingEvent::OutboundEvent(OutboundEvent::Response { ticket, kind }))
    }
}
