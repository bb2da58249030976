//! Automatic tasks: a deferred call whose response takes long becomes a task.
//!
//! In `2026-07-28`, when the application defers a call that may become a task, the server reserves a slot of the task
//! table, if one is free. After the configured time, the server responds to the call with the task. The slot of the
//! call in the table of requests is then free. The ticket of the call remains valid, because the slot of the task
//! stores this ticket.
//!
//! In `2025-11-25`, a call for which the client requests a task becomes a task when the application defers the call. If
//! the application responds with a result without deferral, the call becomes a task that ends immediately.

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::StreamId;
use crate::json::WriteBody;
use crate::peer::inbound::Source;
use crate::peer::lifecycle::State;
use crate::peer::slots::Ticket;
use crate::peer::tasks::id::packed;
use crate::peer::tasks::table::{TaskData, TaskState, TaskTable, expiry};
use crate::platform::{from_halves, to_halves};
use crate::server::call::Call;
use crate::server::dispatch::Received;
use crate::server::feature::Request;
use crate::server::pending_event::RequestKind;
use crate::server::reply::{Pending, Reply};
use crate::server::request_context::Context;
use crate::server::response_status::ResponseStatus;
use crate::server::server_state::ServerState;
use crate::server::tasks::access::{self, TaskAccess};
use crate::server::tasks::create::respond_created;

/// Emits the event of a call for which the client requests a task (`2025-11-25`). If tasks are automatic, the call must
/// become a task, which needs a slot. To get a slot of a full table, the function releases the automatic task that
/// ended first. If no slot becomes free, the function refuses the call.
pub(super) fn emit_requested(request: &mut Request<'_, '_>, kind: RequestKind) -> Received {
    let RequestKind::CallTool { pad_structured, .. } = kind else { return Received::Done };
    let requested = request.state.with_tasks(|state, table| {
        table.automatic?;
        Some((table.has_free_slot(state) || table.release_oldest(state), table.slots.limit()))
    });
    match requested.flatten() {
        None => request.emit_request(kind, Call::event),
        Some((false, limit)) => {
            let error = ProtocolError::TooManyInFlight { limit };
            request.state.write_error_response(&request.pending, error, None);
            request.state.fail(error)
        }
        Some((true, _)) => {
            request.emit_request(RequestKind::CallTool { pad_structured, is_task: true }, access::event)
        }
    }
}

/// Handles a deferred call that may become a task. A call for which the client requests a task becomes a task now, so
/// that no response can precede the task. For other calls, reserves a slot of the table, if one is free.
pub(super) fn on_deferred(state: &mut ServerState<'_>, table: &mut TaskTable<'_>, call: Ticket) {
    let Some((requested, automatic)) = table.candidate.take().zip(table.automatic) else { return };
    let Some(inbound) = state.peer.in_flight.deferred(call) else { return };
    let pending = Pending::in_slot(call, inbound);
    let context = pending.context;
    let RequestKind::CallTool { is_task: is_requested, .. } = context.kind else { return };
    let options = (automatic.options)();
    let ttl = options.ttl_for(requested);
    let now = state.peer.now;
    let (first_state, deadline) = match is_requested {
        true => (TaskState::Open, expiry(now, ttl)),
        false => (TaskState::Reserved, Some(now.plus(automatic.after))),
    };
    let data = table.call_data(state, &context, options, ttl);
    let data = TaskData { state: first_state, has_request: true, ..data };
    let Some(ticket) = table.take_slot(state, data, deadline) else { return };
    if !table.set_token(ticket, &packed(call)) {
        table.slots.release(ticket);
    } else if is_requested {
        respond_created(state, table, &pending, ticket);
    }
}

/// Responds to a call with its task. If the call has ended, or if an ending connection could not deliver the result of
/// the task, releases the reservation and sends nothing. Returns `false` if the transmit buffer has no space.
pub(super) fn convert(state: &mut ServerState<'_>, table: &mut TaskTable<'_>, ticket: Ticket) -> bool {
    let call = table.call_of(ticket);
    let pending = call.and_then(|call| Some(Pending::in_slot(call, state.peer.in_flight.deferred(call)?)));
    let Some(pending) = pending else {
        table.slots.release(ticket);
        return true;
    };
    // An ending connection waits for calls, but not for tasks. Do not convert the call, so that the client gets the
    // result. Exception: the table keeps its tasks.
    if state.peer.lifecycle.state() == State::Draining && !table.keeps_on_reset {
        table.slots.release(ticket);
        return true;
    }
    if !state.peer.reserve_response() {
        return false;
    }
    let now = state.peer.now;
    let created = table.wall_time(now);
    let Some(data) = table.slots.get_mut(ticket) else { return true };
    (data.state, data.created, data.updated) = (TaskState::Open, created, created);
    let deadline = expiry(now, data.ttl.millis());
    table.slots.set_deadline(ticket, deadline);
    respond_created(state, table, &pending, ticket);
    true
}

