//! Views of sampling requests.

use crate::client::views::{BlockView, ContentView, ToolView, list, number, text, view};
use crate::json::{Decimal, Json, Str};
use crate::protocol::annotations::Role;
use crate::protocol::sampling_options::{IncludeContext, ToolChoice};

view! {
    /// A sampling request: a message for a model to generate. The application should show it to the user, who may
    /// change or decline it.
    ///
    /// Specification: *Sampling*.
    CreateMessageView with meta
}

impl<'a> CreateMessageView<'a> {
    /// The messages of the conversation so far.
    pub fn messages(&self) -> impl Iterator<Item = SampleMessageView<'a>> + use<'a> {
        list(self.json, "messages").map(SampleMessageView::from_json)
    }

    /// The maximum number of tokens to generate, which is binding.
    #[must_use]
    pub fn max_tokens(&self) -> u64 {
        self.json.get("maxTokens").and_then(Json::unsigned).unwrap_or(0)
    }

    /// The system prompt that the server prefers.
    #[must_use]
    pub fn system_prompt(&self) -> Option<Str<'a>> {
        text(self.json, "systemPrompt")
    }

    /// The temperature that the server prefers.
    #[must_use]
    pub fn temperature(&self) -> Option<Decimal> {
        number(self.json, "temperature")
    }

    /// Strings that stop the generation.
    pub fn stop_sequences(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.json, "stopSequences").filter_map(Json::string)
    }

    /// The server's preferences for the choice of a model.
    #[must_use]
    pub fn model_preferences(&self) -> Option<ModelPreferencesView<'a>> {
        self.json.get("modelPreferences").map(ModelPreferencesView::from_json)
    }

    /// The context of MCP servers that the server wants in the prompt. The application may ignore it.
    #[must_use]
    pub fn include_context(&self) -> IncludeContext {
        self.json.get("includeContext").and_then(IncludeContext::from_json).unwrap_or(IncludeContext::None)
    }

    /// The tools that the model may use. Only for clients that declared
    /// [`SAMPLING_TOOLS`](crate::ClientCapabilities::SAMPLING_TOOLS).
    pub fn tools(&self) -> impl Iterator<Item = ToolView<'a>> + use<'a> {
        list(self.json, "tools").map(ToolView::from_json)
    }

    /// Whether the model may or must use the tools.
    #[must_use]
    pub fn tool_choice(&self) -> ToolChoice {
        let mode = self.json.get("toolChoice").and_then(|choice| choice.get("mode"));
        mode.and_then(ToolChoice::from_json).unwrap_or(ToolChoice::Auto)
    }

    /// Metadata for the provider of the model.
    #[must_use]
    pub fn metadata(&self) -> Option<Json<'a>> {
        self.json.get("metadata").filter(|metadata| !metadata.is_null())
    }
}

view! {
    /// A server's preferences for the choice of a model.
    ModelPreferencesView
}

impl<'a> ModelPreferencesView<'a> {
    /// Substrings of model names, the preferred first.
    pub fn hints(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.json, "hints").filter_map(|hint| text(hint, "name"))
    }

    /// The priority of a low cost, from 0 to 1.
    #[must_use]
    pub fn cost(&self) -> Option<Decimal> {
        number(self.json, "costPriority")
    }

    /// The priority of speed, from 0 to 1.
    #[must_use]
    pub fn speed(&self) -> Option<Decimal> {
        number(self.json, "speedPriority")
    }

    /// The priority of intelligence, from 0 to 1.
    #[must_use]
    pub fn intelligence(&self) -> Option<Decimal> {
        number(self.json, "intelligencePriority")
    }
}

view! {
    /// A message of the conversation.
    SampleMessageView with meta
}

impl<'a> SampleMessageView<'a> {
    /// The role of the speaker.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        Role::from_json(self.json.get("role")?)
    }

    /// The content of the message, one item per block. A single block and an array are read alike.
    pub fn content(&self) -> impl Iterator<Item = ContentView<'a>> + use<'a> {
        self.blocks().map(|block| block.content())
    }

    /// The content blocks of the message, with their annotations.
    pub fn blocks(&self) -> impl Iterator<Item = BlockView<'a>> + use<'a> {
        BlockView::one_or_many(self.json.get("content"))
    }
}
