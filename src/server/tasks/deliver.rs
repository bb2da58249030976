//! Converts calls to automatic tasks, expires tasks, and sends results and notifications when there is transmit space.

use crate::error::ProtocolError;
use crate::framing::outbound_message::{OutboundMessageKind, Routing, SessionKey};
use crate::json::{Str, WriteBody, Writer};
use crate::peer::Peer;
use crate::peer::slots::Ticket;
use crate::peer::tasks::id::TaskId;
use crate::peer::tasks::payload::slot_of;
use crate::peer::tasks::table::{TaskData, TaskState, TaskTable, TaskTicket};
use crate::protocol::methods;
use crate::protocol::revision::WireFeature;
use crate::rpc::begin_notification;
use crate::server::Ending;
use crate::server::change_set::ChangeSet;
use crate::server::features::subscriptions::notify::write_subscription_meta;
use crate::server::features::subscriptions::registry::SubjectKind;
use crate::server::pending_event::{PendingEvent, RequestKind, TaskEvent};
use crate::server::reply::Pending;
use crate::server::server_state::ServerState;
use crate::server::tasks::automatic::convert;
use crate::server::tasks::hooks::NO_SESSION;
use crate::server::tasks::result::respond_stored;

/// Reason to stop the delivery of messages, as the error of the functions below.
enum Stop {
    /// The output has no space.
    Blocked,
    /// An event is pending.
    Event,
}

/// Handles expired deadlines, the earliest first: converts calls to tasks, and removes tasks. Stops after a removal
/// that causes an event, or at a conversion without transmit space. If no expired deadline is left, sends pending
/// messages. Returns `true` if an event is set.
pub(super) fn advance(state: &mut ServerState<'_>, table: &mut TaskTable<'_>) -> bool {
    while let Some(ticket) = table.slots.due(state.peer.now) {
        let data = table.data(ticket);
        if data.is_some_and(|data| data.state == TaskState::Reserved) {
            if convert(state, table, ticket) {
                continue;
            }
            return false;
        }
        let is_ended_call = data.is_some_and(TaskData::is_ended_request);
        state.end_task(table, ticket, TaskState::Removed);
        if is_ended_call {
            continue;
        }
        state.pending_event = Some(PendingEvent::Task(TaskEvent::Expired(TaskTicket(ticket))));
        return true;
    }
    if !table.is_pending {
        return false;
    }
    // After the grace period, only the remaining output is sent.
    let sent = match state.ending {
        Ending::Flushing => Ok(()),
        _ => notify_sessions(state, table)
            .and_then(|()| respond_to_waiting(state, table))
            .and_then(|()| notify_listeners(state, table)),
    };
    match sent {
        // Keep removed tasks while messages are queued, because the cancellation of an input request needs the id of
        // its task.
        Ok(()) if state.peer.in_flight.has_queued() => false,
        Ok(()) => {
            table.release_removed();
            table.is_pending = false;
            state.pending_changes.remove(ChangeSet::TASKS_PENDING);
            false
        }
        Err(Stop::Blocked) => false,
        Err(Stop::Event) => true,
    }
}

/// Sends `notifications/tasks/status` to the sessions of changed tasks (`2025-11-25`), if the table enables this
/// notification.
fn notify_sessions(state: &mut ServerState<'_>, table: &mut TaskTable<'_>) -> Result<(), Stop> {
    let mut slot = 0;
    while let Some(ticket) = table.slots.next_from(&mut slot) {
        let Some(data) = table.slots.get_mut(ticket).filter(|data| data.is_changed) else { continue };
        let session = data.session;
        let has_status = data.revision.has(WireFeature::Tasks) && data.state != TaskState::Removed;
        let is_wanted = table.notifies && has_status && is_notified(state, session);
        if is_wanted {
            if !state.peer.reserve_response() {
                return Err(Stop::Blocked);
            }
            let routing = Routing::in_session(OutboundMessageKind::Notification, session);
            // The server drops a notification that does not fit, because the client also polls.
            let _ = state.peer.output.write_message(routing, &mut |out: &mut Writer<'_>| {
                begin_notification(out, methods::TASKS_STATUS.name);
                table.write_members(ticket, out);
                out.token("}}");
            });
        }
        if let Some(data) = table.slots.get_mut(ticket) {
            data.is_changed = false;
        }
    }
    Ok(())
}

