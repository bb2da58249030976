//! Tasks that the client runs for its server (`2025-11-25`).
//!
//! A request of the server for sampling or elicitation may request a task. The client then responds with the task, and
//! stores the application's response for the server until the task expires or is removed. Only
//! [`ClientConfig::client_tasks`](crate::client::ClientConfig::client_tasks) refers to the code of the
//! [`ClientTaskHooks`](hooks::ClientTaskHooks), so clients without such tasks do not link this module.
//!
//! Specification: 2025-11-25, *Tasks*.

pub(crate) mod config;
mod create;
mod deliver;
pub(crate) mod hooks;
mod requests;
