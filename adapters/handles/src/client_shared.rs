//! State shared between a client's handles and its event loop.

use std::collections::VecDeque;
use std::mem;
use std::process::ExitStatus;
use std::sync::{Arc, Weak};
use std::time::Duration;

use mcp_proto::Ticket;

use crate::Wake;
use crate::client_settings::ClientSettings;
use crate::close_deadline::CloseDeadline;
use crate::error::{CallError, ConnectError};
use crate::notifications::NotificationQueue;
use crate::owned::Notification;
use crate::pending::RequestState;
use crate::server_request::{InputResponse, ResponseTarget};
use crate::signal::Signal;

/// The maximum length of the part of a line that an error quotes, in bytes.
const QUOTED: usize = 200;

/// State shared between a client's handles and its event loop: queued commands and the state of the
/// connection.
pub struct ClientShared {
    state: Signal<State>,
    in_flight_limit: usize,
    waiting_limit: usize,
    deadline: Arc<CloseDeadline>,
}

#[derive(Default)]
struct State {
    commands: VecDeque<Command>,
    /// Number of requests that have not ended: those in flight, and those that wait to be sent.
    requests: usize,
    wake: Option<Wake>,
    /// Whether the last `ClientSession` has ended. Another one may follow. `false` while a session reconnects.
    is_closed: bool,
    /// Set by [`ClientCloseGuard`] when the client is permanently closed. The inner value is the exit status of a child
    /// process, if there is one.
    final_status: Option<Option<ExitStatus>>,
    /// The process id of the server, while it runs as a child process.
    process_id: Option<u32>,
    /// The first line that was not a message, received before the handshake was complete. Cut to [`QUOTED`] bytes.
    invalid_line: Option<String>,
    /// Queues that receive every notification.
    queues: Vec<Weak<NotificationQueue>>,
}

/// A command from a handle to the event loop.
pub(crate) enum Command {
    Start(Arc<RequestState>),
    Cancel(Ticket, String),
    /// The application's response to a server request or a required input.
    Respond(ResponseTarget, InputResponse),
    RootsChanged,
    /// Closes the connection. `Some` contains the maximum wait for unsent messages.
    Close(Option<Duration>),
}

impl ClientShared {
    /// Creates the shared state of a client with the limits of its settings.
    #[must_use]
    pub fn new(settings: &ClientSettings) -> Arc<ClientShared> {
        let (in_flight_limit, waiting_limit) = (settings.requests, settings.waiting);
        let deadline = Arc::default();
        Arc::new(ClientShared { state: Signal::default(), in_flight_limit, waiting_limit, deadline })
    }

    /// Records a line of the server that is not a message, unless the line is empty, or an earlier line was recorded.
    pub(crate) fn record_invalid_line(&self, line: &[u8]) {
        let quoted = line.get(..QUOTED).unwrap_or(line);
        if !quoted.is_empty() {
            self.state.with(|state| {
                state.invalid_line.get_or_insert_with(|| String::from_utf8_lossy(quoted).into_owned());
            });
        }
    }

    /// Adds details to the error of a failed attempt to connect. If the connection closed, the details include the exit
    /// status of a child process. If the connection closed or the timeout expired, the details include the first line
    /// of the server that was not a message.
    #[must_use]
    pub fn connect_error(&self, error: ConnectError, status: Option<ExitStatus>) -> ConnectError {
        let error = match error {
            ConnectError::Closed(_) => ConnectError::Closed(status),
            ConnectError::TimedOut => error,
            _ => return error,
        };
        match self.state.with(|state| state.invalid_line.take()) {
            Some(line) => ConnectError::InvalidOutput { line, error: Box::new(error) },
            None => error,
        }
    }

    /// Records the process id of a child process. `None` means that there is no process, or that the client is stopping
    /// the process.
    pub fn set_process_id(&self, id: Option<u32>) {
        self.state.with(|state| state.process_id = id);
    }

    pub(crate) fn process_id(&self) -> Option<u32> {
        self.state.with(|state| state.process_id)
    }

    /// Returns the maximum number of requests in flight.
    pub(crate) fn in_flight_limit(&self) -> usize {
        self.in_flight_limit
    }

    /// Returns the maximum number of requests that are in flight or wait to be sent.
    pub(crate) fn request_limit(&self) -> usize {
        self.in_flight_limit.saturating_add(self.waiting_limit)
    }

    /// Marks a new connection as open, possibly after an earlier connection closed. A client that is permanently
    /// closed stays closed.
    pub(crate) fn open_connection(&self, wake: Wake) {
        self.state.with(|state| {
            state.is_closed = state.final_status.is_some();
            state.wake = Some(wake);
        });
    }

    /// Marks the connection as closed and returns the commands that were not executed.
    pub(crate) fn close_connection(&self) -> VecDeque<Command> {
        self.state.with(|state| {
            (state.is_closed, state.wake) = (true, None);
            mem::take(&mut state.commands)
        })
    }

