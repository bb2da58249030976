//! Automatic tasks: a deferred call whose response takes long becomes a task.
//!
//! A slot of the table is reserved when the application defers a call. After the configured time, the server responds to
//! the call with the task. The slot of the call is then free, but its ticket remains valid: the slot of the task stores
//! the ticket.

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::StreamId;
use crate::json::{Json, Kind, Writer};
use crate::peer::inbound::Source;
use crate::peer::slots::Ticket;
use crate::protocol::revision::WireFeature;
use crate::rpc::code;
use crate::server::Server;
use crate::server::pending_event::RequestKind;
use crate::server::reply::{Pending, Reply, StateAccess};
use crate::server::request_context::Context;
use crate::server::server_state::{ServerState, Shape};
use crate::server::tasks::create::{TaskOptions, respond_created};
use crate::server::tasks::id::{packed, unpacked};
use crate::server::tasks::table::{TaskData, TaskState, TaskTable};
use crate::time::Millis;

/// The conditions under which a deferred call becomes a task: see [`Tasks::automatic`](crate::server::Tasks::automatic).
#[derive(Debug, Clone, Copy)]
pub(crate) struct AutomaticTasks {
    pub(crate) after: Millis,
    pub(crate) options: fn() -> TaskOptions,
}

/// Reserves a slot for a deferred call that may become a task.
pub(super) fn reserve(state: &mut ServerState<'_>, table: &mut TaskTable<'_>, call: Ticket) {
    let Some((requested, automatic)) = table.candidate.take().zip(table.automatic) else { return };
    let Some(inbound) = state.peer.in_flight.deferred(call) else { return };
    let context = inbound.context();
    let RequestKind::CallTool { .. } = context.kind else { return };
    let options = (automatic.options)();
    // A client of 2025-11-25 requests the task, and expects it soon.
    let after = if context.revision.has(WireFeature::Tasks) { Millis::ZERO } else { automatic.after };
    let deadline = Some(state.peer.now.plus(after));
    let data = table.new_data(state, &context, options, options.ttl_for(requested));
    let data = TaskData { state: TaskState::Reserved, is_automatic: true, ..data };
    if let Some(ticket) = table.take_slot(state, data, deadline)
        && !table.set_token(ticket, &packed(call))
    {
        table.slots.release(ticket);
    }
}

/// Responds to a call with its task, or releases the reservation of a call that has ended. Returns `false` if the transmit
/// buffer has no space.
pub(super) fn convert(state: &mut ServerState<'_>, table: &mut TaskTable<'_>, ticket: Ticket) -> bool {
    let call = table.call_of(ticket);
    let deferred = call.and_then(|call| Some((call, state.peer.in_flight.deferred(call)?.context())));
    let Some((call, context)) = deferred else {
        table.slots.release(ticket);
        return true;
    };
    if !state.peer.reserve_response() {
        return false;
    }
    let now = state.peer.now;
    let created = table.wall_time(now);
    let Some(data) = table.slots.get_mut(ticket) else { return true };
    (data.state, data.created, data.updated) = (TaskState::Open, created, created);
    let ttl = data.ttl.millis();
    table.slots.set_deadline(ticket, Some(ttl).filter(|ttl| ttl.0 < u64::MAX).map(|ttl| now.plus(ttl)));
    let pending = Pending { source: Source::Slot(call), context };
    if let Err(error) = respond_created(state, table, &pending, ticket) {
        state.peer.pending_error = Some(error);
        table.slots.release(ticket);
    }
    true
}

/// Returns the handle that responds to a call that has become a task.
///
/// # Errors
/// [`SendError::Gone`]: no open task has this call.
pub(super) fn reply<'s>(server: &'s mut Server<'_>, call: Ticket) -> Result<Reply<'s>, SendError> {
    let table = server.state.tasks.as_ref().ok_or(SendError::Gone)?;
    let data = table.find_call(call).and_then(|ticket| table.data(ticket)).ok_or(SendError::Gone)?;
    let context = Context {
        revision: data.revision,
        kind: RequestKind::CallTool { pad_structured: data.pad_structured, is_task: true },
        capabilities: data.capabilities,
        level: None,
        stream: StreamId::NONE,
        batched: false,
        is_keyed: false,
    };
    let config = server.state.config;
    Ok(Reply { state: server, config, pending: Pending { source: Source::Slot(call), context } })
}

