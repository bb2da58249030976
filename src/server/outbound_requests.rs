//! Lifecycle of requests that the server sent: ids, responses, timeouts, cancellation.
//!
//! The server calls this module only through [`OutboundHooks`], so that a server without outbound requests does not
//! link it.
#![allow(clippy::as_conversions, reason = "`usize` has at most 64 bits")]

use crate::error::ProtocolError;
use crate::framing::Content;
use crate::framing::outbound_message::Routing;
use crate::json::{Decimal, Envelope, Json, Kind, Str, magnitude, text_of};
use crate::peer::progress_event::Progress;
use crate::peer::response::RequestFailure;
use crate::peer::slots::Ticket;
use crate::platform::divide;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::methods;
use crate::rpc;
use crate::server::dispatch::Received;
use crate::server::event::Event;
use crate::server::feature::span_of;
use crate::server::inbound_request::{InboundRequest, Stage};
use crate::server::pending_event::{OutboundEvent, PendingEvent, ResponseKind, Spans};
use crate::server::requests::Response;
use crate::server::server_state::{ServerState, Session};
use crate::time::Millis;

/// Hooks of outbound requests.
pub(crate) trait OutboundHooks: Sync {
    /// Handles a response. Returns `None` if its id was never used.
    fn on_response(
        &self,
        state: &mut ServerState<'_>,
        line: &[u8],
        id: Json<'_>,
        outcome: rpc::Outcome<'_>,
        spans: &mut Spans,
    ) -> Option<Received>;

    /// Handles an unreadable line. Returns `None` if it is not a response to an outbound request.
    fn on_unreadable_line(
        &self,
        state: &mut ServerState<'_>,
        bytes: &[u8],
        content: Content,
        envelope: &Envelope,
    ) -> Option<Received>;

    /// Handles a notification. Returns `None` if it is not about outbound requests.
    fn on_notification(
        &self,
        state: &mut ServerState<'_>,
        line: &[u8],
        method: Str<'_>,
        params: Option<Json<'_>>,
        spans: &mut Spans,
    ) -> Option<Received>;

