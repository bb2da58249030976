//! Input requests of tasks to the client, and `TaskInput`: the responses.
//!
//! In `2026-07-28` the payload of the task is an object with the open input requests. Clients get this object with the
//! task. In `2025-11-25` each input request is an outbound request. The text in the slot of the outbound request
//! contains the ticket of the task and the key.

use crate::error::SendError;
use crate::framing::outbound_message::{OutboundMessageKind, Routing, SessionKey};
use crate::json::{Json, Str, Writer};
use crate::peer::lifecycle::State;
use crate::peer::request::{Flags, InboundData, Outbound, OutboundState};
use crate::peer::response::Outcome;
use crate::peer::slots::Ticket;
use crate::peer::tasks::id::{packed, unpacked};
use crate::peer::tasks::payload::{slot_of, write_related};
use crate::peer::tasks::table::{LONGEST_MESSAGE, TaskData, TaskTable, TaskTicket};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::{Input, To};
use crate::protocol::methods;
use crate::protocol::revision::WireFeature;
use crate::rpc::{self, begin_notification};
use crate::server::dispatch::Received;
use crate::server::event::Event;
use crate::server::pending_event::{PendingEvent, RequestKind, ResponseKind, TaskEvent};
use crate::server::send_request::Response;
use crate::server::server_state::ServerState;
use crate::server::session::OutboundSession;
use crate::server::tasks::hooks::NO_SESSION;
use crate::time::Millis;

/// The client's responses to input requests of a task.
///
/// In `2026-07-28`, the server has already responded to `tasks/update`. The task is `working` again as soon as no
/// input request is open.
#[derive(Debug, Clone, Copy)]
pub struct TaskInput<'a> {
    ticket: TaskTicket,
    responses: Responses<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Responses<'a> {
    /// `inputResponses` (`2026-07-28`). A member responds to an open input request if its bit in `accepted` is set.
    Object { members: Json<'a>, accepted: u32 },
    /// The response to one input request (`2025-11-25`).
    One { key: Str<'a>, outcome: Outcome<'a> },
}

/// Maximum number of responses that the server reads from one `tasks/update`. The server ignores further responses,
/// which the client may send again.
const MOST_RESPONSES: usize = 32;

impl<'a> TaskInput<'a> {
    /// Returns the task.
    #[must_use]
    pub fn task(&self) -> TaskTicket {
        self.ticket
    }

    /// Returns the responses with their keys, in the order of the client.
    ///
    /// In `2026-07-28` every outcome is a result. In `2025-11-25` an outcome may also be an error, or a failure such as
    /// the end of the connection.
    ///
    /// Read a result with [`ElicitResultView::from_json`](crate::input::ElicitResultView::from_json) or a similar
    /// function. The result is untrusted input.
    pub fn responses(&self) -> impl Iterator<Item = (Str<'a>, Outcome<'a>)> + use<'a> {
        let (members, accepted, one) = match self.responses {
            Responses::Object { members, accepted } => (members, accepted, None),
            Responses::One { key, outcome } => (Json::NULL, 0, Some((key, outcome))),
        };
        let is_accepted = move |at| accepted.checked_shr(at).is_some_and(|bits| bits & 1 != 0);
        let members = members.members().zip(0u32..).filter(move |(_, at)| is_accepted(*at));
        members.map(|((key, value), _)| (key, Outcome::Result(value))).chain(one)
    }

    /// Returns the response to the input request with this key. Returns `None` if the event has no such response.
    #[must_use]
    pub fn response(&self, key: &str) -> Option<Outcome<'a>> {
        self.responses().find(|(name, _)| *name == key).map(|(_, outcome)| outcome)
    }
}

pub(super) fn responses<'a>(ticket: TaskTicket, members: Json<'a>, accepted: u32) -> TaskInput<'a> {
    TaskInput { ticket, responses: Responses::Object { members, accepted } }
}

