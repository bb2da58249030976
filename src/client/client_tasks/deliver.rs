//! Sends pending messages about tasks, and expires tasks.

use crate::client::client_state::ClientState;
use crate::client::pending_event::PendingEvent;
use crate::client::server_requests::input_request::InputKind;
use crate::client::server_requests::{Context, Pending};
use crate::error::ProtocolError;
use crate::framing::outbound_message::Routing;
use crate::json::{Span, Writer};
use crate::peer::inbound::{END, Source};
use crate::peer::slots::Ticket;
use crate::peer::tasks::id::unpacked;
use crate::peer::tasks::payload::write_members;
use crate::peer::tasks::table::{TaskState, TaskTable};
use crate::protocol::methods;
use crate::protocol::revision::WireFeature;
use crate::rpc::begin_notification;
use crate::time::Millis;

/// Marks a `tasks/result` request that waits for the end of its task. This byte follows the id in the text of the
/// slot, and precedes the ticket of the task.
pub(super) const LINK: u8 = b't';

/// Expires tasks. If this sets no event, then sends pending messages. The event is the end of a request whose task has
/// expired or was removed at the end of the connection.
pub(super) fn advance(state: &mut ClientState<'_>, table: &mut TaskTable<'_>) {
    while let Some(ticket) = table.slots.due(state.peer.now) {
        let request = table.call_of(ticket);
        let end = table.data(ticket).map(|data| data.state);
        table.set_end(ticket, TaskState::Removed);
        table.touch(ticket, state.peer.now);
        match (end, request) {
            (Some(TaskState::Open), Some(request)) => return state.emit(PendingEvent::Expired(request)),
            // `remove_all` has removed the task at the end of the connection.
            (Some(TaskState::Removed), Some(ticket)) => {
                return state.emit(PendingEvent::Cancelled { ticket, reason: Span::MISSING });
            }
            _ => {}
        }
    }
    let is_connected = state.is_connected() && !state.initialized_pending;
    if table.is_pending && is_connected && notify(state, table) && respond_to_waiting(state, table) {
        table.release_removed();
        table.is_pending = false;
    }
}

/// Removes all tasks at the end of the connection. The next calls of [`advance`] report the end of each request whose
/// task was open.
pub(super) fn remove_all(table: &mut TaskTable<'_>) {
    let mut slot = 0;
    while let Some(ticket) = table.slots.next_from(&mut slot) {
        if table.data(ticket).is_some_and(|data| data.state == TaskState::Removed) {
            continue;
        }
        let is_open = table.is_open(ticket);
        table.set_end(ticket, TaskState::Removed);
        if is_open {
            table.slots.set_deadline(ticket, Some(Millis::ZERO));
        }
    }
    table.is_pending = true;
}

/// Sends `notifications/tasks/status` for changed tasks, if the table enables this notification. Returns `false` if the
/// transmit buffer has no space.
fn notify(state: &mut ClientState<'_>, table: &mut TaskTable<'_>) -> bool {
    let mut slot = 0;
    while let Some(ticket) = table.slots.next_from(&mut slot) {
        let Some(data) = table.slots.get_mut(ticket).filter(|data| data.is_changed) else { continue };
        if data.state != TaskState::Removed && table.notifies && state.has(WireFeature::Tasks) {
            if !state.peer.reserve_response() {
                return false;
            }
            // The client drops a notification that does not fit, because the server also polls.
            let output = &mut state.peer.output;
            let _ =
                output.write(Routing::NOTIFICATION, output.max_reply_size(), &mut |out: &mut Writer<'_>| {
                    begin_notification(out, methods::TASKS_STATUS.name);
                    table.write_members(ticket, out);
                    out.token(END);
                });
        }
        if let Some(data) = table.slots.get_mut(ticket) {
            data.is_changed = false;
        }
    }
    true
}

/// Responds to each waiting `tasks/result` request whose task has ended. Returns `false` if the transmit buffer has no
/// space.
fn respond_to_waiting(state: &mut ClientState<'_>, table: &TaskTable<'_>) -> bool {
    let Some(session) = state.peer.session else { return false };
    let mut slot = 0;
    while let Some(receiver) = state.peer.in_flight.next_from(&mut slot) {
        let Some(inbound) = state.peer.in_flight.deferred(receiver) else { continue };
        let (kind, stream) = (inbound.context, inbound.stream);
        let Some(task) = linked_task(state, receiver).filter(|_| kind == InputKind::Task) else { continue };
        if table.is_open(task) {
            continue;
        }
        if !state.peer.reserve_response() {
            return false;
        }
        let context = Context { revision: session.revision, kind, stream };
        respond_result(state, table, &Pending { source: Source::Slot(receiver), context, task: None }, task);
    }
    true
}

/// Returns the task whose end a `tasks/result` request awaits, or `None` for any other request.
fn linked_task(state: &ClientState<'_>, receiver: Ticket) -> Option<Ticket> {
    unpacked(state.peer.in_flight.text_after_id(receiver).strip_prefix(&[LINK])?)
}

/// Responds to `tasks/result` with the stored response of an ended task, or with an error if the task was cancelled or
/// removed.
pub(super) fn respond_result(
    state: &mut ClientState<'_>,
    table: &TaskTable<'_>,
    pending: &Pending<'_>,
    ticket: Ticket,
) {
    match table.end_of(ticket) {
        Some((error, stored)) => state.respond_directly(pending, error, &mut |out: &mut Writer<'_>| {
            write_members(stored, error.is_some(), out)
        }),
        None => state.respond_with_error(pending, ProtocolError::InvalidParams),
    }
}
