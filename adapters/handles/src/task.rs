//! Updates of tasks by server handles.

use mcp_proto::SendError;
use mcp_proto::server::{Task, TaskTicket};

use crate::server_command::ServerCommand;
use crate::server_shared::ServerShared;

impl ServerShared {
    /// Updates or ends a task on the event loop, unless it has ended.
    ///
    /// If `update` returns [`SendError::Busy`], the event loop calls it again when the transmit buffer has space. The
    /// event loop ignores other errors.
    pub fn update_task(
        &self,
        ticket: TaskTicket,
        update: impl FnMut(Task<'_>) -> Result<(), SendError> + Send + 'static,
    ) {
        self.push(ServerCommand::task(ticket, update));
    }
}
