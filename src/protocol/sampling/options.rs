//! Sampling options: context and tool choice.
//!
//! Specification: *Sampling*.

use crate::json::Json;

/// The context of MCP servers to include in the model's prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IncludeContext {
    /// No context.
    None,
    /// The context of the requesting server.
    ThisServer,
    /// The context of all servers.
    AllServers,
}

impl IncludeContext {
    /// Returns the name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            IncludeContext::None => "none",
            IncludeContext::ThisServer => "thisServer",
            IncludeContext::AllServers => "allServers",
        }
    }

    pub(crate) fn from_json(json: Json<'_>) -> Option<IncludeContext> {
        let text = json.string()?;
        let all = [IncludeContext::None, IncludeContext::ThisServer, IncludeContext::AllServers];
        all.into_iter().find(|context| text == context.as_str())
    }
}

/// Whether the model may, must or must not call tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolChoice {
    /// Optional tool calls.
    Auto,
    /// At least one tool call.
    Required,
    /// No tool calls.
    None,
}

impl ToolChoice {
    /// Returns the name on the wire.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            ToolChoice::Auto => "auto",
            ToolChoice::Required => "required",
            ToolChoice::None => "none",
        }
    }

    pub(crate) fn from_json(json: Json<'_>) -> Option<ToolChoice> {
        let text = json.string()?;
        let all = [ToolChoice::Auto, ToolChoice::Required, ToolChoice::None];
        all.into_iter().find(|choice| text == choice.as_str())
    }
}
