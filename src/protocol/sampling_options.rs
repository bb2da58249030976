//! What a server may say about how a model is to be asked, whoever writes or reads it.
//!
//! Specification: *Sampling*.

use crate::json::Json;

/// How much the model should know of what servers have told the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IncludeContext {
    /// Nothing.
    None,
    /// What the server that asks has told.
    ThisServer,
    /// What all servers have told.
    AllServers,
}

impl IncludeContext {
    /// Its name in messages.
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
    /// It may.
    Auto,
    /// It must call one at least.
    Required,
    /// It must not.
    None,
}

impl ToolChoice {
    /// Its name in messages.
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
