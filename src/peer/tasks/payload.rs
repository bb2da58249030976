//! Payloads of tasks, such as results and errors, and the lookup of a task by its request.

use crate::error::ProtocolError;
use crate::json::{Json, WriteBody, Writer, text_of};
use crate::peer::slots::Ticket;
use crate::peer::tasks::id::{LENGTH, TaskId, unpacked};
use crate::peer::tasks::table::{LONGEST_MESSAGE, TaskData, TaskState, TaskTable};
use crate::protocol::objects::task::{RELATED_TASK, TaskMembers, TaskStatus};
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::code;
use crate::time::Millis;

impl TaskTable<'_> {
    /// Stores `token` as the start of a task's text. If the task comes from a deferred request, or is reserved for one,
    /// `token` is the ticket of this request. Otherwise `token` is the progress token. On a client, the kind of the
    /// request follows the ticket.
    ///
    /// Returns `false` if `token` does not fit, or has more than 255 bytes.
    pub(crate) fn set_token(&mut self, ticket: Ticket, token: &[u8]) -> bool {
        let Ok(length) = token.len().try_into() else { return false };
        let is_stored = self.slots.splice_text(ticket, 0..0, token);
        if is_stored && let Some(data) = self.slots.get_mut(ticket) {
            data.token_length = length;
        }
        is_stored
    }

    /// Replaces the payload of a task. Returns `false` if the new payload does not fit.
    pub(crate) fn set_payload(&mut self, ticket: Ticket, payload: &[u8]) -> bool {
        let start = self.data(ticket).map_or(0, TaskData::payload_start);
        let end = self.slots.text(ticket).len();
        self.slots.splice_text(ticket, start..end, payload)
    }

    /// Stores the result or error of a task as its payload, and returns the state with which the task ends. Returns
    /// `None` if the table does not have the task, or if the result or error has more than `limit` bytes, does not fit
    /// or is not valid. The payload is then empty. In all cases, the old payload is lost, including input
    /// requests.
    pub(crate) fn store(
        &mut self,
        ticket: Ticket,
        limit: usize,
        error: Option<i32>,
        body: &mut dyn WriteBody,
    ) -> Option<TaskState> {
        let (data, id) = self.data(ticket).zip(self.id(ticket))?;
        let (revision, kept) = (data.revision, data.payload_start());
        let written = self.slots.write_text(ticket, kept, &mut |out: &mut Writer<'_>| {
            if !write_payload_object(out, revision, Some(&id), error, body) {
                out.fail();
            }
        });
        let written = written && self.payload(ticket).len() <= limit;
        if let Some(data) = self.slots.get_mut(ticket) {
            data.is_stored = written;
        }
        if !written {
            self.set_payload(ticket, b"");
            if let Some(data) = self.slots.get_mut(ticket) {
                data.open = 0;
            }
            return None;
        }
        let has_failed = Json::trusted(self.payload(ticket)).get("isError").and_then(Json::boolean);
        Some(match error {
            Some(_) => TaskState::Failed,
            None if has_failed == Some(true) => TaskState::ToolFailed,
            None => TaskState::Completed,
        })
    }

    /// Stores the response of the application like [`store`](TaskTable::store). If the response does not fit or is not
    /// valid, stores an error as the payload, and returns an error for the application beside the state.
    pub(crate) fn store_or_refuse(
        &mut self,
        ticket: Ticket,
        limit: usize,
        error: Option<i32>,
        body: &mut dyn WriteBody,
    ) -> (TaskState, Option<ProtocolError>) {
        let mut is_valid = true;
        let end = self.store(ticket, limit, error, &mut |out: &mut Writer<'_>| {
            is_valid = body.write(out);
            is_valid
        });
        if let Some(end) = end {
            return (end, None);
        }
        let refused = match is_valid {
            true => ProtocolError::ReplyTooLarge { limit: self.slots.text_limit().min(limit) },
            false => ProtocolError::InvalidReply,
        };
        let end = self.store(ticket, limit, Some(code::INTERNAL_ERROR), &mut |out: &mut Writer<'_>| {
            out.field_string("message", "the result is too large, or not valid");
        });
        // If the error does not fit either, the task has no payload and ends as cancelled.
        (end.unwrap_or(TaskState::Cancelled), Some(refused))
    }

    /// Returns the response to `tasks/result` for an ended task (`2025-11-25`): the code if the response is an error,
    /// and the members of the result or error. Returns `None` if the task is removed. Do not call this method if the
    /// application keeps the result: see [`TaskData::is_kept_by_application`].
    pub(crate) fn end_of(&self, ticket: Ticket) -> Option<(Option<i32>, Json<'_>)> {
        let data = self.data(ticket).filter(|data| data.state != TaskState::Removed)?;
        let payload = Json::trusted(self.payload(ticket));
        Some(match data.state {
            TaskState::Failed => {
                let code = payload.get("code").and_then(Json::integer).and_then(|code| code.try_into().ok());
                (Some(code.unwrap_or(code::INTERNAL_ERROR)), payload)
            }
            TaskState::Cancelled => {
                let error = Json::trusted(br#"{"message":"the task was cancelled"}"#);
                (Some(code::INTERNAL_ERROR), error)
            }
            _ => (None, payload),
        })
    }

    /// Finds the open task that this deferred request has become.
    pub(crate) fn find_call(&self, call: Ticket) -> Option<Ticket> {
        let tasks = self.slots.requests();
        tasks
            .map(|(ticket, _)| ticket)
            .find(|ticket| self.is_open(*ticket) && self.call_of(*ticket) == Some(call))
    }

    /// Returns the deferred request that became, or may become, this task: on a server, a call; on a client, a request
    /// of the server. Returns `None` if the task was created without a deferred request.
    pub(crate) fn call_of(&self, ticket: Ticket) -> Option<Ticket> {
        self.data(ticket).filter(|data| data.has_request && data.token_length > 0)?;
        unpacked(self.slots.text(ticket))
    }
}

