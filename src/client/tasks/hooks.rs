//! `TaskHooks`: the interface between tasks and the rest of the client.

use core::fmt;

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

/// Hooks of tasks that the server runs. Only [`ClientConfig::tasks`](crate::client::ClientConfig::tasks) refers to the
/// implementation.
pub(crate) trait TaskHooks: Sync {
    /// Returns the capabilities for tasks that a server declares.
    fn server_capabilities(&self, declared: Json<'_>, revision: Revision) -> ServerCapabilities;

    /// Writes the member `task` of a call, if the server accepts tasks (`2025-11-25`).
    fn write_request(&self, session: Session, ttl: Millis, out: &mut Writer<'_>);

    /// Handles the result of a call, or of a request about a task. Returns `false` if the result concerns no task.
    /// `kind` is the `resultType`.
    fn on_result(
        &self,
        state: &mut ClientState<'_>,
        ticket: Ticket,
        kind: Json<'_>,
        result: Object<'_>,
    ) -> bool;

    /// Handles a result that arrived after the end of its request. If the request has become a task, cancels the task.
    fn on_late_result(&self, state: &mut ClientState<'_>, result: Object<'_>);

    /// Handles a notification about a task. Returns `false` for any other notification, or if no slot contains this
    /// task.
    fn on_notification(&self, state: &mut ClientState<'_>, method: Str<'_>, task: Object<'_>) -> bool;

    /// Handles the acknowledgment of a subscription to a task.
    fn on_watched(&self, state: &mut ClientState<'_>, listener: Ticket, params: Json<'_>);

    /// Finds the task to which a progress notification belongs (`2025-11-25`).
    fn find_progress(&self, state: &ClientState<'_>, params: Json<'_>) -> Option<Ticket>;

    /// Queues a poll of a task.
    fn poll(&self, state: &mut ClientState<'_>, ticket: Ticket);

    /// Continues a task after the stream of a request about this task has closed without a response.
    fn on_lost(&self, state: &mut ClientState<'_>, ticket: Ticket);

    /// Continues a parked task on a new connection.
    fn on_connected(&self, state: &mut ClientState<'_>, ticket: Ticket);

    /// Handles the end of a request, before its slot is free. Ends the subscription to a task that has ended. Polls a
    /// task whose subscription has ended.
    fn on_end(&self, state: &mut ClientState<'_>, ticket: Ticket);

    /// Writes the queued request about a task.
    fn write_queued(&self, state: &mut ClientState<'_>, ticket: Ticket) -> Result<(), Overflow>;

    /// Ends the subscription to a task. If the server can cancel tasks, also writes the request that cancels the task.
    fn write_cancel(&self, state: &mut ClientState<'_>, ticket: Ticket) -> Result<(), Overflow>;

    /// Returns the keys of a task's earlier input requests. The client does not emit these requests again.
    fn answered_keys<'a>(&self, state: &'a ClientState<'_>, ticket: Ticket) -> Keys<'a>;

    /// Writes the id of a task from the text of its slot.
    fn write_id(&self, text: &[u8], out: &mut Writer<'_>);

    /// Stores the relation of a deferred request to a task (`2025-11-25`).
    fn on_deferred(&self, state: &mut ClientState<'_>, ticket: Ticket, source: &Source<'_>);

    /// Writes the `_meta` of a result, if its request belongs to a task (`2025-11-25`).
    fn write_related(&self, source: &Source<'_>, in_flight: &RequestTable<'_>, out: &mut Writer<'_>);
}

impl fmt::Debug for dyn TaskHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TaskHooks")
    }
}

/// The implementation. The functions of the implementation are in the other modules of `tasks`.
pub(super) struct Hooks;

pub(crate) static HOOKS: &dyn TaskHooks = &Hooks;

impl TaskHooks for Hooks {
    fn server_capabilities(&self, declared: Json<'_>, revision: Revision) -> ServerCapabilities {
        ServerCapabilities::tasks_from_json(declared, revision)
    }

    fn write_request(&self, session: Session, ttl: Millis, out: &mut Writer<'_>) {
        write_task(session, ttl, out);
    }

    fn on_result(
        &self,
        state: &mut ClientState<'_>,
        ticket: Ticket,
        kind: Json<'_>,
        result: Object<'_>,
    ) -> bool {
        state.handle_task_result(ticket, kind, result)
    }

    fn on_late_result(&self, state: &mut ClientState<'_>, result: Object<'_>) {
        state.handle_late_result(result);
    }

    fn on_notification(&self, state: &mut ClientState<'_>, method: Str<'_>, task: Object<'_>) -> bool {
        let is_status = method == *methods::TASKS.name || method == *methods::TASKS_STATUS.name;
        is_status && state.handle_task_status(task)
    }

    fn on_watched(&self, state: &mut ClientState<'_>, listener: Ticket, params: Json<'_>) {
        state.handle_watched(listener, params);
    }

    fn find_progress(&self, state: &ClientState<'_>, params: Json<'_>) -> Option<Ticket> {
        state.find_task_progress(params)
    }

    fn poll(&self, state: &mut ClientState<'_>, ticket: Ticket) {
        state.poll_task(ticket);
    }

    fn on_lost(&self, state: &mut ClientState<'_>, ticket: Ticket) {
        state.ask_again(ticket);
        state.wait_for_task(ticket);
    }

    fn on_connected(&self, state: &mut ClientState<'_>, ticket: Ticket) {
        state.ask_again(ticket);
        state.poll_task(ticket);
    }

    fn on_end(&self, state: &mut ClientState<'_>, ticket: Ticket) {
        match state.method_of(ticket) {
            Method::TaskListen => state.handle_unwatched(ticket),
            method if method.is_task() => state.unwatch_task(ticket),
            _ => {}
        }
    }

    fn write_queued(&self, state: &mut ClientState<'_>, ticket: Ticket) -> Result<(), Overflow> {
        state.write_task_poll(ticket)
    }

    fn write_cancel(&self, state: &mut ClientState<'_>, ticket: Ticket) -> Result<(), Overflow> {
        state.write_task_cancel(ticket)
    }

    fn answered_keys<'a>(&self, state: &'a ClientState<'_>, ticket: Ticket) -> Keys<'a> {
        state.answered_keys(ticket)
    }

    fn write_id(&self, text: &[u8], out: &mut Writer<'_>) {
        write_id(text, out);
    }

    fn on_deferred(&self, state: &mut ClientState<'_>, ticket: Ticket, source: &Source<'_>) {
        let Source::Line { id, meta, .. } = source else { return };
        if Json::trusted(meta).get(RELATED_TASK).is_some() {
            // If `meta` does not fit, the text of the slot keeps the progress token.
            state.peer.in_flight.set_text_after(ticket, id.len(), meta);
        }
    }

    fn write_related(&self, source: &Source<'_>, in_flight: &RequestTable<'_>, out: &mut Writer<'_>) {
        if let Some(task) = source.meta(in_flight).and_then(|meta| meta.get(RELATED_TASK)) {
            out.key("_meta");
            out.begin_object();
            out.field_json(RELATED_TASK, task);
            out.end_object();
        }
    }
}
