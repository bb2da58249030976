//! Automatic tasks: a deferred call whose response takes long becomes a task.
//!
//! When the application defers a call that may become a task, the server reserves a slot of the table. After the
//! configured time (in `2025-11-25`, at the next poll), the server responds to the call with the task. The slot of the
//! call in the table of requests is then free. The ticket of the call remains valid, because the slot of the task
//! stores this ticket.

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::StreamId;
use crate::json::{WriteBody, Writer};
use crate::peer::inbound::Source;
use crate::peer::lifecycle::State;
use crate::peer::slots::Ticket;
use crate::peer::tasks::id::packed;
use crate::peer::tasks::table::{TaskData, TaskState, TaskTable, expiry};
use crate::protocol::revision::WireFeature;
use crate::server::Server;
use crate::server::pending_event::RequestKind;
use crate::server::reply::{Act, Pending, Reply, StateAccess};
use crate::server::request_context::Context;
use crate::server::response_status::ResponseStatus;
use crate::server::server_state::{ServerState, Shape};
use crate::server::tasks::create::respond_created;
use crate::server::write_message::write_error_message;
use crate::time::Millis;

/// Reserves a slot of the table for a deferred call, if the call may become a task.
pub(super) fn reserve(state: &mut ServerState<'_>, table: &mut TaskTable<'_>, call: Ticket) {
    let Some((requested, automatic)) = table.candidate.take().zip(table.automatic) else { return };
    let Some(inbound) = state.peer.in_flight.deferred(call) else { return };
    let context = inbound.context;
    let RequestKind::CallTool { .. } = context.kind else { return };
    let options = (automatic.options)();
    // A client of 2025-11-25 has requested the task, so convert the call at the next poll.
    let after = if context.revision().has(WireFeature::Tasks) { Millis::ZERO } else { automatic.after };
    let deadline = Some(state.peer.now.plus(after));
    let data = table.call_data(state, &context, options, options.ttl_for(requested));
    let data = TaskData { state: TaskState::Reserved, has_request: true, ..data };
    if let Some(ticket) = table.take_slot(state, data, deadline)
        && !table.set_token(ticket, &packed(call))
    {
        table.slots.release(ticket);
    }
}

/// Responds to a call with its task. Only releases the reservation if the call has ended, or if an ending connection
/// could not deliver the result of the task. Returns `false` if the transmit buffer has no space.
pub(super) fn convert(state: &mut ServerState<'_>, table: &mut TaskTable<'_>, ticket: Ticket) -> bool {
    let call = table.call_of(ticket);
    let pending = call.and_then(|call| Some(Pending::in_slot(call, state.peer.in_flight.deferred(call)?)));
    let Some(pending) = pending else {
        table.slots.release(ticket);
        return true;
    };
    // An ending connection waits for calls, but not for tasks. Do not convert the call, so that the client gets the
    // result. Exceptions: the table keeps its tasks, or a client of `2025-11-25` has requested the task.
    let is_ending = state.peer.lifecycle.state() == State::Draining;
    if is_ending && !table.keeps_on_reset && pending.context.revision().has(WireFeature::TasksExtension) {
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
pub(super) fn reply<'s>(server: &'s mut Server<'_>, call: Ticket) -> Result<Reply<'s>, SendError> {
    let table = server.state.tasks.as_ref().ok_or(SendError::Gone)?;
    let data = table.find_call(call).and_then(|ticket| table.data(ticket)).ok_or(SendError::Gone)?;
    let mut context = Context::new(false);
    context.set_revision(data.revision);
    context.kind = RequestKind::CallTool { pad_structured: data.pad_structured, is_task: true };
    context.capabilities = data.capabilities;
    if server.state.peer.pending_error.is_some() {
        return Err(server.state.peer.busy());
    }
    let config = server.state.config;
    let pending = Pending { source: Source::Slot(call), stream: StreamId::NONE, context };
    Ok(Reply { state: server, config, pending })
}

/// Access for the reply to a call that has become a task: a response ends the task.
impl StateAccess for Server<'_> {
    fn with(&mut self, act: &mut dyn Act) {
        act.act(&mut self.state);
    }

    fn respond(&mut self, pending: &Pending<'_>, shape: Shape, body: &mut dyn WriteBody) {
        let error = match shape {
            Shape::Result => None,
            Shape::Error(code) => Some(code),
            // A call that has become a task cannot require input, and cannot have a result of an extension's own type.
            _ => return self.end_call(pending, None, &mut |_: &mut Writer<'_>| false),
        };
        self.end_call(pending, error, body);
    }

    fn refuse(&mut self, pending: &Pending<'_>, error: ProtocolError) {
        self.end_call(pending, Some(error.response_code()), &mut |out: &mut Writer<'_>| {
            write_error_message(out, &error.message());
        });
    }

    #[cfg(feature = "alloc")]
    fn user(&self) -> u64 {
        self.state.user
    }
}

impl Server<'_> {
    fn end_call(&mut self, pending: &Pending<'_>, error: Option<i32>, body: &mut dyn WriteBody) {
        let Source::Slot(call) = pending.source else { return };
        self.state.with_tasks(|state, table| {
            let Some(ticket) = table.find_call(call) else { return };
            let limit = state.payload_limit(table, ticket, 0);
            let (end, refused) = table.store_or_refuse(ticket, limit, error, body);
            let code = refused.map(|refused| refused.response_code()).or(error);
            state.record_status(code.map_or(ResponseStatus::Result, |code| ResponseStatus::Error { code }));
            state.peer.pending_error = refused.or(state.peer.pending_error);
            state.end_task(table, ticket, end);
        });
    }
}

impl TaskTable<'_> {
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
