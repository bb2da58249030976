//! Requests of the server about tasks: `tasks/get`, `tasks/result`, `tasks/list`, `tasks/cancel`.

use crate::client::client_state::ClientState;
use crate::client::client_tasks::deliver::{LINK, respond_result};
use crate::client::pending_event::PendingEvent;
use crate::client::server_requests::input_request::InputKind;
use crate::client::server_requests::{Context, Pending};
use crate::error::ProtocolError;
use crate::framing::outbound_message::{SessionKey, StreamId};
use crate::json::{Json, Span, Str, Writer};
use crate::peer::inbound::Source;
use crate::peer::slots::Ticket;
use crate::peer::tasks::id::packed;
use crate::peer::tasks::table::{TaskState, TaskTable};
use crate::protocol::{methods, pagination};

/// A method about tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TaskMethod {
    Get,
    Result,
    Cancel,
    List,
}

impl TaskMethod {
    pub(super) fn from_name(name: Str<'_>) -> Option<TaskMethod> {
        let methods = [
            (methods::TASKS_GET, TaskMethod::Get),
            (methods::TASKS_RESULT, TaskMethod::Result),
            (methods::TASKS_CANCEL, TaskMethod::Cancel),
            (methods::TASKS_LIST, TaskMethod::List),
        ];
        methods.into_iter().find(|(known, _)| name == *known.name).map(|(_, method)| method)
    }
}

impl ClientState<'_> {
    /// Handles a request about a task. Returns the error with which the client has refused the request, if any.
    pub(super) fn handle_task_request(
        &mut self,
        id: Json<'_>,
        method: Str<'_>,
        params: Json<'_>,
        stream: StreamId,
    ) -> Result<(), ProtocolError> {
        let (Some(session), Some(method)) = (self.peer.session, TaskMethod::from_name(method)) else {
            return Ok(());
        };
        let source = Source::from_id(id.bytes());
        let context = Context { revision: session.revision, kind: InputKind::Task, stream };
        let pending = Pending { source, context, task: None };
        let handled = self.with_client_tasks(|state, table| match method {
            TaskMethod::List => list(state, table, &pending, params),
            method => handle_one(state, table, &pending, method, params),
        });
        let outcome = handled.unwrap_or(Err(ProtocolError::UnknownMethod));
        if let Err(error) = outcome {
            self.respond_with_error(&pending, error);
        }
        outcome
    }
}

/// Handles a request about one task.
fn handle_one(
    state: &mut ClientState<'_>,
    table: &mut TaskTable<'_>,
    pending: &Pending<'_>,
    method: TaskMethod,
    params: Json<'_>,
) -> Result<(), ProtocolError> {
    let id = params.get("taskId").and_then(Json::string).ok_or(ProtocolError::InvalidParams)?;
    let ticket = table.find(id, pending.context.revision, SessionKey::NONE);
    let ticket = ticket.ok_or(ProtocolError::InvalidParams)?;
    let is_open = table.is_open(ticket);
    match method {
        TaskMethod::Result if is_open => return wait(state, pending, ticket),
        TaskMethod::Result => {
            respond_result(state, table, pending, ticket);
            return Ok(());
        }
        TaskMethod::Cancel if !is_open => return Err(ProtocolError::InvalidParams),
        _ => {}
    }
    if method == TaskMethod::Cancel {
        if let Some(ticket) = table.call_of(ticket) {
            state.emit(PendingEvent::Cancelled { ticket, reason: Span::MISSING });
        }
        table.set_end(ticket, TaskState::Cancelled);
        table.touch(ticket, state.peer.now);
    }
    state.respond_directly(pending, None, &mut |out: &mut Writer<'_>| {
        table.write_members(ticket, out);
    });
    Ok(())
}

/// Defers `tasks/result`, without a timeout, until the end of its task. Returns an error if no slot can store the
/// request.
fn wait(state: &mut ClientState<'_>, pending: &Pending<'_>, ticket: Ticket) -> Result<(), ProtocolError> {
    let Pending { source, context, .. } = pending;
    let [s0, s1, g0, g1, g2, g3] = packed(ticket);
    let link = [LINK, s0, s1, g0, g1, g2, g3];
    let slots = &state.peer.in_flight;
    // If a slot is free, only the length of the id can prevent the deferral.
    let refusal = if slots.len() < slots.limit() {
        ProtocolError::IdTooLong { limit: slots.text_limit().saturating_sub(link.len()) }
    } else {
        ProtocolError::TooManyInFlight { limit: slots.limit() }
    };
    let receiver = state.peer.defer(source, context.stream, InputKind::Task, None).ok_or(refusal)?;
    let id = state.peer.in_flight.id(receiver).len();
    if !state.peer.in_flight.set_text_after(receiver, id, &link) {
        state.peer.in_flight.release(receiver);
        return Err(refusal);
    }
    Ok(())
}

/// Handles `tasks/list`. A cursor encodes the slot of the next task.
fn list(
    state: &mut ClientState<'_>,
    table: &TaskTable<'_>,
    pending: &Pending<'_>,
    params: Json<'_>,
) -> Result<(), ProtocolError> {
    let first = match params.get("cursor").filter(|cursor| !cursor.is_null()) {
        None => 0,
        Some(cursor) => {
            let first = pagination::parse(cursor).filter(|first| *first < table.slots());
            first.ok_or(ProtocolError::BadCursor)?
        }
    };
    let revision = pending.context.revision;
    state.respond_directly(pending, None, &mut |out: &mut Writer<'_>| {
        table.write_page(first, revision, SessionKey::NONE, out);
    });
    Ok(())
}
