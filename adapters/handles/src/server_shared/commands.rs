//! Applies queued commands to the server.

use mcp_proto::Server;

use super::{MAX_QUEUED_COMMANDS, ServerShared, Sessions, State};
use crate::server_command::{Delivery, ServerCommand};

impl ServerShared {
    /// Applies queued commands until one is blocked, for example by a full transmit buffer. Returns whether a command
    /// was applied, at least in part.
    pub(super) fn apply_commands(&self, server: &mut Server<'_>, sessions: &mut dyn Sessions) -> bool {
        let (mut is_new, mut paused) = (false, Vec::new());
        // The number of iterations is fixed, so that a fast sender cannot starve the event loop. Later commands wake
        // the event loop again.
        for _ in 0..self.state.with(|state| state.commands.len()) {
            let Some(mut command) = self.state.with(State::next_command) else { break };
            let is_selected = command.session_of.is_none_or(|ticket| sessions.select(server, ticket));
            match if is_selected { command.apply(server, self) } else { Delivery::Blocked } {
                Delivery::Done => {
                    command.finish_record(server);
                    drop(command);
                    is_new = true;
                    self.wake_waiters();
                }
                Delivery::Paused { has_written } => {
                    is_new |= has_written;
                    paused.push(command);
                }
                Delivery::Blocked => {
                    // The command may wait for the end of the open response, so queue it behind that response's chunks.
                    command.is_urgent = false;
                    if !self.state.with(|state| state.put_back(command)) {
                        break;
                    }
                }
            }
        }
        while let Some(command) = paused.pop() {
            self.state.with(|state| state.commands.push_front(command));
        }
        is_new
    }

    /// Adds `change` to the number of chunk writers without a write in progress.
    pub(crate) fn add_idle_writers(&self, change: isize) {
        self.state.update(|state| state.idle_writers = state.idle_writers.saturating_add_signed(change));
    }
}

impl State {
    /// Puts a blocked command back at the front of the queue, but behind urgent commands. Returns whether there are
    /// urgent commands. The command may wait for the end of the open response, so it must not block the next chunk of
    /// this response.
    fn put_back(&mut self, command: ServerCommand) -> bool {
        let urgent = self.commands.iter().take_while(|queued| queued.is_urgent).count();
        self.commands.insert(urgent, command);
        urgent > 0
    }

    /// Returns whether a sender of a notification or a request may queue its command now. Returns `true` if the queue
    /// has space, or the connection is closed. Also returns `true` if a chunk writer is idle, and the transport has one
    /// session.
    ///
    /// With one session, the open chunked response blocks the queue until the response ends. The task that owns the
    /// idle writer may be the sender, so the sender must not wait for the end of this response.
    pub(super) fn may_send(&self, has_sessions: bool) -> bool {
        let awaits_writer = self.idle_writers > 0 && !has_sessions;
        self.commands.len() < MAX_QUEUED_COMMANDS || awaits_writer || self.is_closed
    }

    fn next_command(&mut self) -> Option<ServerCommand> {
        let mut command = self.commands.pop_front()?;
        if let Some(task) = command.responds_to.and_then(|ticket| self.tasks.take(ticket)) {
            command.record = task.take_record();
        }
        Some(command)
    }
}
