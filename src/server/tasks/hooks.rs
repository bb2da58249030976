//! `TaskHooks`: the interface between tasks and the rest of the server.
//!
//! Only [`TaskTable`] refers to the implementation, so that a server without tasks does not link the implementation.

use crate::error::{ProtocolError, SendError};
use crate::framing::outbound_message::{Routing, SessionKey};
use crate::json::{Json, Kind, Writer};
use crate::peer::slots::Ticket;
use crate::peer::tasks::options::requested_ttl;
use crate::peer::tasks::storage::with_taken;
use crate::peer::tasks::table::{TaskData, TaskState, TaskTable, TaskTicket};
use crate::protocol::objects::task::TaskSupport;
use crate::protocol::objects::tool::Tool;
use crate::protocol::revision::{Era, WireFeature};
use crate::server::call::Call;
use crate::server::change_set::ChangeSet;
use crate::server::dispatch::Received;
use crate::server::event::Event;
use crate::server::feature::Request;
use crate::server::features::subscriptions::registry::{Owner, Subject, SubjectKind, SubscriptionRegistry};
use crate::server::features::tasks::{is_declared, refuse_undeclared};
use crate::server::pending_event::{RequestKind, ResponseKind, TaskEvent};
use crate::server::reply::Reply;
use crate::server::server_state::ServerState;
use crate::server::tasks::access::TaskAccess;
use crate::server::tasks::automatic;
use crate::server::tasks::{deliver, input, result};
use crate::time::Millis;