/// Writes the members of a stored result or error into an open object. `skips_code` omits the member `code`. Always
/// returns `true`, because stored members are valid.
pub(crate) fn write_members(stored: Json<'_>, skips_code: bool, out: &mut Writer<'_>) -> bool {
    for (name, value) in stored.members().filter(|(name, _)| !skips_code || *name != *"code") {
        out.text(name);
        out.token(":");
        out.json(value);
    }
    true
}

/// Writes the object that a task stores as its result or error.
///
/// A result has the members of the result of a call without a task, including `resultType` in `2026-07-28`. In
/// `2025-11-25`, if `id` is not `None`, the result also has the `_meta` that `tasks/result` requires. Returns the
/// value that `body` returns: whether the members are valid.
pub(crate) fn write_payload_object(
    out: &mut Writer<'_>,
    revision: Revision,
    id: Option<&TaskId>,
    error: Option<i32>,
    body: &mut dyn WriteBody,
) -> bool {
    out.begin_object();
    match (error, id) {
        (Some(code), _) => out.field_integer("code", code.into()),
        (None, _) if revision.has(WireFeature::ResultTypes) => out.field_string("resultType", "complete"),
        (None, Some(id)) => write_related(id, out),
        (None, None) => {}
    }
    let valid = body.write(out);
    out.end_object();
    valid
}

/// Writes the member `_meta` that relates a message to a task (`2025-11-25`).
pub(crate) fn write_related(id: &TaskId, out: &mut Writer<'_>) {
    out.begin_object_at("_meta");
    out.begin_object_at(RELATED_TASK);
    out.field_string("taskId", id.as_str());
    out.end_object();
    out.end_object();
}

/// Returns the index of a task's slot for [`TaskTable::in_slot`]. A request that waits for the task stores this index.
pub(crate) fn slot_of(ticket: Ticket) -> [u8; 2] {
    let [low, high, ..] = ticket.slot.to_le_bytes();
    [low, high]
}

/// Writes the members of a task with their longest values, and a status message of `message` bytes.
pub(crate) fn write_longest(message: usize, revision: Revision, out: &mut Writer<'_>) {
    let text = [b'x'; if LENGTH > LONGEST_MESSAGE { LENGTH } else { LONGEST_MESSAGE }];
    let (text, longest) = (text_of(&text), Millis(u64::MAX));
    let members = TaskMembers {
        id: text.get(..LENGTH).unwrap_or_default(),
        status: TaskStatus::InputRequired,
        message: text.get(..message).unwrap_or_default(),
        created: longest,
        updated: longest,
        ttl: Some(longest),
        poll_interval: longest,
    };
    members.write(revision, out);
}