/// Returns the event for a response. [`on_response`] has stored the key of the input request as the payload of the
/// task.
pub(super) fn response<'a>(
    state: &'a ServerState<'_>,
    ticket: TaskTicket,
    kind: ResponseKind,
    value: Json<'a>,
) -> Option<Event<'a>> {
    let table = state.tasks.as_ref()?;
    let key = Json::trusted(table.payload(ticket.0)).string()?;
    // `Response` requires a ticket, but only the outcome is used.
    let outcome = Response::new(ticket.0, kind, value).outcome();
    Some(Event::TaskInput(TaskInput { ticket, responses: Responses::One { key, outcome } }))
}

/// Closes the open input requests whose keys are members of `responses`. Returns one bit for each of the first
/// [`MOST_RESPONSES`] members. A bit is set if the member responds to an open input request.
pub(crate) fn accept(
    state: &mut ServerState<'_>,
    table: &mut TaskTable<'_>,
    ticket: Ticket,
    responses: Json<'_>,
) -> u32 {
    let mut accepted = 0;
    for (at, (key, _)) in (0u32..).zip(responses.members().take(MOST_RESPONSES)) {
        if table.close_input_request(ticket, key) {
            accepted |= 1u32.wrapping_shl(at);
        }
    }
    if accepted != 0 {
        state.touch_task(table, ticket);
    }
    accepted
}

/// Space for a status message that the application sets after the input request.
const MESSAGE_SPACE: usize = r#","statusMessage":"""#.len().saturating_add(LONGEST_MESSAGE);

/// Length of the task's ticket, which precedes the key in the text of an outbound request.
const LINK: usize = 6;

/// Handles the end of an outbound request if the request is an input request of a task. Returns `None` for any other
/// request.
pub(super) fn on_response(
    state: &mut ServerState<'_>,
    table: &mut TaskTable<'_>,
    request: Ticket,
    kind: ResponseKind,
) -> Option<Received> {
    let task = linked_task(state, request)?;
    let key = state.peer.in_flight.text(request).get(LINK..).unwrap_or_default();
    let is_open = table.data(task.0).is_some_and(|data| data.is_open() && data.open > 0);
    // `send_input_request` has ensured that the key fits without the status message.
    let is_known = is_open
        && (table.set_payload(task.0, key)
            || table.set_message(task.0, "") && table.set_payload(task.0, key));
    state.peer.in_flight.release(request);
    if !is_known {
        return Some(Received::Done);
    }
    if let Some(data) = table.slots.get_mut(task.0) {
        data.open = data.open.saturating_sub(1);
    }
    state.touch_task(table, task.0);
    Some(state.emit(PendingEvent::Task(TaskEvent::Response { ticket: task, kind })))
}

/// Returns the task to which this outbound request belongs. Returns `None` if the request is not an input request, or
/// is cancelled.
fn linked_task(state: &ServerState<'_>, request: Ticket) -> Option<TaskTicket> {
    state
        .peer
        .in_flight
        .outbound(request)
        .filter(|outbound| outbound.state != OutboundState::CancelPending)?;
    unpacked(state.peer.in_flight.text(request)).map(TaskTicket)
}

/// Cancels the input requests that the server has sent for a task.
pub(super) fn cancel_input_requests(state: &mut ServerState<'_>, task: TaskTicket) {
    let mut slot = 0;
    while let Some(request) = state.peer.in_flight.next_from(&mut slot) {
        if linked_task(state, request) == Some(task) && state.peer.awaits_response(request) {
            cancel_input_request(state, request, task.0);
        }
    }
}

/// Queues the cancellation of an input request.
fn cancel_input_request(state: &mut ServerState<'_>, request: Ticket, task: Ticket) {
    state.peer.queue_cancellation(request, "");
    let in_flight = &mut state.peer.in_flight;
    if in_flight.set_text_after(request, 0, &packed(task))
        && let Some(outbound) = in_flight.outbound_mut(request)
    {
        outbound.flags.add(Flags::TASK_INPUT);
    }
}

