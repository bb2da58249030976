//! `Call::into_task`: turns a call into a task.

use crate::error::ProtocolError;
use crate::json::{Json, SortKey, Writer};
use crate::peer::slots::Ticket;
use crate::peer::timeout::Timeout;
use crate::protocol::revision::WireFeature;
use crate::server::call::Call;
use crate::server::features::tasks::is_declared;
use crate::server::pending_event::RequestKind;
use crate::server::reply::Pending;
use crate::server::request_context::Context;
use crate::server::server_state::{ServerState, Shape};
use crate::server::tasks::automatic::requested_ttl;
use crate::server::tasks::id::Random;
use crate::server::tasks::table::{TaskData, TaskState, TaskTable, TaskTicket, halves};
use crate::time::Millis;

/// Options of a task: randomness for its id, its time to live, and the interval of polls.
///
/// ```
/// use mcp_proto::{Millis, server::TaskOptions};
/// let random = [7; 16]; // From a cryptographic generator.
/// let options = TaskOptions::new(random).ttl(Millis::seconds(600)).poll_interval(Millis::seconds(5));
/// ```
#[derive(Clone, Copy)]
pub struct TaskOptions {
    random: Random,
    ttl: Millis,
    longest_ttl: Millis,
    poll_interval: Millis,
}

impl TaskOptions {
    /// The default of [`ttl`](TaskOptions::ttl): five minutes.
    pub const TTL: Millis = Millis::seconds(300);

    /// Creates options with 128 random bits for the id.
    ///
    /// The id can be the only protection of a task, so the bits must be unguessable. The polling interval is one
    /// second.
    #[must_use]
    pub const fn new(random: [u8; 16]) -> TaskOptions {
        let (ttl, longest_ttl) = (TaskOptions::TTL, Millis::seconds(3600));
        TaskOptions { random, ttl, longest_ttl, poll_interval: Millis::seconds(1) }
    }

    /// The time to live of a task for which the client requests this time, or none (0).
    pub(super) fn ttl_for(&self, requested: u64) -> Millis {
        match requested {
            0 => self.ttl,
            requested => Millis(requested).min(self.longest_ttl),
        }
    }

    /// Replaces the random bits, so that several tasks can share the other options.
    #[must_use]
    pub const fn with_random(mut self, random: [u8; 16]) -> Self {
        self.random = random;
        self
    }

    /// Sets the time from the creation to the removal of the task, in milliseconds. `u64::MAX` is unlimited.
    ///
    /// A client of `2025-11-25` may request another time, which [`longest_ttl`](TaskOptions::longest_ttl) limits.
    #[must_use]
    pub const fn ttl(mut self, time: Millis) -> Self {
        self.ttl = time;
        self
    }

    /// Limits the time to live that a client may request. The default is one hour.
    #[must_use]
    pub const fn longest_ttl(mut self, time: Millis) -> Self {
        self.longest_ttl = time;
        self
    }

    /// Sets the time that clients should wait between polls, in milliseconds. With 0, the server suggests none.
    #[must_use]
    pub const fn poll_interval(mut self, time: Millis) -> Self {
        self.poll_interval = time;
        self
    }
}

/// Prints no randomness, because the id is a secret.
impl core::fmt::Debug for TaskOptions {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("TaskOptions")
            .field("ttl", &self.ttl)
            .field("poll_interval", &self.poll_interval)
            .finish_non_exhaustive()
    }
}

impl<'a> Call<'a> {
    /// Whether the call may become a task.
    ///
    /// In `2025-11-25` the client requests a task, and the server must then respond with one. In `2026-07-28` the client
    /// declares the extension, and the server decides.
    #[must_use]
    pub fn can_become_task(&self) -> bool {
        self.task_request().is_some()
    }