/// Access for the reply to a call that has become a task: a response ends the task.
impl StateAccess for Server<'_> {
    fn with(&mut self, act: &mut dyn FnMut(&mut ServerState<'_>)) {
        act(&mut self.state);
    }

    fn respond(
        &mut self,
        pending: &Pending<'_>,
        shape: Shape,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) {
        let error = match shape {
            Shape::Result => None,
            Shape::Error(code) => Some(code),
            // A task cannot require the input of its call.
            _ => return self.refuse(pending, ProtocolError::InvalidReply),
        };
        self.end_call(pending, error, body);
    }

    fn refuse(&mut self, pending: &Pending<'_>, error: ProtocolError) {
        self.end_call(pending, Some(error.response_code()), &mut |out| {
            out.key("message");
            out.display(&error.message());
            true
        });
    }
}

impl Server<'_> {
    fn end_call(
        &mut self,
        pending: &Pending<'_>,
        error: Option<i32>,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) {
        let Source::Slot(call) = pending.source else { return };
        self.state.with_tasks(|state, table| {
            let Some(ticket) = table.find_call(call) else { return };
            let end = table.store_response(ticket, error, body).unwrap_or_else(|| {
                state.peer.pending_error =
                    Some(ProtocolError::ReplyTooLarge { limit: table.slots.text_limit() });
                table
                    .store_response(ticket, Some(code::INTERNAL_ERROR), &mut |out| {
                        out.field_string("message", "the result is too large, or not valid");
                        true
                    })
                    // The error does not fit either.
                    .unwrap_or(TaskState::Cancelled)
            });
            state.end_task(table, ticket, end);
        });
    }
}

impl TaskTable<'_> {
    /// Finds the open task of a call that has become a task.
    fn find_call(&self, call: Ticket) -> Option<Ticket> {
        let tasks = self.slots.requests();
        tasks
            .map(|(ticket, _)| ticket)
            .find(|ticket| self.is_open(*ticket) && self.call_of(*ticket) == Some(call))
    }

    /// Stores the response to a call as the result or error of its task. Returns the state with which the task ends.
    fn store_response(
        &mut self,
        ticket: Ticket,
        error: Option<i32>,
        body: &mut dyn FnMut(&mut Writer<'_>) -> bool,
    ) -> Option<TaskState> {
        let end = if error.is_some() { TaskState::Failed } else { TaskState::Completed };
        let end = self.store(ticket, error, &mut |out, _, _| (body(out), end))?;
        let has_failed = Json::trusted(self.payload(ticket)).get("isError").and_then(Json::boolean);
        Some(if has_failed == Some(true) && error.is_none() { TaskState::ToolFailed } else { end })
    }

    /// Releases the reservations of calls that have ended.
    pub(super) fn release_reservations(&mut self, state: &ServerState<'_>) {
        let mut slot = 0;
        while let Some(ticket) = self.slots.first_from(slot) {
            slot = ticket.slot.wrapping_add(1);
            let is_reserved = self.data(ticket).is_some_and(|data| data.state == TaskState::Reserved);
            let call = self.call_of(ticket).and_then(|call| state.peer.in_flight.deferred(call));
            if is_reserved && call.is_none() {
                self.slots.release(ticket);
            }
        }
    }

    /// The call that becomes this task by itself. Returns `None` if the application has created the task.
    pub(super) fn call_of(&self, ticket: Ticket) -> Option<Ticket> {
        self.data(ticket).filter(|data| data.is_automatic)?;
        unpacked(self.slots.text(ticket))
    }
}

/// The time to live that the client requests for the task of a call, or 0. `None` if the client requests no task
/// (`2025-11-25`).
pub(super) fn requested_ttl(task: Json<'_>) -> Option<u64> {
    (task.kind() == Kind::Object).then(|| task.get("ttl").and_then(Json::unsigned).unwrap_or(0))
}
