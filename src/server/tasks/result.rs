//! Results of tasks, which the table or the application stores.

use crate::error::ProtocolError;
use crate::framing::LineDecoder;
use crate::json::writer::member_cache::MemberCache;
use crate::json::{WriteText, Writer};
use crate::peer::inbound::{END, Source};
use crate::peer::slots::Ticket;
use crate::peer::tasks::payload::{write_members, write_payload_object, write_related};
use crate::peer::tasks::table::{TaskState, TaskTable, TaskTicket};
use crate::protocol::objects::application_json::write_once;
use crate::protocol::objects::tool_result::ToolResult;
use crate::protocol::revision::{Revision, WireFeature};
use crate::server::event::{Event, RequestParts};
use crate::server::pending_event::RequestKind;
use crate::server::reply::{Pending, Reply};
use crate::server::request_context::Context;
use crate::server::server_state::{ServerState, Shape};
use crate::server::tasks::access::TaskAccess;
use crate::server::tasks::deliver::notify_listener;
use crate::server::write_message::{begin_result, once_tool_result, write_error_message};

/// A request for a task result that the application keeps: see [`Task::finish`](crate::server::Task::finish).
///
/// The application writes the result as for the call. Every response method consumes the request and cannot fail. The
/// response must be an error if the outcome is [`TaskOutcome::Failed`](crate::server::TaskOutcome::Failed), otherwise a
/// result. After a response of the wrong kind, the next event is [`ProtocolError::InvalidReply`]. If the application
/// drops the request of a client, the server responds with an error (-32603). If the application drops the request of a
/// subscription, the server sends no notification of this task.
///
/// [`Event::TaskResult`] may occur several times for a task, for example to notify a subscription. The result must be
/// the same each time.
#[must_use = "a request needs a response"]
#[derive(Debug)]
pub struct TaskResult<'a> {
    ticket: TaskTicket,
    reply: Reply<'a>,
}

impl<'a> TaskResult<'a> {
    /// Creates the event of a request in the current line.
    pub(crate) fn event<'e>(
        input: &'e mut LineDecoder<'_>,
        state: &'e mut TaskAccess<'_>,
        context: Context,
    ) -> Option<Event<'e>> {
        let RequestParts { reply, .. } = RequestParts::new(input, state, context);
        let RequestKind::TaskResult { task, .. } = reply.pending.context.kind else { return None };
        let mut ticket = None;
        reply.state.with(&mut |state: &mut ServerState<'_>| {
            ticket = state.tasks.as_ref().and_then(|table| table.in_slot(task))
        });
        Some(Event::TaskResult(TaskResult { ticket: TaskTicket(ticket?), reply }))
    }

    /// Returns the task.
    #[must_use]
    pub fn task(&self) -> TaskTicket {
        self.ticket
    }

    /// Responds with one text block.
    pub fn text(self, text: impl WriteText) {
        self.content(|result| result.text(text));
    }

    /// Responds with a tool failure (`isError`) as text for the model.
    pub fn fail(self, why: impl WriteText) {
        self.content(|result| {
            result.text(why);
            result.failed();
        });
    }

    /// Responds with content blocks, structured content, or both.
    pub fn content(self, body: impl FnOnce(&mut ToolResult<'_, '_>)) {
        let mut write = once_tool_result(body);
        self.respond(None, &mut |out, revision, pad_structured| write(out, revision, pad_structured).0);
    }

    /// Responds with structured content and a text copy.
    #[cfg(feature = "serde")]
    pub fn structured<T: serde_core::Serialize + ?Sized>(self, value: &T) {
        self.content(|result| result.structured(value));
    }

    /// Responds with the JSON-RPC error of a [failed](crate::server::TaskOutcome::Failed) task.
    pub fn error(self, code: i32, message: impl WriteText) {
        self.respond(Some(code), &mut |out, _, _| {
            write_error_message(out, &message);
            true
        });
    }

    /// Responds with the JSON-RPC error of a failed task. `data` must write exactly one value, the member `data`.
    pub fn error_with(self, code: i32, message: impl WriteText, data: impl FnOnce(&mut Writer<'_>)) {
        let mut data = Some(data);
        self.respond(Some(code), &mut |out, _, _| {
            write_error_message(out, &message);
            out.key("data");
            write_once(out, &mut data)
        });
    }

    fn respond(self, error: Option<i32>, body: &mut dyn FnMut(&mut Writer<'_>, Revision, bool) -> bool) {
        let TaskResult { ticket, reply: Reply { state, pending, .. } } = self;
        state.with(&mut |state: &mut ServerState<'_>| {
            state.with_tasks(|state, table| respond(state, table, &pending, ticket.0, error, body));
        });
    }
}

