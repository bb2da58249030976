//! Features of a server: tools, resources, prompts, completion, logging, subscriptions, skills, tasks, extensions.
//!
//! The linker drops features that no configuration names.

pub(crate) mod catalog;
pub(crate) mod completion;
pub(crate) mod dynamic_list;
pub(crate) mod extension_request;
pub(crate) mod extensions;
pub(crate) mod get_prompt;
pub(crate) mod logging;
pub(crate) mod pagination;
pub(crate) mod prompts;
pub(crate) mod read_resource;
pub(crate) mod resources;
pub(crate) mod skill_directory;
pub(crate) mod skills;
pub(crate) mod subscriptions;
pub(crate) mod tasks;
pub(crate) mod tools;