    /// Converts an [`OutboundEvent`] into the [`Event`] for the application.
    fn event<'a>(&self, event: OutboundEvent, arguments: Json<'a>) -> Event<'a>;

    /// Handles the deadline of a request: starts its timeout, or ends the request.
    fn on_deadline(&self, state: &mut ServerState<'_>, ticket: Ticket);

    /// Writes the cancellation of `ticket`, the front of the queue. The caller has reserved the space.
    fn write_cancelled(&self, state: &mut ServerState<'_>, ticket: Ticket);

    /// Fails all outbound requests that await a response, with an event each. If `deferred`, also releases the inbound
    /// requests.
    fn end_all(&self, state: &mut ServerState<'_>, deferred: bool);
}

struct Hooks;

/// Stored behind a second reference, because `&&dyn` takes one word and `&dyn` takes two.
pub(crate) static OUTBOUND_HOOKS: &dyn OutboundHooks = &Hooks;

impl OutboundHooks for Hooks {
    fn on_response(
        &self,
        state: &mut ServerState<'_>,
        line: &[u8],
        id: Json<'_>,
        outcome: rpc::Outcome<'_>,
        spans: &mut Spans,
    ) -> Option<Received> {
        let ticket = state.ticket_of(id)?;
        match state.in_flight.get(ticket).map(|inbound| inbound.stage()) {
            Some(Stage::AwaitingResponse { .. }) => {}
            Some(Stage::Deferred | Stage::Expired) => return None,
            Some(Stage::CancelPending) => {
                // The response arrived before the cancellation was sent, so none is needed.
                state.set_stage(ticket, Stage::Closed);
                return Some(Received::Done);
            }
            // A late response is valid. A response to an id that was never used is an error.
            Some(Stage::Failed | Stage::Closed) => return Some(Received::Done),
            None => return state.in_flight.has_issued(ticket).then_some(Received::Done),
        }
        let kind = match outcome {
            rpc::Outcome::Malformed => ResponseKind::Failed(RequestFailure::Invalid),
            rpc::Outcome::Error(error) => {
                spans.arguments = span_of(line, error.bytes());
                ResponseKind::Error
            }
            rpc::Outcome::Result(result) => {
                spans.arguments = span_of(line, result.bytes());
                match result.kind() {
                    Kind::Object | Kind::Null => ResponseKind::Result,
                    _ => ResponseKind::Failed(RequestFailure::Invalid),
                }
            }
        };
        Some(state.finish(ticket, kind))
    }

    fn on_unreadable_line(
        &self,
        state: &mut ServerState<'_>,
        bytes: &[u8],
        content: Content,
        envelope: &Envelope,
    ) -> Option<Received> {
        if !envelope.looks_like_response() {
            return None;
        }
        let (id, failure) = match content {
            Content::TooLong { id_fits: true, .. } => (bytes, RequestFailure::TooLong),
            Content::Broken(error) if error.kind.leaves_members() => {
                (bytes.get(envelope.id?.range())?, RequestFailure::Invalid)
            }
            _ => return None,
        };
        let ticket = state.ticket_of(Some(Json::trusted(id)).filter(|id| rpc::is_id(*id))?)?;
        let awaited = |inbound: &&InboundRequest| matches!(inbound.stage(), Stage::AwaitingResponse { .. });
        state.in_flight.get(ticket).filter(awaited)?;
        Some(state.finish(ticket, ResponseKind::Failed(failure)))
    }

    fn on_notification(
        &self,
        state: &mut ServerState<'_>,
        line: &[u8],
        method: Str<'_>,
        params: Option<Json<'_>>,
        spans: &mut Spans,
    ) -> Option<Received> {
        if method == methods::PROGRESS.name {
            return Some(on_progress(state, line, params, spans));
        }
        let has_roots = |session: Session| session.capabilities.has(ClientCapabilities::ROOTS_LIST_CHANGED);
        let changed = method == methods::ROOTS_LIST_CHANGED.name && state.session.is_some_and(has_roots);
        changed.then(|| state.emit(PendingEvent::OutboundEvent(OutboundEvent::RootsChanged)))
    }

    fn event<'a>(&self, event: OutboundEvent, arguments: Json<'a>) -> Event<'a> {
        match event {
            OutboundEvent::RootsChanged => Event::RootsChanged,
            OutboundEvent::Progress(ticket) => Event::Progress(Progress { ticket, params: arguments }),
            OutboundEvent::Response { ticket, kind } => {
                Event::Response(Response::new(ticket, kind, arguments))
            }
        }
    }

    fn on_deadline(&self, state: &mut ServerState<'_>, ticket: Ticket) {
        match state.in_flight.get(ticket).map(|inbound| inbound.stage()) {
            Some(Stage::AwaitingResponse { .. }) => {
                match state.in_flight.get_mut(ticket).and_then(InboundRequest::take_timeout) {
                    Some(timeout) => {
                        let deadline = state.now.plus(Millis(timeout.into()));
                        state.in_flight.set_deadline(ticket, Some(deadline));
                    }
                    None => {
                        state.cancel_outbound(ticket, "");
                        state.emit(PendingEvent::OutboundEvent(OutboundEvent::Response {
                            ticket,
                            kind: ResponseKind::Failed(RequestFailure::TimedOut),
                        }));
                    }
                }
            }
            Some(_) => _ = state.finish(ticket, ResponseKind::Failed(RequestFailure::Closed)),
            None => {}
        }
    }

    fn write_cancelled(&self, state: &mut ServerState<'_>, ticket: Ticket) {
        if state.in_flight.get(ticket).is_some_and(|inbound| inbound.stage() == Stage::CancelPending) {
            let id = state.id_of(ticket);
            let reason = text_of(state.in_flight.text(ticket));
            let space = state.output.reply_room();
            let mut write = |reason: &str| {
                state.output.write(Routing::NOTIFICATION, space, &mut |out| {
                    out.token(
                        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#,
                    );
                    out.unsigned(id);
                    if !reason.is_empty() {
                        out.field_string("reason", reason);
                    }
                    out.token("}}");
                })
            };
            // The cancellation always fits without its reason.
            let _ = write(reason).or_else(|_| write(""));
        }
        state.outbound_count = state.outbound_count.saturating_sub(1);
    }

    fn end_all(&self, state: &mut ServerState<'_>, deferred: bool) {
        if deferred {
            state.in_flight.clear_queue();
        }
        let mut from = 0;
        while let Some(ticket) = state.in_flight.first_from(from) {
            from = ticket.slot.wrapping_add(1);
            match state.in_flight.get(ticket).map(|inbound| inbound.stage()) {
                Some(Stage::AwaitingResponse { .. }) => {
                    state.set_stage(ticket, Stage::Failed);
                    state.in_flight.set_deadline(ticket, Some(Millis::ZERO));
                }
                Some(Stage::CancelPending | Stage::Closed) if deferred => {
                    state.outbound_count = state.outbound_count.saturating_sub(1);
                    state.in_flight.release(ticket);
                }
                Some(Stage::Deferred | Stage::Expired) if deferred => state.in_flight.release(ticket),
                _ => {}
            }
        }
    }
}