/// Returns the handle that responds to a call that has become a task.
///
/// # Errors
/// [`SendError::Gone`]: no open task has this call. [`SendError::Busy`]: the server has not yet reported the error of
/// another reply.
pub(super) fn reply<'s>(access: &'s mut TaskAccess<'_>, call: Ticket) -> Result<Reply<'s>, SendError> {
    let table = access.tasks.as_ref().ok_or(SendError::Gone)?;
    let data = table.find_call(call).and_then(|ticket| table.data(ticket)).ok_or(SendError::Gone)?;
    let mut context = Context::new(false);
    context.set_revision(data.revision);
    context.kind = RequestKind::CallTool { pad_structured: data.pad_structured, is_task: true };
    context.capabilities = data.capabilities;
    if access.peer.pending_error.is_some() {
        return Err(access.peer.busy());
    }
    let config = access.config;
    let pending = Pending { source: Source::Slot(call), stream: StreamId::NONE, context };
    Ok(Reply { state: access, config, pending })
}

/// Ends the task of a call with the response of the application.
pub(super) fn end_call(
    state: &mut ServerState<'_>,
    call: Ticket,
    error: Option<i32>,
    body: &mut dyn WriteBody,
) {
    state.with_tasks(|state, table| {
        if let Some(ticket) = table.find_call(call) {
            end_with(state, table, ticket, None, error, body);
        }
    });
}

/// Responds to a call in the current line with a new task, and ends this task with the result that `body` writes.
pub(super) fn respond_at_once(state: &mut ServerState<'_>, pending: &Pending<'_>, body: &mut dyn WriteBody) {
    state.with_tasks(|state, table| {
        let Some((requested, automatic)) = table.candidate.take().zip(table.automatic) else { return };
        let options = (automatic.options)();
        let ttl = options.ttl_for(requested);
        // If `body` panics, the slot stays reserved for a call that has ended, so the table can release the slot.
        let data = table.call_data(state, &pending.context, options, ttl);
        let data = TaskData { state: TaskState::Reserved, has_request: true, ..data };
        if let Some(ticket) = table.take_slot(state, data, expiry(state.peer.now, ttl)) {
            end_with(state, table, ticket, Some(pending), None, body);
        }
    });
}

/// Ends a task with the response of the application. If `created` is not `None`, first responds to this request with
/// the task, whose status must still be `working` in the response.
fn end_with(
    state: &mut ServerState<'_>,
    table: &mut TaskTable<'_>,
    ticket: Ticket,
    created: Option<&Pending<'_>>,
    error: Option<i32>,
    body: &mut dyn WriteBody,
) {
    let limit = state.payload_limit(table, ticket, 0);
    let (end, refused) = table.store_or_refuse(ticket, limit, error, body);
    if let Some(pending) = created {
        respond_created(state, table, pending, ticket);
        if table.data(ticket).is_none() {
            return;
        }
    }
    let code = refused.map(|refused| refused.response_code()).or(error);
    state.record_status(code.map_or(ResponseStatus::Result, |code| ResponseStatus::Error { code }));
    state.peer.pending_error = refused.or(state.peer.pending_error);
    state.end_task(table, ticket, end);
}

impl TaskTable<'_> {
    /// Releases the automatic task that ended first. Prefers tasks of the current user or, without users, tasks of the
    /// current session. Returns `false` if no automatic task has ended. Also returns `false` if messages about tasks
    /// are pending, because such a message may have to contain the result of the task.
    fn release_oldest(&mut self, state: &ServerState<'_>) -> bool {
        let ended = self.slots.requests().filter(|(_, data)| data.is_ended_request() && !self.is_pending);
        let oldest = ended.min_by_key(|(_, data)| {
            let is_own =
                data.owner == to_halves(self.owner) && (self.owner != 0 || data.session == state.session_key);
            (!is_own, from_halves(data.updated))
        });
        let Some((ticket, _)) = oldest else { return false };
        self.slots.release(ticket);
        true
    }

    /// Releases the reservations of calls that have ended.
    pub(super) fn release_reservations(&mut self, state: &ServerState<'_>) {
        let mut slot = 0;
        while let Some(ticket) = self.slots.next_from(&mut slot) {
            let is_reserved = self.data(ticket).is_some_and(|data| data.state == TaskState::Reserved);
            let call = self.call_of(ticket).and_then(|call| state.peer.in_flight.deferred(call));
            if is_reserved && call.is_none() {
                self.slots.release(ticket);
            }
        }
    }
}
