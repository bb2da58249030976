//! Tasks: their updates by server handles, and calls that become tasks.

use mcp_proto::SendError;
use mcp_proto::server::{Task, TaskTicket};

use crate::pending::PendingCall;
use crate::server_command::ServerCommand;
use crate::server_shared::ServerShared;
use crate::views::CallResult;

impl ServerShared {
    /// Updates or ends a task on the event loop, unless the task has ended.
    ///
    /// If `update` returns [`SendError::Busy`], the event loop calls `update` again when the transmit buffer has
    /// space. The event loop ignores other errors.
    pub fn update_task(
        &self,
        ticket: TaskTicket,
        update: impl FnMut(Task<'_>) -> Result<(), SendError> + Send + 'static,
    ) {
        self.push(ServerCommand::task(ticket, update));
    }
}

/// The first response to a call that may become a task: see
/// [`ClientHandle::call_task`](crate::ClientHandle::call_task).
#[derive(Debug)]
pub enum TaskCall<C = PendingCall> {
    /// The call has become a task.
    Task {
        /// The id of the task, for [`resume_task`](crate::ClientHandle::resume_task) after the application restarts.
        id: String,
        /// The call, which ends with the result of the tool. Dropping the call cancels the task. To leave the task to a
        /// later connection, [detach](crate::PendingRequest::detach) the call.
        call: C,
    },
    /// The server has responded without a task.
    Result(CallResult),
}
