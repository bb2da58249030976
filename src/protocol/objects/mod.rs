//! Objects of the protocol: writers and views, one file for each kind.

pub(crate) mod annotations;
pub(crate) mod application_json;
pub(crate) mod base64;
pub(crate) mod base_metadata;
pub(crate) mod cache_hints;
pub(crate) mod completion;
pub(crate) mod const_text;
pub(crate) mod content;
pub(crate) mod frontmatter;
pub(crate) mod icon;
pub(crate) mod implementation;
pub(crate) mod log_message;
pub(crate) mod optional_members;
pub(crate) mod prompt;
pub(crate) mod prompt_result;
pub(crate) mod resource;
pub(crate) mod resource_contents;
pub(crate) mod result_array;
pub(crate) mod schema_reader;
pub(crate) mod sha256;
pub(crate) mod size;
pub(crate) mod skill;
pub(crate) mod skill_rules;
pub(crate) mod skill_view;
pub(crate) mod task;
pub(crate) mod tool;
pub(crate) mod tool_headers;
pub(crate) mod tool_result;
pub(crate) mod view;

#[cfg(test)]
mod tests;