/// The functions that the rest of the server calls for tasks.
pub(crate) struct TaskHooks {
    /// Returns the earlier of two times: the argument, and the earliest deadline of a task. Ignores times that have
    /// passed.
    pub(crate) earliest_deadline: fn(&ServerState<'_>, Option<Millis>) -> Option<Millis>,

    /// Handles expired deadlines, the earliest first: converts calls to tasks, and removes tasks. Then sends pending
    /// messages about tasks. Stops at a missing space and at an event, and returns `true` if an event is set. No effect
    /// while a batch is in the line.
    pub(crate) advance: fn(&mut ServerState<'_>) -> bool,

    /// Emits or refuses a call. Reasons for a refusal: the call does not match the task support of its tool, its member
    /// `task` is not an object, or it must become an automatic task and the table is full. Also records whether the
    /// call may become a task automatically. In `2025-11-25`, sets the span `state` to the member `task` of the call.
    pub(crate) emit_call: fn(&mut Request<'_, '_>, Option<&Tool<'_>>, RequestKind) -> Received,

    /// Handles a deferred call that may become a task: turns the call into a task now, or reserves a slot of the table,
    /// if one is free.
    pub(crate) on_deferred: fn(&mut ServerState<'_>, Ticket),

    /// Returns the handle that responds to a call that has become a task.
    pub(crate) reply: for<'s> fn(&'s mut TaskAccess<'_>, Ticket) -> Result<Reply<'s>, SendError>,

    /// Converts a pending event of a task and its arguments into the [`Event`] for the application.
    pub(crate) event: for<'a> fn(TaskEvent, &'a mut ServerState<'_>, Json<'a>) -> Option<Event<'a>>,

    /// Handles the end of an outbound request if the request is an input request of a task. Returns `None` for any
    /// other request.
    pub(crate) on_response: fn(&mut ServerState<'_>, Ticket, ResponseKind) -> Option<Received>,

    /// Writes the cancellation of an input request of a task, with the id and the routing of the request. The caller
    /// must have reserved the space.
    pub(crate) write_cancelled: fn(&mut ServerState<'_>, Ticket, u64, Routing),

    /// Registers the tasks of a subscription, from an array of ids. Omits tasks to which the client has no access, and
    /// tasks for which the registry has no space.
    pub(crate) register_tasks: fn(&mut Request<'_, '_>, Ticket, Json<'_>),

    /// Writes the member `taskIds` of an acknowledgment. Omits tasks that do not fit, and removes these tasks from the
    /// registry. Writes nothing if the subscription has no task.
    pub(crate) write_task_ids: fn(&mut SubscriptionRegistry<'_>, Owner, &mut Writer<'_>),

    /// Handles the end of a session. The tasks of the session become inaccessible and expire, except for tasks of a
    /// user and tasks of the stateless era.
    pub(crate) end_session: fn(&mut ServerState<'_>, SessionKey),

    /// Prepares the table for a new client on the same connection: removes the tasks, unless the table keeps tasks on a
    /// reset. If a kept task of `2025-11-25` has an open input request, this input request ends with an event.
    pub(crate) restart: fn(&mut ServerState<'_>),

    /// Prepares the table for a new connection, like `restart`. The open input requests of kept tasks of `2025-11-25`
    /// end without events.
    pub(crate) reset: fn(&mut ServerState<'_>),
}

pub(crate) static HOOKS: TaskHooks = TaskHooks {
    earliest_deadline,
    advance,
    emit_call,
    on_deferred: |state, call| {
        _ = state.with_tasks(|state, table| automatic::on_deferred(state, table, call))
    },
    reply: automatic::reply,
    event,
    on_response: |state, request, kind| {
        state.with_tasks(|state, table| input::on_response(state, table, request, kind))?
    },
    write_cancelled: input::write_cancelled,
    register_tasks,
    write_task_ids,
    end_session,
    restart,
    reset,
};

/// The session key of tasks whose session has ended. [`SessionKey`] reserves this key.
pub(super) const NO_SESSION: SessionKey = SessionKey(u16::MAX);

fn earliest_deadline(state: &ServerState<'_>, other: Option<Millis>) -> Option<Millis> {
    let expiry = state.tasks.as_ref().and_then(|table| table.slots.next_deadline());
    expiry.into_iter().chain(other).filter(|at| *at > state.peer.now).min()
}

fn advance(state: &mut ServerState<'_>) -> bool {
    // Messages about tasks must not be part of a batch response.
    if state.batches.in_line() {
        return false;
    }
    state.with_tasks(deliver::advance).unwrap_or(false)
}

fn emit_call(request: &mut Request<'_, '_>, tool: Option<&Tool<'_>>, kind: RequestKind) -> Received {
    let revision = request.pending.context.revision();
    let support = tool.map(Tool::supports_tasks);
    set_candidate(request.state, None);
    if revision.has(WireFeature::TasksExtension) {
        let is_declared = is_declared(request.view(request.spans.meta));
        if support == Some(TaskSupport::Required) && !is_declared {
            return refuse_undeclared(request);
        }
        let is_candidate = is_declared && support != Some(TaskSupport::Forbidden);
        set_candidate(request.state, is_candidate.then_some(0));
    } else if revision.has(WireFeature::Tasks) {
        let task = request.param_span("task");
        if !task.is_missing() && request.kind(task) != Kind::Object {
            return request.invalid_params("`task` must be an object");
        }
        let error = ProtocolError::UnknownMethod;
        match support {
            Some(TaskSupport::Forbidden) if !task.is_missing() => {
                return request.refuse(error, &"the tool does not support tasks");
            }
            Some(TaskSupport::Required) if task.is_missing() => {
                return request.refuse(error, &"the tool requires a task");
            }
            _ => {}
        }
        request.spans.state = task;
        if let Some(requested) = requested_ttl(request.view(task)) {
            set_candidate(request.state, Some(requested));
            return automatic::emit_requested(request, kind);
        }
    }
    request.emit_request(kind, Call::event)
}

fn event<'a>(event: TaskEvent, state: &'a mut ServerState<'_>, arguments: Json<'a>) -> Option<Event<'a>> {
    let call_of = |task: TaskTicket| state.tasks.as_ref().and_then(|table| table.call_of(task.0));
    match event {
        TaskEvent::Cancelled(task) => Some(match call_of(task) {
            Some(ticket) => Event::Cancelled { ticket, reason: None },
            None => Event::TaskCancelled(task),
        }),
        TaskEvent::Expired(task) => Some(call_of(task).map_or(Event::TaskExpired(task), Event::Expired)),
        TaskEvent::Responses { ticket, accepted } => {
            Some(Event::TaskInput(input::responses(ticket, arguments, accepted)))
        }
        TaskEvent::Response { ticket, kind } => input::response(state, ticket, kind, arguments),
        TaskEvent::Result { receiver, task } => result::result_event(state, receiver, task),
    }
}

fn register_tasks(request: &mut Request<'_, '_>, listener: Ticket, ids: Json<'_>) {
    let (context, session) = (request.pending.context, request.state.session_key);
    request.state.with_tasks(|state, table| {
        for id in ids.elements().filter_map(Json::string) {
            if table.find(id, context.revision(), session).is_some() {
                let ServerState { registry, peer, .. } = &mut *state;
                // If the registry has no space for an id, the acknowledgment omits the id.
                let subject = Subject { owner: Owner::listener(listener), kind: SubjectKind::Task, uri: id };
                let _ = registry.add(&subject, &peer.in_flight, &mut |_| Ok(()));
            }
        }
    });
}

fn write_task_ids(registry: &mut SubscriptionRegistry<'_>, owner: Owner, out: &mut Writer<'_>) {
    let (mut at, mut any) = (0, false);
    while let Some(entry) = registry.at(at) {
        let (here, before) = (at, out.mark());
        at = entry.next;
        if entry.owner != owner || !entry.is_of_kind(SubjectKind::Task) || entry.is_removed() {
            continue;
        }
        if !any {
            out.begin_array_at("taskIds");
        }
        out.string(entry.uri);
        // The closing brackets of the message must still fit.
        if out.remaining() < "]}}}".len() {
            out.rollback(before);
            registry.set_removed(here);
        } else {
            any = true;
        }
    }
    if any {
        out.end_array();
    }
}

fn end_session(state: &mut ServerState<'_>, key: SessionKey) {
    let Some(table) = state.tasks.as_mut() else { return };
    let mut slot = 0;
    while let Some(ticket) = table.slots.next_from(&mut slot) {
        let Some(data) = table.slots.get_mut(ticket).filter(|data| data.session == key) else { continue };
        data.session = NO_SESSION;
        // In the stateless era, the id alone gives access.
        let is_accessible = data.owner != [0; 2] || data.revision.era() == Era::Stateless;
        if !is_accessible && data.state != TaskState::Removed {
            table.slots.set_deadline(ticket, Some(state.peer.now));
        }
    }
}

fn restart(state: &mut ServerState<'_>) {
    if let Some(table) = state.tasks.as_mut()
        && !table.keeps_on_reset
    {
        table.slots.clear();
    }
}

fn reset(state: &mut ServerState<'_>) {
    restart(state);
    let Some(table) = state.tasks.as_mut() else { return };
    table.owner = 0;
    let mut slot = 0;
    while let Some(ticket) = table.slots.next_from(&mut slot) {
        if let Some(data) = table.slots.get_mut(ticket).filter(|data| data.revision.has(WireFeature::Tasks)) {
            data.open = 0;
        }
    }
}

/// Records the time to live that the current call requests, or 0 if the call requests no time. `None` means that the
/// call cannot become a task automatically.
fn set_candidate(state: &mut ServerState<'_>, requested: Option<u64>) {
    if let Some(table) = state.tasks.as_mut() {
        table.candidate = requested;
    }
}

impl ServerState<'_> {
    /// Calls `act` with the state and the table. Returns `None` if the server has no table.
    pub(crate) fn with_tasks<R>(
        &mut self,
        act: impl FnOnce(&mut ServerState<'_>, &mut TaskTable<'_>) -> R,
    ) -> Option<R> {
        with_taken(self, |state| &mut state.tasks, |state, table| act(state, table))
    }

    /// Returns the data of a task. Returns `None` if the server has no table, or if the table does not have the task.
    pub(crate) fn task_data(&self, ticket: Ticket) -> Option<&TaskData> {
        self.tasks.as_ref()?.data(ticket)
    }

    /// Records a change of a task: its time, and its pending notifications.
    pub(super) fn touch_task(&mut self, table: &mut TaskTable<'_>, ticket: Ticket) {
        table.touch(ticket, self.peer.now);
        self.pending_changes.schedule_line();
        self.pending_changes.add(ChangeSet::TASKS_PENDING);
        if let Some(id) = table.id(ticket) {
            self.registry.mark_changed(SubjectKind::Task, id.as_str());
        }
    }

    /// Ends a task. Open input requests of the task end without a response.
    pub(crate) fn end_task(&mut self, table: &mut TaskTable<'_>, ticket: Ticket, end: TaskState) {
        table.set_end(ticket, end);
        input::cancel_input_requests(self, TaskTicket(ticket));
        self.touch_task(table, ticket);
    }
}