/// Writes the cancellation of an input request. Relates the notification to the task, unless the table has removed the
/// task.
pub(super) fn write_cancelled(state: &mut ServerState<'_>, request: Ticket, id: u64, routing: Routing) {
    let task = unpacked(state.peer.in_flight.text(request));
    let task = task.and_then(|task| state.tasks.as_ref()?.id(task));
    // The notification always fits, because `Server::new` ensures space for a longer message: a task with the longest
    // status message.
    let space = state.peer.output.max_reply_size();
    let _ = state.peer.output.send(routing, space, &mut |out: &mut Writer<'_>| {
        begin_notification(out, methods::CANCELLED.name);
        out.field_unsigned("requestId", id);
        if let Some(task) = &task {
            write_related(task, out);
        }
        out.token("}}");
    });
}

impl ServerState<'_> {
    /// Adds an input request to a task.
    pub(super) fn add_input_request(
        &mut self,
        table: &mut TaskTable<'_>,
        ticket: Ticket,
        key: &str,
        input: &dyn Input,
    ) -> Result<(), SendError> {
        let data = table.data(ticket).filter(|data| data.is_open()).ok_or(SendError::Gone)?;
        let (revision, client) = (data.revision, data.capabilities);
        let is_known = input.revisions().contains(revision) && client.has(input.needs());
        if !is_known {
            return Err(SendError::Unsupported);
        }
        if data.open == u8::MAX {
            return Err(SendError::Unwritable);
        }
        let to = To { revision, client };
        match revision.has(WireFeature::TasksExtension) {
            true => {
                let limit = self.payload_limit(table, ticket, MESSAGE_SPACE);
                table.append_input_request(ticket, limit, key, input, to)?;
            }
            false => self.send_input_request(table, ticket, key, input, to)?,
        }
        if let Some(data) = table.slots.get_mut(ticket) {
            data.open = data.open.saturating_add(1);
        }
        self.touch_task(table, ticket);
        Ok(())
    }

    /// Sends an input request (`2025-11-25`) on the stream of a request that waits for the task, or to the session of
    /// the task.
    fn send_input_request(
        &mut self,
        table: &TaskTable<'_>,
        ticket: Ticket,
        key: &str,
        input: &dyn Input,
        to: To,
    ) -> Result<(), SendError> {
        let (data, id) = table.data(ticket).zip(table.id(ticket)).ok_or(SendError::Gone)?;
        if matches!(self.peer.lifecycle.state(), State::Draining | State::Closed) {
            return Err(SendError::NotConnected);
        }
        let (routing, session) =
            self.task_routing(ticket, data, OutboundMessageKind::Request, input.needs())?;
        self.ensure_message_space()?;
        // The request has no timeout of its own, because the time to live of the task limits the time for the response.
        let session = OutboundSession::new(session);
        let outbound = Outbound::new(Millis(u64::MAX), Flags::NONE, session);
        let request = self.write_request(routing, outbound, input.method(), &mut |_, out| {
            let valid = input.write(to, out);
            write_related(&id, out);
            valid
        })?;
        let in_flight = &mut self.peer.in_flight;
        let is_stored = in_flight.set_text_after(request, 0, &packed(ticket))
            && in_flight.write_text(request, LINK, &mut |out: &mut Writer<'_>| out.string(key));
        // The response needs space for the key in the text of the task.
        let length = in_flight.text(request).len().saturating_sub(LINK);
        if !is_stored || data.message_start().saturating_add(length) > table.slots.text_limit() {
            cancel_input_request(self, request, ticket);
            return Err(SendError::Unwritable);
        }
        Ok(())
    }
}