fn on_progress(
    state: &mut ServerState<'_>,
    line: &[u8],
    params: Option<Json<'_>>,
    spans: &mut Spans,
) -> Received {
    let Some(params) = params.filter(|params| params.kind() == Kind::Object) else {
        return Received::ProtocolError(ProtocolError::InvalidParams);
    };
    let [token, progress] = params.pick(["progressToken", "progress"]);
    let progress = progress.and_then(Json::number).and_then(Decimal::parse);
    let (Some(token), Some(_)) = (token, progress) else {
        return Received::ProtocolError(ProtocolError::InvalidParams);
    };
    let wanted =
        |inbound: &&InboundRequest| matches!(inbound.stage(), Stage::AwaitingResponse { progress: true });
    let ticket =
        state.ticket_of(token).filter(|ticket| state.in_flight.get(*ticket).filter(wanted).is_some());
    match ticket {
        Some(ticket) => {
            spans.arguments = span_of(line, params.bytes());
            state.emit(PendingEvent::OutboundEvent(OutboundEvent::Progress(ticket)))
        }
        None => Received::ProtocolError(ProtocolError::UnknownProgress),
    }
}

impl ServerState<'_> {
    /// The id of an outbound request: unique, computed from slot and generation, starting at 1.
    pub(crate) fn id_of(&self, ticket: Ticket) -> u64 {
        let before = u64::from(ticket.generation).saturating_mul(self.in_flight.limit() as u64);
        before.wrapping_add(ticket.slot.into()).wrapping_add(1)
    }

    /// Decodes an id into its ticket, whether or not the request is in flight. Some clients return the id as a string
    /// of digits.
    fn ticket_of(&self, id: Json<'_>) -> Option<Ticket> {
        let digits = match id.string() {
            // The server issues no id that begins with `+` or `0`, so reject such strings.
            Some(text) => text.as_str().filter(|text| !text.starts_with(['+', '0']))?.as_bytes(),
            None => id.bytes(),
        };
        let place = magnitude(digits)?.checked_sub(1)?;
        let limit = u32::try_from(self.in_flight.limit()).ok()?;
        let (generation, slot) = divide(place, limit);
        Some(Ticket { slot, generation: generation.try_into().ok()? })
    }

    fn set_stage(&mut self, ticket: Ticket, stage: Stage) {
        if let Some(inbound) = self.in_flight.get_mut(ticket) {
            inbound.set_stage(stage);
        }
    }

    /// Ends an outbound request: releases its slot and emits the response.
    fn finish(&mut self, ticket: Ticket, kind: ResponseKind) -> Received {
        self.outbound_count = self.outbound_count.saturating_sub(1);
        self.in_flight.release(ticket);
        self.emit(PendingEvent::OutboundEvent(OutboundEvent::Response { ticket, kind }))
    }

    /// Queues the cancellation of an outbound request, with the reason if it fits into the slot's text.
    pub(crate) fn cancel_outbound(&mut self, ticket: Ticket, reason: &str) {
        self.set_stage(ticket, Stage::CancelPending);
        self.in_flight.set_deadline(ticket, None);
        if !self.in_flight.set_text(ticket, [reason.as_bytes(), b""]) {
            self.in_flight.set_text(ticket, [b"", b""]);
        }
        self.in_flight.enqueue(ticket);
    }
}