    pub(crate) fn start(&self, request: Arc<RequestState>) -> Result<(), CallError> {
        self.state.with(|state| {
            if state.is_closed {
                return Err(CallError::Closed);
            }
            if state.requests >= self.request_limit() {
                return Err(CallError::Busy);
            }
            state.requests += 1;
            Ok(())
        })?;
        self.send(Command::Start(request));
        Ok(())
    }

    pub(crate) fn cancel(&self, ticket: Ticket, reason: &str) {
        self.send(Command::Cancel(ticket, reason.into()));
    }

    /// Queues a command. If `is_closed`, requests fail with `Closed`, and other commands are dropped.
    pub(crate) fn send(&self, command: Command) {
        let queued = self.state.with(|state| {
            if state.is_closed {
                return Err(command);
            }
            state.commands.push_back(command);
            Ok(state.wake.clone())
        });
        match queued {
            Ok(wake) => wake.iter().for_each(|wake| wake()),
            Err(Command::Start(request)) => request.complete(Err(CallError::Closed)),
            Err(_) => {}
        }
    }

    pub(crate) fn take_commands(&self) -> VecDeque<Command> {
        self.state.with(|state| mem::take(&mut state.commands))
    }

    /// Closes the connection. The client writes unsent messages during its grace period. `within` limits the whole
    /// close, as [`CloseDeadline`] describes. `None` sets no such limit.
    pub fn close(&self, within: Option<Duration>) {
        self.send(Command::Close(within.map(|time| self.deadline.set(time))));
    }

    /// Returns the time limit of [`close`](ClientShared::close).
    #[must_use]
    pub fn close_deadline(&self) -> &Arc<CloseDeadline> {
        &self.deadline
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.state.with(|state| state.is_closed)
    }

    /// Releases the slot of a request that has ended. A repeated call has no effect.
    pub(crate) fn release_slot(&self, request: &RequestState) {
        if request.release_slot() {
            self.state.with(|state| state.requests = state.requests.saturating_sub(1));
        }
    }

    /// Adds a queue that receives every later notification. Closes the queue if the client is permanently closed.
    pub fn add_queue(&self, queue: &Arc<NotificationQueue>) {
        let is_final = self.state.with(|state| {
            if state.final_status.is_none() {
                // `broadcast` also removes dropped queues, but a silent server never triggers `broadcast`.
                state.queues.retain(|queue| queue.strong_count() > 0);
                state.queues.push(Arc::downgrade(queue));
            }
            state.final_status.is_some()
        });
        if is_final {
            queue.close();
        }
    }

    pub(crate) fn broadcast(&self, notification: &Notification) {
        let queues: Vec<Arc<NotificationQueue>> = self.state.with(|state| {
            state.queues.retain(|queue| queue.strong_count() > 0);
            state.queues.iter().filter_map(Weak::upgrade).collect()
        });
        queues.iter().for_each(|queue| queue.push(notification.clone()));
    }

    /// Waits until the connection is closed and no other connection follows. Returns the exit status of a child
    /// process, or `None` if there is no status.
    pub async fn wait_closed(&self) -> Option<ExitStatus> {
        self.state.wait_until(|state| state.final_status).await
    }

    /// Returns a guard that marks the client as permanently closed on drop, even during a panic. Then
    /// [`wait_closed`](ClientShared::wait_closed) returns.
    #[must_use]
    pub fn close_guard(self: &Arc<Self>) -> ClientCloseGuard {
        ClientCloseGuard { shared: Arc::clone(self), status: None }
    }
}

/// A guard that marks a client as permanently closed on drop.
#[derive(Debug)]
pub struct ClientCloseGuard {
    shared: Arc<ClientShared>,
    status: Option<ExitStatus>,
}

impl ClientCloseGuard {
    /// Marks the client as permanently closed. `status` is the exit status of its child process, if there is one.
    pub fn close_with(mut self, status: Option<ExitStatus>) {
        self.status = status;
    }
}

impl Drop for ClientCloseGuard {
    fn drop(&mut self) {
        let queues = self.shared.state.update(|state| {
            state.is_closed = true;
            state.final_status = Some(self.status);
            mem::take(&mut state.queues)
        });
        queues.iter().filter_map(Weak::upgrade).for_each(|queue| queue.close());
    }
}

impl std::fmt::Debug for ClientShared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ClientShared").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_queues_are_removed() {
        let shared = ClientShared::new(&ClientSettings::new("test".into(), "1".into()));
        let kept = Arc::<NotificationQueue>::default();
        shared.add_queue(&kept);
        for _ in 0..100 {
            shared.add_queue(&Arc::default());
        }
        assert!(shared.state.with(|state| state.queues.len()) <= 2);
    }
}
