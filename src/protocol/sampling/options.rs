//! Sampling options: context and tool choice.
//!
//! Specification: *Sampling*.

use crate::protocol::named_values::named_values;

named_values! {
    /// The context of MCP servers to include in the model's prompt.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum IncludeContext {
        /// No context.
        None = "none",
        /// The context of the requesting server.
        ThisServer = "thisServer",
        /// The context of all servers.
        AllServers = "allServers",
    }

    const ALL;
    pub(crate) fn from_json;
}

named_values! {
    /// Whether the model may, must or must not call tools.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
    pub enum ToolChoice {
        /// Optional tool calls.
        Auto = "auto",
        /// At least one tool call.
        Required = "required",
        /// No tool calls.
        None = "none",
    }

    const ALL;
    pub(crate) fn from_json;
}