    /// Responds with a task. The application ends the task later: see [`Server::task`](crate::Server::task).
    ///
    /// # Errors
    /// Returns the call if it [cannot become a task](Call::can_become_task), or if the table is full. Also if the
    /// server lacks the feature [`Tasks`](crate::server::Tasks) or a table. Respond to the returned call now, or
    /// [defer](Call::defer) it.
    #[allow(clippy::result_large_err, reason = "boxing needs a heap, and some calls are small")]
    pub fn into_task(self, options: TaskOptions) -> Result<TaskTicket, Call<'a>> {
        let Some(requested) = self.task_request() else { return Err(self) };
        let ttl = options.ttl_for(requested);
        let (pending, mut ticket) = (self.reply.pending, None);
        self.reply.state.with(&mut |state| ticket = state.create_task(&pending, options, ttl));
        ticket.ok_or(self)
    }

    /// The time to live that the client requests for the task, in milliseconds, or 0. Returns `None` if the call cannot
    /// become a task.
    fn task_request(&self) -> Option<u64> {
        let revision = self.revision();
        if revision.has(WireFeature::TasksExtension) {
            return is_declared(self.client_capabilities()).then_some(0);
        }
        let task = Some(self.input_responses.state)
            .filter(|task| revision.has(WireFeature::Tasks) && !task.is_empty());
        requested_ttl(Json::trusted(task?))
    }
}

impl ServerState<'_> {
    /// Creates a task, and responds to the call with it.
    fn create_task(
        &mut self,
        pending: &Pending<'_>,
        options: TaskOptions,
        ttl: Millis,
    ) -> Option<TaskTicket> {
        self.with_tasks(|state, table| {
            let context = &pending.context;
            let data = table.new_data(state, context, options, ttl);
            let deadline = Some(ttl).filter(|ttl| ttl.0 < u64::MAX).map(|ttl| state.peer.now.plus(ttl));
            let ticket = table.take_slot(state, data, deadline)?;
            // In the extension, tasks have no progress. Without space for the token, neither have others.
            if context.revision.has(WireFeature::Tasks) {
                table.set_token(ticket, pending.source.progress_token(&state.peer.in_flight));
            }
            if let Err(error) = respond_created(state, table, pending, ticket) {
                state.peer.pending_error = Some(error);
            }
            Some(TaskTicket(ticket))
        })?
    }
}

/// Responds to a call with its task.
pub(super) fn respond_created(
    state: &mut ServerState<'_>,
    table: &TaskTable<'_>,
    pending: &Pending<'_>,
    ticket: Ticket,
) -> Result<(), ProtocolError> {
    let shape = match pending.context.revision.has(WireFeature::TasksExtension) {
        true => Shape::Task,
        false => Shape::Result,
    };
    let responded = state.respond(pending, shape, &mut |out| {
        write_created(table, ticket, shape, out);
        true
    });
    state.close(&pending.source);
    responded
}

impl TaskTable<'_> {
    /// The fields of a new task.
    pub(super) fn new_data(
        &self,
        state: &ServerState<'_>,
        context: &Context,
        options: TaskOptions,
        ttl: Millis,
    ) -> TaskData {
        let created = self.wall_time(state.peer.now);
        TaskData {
            random: options.random,
            created,
            updated: created,
            ttl: Timeout::new(ttl),
            poll_interval: Timeout::new(options.poll_interval),
            owner: halves(self.owner),
            session: state.session_key,
            token_length: 0,
            message_length: 0,
            last_progress: SortKey::NONE,
            open: 0,
            capabilities: context.capabilities,
            revision: context.revision,
            state: TaskState::Open,
            is_stored: false,
            pad_structured: matches!(context.kind, RequestKind::CallTool { pad_structured: true, .. }),
            is_automatic: false,
            is_changed: false,
        }
    }

    /// Takes a free slot, or one whose reservation is no longer needed.
    pub(super) fn take_slot(
        &mut self,
        state: &ServerState<'_>,
        data: TaskData,
        deadline: Option<Millis>,
    ) -> Option<Ticket> {
        self.slots.take(data, deadline).or_else(|| {
            self.release_reservations(state);
            self.slots.take(data, deadline)
        })
    }

    /// Stores the progress token, or the ticket of a call. Returns `false` if the text has no space.
    pub(super) fn set_token(&mut self, ticket: Ticket, token: &[u8]) -> bool {
        let Ok(length) = token.len().try_into() else { return false };
        let is_stored = self.slots.splice_text(ticket, 0..0, token);
        if is_stored && let Some(data) = self.slots.get_mut(ticket) {
            data.token_length = length;
        }
        is_stored
    }
}

/// Writes the members of a `CreateTaskResult`: the task itself, or the member `task` with it (`2025-11-25`).
fn write_created(table: &TaskTable<'_>, ticket: Ticket, shape: Shape, out: &mut Writer<'_>) {
    if shape == Shape::Task {
        return table.write_members(ticket, out);
    }
    out.key("task");
    out.begin_object();
    table.write_members(ticket, out);
    out.end_object();
}
