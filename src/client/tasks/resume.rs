//! `Client::resume_task`: continues to follow a task whose id the application stored.

use crate::client::Client;
use crate::client::client_state::ClientState;
use crate::client::method_properties::Method;
use crate::client::options::Options;
use crate::client::tasks::record::HEADER;
use crate::error::SendError;
use crate::json::{Json, Str, Writer};
use crate::peer::slots::Ticket;
use crate::protocol::capabilities::ServerCapabilities;
use crate::protocol::methods;

impl Client<'_> {
    /// Follows a task of an earlier connection, for example after a restart of the application.
    ///
    /// For the returned ticket, the client emits the same events as for the call that became the task, but no
    /// [`Event::Progress`](crate::client::Event::Progress). The last event has the outcome of the call. If the server
    /// does not know the task, this outcome is the server's error (-32602). The timeout in `options` limits each poll
    /// of the task. If `options` has no maximum duration, the [configured limit](crate::client::TaskLimits) of tasks
    /// applies.
    ///
    /// # Errors
    /// [`SendError::NotConnected`]: the client is not connected. [`SendError::Unsupported`]: the server does not
    /// support tasks, or the client did not [declare](crate::client::ClientConfig::tasks) tasks.
    /// [`SendError::Full`]: no slot is free. [`SendError::Busy`]: the transmit buffer lacks space, or reserves the
    /// space for a response. [`SendError::Unwritable`]: the id does not fit into the text of the slot, or the request
    /// does not fit into the transmit buffer. [`SendError::Invalid`]: the `_meta` in `options` is not valid.
    ///
    /// ```
    /// use mcp_proto::client::{Client, Event, Options};
    /// use mcp_proto::{SendError, Ticket};
    ///
    /// /// Stores the id of each new task.
    /// fn store(client: &mut Client<'_>, stored: &mut Vec<String>) {
    ///     if let Some(Event::Task { task, .. }) = client.event() {
    ///         stored.extend(task.id().map(|id| id.to_string()));
    ///     }
    /// }
    ///
    /// /// Continues after a restart.
    /// fn resume(client: &mut Client<'_>, stored: &[String]) -> Result<Vec<Ticket>, SendError> {
    ///     stored.iter().map(|id| client.resume_task(id, Options::DEFAULT)).collect()
    /// }
    /// ```
    pub fn resume_task(&mut self, id: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        self.require_capability(ServerCapabilities::TASKS)?;
        self.state.resume_task(id, options)
    }

    /// Returns the id of the task that a call has become, or that [`resume_task`](Client::resume_task) follows. Returns
    /// `None` if the request has ended, or has not become a task.
    #[must_use]
    pub fn task_id(&self, ticket: Ticket) -> Option<Str<'_>> {
        self.state.task(ticket).and_then(|record| Json::trusted(record.id).string())
    }
}

impl ClientState<'_> {
    fn resume_task(&mut self, id: &str, options: Options<'_>) -> Result<Ticket, SendError> {
        let Some(tasks) = self.config.tasks else { return Err(SendError::Unsupported) };
        let mut measured = Writer::measure();
        measured.string(id);
        let length = measured.len();
        if length.saturating_add(HEADER) > self.peer.in_flight.text_limit() {
            return Err(SendError::Unwritable);
        }
        let maximum = options.maximum.unwrap_or(tasks.limits.maximum);
        // Request no progress, because the progress token of the original call is unknown.
        let options = Options { progress: false, ..options.maximum(maximum) };
        let sequence = self.peer.next_sequence;
        let name = methods::TASKS_GET.name;
        let ticket = self.begin_request_as(Method::TaskGet, name, options, &mut |out: &mut Writer<'_>| {
            out.field_string("taskId", id);
        })?;
        let is_stored = self.store_task(ticket, sequence, tasks.limits.interval, length, b"")
            && self.peer.in_flight.write_text(ticket, HEADER, &mut |out: &mut Writer<'_>| out.string(id));
        if !is_stored {
            self.peer.in_flight.release(ticket);
            return Err(SendError::Unwritable);
        }
        Ok(ticket)
    }
}
