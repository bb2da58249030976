//! `TaskHooks`: the interface between tasks and the rest of the client.

use crate::client::client_state::{ClientState, RequestTable, Session};
use crate::client::method_properties::Method;
use crate::client::tasks::follow_up::{write_id, write_task};
use crate::client::tasks::record::Keys;
use crate::json::{Json, Str, Writer};
use crate::peer::inbound::Source;
use crate::peer::slots::Ticket;
use crate::peer::transmit_buffer::Overflow;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;
use crate::protocol::objects::task::RELATED_TASK;
use crate::protocol::revision::Revision;
use crate::rpc::Object;
use crate::time::Millis;

/// The functions with which the client follows tasks that its server runs.
///
/// Only [`ClientConfig::tasks`](crate::client::ClientConfig::tasks) refers to these functions, so clients without tasks
/// do not link them.
#[derive(Debug)]
pub(crate) struct TaskHooks {
    /// Returns the capabilities for tasks that a server declares.
    pub(crate) server_capabilities: fn(Json<'_>, Revision) -> ServerCapabilities,
    /// Writes the member `task` of a call, if the server accepts tasks (`2025-11-25`).
    pub(crate) write_request: fn(Session, Millis, &mut Writer<'_>),
    /// Handles the result of a call, or of a request about a task. Returns `false` if the caller must handle the
    /// result, too: the result concerns no task, or ends a subscription to a task. The third argument is the
    /// `resultType`.
    pub(crate) on_result: fn(&mut ClientState<'_>, Ticket, Json<'_>, Object<'_>) -> bool,
    /// Handles a result that arrived after the end of its request. If the result creates a task, cancels this task,
    /// unless the task has ended or the client follows the task.
    pub(crate) on_late_result: fn(&mut ClientState<'_>, Object<'_>),
    /// Handles a notification about a task. Returns `false` for any other notification, for one without a valid id and
    /// status, or if no open request is about this task.
    pub(crate) on_notification: fn(&mut ClientState<'_>, Str<'_>, Object<'_>) -> bool,
    /// Handles the acknowledgment of a subscription to a task.
    pub(crate) on_watched: fn(&mut ClientState<'_>, Ticket, Json<'_>),
    /// Finds the task to which a progress notification belongs, if the client requested progress for the call
    /// (`2025-11-25`).
    pub(crate) find_progress: fn(&ClientState<'_>, Json<'_>) -> Option<Ticket>,
    /// Queues a poll of a task.
    pub(crate) poll: fn(&mut ClientState<'_>, Ticket),
    /// Continues a task after the stream of a request about this task has closed without a response.
    pub(crate) on_lost: fn(&mut ClientState<'_>, Ticket),
    /// Continues a task of an earlier connection.
    pub(crate) on_connected: fn(&mut ClientState<'_>, Ticket),
    /// Makes the client emit the status of a task again. The connection ended before the application received the
    /// event with this status.
    pub(crate) on_unread: fn(&mut ClientState<'_>, Ticket),
    /// Handles the end of a request, before its slot is free. If the request is about a task, ends the subscription to
    /// this task. If the request is an acknowledged subscription to a task, and this task waits for its next poll,
    /// polls the task at once.
    pub(crate) on_end: fn(&mut ClientState<'_>, Ticket),
    /// Writes the queued request about a task.
    pub(crate) write_queued: fn(&mut ClientState<'_>, Ticket) -> Result<(), Overflow>,
    /// Ends the subscription to a task. If the server can cancel tasks, also writes the request that cancels the task.
    pub(crate) write_cancel: fn(&mut ClientState<'_>, Ticket) -> Result<(), Overflow>,
    /// Returns the hashed keys of a task's earlier input requests. The client does not emit these requests again.
    pub(crate) answered_keys: for<'a> fn(&'a ClientState<'_>, Ticket) -> Keys<'a>,
    /// Writes the id of a task from the text of its slot.
    pub(crate) write_id: fn(&[u8], &mut Writer<'_>),
    /// Stores the relation of a deferred request to a task (`2025-11-25`).
    pub(crate) on_deferred: fn(&mut ClientState<'_>, Ticket, &Source<'_>),
    /// Writes the `_meta` of a result, if its request belongs to a task (`2025-11-25`).
    pub(crate) write_related: fn(&Source<'_>, &RequestTable<'_>, &mut Writer<'_>),
}

impl TaskHooks {
    pub(super) const CODE: TaskHooks = TaskHooks {
        server_capabilities: ServerCapabilities::tasks_from_json,
        write_request: write_task,
        on_result: |state, ticket, kind, result| state.handle_task_result(ticket, kind, result),
        on_late_result: |state, result| state.handle_late_result(result),
        on_notification: |state, method, task| {
            let is_status = method == *methods::TASKS.name || method == *methods::TASKS_STATUS.name;
            is_status && state.handle_task_status(task)
        },
        on_watched: |state, listener, params| state.handle_watched(listener, params),
        find_progress: |state, params| state.find_task_progress(params),
        poll: |state, ticket| state.poll_task(ticket),
        on_lost: |state, ticket| {
            state.reopen_input_requests(ticket);
            state.wait_for_task(ticket);
        },
        on_connected: |state, ticket| {
            state.reopen_input_requests(ticket);
            state.poll_task(ticket);
        },
        on_unread: |state, ticket| state.clear_digest(ticket),
        on_end: |state, ticket| match state.method_of(ticket) {
            Method::TaskListen => state.handle_unwatched(ticket),
            method if method.is_task() => state.unwatch_task(ticket),
            _ => {}
        },
        write_queued: |state, ticket| state.write_task_poll(ticket),
        write_cancel: |state, ticket| state.write_task_cancel(ticket),
        answered_keys: |state, ticket| state.answered_keys(ticket),
        write_id,
        on_deferred,
        write_related,
    };
}

fn on_deferred(state: &mut ClientState<'_>, ticket: Ticket, source: &Source<'_>) {
    let Source::Line { id, meta, .. } = source else { return };
    if Json::trusted(meta).get(RELATED_TASK).is_some() {
        // If `meta` does not fit, the text of the slot keeps the progress token.
        state.peer.in_flight.set_text_after(ticket, id.len(), meta);
    }
}

fn write_related(source: &Source<'_>, in_flight: &RequestTable<'_>, out: &mut Writer<'_>) {
    if let Some(task) = source.meta(in_flight).and_then(|meta| meta.get(RELATED_TASK)) {
        out.begin_object_at("_meta");
        out.field_json(RELATED_TASK, task);
        out.end_object();
    }
}
