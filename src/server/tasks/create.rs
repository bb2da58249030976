//! `Call::into_task`: turns a call into a task.

use crate::json::Writer;
use crate::peer::slots::Ticket;
use crate::peer::tasks::options::{TaskOptions, requested_ttl};
use crate::peer::tasks::table::{TaskData, TaskTable, TaskTicket, expiry};
use crate::protocol::revision::WireFeature;
use crate::server::call::Call;
use crate::server::dispatch::Received;
use crate::server::features::tasks::is_declared;
use crate::server::pending_event::RequestKind;
use crate::server::reply::Pending;
use crate::server::request_context::Context;
use crate::server::server_state::{ServerState, Shape};
use crate::time::Millis;

impl<'a> Call<'a> {
    /// Returns whether the client accepts a task as the response to the call. The result does not depend on free slots
    /// in the table.
    ///
    /// In `2025-11-25`, the client accepts a task if it requests one. The server must then respond with a task, so
    /// without [automatic tasks](crate::server::Tasks::automatic) the application must call
    /// [`into_task`](Call::into_task). In `2026-07-28` the client declares the extension, and the server decides.
    #[must_use]
    pub fn can_become_task(&self) -> bool {
        self.task_request().is_some()
    }

    /// Responds with a task. The application ends the task later: see [`Server::task`](crate::Server::task).
    ///
    /// The time to live starts at the time of the last poll, or of [`advance_time`](Call::advance_time).
    ///
    /// If progress or log messages of the call leave too little space for the response, the response is an error, and
    /// the next event is a [`ProtocolError`](crate::ProtocolError). The ticket is then [gone](crate::SendError::Gone).
    ///
    /// # Errors
    /// Returns the call if it [cannot become a task](Call::can_become_task), or if the table is full. Also returns the
    /// call if the server lacks the feature [`Tasks`](crate::server::Tasks) or a table. Respond to the returned call
    /// now, or [defer](Call::defer) it.
    #[allow(clippy::result_large_err, reason = "boxing needs a heap, and some calls are small")]
    pub fn into_task(self, options: TaskOptions) -> Result<TaskTicket, Call<'a>> {
        let Some(requested) = self.task_request() else { return Err(self) };
        let ttl = options.ttl_for(requested);
        let (pending, mut ticket) = (self.parts.reply.pending, None);
        self.parts
            .reply
            .state
            .with(&mut |state: &mut ServerState<'_>| ticket = state.create_task(&pending, options, ttl));
        ticket.ok_or(self)
    }

    /// Returns the time to live that the client requests for the task, in milliseconds, or 0 if the client requests no
    /// time. Returns `None` if the call cannot become a task.
    fn task_request(&self) -> Option<u64> {
        let revision = self.revision();
        if revision.has(WireFeature::TasksExtension) {
            return is_declared(self.meta()).then_some(0);
        }
        revision.has(WireFeature::Tasks).then(|| requested_ttl(self.parts.input_responses.state))?
    }
}

impl ServerState<'_> {
    /// Creates a task, and responds to the call with the task. Returns `None` if the table is full or missing.
    fn create_task(
        &mut self,
        pending: &Pending<'_>,
        options: TaskOptions,
        ttl: Millis,
    ) -> Option<TaskTicket> {
        self.with_tasks(|state, table| {
            let context = &pending.context;
            let data = table.call_data(state, context, options, ttl);
            let ticket = table.take_slot(state, data, expiry(state.peer.now, ttl))?;
            // Without the token in its slot, a task has no progress. Tasks of the extension never have progress. Other
            // tasks have none if the call has no token, or if the slot has no space for the token.
            if context.revision().has(WireFeature::Tasks) {
                table.set_token(ticket, pending.source.progress_token(&state.peer.in_flight));
            }
            respond_created(state, table, pending, ticket);
            Some(TaskTicket(ticket))
        })?
    }
}

/// Responds to a call with its task. If the response does not fit, responds with an error, removes the task, and
/// reports the error as an event.
pub(super) fn respond_created(
    state: &mut ServerState<'_>,
    table: &mut TaskTable<'_>,
    pending: &Pending<'_>,
    ticket: Ticket,
) {
    let shape = match pending.context.revision().has(WireFeature::TasksExtension) {
        true => Shape::Task,
        false => Shape::Result,
    };
    let responded = state.respond(pending, shape, &mut |out: &mut Writer<'_>| match shape {
        Shape::Task => table.write_members(ticket, out),
        _ => {
            out.key("task");
            table.write_object(ticket, out);
        }
    });
    state.close(&pending.source);
    if responded == Received::Failed {
        table.slots.release(ticket);
    }
}

impl TaskTable<'_> {
    /// Returns the fields of a new task for a call.
    pub(super) fn call_data(
        &self,
        state: &ServerState<'_>,
        context: &Context,
        options: TaskOptions,
        ttl: Millis,
    ) -> TaskData {
        TaskData {
            capabilities: context.capabilities,
            pad_structured: matches!(context.kind, RequestKind::CallTool { pad_structured: true, .. }),
            ..self.new_data(state.peer.now, context.revision(), state.session_key, options, ttl)
        }
    }

    /// Takes a free slot. Returns `None` if no slot is [free](TaskTable::has_free_slot).
    pub(super) fn take_slot(
        &mut self,
        state: &ServerState<'_>,
        data: TaskData,
        deadline: Option<Millis>,
    ) -> Option<Ticket> {
        self.has_free_slot(state).then(|| self.slots.take(data, deadline))?
    }

    /// Returns whether a slot is free. If every slot is taken, first frees the slots that are reserved for calls that
    /// have ended.
    pub(super) fn has_free_slot(&mut self, state: &ServerState<'_>) -> bool {
        if self.slots.len() >= self.slots.limit() {
            self.release_reservations(state);
        }
        self.slots.len() < self.slots.limit()
    }
}
