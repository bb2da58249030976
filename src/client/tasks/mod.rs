//! Tasks that the server runs: calls whose result the client fetches later.
//!
//! A call that becomes a task keeps its slot and its ticket. The text of the slot stores the task (`record.rs`). The
//! rest of the client reaches tasks only through [`TaskHooks`](hooks::TaskHooks), so that clients without tasks do not
//! link this module.
//!
//! Specification: 2025-11-25, *Tasks*; the extension *Tasks* of `2026-07-28`.

pub(crate) mod config;
mod follow_up;
pub(crate) mod hooks;
mod listen;
mod receive;
pub(crate) mod record;
mod resume;

pub use crate::client::tasks::config::TaskLimits;
