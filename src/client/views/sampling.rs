//! What a model is to say.

use crate::client::views::{Block, Content, Tool, list, number, text, view};
use crate::json::{Decimal, Json, Str};
use crate::protocol::annotations::Role;
use crate::protocol::sampling_options::{IncludeContext, ToolChoice};

view! {
    /// Something for a model to say. The user should see it, and be free to change it or to say no.
    ///
    /// Specification: *Sampling*.
    Sample with meta
}

impl<'a> Sample<'a> {
    /// What was said so far.
    pub fn messages(&self) -> impl Iterator<Item = SampleMessage<'a>> + use<'a> {
        list(self.json, "messages").map(SampleMessage::from_json)
    }

    /// The most tokens that may be generated. This has to be kept to.
    #[must_use]
    pub fn max_tokens(&self) -> u64 {
        self.json.get("maxTokens").and_then(Json::unsigned).unwrap_or(0)
    }

    /// The system prompt that the server would like.
    #[must_use]
    pub fn system_prompt(&self) -> Option<Str<'a>> {
        text(self.json, "systemPrompt")
    }

    /// The temperature that it would like.
    #[must_use]
    pub fn temperature(&self) -> Option<Decimal> {
        number(self.json, "temperature")
    }

    /// Texts that end what is generated.
    pub fn stop_sequences(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.json, "stopSequences").filter_map(Json::string)
    }

    /// Which model it would like.
    #[must_use]
    pub fn model_preferences(&self) -> Option<ModelPreferences<'a>> {
        self.json.get("modelPreferences").map(ModelPreferences::from_json)
    }

    /// How much of what servers have told it would like the model to know. It may be ignored.
    #[must_use]
    pub fn include_context(&self) -> IncludeContext {
        self.json.get("includeContext").and_then(IncludeContext::from_json).unwrap_or(IncludeContext::None)
    }

    /// The tools that the model may use. There are some only if the client declared
    /// [`SAMPLING_TOOLS`](crate::ClientCapabilities::SAMPLING_TOOLS).
    pub fn tools(&self) -> impl Iterator<Item = Tool<'a>> + use<'a> {
        list(self.json, "tools").map(Tool::from_json)
    }

    /// Whether it is to use them.
    #[must_use]
    pub fn tool_choice(&self) -> ToolChoice {
        let mode = self.json.get("toolChoice").and_then(|choice| choice.get("mode"));
        mode.and_then(ToolChoice::from_json).unwrap_or(ToolChoice::Auto)
    }

    /// What is meant for the provider of the model.
    #[must_use]
    pub fn metadata(&self) -> Option<Json<'a>> {
        self.json.get("metadata").filter(|metadata| !metadata.is_null())
    }
}

view! {
    /// Which model a server would like.
    ModelPreferences
}

impl<'a> ModelPreferences<'a> {
    /// Parts of names of models, the best first.
    pub fn hints(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.json, "hints").filter_map(|hint| text(hint, "name"))
    }

    /// How much a low price matters, from 0 to 1.
    #[must_use]
    pub fn cost(&self) -> Option<Decimal> {
        number(self.json, "costPriority")
    }

    /// How much speed matters, from 0 to 1.
    #[must_use]
    pub fn speed(&self) -> Option<Decimal> {
        number(self.json, "speedPriority")
    }

    /// How much intelligence matters, from 0 to 1.
    #[must_use]
    pub fn intelligence(&self) -> Option<Decimal> {
        number(self.json, "intelligencePriority")
    }
}

view! {
    /// A message of what was said so far.
    SampleMessage with meta
}

impl<'a> SampleMessage<'a> {
    /// Who says it.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        Role::from_json(self.json.get("role")?)
    }

    /// What is said, piece by piece, whether the server wrote one or several.
    pub fn content(&self) -> impl Iterator<Item = Content<'a>> + use<'a> {
        self.blocks().map(|block| block.content())
    }

    /// What is said, piece by piece, with what is said about each.
    pub fn blocks(&self) -> impl Iterator<Item = Block<'a>> + use<'a> {
        Block::one_or_many(self.json.get("content"))
    }
}
