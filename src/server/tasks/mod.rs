//! Tasks: calls whose result the client fetches later.
//!
//! `create.rs` turns a call into a task, which a [`TaskTable`] stores. With a [`Task`], the application reports the
//! status of the task and ends the task. `src/peer/tasks` has the code that servers and clients share. The feature
//! `Tasks` handles the requests of clients. The rest of the server reaches tasks through
//! [`TaskHooks`](hooks::TaskHooks).
//!
//! Specification: 2025-11-25, *Tasks*; the extension *Tasks* of `2026-07-28`.

pub(crate) mod access;
pub(crate) mod automatic;
pub(crate) mod create;
pub(crate) mod deliver;
pub(crate) mod hooks;
pub(crate) mod input;
pub(crate) mod result;
pub(crate) mod table;
pub(crate) mod task;

pub use crate::peer::tasks::options::TaskOptions;
pub use crate::peer::tasks::table::{TaskSlot, TaskTicket};
pub use crate::server::tasks::input::TaskInput;
pub use crate::server::tasks::result::TaskResult;
pub use crate::server::tasks::table::TaskTable;
pub use crate::server::tasks::task::{Task, TaskOutcome};
