//! `Server::task`: reports the status of a task, requires input, and ends the task.

use crate::error::SendError;
use crate::framing::outbound_message::OutboundMessageKind;
use crate::json::{Decimal, WriteText, Writer, fitting_prefix};
use crate::peer::inbound::{END, begin_progress};
use crate::peer::slots::Ticket;
use crate::peer::tasks::payload::write_related;
use crate::peer::tasks::table::{LONGEST_MESSAGE, TaskState, TaskTable, TaskTicket};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::Input;
use crate::protocol::objects::tool_result::ToolResult;
use crate::protocol::revision::Revision;
use crate::server::reply::StateAccess;
use crate::server::server_state::ServerState;
use crate::server::tasks::input::cancel_input_requests;
use crate::server::write_message::{once_tool_result, write_error_message};
use crate::server::{Ending, Server};

/// The outcome of a task whose result the application keeps: see [`Task::finish`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TaskOutcome {
    /// The call has a result.
    Completed,
    /// The call has a result with `isError`. The status is `failed` in `2025-11-25`, and `completed` in `2026-07-28`.
    ToolFailed,
    /// The call has a JSON-RPC error.
    Failed,
}

/// A task that has not ended.
///
/// ```
/// use mcp_proto::server::{Call, TaskOptions, TaskTicket};
/// use mcp_proto::{SendError, Server};
///
/// /// Returns the ticket of a task, or responds immediately.
/// fn measure(call: Call<'_>, random: [u8; 16]) -> Option<TaskTicket> {
///     match call.into_task(TaskOptions::new(random)) {
///         Ok(ticket) => Some(ticket),
///         Err(call) => {
///             call.text("21.5");
///             None
///         }
///     }
/// }
///
/// fn end(server: &mut Server<'_>, ticket: TaskTicket) -> Result<(), SendError> {
///     server.task(ticket)?.complete(|result| result.text("21.5"))
/// }
/// ```
pub struct Task<'s> {
    state: &'s mut (dyn StateAccess + 's),
    ticket: Ticket,
}

impl Server<'_> {
    /// Returns a task that has not ended.
    ///
    /// # Errors
    /// [`SendError::Gone`]: the task has ended, the client cancelled the task, or the table has removed the task.
    pub fn task(&mut self, ticket: TaskTicket) -> Result<Task<'_>, SendError> {
        self.state.task_data(ticket.0).filter(|data| data.is_open()).ok_or(SendError::Gone)?;
        Ok(Task { state: &mut *self.state, ticket: ticket.0 })
    }

    /// Removes a task before its time to live expires, such as an ended task whose result is no longer needed.
    ///
    /// Clients then get the error for an unknown task (-32602). The slot is free as soon as the server has sent all
    /// pending messages about tasks. An unknown ticket has no effect.
    pub fn remove_task(&mut self, ticket: TaskTicket) {
        if self.state.task_data(ticket.0).is_some() {
            self.state.with_tasks(|state, table| state.end_task(table, ticket.0, TaskState::Removed));
        }
    }
}

