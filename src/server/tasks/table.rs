//! The public `TaskTable` of a server: the table in `peer/tasks/table.rs`, with the hooks that handle the tasks.

use crate::peer::tasks::options::AutomaticTasks;
use crate::peer::tasks::storage::Storage;
use crate::peer::tasks::table::{TaskSlot, TaskTable as Tasks};
use crate::server::tasks::hooks::{HOOKS, TaskHooks};
use crate::time::Millis;

/// The tasks of a server.
///
/// Tasks outlive requests and, with [`keep_on_reset`](TaskTable::keep_on_reset), connections. The table needs the
/// feature [`Tasks`](crate::server::Tasks).
///
/// ```
/// use mcp_proto::server::{ServerConfig, TaskSlot, TaskTable, Tasks, Tool, Tools};
/// use mcp_proto::{Millis, Server, TaskSupport};
///
/// static TOOLS: Tools = Tools::new(&[Tool::new("measure", "{}").task_support(TaskSupport::Optional)]);
/// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&TOOLS, &Tasks::new()]);
///
/// let (mut slots, mut text) = ([TaskSlot::EMPTY; 4], [0; 4 * 256]);
/// let mut tasks = TaskTable::new(&mut slots, &mut text).wall_clock(Millis(1_785_231_000_000));
/// let (mut rx, mut tx) = ([0; 1024], [0; 1024]);
/// let server = Server::new(&CONFIG, &mut rx, &mut tx)?.tasks(&mut tasks);
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
pub struct TaskTable<'b> {
    tasks: Tasks<'b>,
    /// Only the table refers to the hooks, so that servers without tasks do not link the hooks.
    hooks: &'static TaskHooks,
}

impl<'b> TaskTable<'b> {
    /// Creates a table over lent slots. Each slot has an equal share of `text`.
    ///
    /// The share stores the progress token, the status message and the input requests of the task. If there is space,
    /// the share also stores the result of the task.
    #[must_use]
    pub fn new(slots: &'b mut [TaskSlot], text: &'b mut [u8]) -> TaskTable<'b> {
        TaskTable { tasks: Tasks::new(slots, text), hooks: &HOOKS }
    }

    /// Creates a table that grows on the heap, to `limit` tasks with up to `text` bytes of text each.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn grown(limit: usize, text: usize) -> TaskTable<'static> {
        TaskTable { tasks: Tasks::grown(limit, text), hooks: &HOOKS }
    }

    /// Sets the Unix time at the origin of the caller's clock, in milliseconds.
    ///
    /// The default is 0, so timestamps begin in 1970.
    #[must_use]
    pub fn wall_clock(mut self, origin: Millis) -> Self {
        self.tasks = self.tasks.wall_clock(origin);
        self
    }

    /// Keeps the tasks when the caller [resets](crate::Server::reset) the server for a new connection, and when a new
    /// client [restarts](crate::server::SecondInitialize::Restart) the session.
    ///
    /// By default, a reset or restart removes all tasks.
    #[must_use]
    pub fn keep_on_reset(mut self) -> Self {
        self.tasks = self.tasks.keep_on_reset();
        self
    }

    /// Sends `notifications/tasks/status` to sessions of `2025-11-25`. By default, clients poll.
    #[must_use]
    pub fn notify_sessions(mut self) -> Self {
        self.tasks = self.tasks.notify();
        self
    }

    /// Returns the number of taken slots. Ended tasks, and deferred calls that may become tasks, also take slots. A
    /// removed task takes its slot until the server has sent all pending messages about tasks.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tasks.len()
    }

    /// Returns whether no slot is taken: see [`len`](TaskTable::len).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }
}

impl core::fmt::Debug for TaskTable<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.tasks.fmt(f)
    }
}

/// The table of a server, which dereferences to the tasks.
pub(crate) struct TaskStorage<'b>(pub(crate) Storage<'b, TaskTable<'b>>);

impl TaskStorage<'_> {
    pub(crate) fn hooks(&self) -> &'static TaskHooks {
        self.0.hooks
    }

    /// Configures the calls that become tasks automatically.
    pub(crate) fn set_automatic(&mut self, automatic: AutomaticTasks) {
        self.automatic = Some(automatic);
    }
}

impl<'b> core::ops::Deref for TaskStorage<'b> {
    type Target = Tasks<'b>;

    fn deref(&self) -> &Tasks<'b> {
        &self.0.tasks
    }
}

impl<'b> core::ops::DerefMut for TaskStorage<'b> {
    fn deref_mut(&mut self) -> &mut Tasks<'b> {
        &mut self.0.tasks
    }
}
