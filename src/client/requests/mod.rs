//! Functions of the client that send requests: tool calls, lists, resources, prompts, completion, skills.

pub(crate) mod features;
pub(crate) mod send;
pub(crate) mod skills;