/// Returns whether a session receives notifications. The current session receives notifications after its handshake.
/// The server cannot check the handshake of another session, so this handshake counts as complete. A session that has
/// ended receives no notifications.
fn is_notified(state: &ServerState<'_>, session: SessionKey) -> bool {
    match session == state.session_key {
        true => state.is_session_notified(),
        false => session != SessionKey::NONE && session != NO_SESSION,
    }
}

/// Responds to requests that wait for the end of a task (`2025-11-25`, `tasks/result`). If the application keeps the
/// result, emits the event that requests the result.
fn respond_to_waiting(state: &mut ServerState<'_>, table: &mut TaskTable<'_>) -> Result<(), Stop> {
    let mut slot = 0;
    while let Some(receiver) = state.peer.in_flight.next_from(&mut slot) {
        let Some(inbound) = state.peer.in_flight.deferred(receiver) else { continue };
        let pending = Pending::in_slot(receiver, inbound);
        let RequestKind::TaskResult { task, is_requested } = pending.context.kind else { continue };
        let ticket = table.in_slot(task);
        let data = ticket.and_then(|ticket| table.data(ticket));
        if data.is_some_and(TaskData::is_open) {
            continue;
        }
        if !state.peer.reserve_response() {
            return Err(Stop::Blocked);
        }
        if is_requested {
            // The application has dropped the event without a response.
            state.refuse_with(&pending, ProtocolError::Unanswered);
            state.peer.pending_error = Some(ProtocolError::Unanswered);
        } else if data.is_some_and(TaskData::is_kept_by_application) {
            if let Some(inbound) = state.peer.in_flight.inbound_mut(receiver) {
                inbound.set_kind(RequestKind::TaskResult { task, is_requested: true });
            }
            state.pending_event = Some(PendingEvent::Task(TaskEvent::Result { receiver, task }));
            return Err(Stop::Event);
        } else {
            respond_stored(state, table, &pending, ticket);
        }
    }
    Ok(())
}

/// Sends `notifications/tasks` to the subscriptions of changed tasks (`2026-07-28`). If the application keeps
/// the result, emits the event that requests the result.
fn notify_listeners(state: &mut ServerState<'_>, table: &mut TaskTable<'_>) -> Result<(), Stop> {
    let mut at = 0;
    while let Some(entry) = state.registry.at(at) {
        let (here, owner) = (at, entry.owner);
        at = entry.next;
        let is_changed = entry.is_changed() && entry.is_of_kind(SubjectKind::Task);
        let Some(listener) = owner.ticket() else { continue };
        if !is_changed {
            continue;
        }
        let task = TaskId::parse(Str::trusted(entry.uri.as_bytes())).map(|(ticket, _)| ticket);
        let data = task.and_then(|ticket| table.data(ticket)).filter(|data| data.state != TaskState::Removed);
        if let (Some(ticket), Some(data)) = (task, data)
            && owner.is_active(&state.peer.in_flight)
        {
            if !state.peer.reserve_response() {
                return Err(Stop::Blocked);
            }
            if data.is_kept_by_application() {
                state.registry.set_changed(here, false);
                let event = TaskEvent::Result { receiver: listener, task: slot_of(ticket) };
                state.pending_event = Some(PendingEvent::Task(event));
                return Err(Stop::Event);
            }
            notify_listener(state, listener, &mut |out: &mut Writer<'_>| {
                table.write_detailed(ticket, out);
            });
        }
        state.registry.set_changed(here, false);
    }
    Ok(())
}

/// Sends `notifications/tasks` to a subscription. `body` writes the members of the task after `_meta`, and returns
/// whether the members are valid. The caller must have reserved the space. The server drops a notification that does
/// not fit, because clients poll.
pub(super) fn notify_listener(state: &mut ServerState<'_>, listener: Ticket, body: &mut dyn WriteBody) {
    let Peer { in_flight, output, .. } = &mut state.peer;
    let Some(stream) = in_flight.inbound(listener).map(|inbound| inbound.stream) else { return };
    let id = in_flight.id(listener);
    let routing = Routing::on_subscription(OutboundMessageKind::Notification, stream);
    let _ = output.write_message(routing, &mut |out: &mut Writer<'_>| {
        begin_notification(out, methods::TASKS.name);
        write_subscription_meta(out, id);
        let is_valid = body.write(out);
        out.token("}}");
        is_valid
    });
}