/// Creates the event for a request or subscription in flight that awaits a result. Returns `None` if the slot of the
/// task or of `receiver` is free.
pub(super) fn result_event<'a>(
    state: &'a mut ServerState<'_>,
    receiver: Ticket,
    task: [u8; 2],
) -> Option<Event<'a>> {
    let ticket = TaskTicket(state.tasks.as_ref()?.in_slot(task)?);
    let pending = Pending::in_slot(receiver, state.peer.in_flight.inbound(receiver)?);
    let config = state.config;
    let reply = Reply { state, config, pending };
    Some(Event::TaskResult(TaskResult { ticket, reply }))
}

/// Writes the application's result or error, in the form that the receiver needs.
fn respond(
    state: &mut ServerState<'_>,
    table: &mut TaskTable<'_>,
    pending: &Pending<'_>,
    ticket: Ticket,
    error: Option<i32>,
    body: &mut dyn FnMut(&mut Writer<'_>, Revision, bool) -> bool,
) {
    let Some((data, id)) = table.data(ticket).zip(table.id(ticket)) else {
        return state.refuse_with(pending, ProtocolError::InvalidParams);
    };
    let (revision, kind) = (pending.context.revision(), pending.context.kind);
    let listener = match (&pending.source, kind) {
        (Source::Slot(listener), RequestKind::Listen { .. }) => Some(*listener),
        _ => None,
    };
    if error.is_some() != (data.state == TaskState::Failed) {
        if listener.is_none() {
            state.refuse_with(pending, ProtocolError::InvalidReply);
        }
        state.peer.pending_error = Some(ProtocolError::InvalidReply);
        return;
    }
    let pad_structured = data.pad_structured;
    let mut detailed = |out: &mut Writer<'_>| {
        table.write_members(ticket, out);
        out.key(if error.is_some() { "error" } else { "result" });
        write_payload_object(out, revision, None, error, &mut |out: &mut Writer<'_>| {
            body(out, revision, pad_structured)
        })
    };
    match listener {
        Some(listener) => notify_listener(state, listener, &mut detailed),
        None if revision.has(WireFeature::TasksExtension) => {
            state.respond_and_close(pending, Shape::Result, &mut detailed);
        }
        None => {
            let shape = error.map_or(Shape::Result, Shape::Error);
            state.respond_and_close(pending, shape, &mut |out: &mut Writer<'_>| {
                if error.is_none() {
                    write_related(&id, out);
                }
                body(out, revision, pad_structured)
            });
        }
    }
}

impl ServerState<'_> {
    /// Returns the maximum length of a task's payload, so that a response with the task fits the transmit buffer.
    /// `message` is the space to reserve for a longer status message.
    pub(super) fn payload_limit(&self, table: &TaskTable<'_>, ticket: Ticket, message: usize) -> usize {
        let Some(data) = table.data(ticket) else { return 0 };
        let mut out = Writer::measure();
        begin_result(&mut out, b"", self.config, data.revision, Shape::Result, &mut MemberCache::new());
        if data.revision.has(WireFeature::TasksExtension) {
            table.write_members(ticket, &mut out);
            // Space for the longest status, and for the member that only this status has.
            out.token(r#"input_required,"inputRequests":"#);
        }
        out.token(END);
        let taken = out.len().saturating_add(message).saturating_add(self.config.limits.id);
        self.peer.output.max_reply_content().saturating_sub(taken)
    }
}

/// Responds to `tasks/result` for an ended task (`2025-11-25`). If `ticket` is `None`, or the task is removed, responds
/// with an error. The caller must have checked that the application does not keep the result.
pub(crate) fn respond_stored(
    state: &mut ServerState<'_>,
    table: &TaskTable<'_>,
    pending: &Pending<'_>,
    ticket: Option<Ticket>,
) {
    let Some((error, stored)) = ticket.and_then(|ticket| table.end_of(ticket)) else {
        state.write_error_response(pending, ProtocolError::InvalidParams, Some(&"the task has expired"));
        state.close(&pending.source);
        return;
    };
    let shape = error.map_or(Shape::Result, Shape::Error);
    state.respond_and_close(pending, shape, &mut |out: &mut Writer<'_>| {
        write_members(stored, error.is_some(), out)
    });
}