impl ServerState<'_> {
    /// Returns the routing of a message about a task (`2025-11-25`), and the session that gets the message. The message
    /// goes to the stream of a request that waits for the task, or to the session of the task.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the session has ended, its handshake is not complete, its revision is not that of
    /// the task, or its client does not have the capabilities `needs`.
    pub(super) fn task_routing(
        &self,
        ticket: Ticket,
        data: &TaskData,
        kind: OutboundMessageKind,
        needs: ClientCapabilities,
    ) -> Result<(Routing, SessionKey), SendError> {
        let waits = |kind| matches!(kind, RequestKind::TaskResult { task, .. } if task == slot_of(ticket));
        let mut requests = self.peer.in_flight.inbound_requests();
        let (routing, session, capabilities) = match requests.find(|(_, inbound)| waits(inbound.context.kind))
        {
            Some((_, inbound)) => {
                let routing = Routing::on_stream(kind, inbound.stream);
                let owner = inbound.context.owner(inbound.stream);
                (routing, owner.session(), inbound.context.capabilities)
            }
            None => (Routing::in_session(kind, data.session), data.session, data.capabilities),
        };
        let is_connected = if session == self.session_key {
            self.peer.session.is_some_and(|session| {
                session.complete && session.revision == data.revision && session.capabilities.has(needs)
            })
        } else {
            // The server does not have the state of other sessions.
            session != NO_SESSION && capabilities.has(needs)
        };
        if is_connected { Ok((routing, session)) } else { Err(SendError::NotConnected) }
    }
}

impl TaskTable<'_> {
    /// Adds an input request to the payload, which is the object of input requests. Fails, and restores the payload, if
    /// the key repeats, the input is not valid, or the payload would exceed `limit` bytes or the text of the slot.
    fn append_input_request(
        &mut self,
        ticket: Ticket,
        limit: usize,
        key: &str,
        input: &dyn Input,
        to: To,
    ) -> Result<(), SendError> {
        let is_first = self.payload(ticket).is_empty();
        if Json::trusted(self.payload(ticket)).members().any(|(name, _)| name == *key) {
            return Err(SendError::Invalid);
        }
        // A comma replaces the closing brace.
        let length = self.slots.text(ticket).len();
        let brace = length.saturating_sub(1)..length;
        if !is_first && !self.slots.splice_text(ticket, brace.clone(), b",") {
            return Err(SendError::Unwritable);
        }
        let mut valid = true;
        let written = self.slots.write_text(ticket, length, &mut |out: &mut Writer<'_>| {
            if is_first {
                out.token("{");
            }
            out.begin_object_at(key);
            valid = rpc::write_request(out, input.method(), &mut |out: &mut Writer<'_>| input.write(to, out));
            out.token("}}");
            if !valid {
                out.fail();
            }
        });
        if written && self.payload(ticket).len() <= limit {
            return Ok(());
        }
        // Restores the text that the slot had before this call.
        let (start, rest): (_, &[u8]) = if is_first { (length, b"") } else { (brace.start, b"}") };
        let end = self.slots.text(ticket).len();
        self.slots.splice_text(ticket, start..end, rest);
        Err(if valid { SendError::Unwritable } else { SendError::Invalid })
    }

    /// Removes an input request from the payload. Returns `false` if no input request with this key is open.
    fn close_input_request(&mut self, ticket: Ticket, key: Str<'_>) -> bool {
        let start = self.data(ticket).map_or(0, TaskData::payload_start);
        let requests = Json::trusted(self.payload(ticket));
        if self.data(ticket).is_none_or(|data| !data.is_open() || data.open == 0) {
            return false;
        }
        let (mut at, mut found) = (1usize, None);
        for (name, request) in requests.members() {
            let end = at.saturating_add(name.raw().len()).saturating_add(r#""":"#.len());
            let end = end.saturating_add(request.bytes().len());
            if name == key {
                found = Some(at..end);
                break;
            }
            at = end.saturating_add(",".len());
        }
        let Some(mut part) = found else { return false };
        let is_last = part.end.saturating_add(1) == requests.bytes().len();
        match (part.start, is_last) {
            (1, true) => part = 0..part.end.saturating_add(1),
            (1, false) => part.end = part.end.saturating_add(1),
            _ => part.start = part.start.saturating_sub(1),
        }
        let part = start.saturating_add(part.start)..start.saturating_add(part.end);
        self.slots.splice_text(ticket, part, b"");
        if let Some(data) = self.slots.get_mut(ticket) {
            data.open = data.open.saturating_sub(1);
        }
        true
    }
}
