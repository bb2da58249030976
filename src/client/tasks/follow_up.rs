//! Requests about a task: polls, the request for its result, its cancellation.

use crate::client::client_state::{ClientState, Session};
use crate::client::method_properties::Method;
use crate::client::options::Meta;
use crate::client::tasks::record::Record;
use crate::json::{Json, Writer};
use crate::peer::request::{Flags, OutboundState};
use crate::peer::slots::Ticket;
use crate::peer::transmit_buffer::Overflow;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;
use crate::protocol::revision::WireFeature;
use crate::time::Millis;

impl ClientState<'_> {
    /// Schedules the next poll of a task.
    pub(super) fn wait_for_task(&mut self, ticket: Ticket) {
        let interval = self.poll_interval(ticket);
        let now = self.peer.now;
        let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) else { return };
        (outbound.state, outbound.data.method) = (OutboundState::TaskWaiting, Method::TaskGet);
        let deadline = now.plus(interval).min(outbound.data.maximum);
        self.peer.in_flight.set_deadline(ticket, Some(deadline));
    }

    /// Queues a poll. The timeout also limits the wait for transmit space, and restarts after the poll is sent.
    pub(super) fn poll_task(&mut self, ticket: Ticket) {
        self.queue_task_request(ticket, Method::TaskGet);
    }

    /// Queues `tasks/get` or `tasks/result`, depending on `method`.
    pub(super) fn queue_task_request(&mut self, ticket: Ticket, method: Method) {
        let now = self.peer.now;
        let Some(outbound) = self.peer.in_flight.outbound_mut(ticket) else { return };
        (outbound.state, outbound.data.method) = (OutboundState::TaskPending, method);
        if !outbound.flags.has(Flags::STARTED) {
            // A resumed task: the connection ended before `Client::poll` started the timeout.
            outbound.start_timeout(now);
        }
        self.peer.restart_timeout(ticket);
        self.peer.in_flight.enqueue(ticket);
    }

    /// If the `tasks/update` with the input responses of a task was lost, makes the client emit the input requests
    /// again.
    pub(super) fn reopen_input_requests(&mut self, ticket: Ticket) {
        if self.method_of(ticket) == Method::TaskUpdate {
            self.clear_keys(ticket);
        }
    }

    pub(super) fn write_task_poll(&mut self, ticket: Ticket) -> Result<(), Overflow> {
        let method = match self.method_of(ticket) {
            Method::TaskResult => methods::TASKS_RESULT.name,
            _ => methods::TASKS_GET.name,
        };
        self.resend(ticket, method, &mut |out, text| write_id(text, out))
    }

    /// Ends the subscription to the task. Writes `tasks/cancel`, if the server supports this method. The client
    /// ignores the response, because the ticket is no longer valid.
    pub(super) fn write_task_cancel(&mut self, ticket: Ticket) -> Result<(), Overflow> {
        self.unwatch_task(ticket);
        if !self.has_server_capability(ServerCapabilities::TASKS_CANCEL) {
            return Ok(());
        }
        let meta = Meta::default();
        self.write_stored(ticket, methods::TASKS_CANCEL.name, meta, &mut |out, text| write_id(text, out))
    }

    /// Writes `tasks/cancel` for a task that no slot stores, if the server supports this method. The client ignores the
    /// response. Does not cancel the task if the transmit buffer lacks space, or reserves the space for a response.
    pub(super) fn cancel_late_task(&mut self, task: Json<'_>) {
        let Some(session) = self.peer.session else { return };
        if self.peer.response_pending || !self.has_server_capability(ServerCapabilities::TASKS_CANCEL) {
            return;
        }
        let id = self.id_of(self.peer.next_sequence, None);
        let (method, space) = ((Method::Other, methods::TASKS_CANCEL.name), self.request_space());
        let sent = self.write_request(
            id,
            method,
            session.revision,
            space,
            Meta::default(),
            &mut |out: &mut Writer<'_>| {
                out.field_bytes("taskId", task.bytes());
            },
        );
        if sent.is_ok() {
            self.peer.next_sequence = self.peer.next_sequence.saturating_add(1);
        }
    }
}

/// Writes the member `task` of a call, if the server accepts tasks (`2025-11-25`).
pub(super) fn write_task(session: Session, ttl: Millis, out: &mut Writer<'_>) {
    if session.revision.has(WireFeature::Tasks) && session.capabilities.has(ServerCapabilities::TASKS) {
        out.begin_object_at("task");
        if ttl.0 < u64::MAX {
            out.field_unsigned("ttl", ttl.0);
        }
        out.end_object();
    }
}

/// Writes the member `taskId` from the text of a slot.
pub(super) fn write_id(text: &[u8], out: &mut Writer<'_>) {
    if let Some(record) = Record::parse(text) {
        record.write_id(out);
    }
}
