//! Requests of the application: tool calls, lists, resources, prompts, completion.

pub(crate) mod features;
pub(crate) mod send;
pub(crate) mod skills;
