//! Turns requests of the server into tasks, and ends these tasks with the response of the application.

use crate::client::client_state::{ClientState, ID_LIMIT};
use crate::client::server_requests::input_request::InputKind;
use crate::client::server_requests::{Context, Pending};
use crate::error::ProtocolError;
use crate::framing::outbound_message::{SessionKey, StreamId};
use crate::json::{WriteBody, Writer};
use crate::peer::inbound::Source;
use crate::peer::slots::Ticket;
use crate::peer::tasks::id::packed;
use crate::peer::tasks::table::{TaskData, TaskTable, expiry};
use crate::protocol::revision::Revision;

/// Turns a deferred request into a task. The slot of the request becomes free, but its ticket stays valid. Returns
/// `false`, and leaves the request unchanged, if the table cannot store the task, or the response does not fit.
pub(super) fn defer(state: &mut ClientState<'_>, request: Ticket, context: Context, ttl: u64) -> bool {
    let [s0, s1, g0, g1, g2, g3] = packed(request);
    let token = [s0, s1, g0, g1, g2, g3, kind_byte(context.kind)];
    let pending = Pending { source: Source::Slot(request), context, task: None };
    let deferred = state.with_client_tasks(|state, table| {
        let Some(ticket) = create(state, table, context.revision, ttl, &token) else { return false };
        let is_sent = respond_created(state, table, &pending, ticket).is_ok();
        if !is_sent {
            table.slots.release(ticket);
        }
        is_sent
    });
    deferred.unwrap_or(false)
}

/// Responds with a new task, and ends the task at once with the result that `body` writes. If the table is full, the
/// result is not valid, or the result or the response does not fit, only responds with an error.
pub(super) fn respond_at_once(
    state: &mut ClientState<'_>,
    pending: &Pending<'_>,
    ttl: u64,
    body: &mut dyn WriteBody,
) {
    let pending = Pending { task: None, ..*pending };
    let responded = state.with_client_tasks(|state, table| {
        let full = ProtocolError::TooManyInFlight { limit: table.slots.limit() };
        let revision = pending.context.revision;
        let ticket = create(state, table, revision, ttl, b"").ok_or(full)?;
        let limit = state.payload_limit();
        // The response must report the task as `working`, so the task ends only after the response is written.
        let Some(end) = table.store(ticket, limit, None, body) else {
            table.slots.release(ticket);
            return Err(ProtocolError::ReplyTooLarge { limit: table.slots.text_limit().min(limit) });
        };
        if let Err(error) = respond_created(state, table, &pending, ticket) {
            table.slots.release(ticket);
            return Err(error);
        }
        table.set_end(ticket, end);
        table.touch(ticket, state.peer.now);
        Ok(())
    });
    if let Err(error) = responded.unwrap_or(Err(ProtocolError::TooManyInFlight { limit: 0 })) {
        state.refuse(&pending, error);
    }
}

/// Ends a task with the response of the application. Does nothing if the task has already ended.
pub(super) fn end(
    state: &mut ClientState<'_>,
    table: &mut TaskTable<'_>,
    ticket: Ticket,
    error: Option<i32>,
    body: &mut dyn WriteBody,
) {
    if !table.is_open(ticket) {
        return;
    }
    let (end, refused) = table.store_or_refuse(ticket, state.payload_limit(), error, body);
    state.peer.pending_error = refused.or(state.peer.pending_error);
    table.set_end(ticket, end);
    table.touch(ticket, state.peer.now);
}

impl ClientState<'_> {
    /// Returns the maximum length of a task's payload with which the response to `tasks/result` fits into the transmit
    /// buffer.
    fn payload_limit(&self) -> usize {
        let head = r#"{"jsonrpc":"2.0","id":,"result":{}}"#.len().saturating_add(ID_LIMIT);
        self.peer.output.max_reply_content().saturating_sub(head)
    }
}

/// Finds the open task of a deferred request. Returns `None` if there is no such task.
pub(super) fn find(table: &TaskTable<'_>, request: Ticket) -> Option<(Ticket, Context)> {
    let ticket = table.find_call(request)?;
    let revision = table.data(ticket)?.revision;
    let kind = table.slots.text(ticket).get(packed(request).len()).copied().and_then(kind_of_byte)?;
    Some((ticket, Context { revision, kind, stream: StreamId::NONE }))
}

/// Creates a task whose text begins with `token`, which is empty without a deferred request. Returns `None` if the
/// table is full, or the token does not fit.
fn create(
    state: &ClientState<'_>,
    table: &mut TaskTable<'_>,
    revision: Revision,
    requested: u64,
    token: &[u8],
) -> Option<Ticket> {
    let options = (state.config.client_tasks?.options)();
    let (now, ttl) = (state.peer.now, options.ttl_for(requested));
    let data = table.new_data(now, revision, SessionKey::NONE, options, ttl);
    let data = TaskData { has_request: !token.is_empty(), ..data };
    let ticket = table.slots.take(data, expiry(now, ttl))?;
    if !table.set_token(ticket, token) {
        table.slots.release(ticket);
        return None;
    }
    Some(ticket)
}

/// Responds to a request with its task.
fn respond_created(
    state: &mut ClientState<'_>,
    table: &TaskTable<'_>,
    pending: &Pending<'_>,
    ticket: Ticket,
) -> Result<(), ProtocolError> {
    state.write_reply(pending, None, &mut |out: &mut Writer<'_>| {
        out.key("task");
        table.write_object(ticket, out);
    })
}

/// Encodes the kind of a request for the text of its task.
fn kind_byte(kind: InputKind) -> u8 {
    match kind {
        InputKind::Form => b'f',
        InputKind::Url => b'u',
        _ => b's',
    }
}

fn kind_of_byte(byte: u8) -> Option<InputKind> {
    match byte {
        b'f' => Some(InputKind::Form),
        b'u' => Some(InputKind::Url),
        b's' => Some(InputKind::Sample),
        _ => None,
    }
}