impl Task<'_> {
    /// Reports the status as a text for people, such as "3 of 10 files". The server keeps at most the first 128 bytes,
    /// counted as JSON text with escapes.
    ///
    /// # Errors
    /// [`SendError::Unwritable`]: the text of the slot has no space.
    pub fn set_message(&mut self, message: &str) -> Result<(), SendError> {
        let message = message.get(..fitting_prefix(message, LONGEST_MESSAGE)).unwrap_or_default();
        let ticket = self.ticket;
        self.with(&mut |state, table| {
            if !table.set_message(ticket, message) {
                return Err(SendError::Unwritable);
            }
            state.touch_task(table, ticket);
            Ok(())
        })
    }

    /// Sends progress if the call has a progress token (`2025-11-25`). The value must grow each time.
    ///
    /// # Errors
    /// [`SendError::NotWanted`]: the revision has no progress of tasks, the slot does not store a progress token of the
    /// call, or `progress` has not grown. [`SendError::NotConnected`], in three cases: the client has not completed the
    /// handshake of the task's revision; the session of the task has ended, and no client waits for the result; the
    /// grace period of an ending connection has expired. [`SendError::Busy`]: the transmit buffer has no space, or the
    /// space is reserved for other messages. [`SendError::Unwritable`]: the message is too large.
    pub fn progress(
        &mut self,
        progress: impl Into<Decimal>,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        let (ticket, progress) = (self.ticket, progress.into());
        self.with(&mut |state, table| state.task_progress(table, ticket, progress, total, message))
    }

    /// Requires input from the client. The task is `input_required` while at least one of its input requests is open.
    ///
    /// [`Event::TaskInput`](crate::server::Event::TaskInput) has the response, with the key. Use a different key for
    /// each input request of a task, even after a response.
    ///
    /// In `2026-07-28` the client gets the input request with the task, and the text of the slot stores the input
    /// request. In `2025-11-25` the server sends a request, which takes a slot of [`Server::in_flight`]. If a client
    /// waits for the result, the session of this client gets the request. Otherwise the session of the task gets the
    /// request. If the slot cannot store the key beside the status message, the server deletes the status message when
    /// the response arrives.
    ///
    /// # Errors
    /// [`SendError::Unsupported`]: the client did not declare the capability that the input needs, or the revision does
    /// not have the input. [`SendError::Unwritable`]: the text of the slot has no space, a response with the task would
    /// not fit the transmit buffer, or 255 input requests are open. [`SendError::Invalid`]: the input is not valid, or
    /// an open input request has the same key (`2026-07-28`). In `2025-11-25`, the method also returns the errors of
    /// [`Server::request`].
    pub fn require_input(&mut self, key: &str, input: &dyn Input) -> Result<(), SendError> {
        let ticket = self.ticket;
        self.with(&mut |state, table| state.add_input_request(table, ticket, key, input))
    }

    /// Ends the task with a result, which the text of the slot stores.
    ///
    /// # Errors
    /// [`SendError::Unwritable`]: the text of the slot has no space, or a response with the result would not fit the
    /// transmit buffer. [`SendError::Invalid`]: the result is not valid. After either error, the task is still open,
    /// but its input requests are removed. Call [`finish`](Task::finish) to keep the result in the application.
    pub fn complete(mut self, body: impl FnOnce(&mut ToolResult<'_, '_>)) -> Result<(), SendError> {
        let mut write = once_tool_result(body);
        self.end_stored(None, &mut |out, revision, pad_structured| write(out, revision, pad_structured).0)
    }

    /// Ends the task with a JSON-RPC error, which the text of the slot stores. Choose application codes outside of
    /// -32768 to -32000.
    ///
    /// # Errors
    /// As for [`complete`](Task::complete).
    pub fn fail(mut self, code: i32, message: impl WriteText) -> Result<(), SendError> {
        self.end_stored(Some(code), &mut |out, _, _| {
            write_error_message(out, &message);
            true
        })
    }

    /// Ends the task. The application keeps the result, and [`Event::TaskResult`](crate::server::Event::TaskResult)
    /// requests the result until [`Event::TaskExpired`](crate::server::Event::TaskExpired).
    pub fn finish(mut self, outcome: TaskOutcome) {
        let ticket = self.ticket;
        let end = match outcome {
            TaskOutcome::Completed => TaskState::Completed,
            TaskOutcome::ToolFailed => TaskState::ToolFailed,
            TaskOutcome::Failed => TaskState::Failed,
        };
        let _ = self.with(&mut |state, table| {
            table.set_payload(ticket, b"");
            state.end_task(table, ticket, end);
            Ok(())
        });
    }

    fn end_stored(
        &mut self,
        error: Option<i32>,
        body: &mut dyn FnMut(&mut Writer<'_>, Revision, bool) -> bool,
    ) -> Result<(), SendError> {
        let ticket = self.ticket;
        self.with(&mut |state, table| {
            let data = table.data(ticket).ok_or(SendError::Gone)?;
            let (open, revision, pad_structured) = (data.open, data.revision, data.pad_structured);
            let limit = state.payload_limit(table, ticket, 0);
            let mut valid = true;
            let end = table.store(ticket, limit, error, &mut |out: &mut Writer<'_>| {
                valid = body(out, revision, pad_structured);
                valid
            });
            let Some(end) = end else {
                cancel_input_requests(state, TaskTicket(ticket));
                if open > 0 {
                    state.touch_task(table, ticket);
                }
                return Err(if valid { SendError::Unwritable } else { SendError::Invalid });
            };
            state.end_task(table, ticket, end);
            Ok(())
        })
    }

    fn with(
        &mut self,
        act: &mut dyn FnMut(&mut ServerState<'_>, &mut TaskTable<'_>) -> Result<(), SendError>,
    ) -> Result<(), SendError> {
        let mut result = None;
        self.state.with(&mut |state: &mut ServerState<'_>| result = state.with_tasks(&mut *act));
        result.unwrap_or(Err(SendError::Gone))
    }
}

impl ServerState<'_> {
    fn task_progress(
        &mut self,
        table: &mut TaskTable<'_>,
        ticket: Ticket,
        progress: Decimal,
        total: Option<Decimal>,
        message: &str,
    ) -> Result<(), SendError> {
        let (data, id) = table.data(ticket).zip(table.id(ticket)).ok_or(SendError::Gone)?;
        let token = table.slots.text(ticket).get(..data.message_start()).unwrap_or_default();
        let key = progress.sort_key();
        if token.is_empty() || key <= data.last_progress {
            return Err(SendError::NotWanted);
        }
        if self.ending == Ending::Flushing {
            return Err(SendError::NotConnected);
        }
        let kind = OutboundMessageKind::Notification;
        let (routing, _) = self.task_routing(ticket, data, kind, ClientCapabilities::NONE)?;
        self.ensure_message_space()?;
        self.peer.output.write_message(routing, &mut |out: &mut Writer<'_>| {
            begin_progress(out, token, progress, total, message);
            write_related(&id, out);
            out.token(END);
        })?;
        if let Some(data) = table.slots.get_mut(ticket) {
            data.last_progress = key;
        }
        Ok(())
    }
}

impl TaskTable<'_> {
    pub(super) fn set_message(&mut self, ticket: Ticket, message: &str) -> bool {
        let Some(data) = self.data(ticket) else { return false };
        let before = data.message_start()..data.payload_start();
        if !self.slots.splice_text(ticket, before, message.as_bytes()) {
            return false;
        }
        if let Some(data) = self.slots.get_mut(ticket) {
            data.message_length = message.len().try_into().unwrap_or(u8::MAX);
        }
        true
    }
}

impl core::fmt::Debug for Task<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Task").field("ticket", &self.ticket).finish_non_exhaustive()
    }
}
