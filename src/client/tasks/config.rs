//! Configuration of the tasks that a client follows: limits of polls and duration.

use crate::client::config::ClientConfig;
use crate::client::tasks::hooks::TaskHooks;
use crate::json::Json;
use crate::protocol::objects::task::{EXTENSION, poll_interval};
use crate::protocol::revision::{Revision, WireFeature};
use crate::time::Millis;

/// Limits of the tasks that a client follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TaskLimits {
    /// The time between polls if the server suggests none. Default: one second.
    pub interval: Millis,
    /// The minimum time between polls. Default: 100 milliseconds.
    pub shortest_interval: Millis,
    /// The maximum time between polls. Default: one minute.
    pub longest_interval: Millis,
    /// The maximum duration of a task, from its creation or from the call of `resume_task`. Default: one hour.
    ///
    /// When this time is over, the call fails with [`TimedOut`](crate::RequestFailure::TimedOut). The client then also
    /// cancels the task, if the server supports `tasks/cancel`. For a call that becomes a task, this limit replaces the
    /// maximum in the options of the call. [`Options::timeout`](crate::client::Options::timeout) then limits each
    /// request about the task, except `tasks/result`.
    pub maximum: Millis,
    /// Whether the client subscribes to a task whose first status is `working` (`2026-07-28`). Default: false.
    ///
    /// If the server grants the subscription, notifications replace most polls: the client then waits at least
    /// `longest_interval` between polls. If the server does not grant the subscription, the client polls as if this
    /// field were `false`. Each subscription takes a slot in addition to the slot of the call.
    pub listens: bool,
}

impl TaskLimits {
    /// The default limits.
    pub const DEFAULT: TaskLimits = TaskLimits {
        interval: Millis::seconds(1),
        shortest_interval: Millis(100),
        longest_interval: Millis::seconds(60),
        maximum: Millis::seconds(3600),
        listens: false,
    };

    /// Returns the time until the next poll of a task: the server's suggestion or the default, within the limits.
    pub(crate) fn interval(&self, task: Json<'_>) -> Millis {
        let suggested = poll_interval(task).unwrap_or(self.interval);
        // Not `clamp`, because `clamp` panics if the bounds are in the wrong order.
        suggested.min(self.longest_interval).max(self.shortest_interval)
    }
}

impl Default for TaskLimits {
    fn default() -> Self {
        TaskLimits::DEFAULT
    }
}

/// The task support of a configuration. Only this value refers to the hooks, so clients without task support do not
/// link the hooks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TaskConfig {
    pub(crate) limits: TaskLimits,
    pub(crate) hooks: &'static TaskHooks,
}

impl ClientConfig<'_> {
    /// Allows tool calls to become tasks (since `2025-11-25`). By default, calls never become tasks.
    ///
    /// A call that becomes a task still ends with one [`Event::Response`](crate::client::Event::Response), which has
    /// the outcome of the call. The client polls the task by itself. [`Event::Task`](crate::client::Event::Task) has
    /// the id of the task. After a restart, [`Client::resume_task`](crate::Client::resume_task) continues with this id.
    /// The client emits the input requests of a task in the same way as the input requests of a call.
    /// [`Client::cancel`](crate::Client::cancel) cancels the task, if the server supports `tasks/cancel`.
    ///
    /// - `2026-07-28`: the client declares the extension, and the server decides which calls become tasks.
    /// - `2025-11-25`: a call becomes a task only with [`Options::task`](crate::client::Options::task).
    ///
    /// A task stays in the slot of its call. The text of the slot stores a header of 18 bytes, the id of the task as
    /// JSON, and four bytes for each input request. If the text has less space, the call fails with
    /// [`StateTooLong`](crate::RequestFailure::StateTooLong). The client then also cancels the task, if the server
    /// supports `tasks/cancel` and the transmit buffer has space.
    ///
    /// ```
    /// use mcp_proto::client::{ClientConfig, TaskLimits};
    /// static CONFIG: ClientConfig = ClientConfig::new("my-host", "1.2.0").tasks(TaskLimits::DEFAULT);
    /// ```
    #[must_use]
    pub const fn tasks(mut self, limits: TaskLimits) -> Self {
        self.tasks = Some(TaskConfig { limits, hooks: &TaskHooks::CODE });
        self
    }

    /// Returns the name and the settings of the extension of tasks, or nothing if the client does not declare the
    /// extension in this revision.
    pub(crate) fn task_extension(&self, revision: Revision) -> &'static [(&'static str, &'static str)] {
        match self.tasks {
            Some(_) if revision.has(WireFeature::TasksExtension) => &[(EXTENSION, "{}")],
            _ => &[],
        }
    }
}
