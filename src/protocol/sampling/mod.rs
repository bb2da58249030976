//! Sampling: a server requests a message from the client's model.
//!
//! Specification: *Sampling*.

pub(crate) mod block;
pub(crate) mod message;
pub(crate) mod model_preferences;
pub(crate) mod options;
pub(crate) mod result;

use crate::json::{Decimal, Json, Str, Writer};
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::{Input, Sealed, To};
use crate::protocol::methods;
use crate::protocol::objects::annotations::Role;
use crate::protocol::objects::application_json::not_an_object;
use crate::protocol::objects::base_metadata::ListedObject;
use crate::protocol::objects::optional_members::{write_array_member, write_decimal_member};
use crate::protocol::objects::tool::{Tool, ToolView};
use crate::protocol::objects::view::{list, number, text, view};
use crate::protocol::revision::{Revision, Revisions, WireFeature};
use crate::protocol::sampling::block::{Block, use_tools};
use crate::protocol::sampling::message::{SampleMessage, SampleMessageView};
use crate::protocol::sampling::model_preferences::{ModelPreferences, ModelPreferencesView};
use crate::protocol::sampling::options::{IncludeContext, ToolChoice};

/// A request for the client's model to continue a conversation.
/// [`SampledView::from_json`](crate::input::SampledView::from_json) reads the result.
///
/// ```
/// use mcp_proto::input::{CreateMessage, SampleMessage};
/// let question = [SampleMessage::user("What is the capital of France?")];
/// let request = CreateMessage::new(&question, 100).system_prompt("Answer with one word.");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct CreateMessage<'a> {
    messages: &'a [SampleMessage<'a>],
    max_tokens: u32,
    preferences: Option<ModelPreferences<'a>>,
    system_prompt: Option<&'a str>,
    include_context: Option<IncludeContext>,
    temperature: Option<Decimal>,
    stop_sequences: &'a [&'a str],
    metadata: Option<&'a str>,
    tools: &'a [Tool<'a>],
    tool_choice: Option<ToolChoice>,
}

impl<'a> CreateMessage<'a> {
    /// Creates a request with a conversation and the maximum number of tokens.
    ///
    /// If a message contains tool uses, the next message must be a message of the user with exactly the results of
    /// these uses. Otherwise the request is not valid.
    #[must_use]
    pub const fn new(messages: &'a [SampleMessage<'a>], max_tokens: u32) -> CreateMessage<'a> {
        CreateMessage {
            messages,
            max_tokens,
            preferences: None,
            system_prompt: None,
            include_context: None,
            temperature: None,
            stop_sequences: &[],
            metadata: None,
            tools: &[],
            tool_choice: None,
        }
    }

    /// Sets the preferences for the choice of a model.
    #[must_use]
    pub const fn preferences(mut self, preferences: ModelPreferences<'a>) -> Self {
        self.preferences = Some(preferences);
        self
    }

    /// Sets the system prompt.
    #[must_use]
    pub const fn system_prompt(mut self, text: &'a str) -> Self {
        self.system_prompt = Some(text);
        self
    }

    /// Sets the context of MCP servers that the client should include in the prompt. From `2025-11-25` on, the server
    /// omits a context other than [`IncludeContext::None`] if the client did not declare
    /// [`SAMPLING_CONTEXT`](ClientCapabilities::SAMPLING_CONTEXT). The client then includes no context.
    #[must_use]
    pub const fn include_context(mut self, context: IncludeContext) -> Self {
        self.include_context = Some(context);
        self
    }

    /// Sets the sampling temperature.
    #[must_use]
    pub const fn temperature(mut self, temperature: Decimal) -> Self {
        self.temperature = Some(temperature);
        self
    }

    /// Sets the strings that stop the generation.
    #[must_use]
    pub const fn stop_sequences(mut self, sequences: &'a [&'a str]) -> Self {
        self.stop_sequences = sequences;
        self
    }

    /// Sets metadata for the model's provider, as JSON text of an object.
    #[must_use]
    pub const fn metadata(mut self, object: &'a str) -> Self {
        self.metadata = Some(object);
        self
    }

    /// Sets the tools that the model may call (from `2025-11-25` on). The client must have declared
    /// [`SAMPLING_TOOLS`](ClientCapabilities::SAMPLING_TOOLS). The server executes the tools.
    #[must_use]
    pub const fn tools(mut self, tools: &'a [Tool<'a>]) -> Self {
        self.tools = tools;
        self
    }

    /// Sets whether the model may, must or must not call the tools. The revision and the client must support
    /// [`tools`](Self::tools).
    #[must_use]
    pub const fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    fn needs_tools(&self) -> bool {
        !self.tools.is_empty()
            || self.tool_choice.is_some()
            || self.messages.iter().any(|message| use_tools(message.blocks()))
    }

    /// Returns whether every tool use has its result in the next message. A message with tool uses must have the
    /// role of the assistant. A message with results must have the role of the user, and must contain only results
    /// of the tool uses in the preceding message.
    fn tool_uses_have_results(&self) -> bool {
        // The blocks of the preceding message, if its role is the assistant.
        let mut calls: &[Block<'_>] = &[];
        for message in self.messages {
            let blocks = message.blocks();
            let valid = match message.role {
                Role::Assistant => !use_tools(calls) && !blocks.iter().any(Block::is_tool_result),
                Role::User if use_tools(calls) || use_tools(blocks) => {
                    blocks.iter().all(Block::is_tool_result)
                        && have_partners(calls, blocks)
                        && have_partners(blocks, calls)
                }
                Role::User => true,
            };
            if !valid {
                return false;
            }
            calls = if message.role == Role::Assistant { blocks } else { &[] };
        }
        !use_tools(calls)
    }

    fn write_tools(&self, revision: Revision, out: &mut Writer<'_>) -> bool {
        let mut valid = true;
        write_array_member("tools", self.tools, out, |tool, out| {
            tool.write(revision, out);
            valid &= not_an_object(tool.objects()).is_none();
        });
        if let Some(choice) = self.tool_choice {
            out.members(r#""toolChoice":{"#);
            out.field_string("mode", choice.as_str());
            out.end_object();
        }
        valid
    }
}

/// Returns whether each tool use or result in `blocks` has a block with the same id in `others`.
fn have_partners(blocks: &[Block<'_>], others: &[Block<'_>]) -> bool {
    let ids = || others.iter().filter_map(Block::tool_use_id);
    blocks.iter().filter_map(Block::tool_use_id).all(|id| ids().any(|other| other == id))
}

impl Input for CreateMessage<'_> {
    fn method(&self) -> &'static str {
        methods::SAMPLING_CREATE_MESSAGE.name
    }

    fn needs(&self) -> ClientCapabilities {
        let tools =
            if self.needs_tools() { ClientCapabilities::SAMPLING_TOOLS } else { ClientCapabilities::NONE };
        ClientCapabilities::SAMPLING.with(tools)
    }

    fn revisions(&self) -> Revisions {
        if self.needs_tools() { WireFeature::SamplingTools.revisions() } else { Revisions::ALL }
    }
}

impl Sealed for CreateMessage<'_> {
    fn write(&self, recipient: To, out: &mut Writer<'_>) -> bool {
        let mut valid = self.tool_uses_have_results();
        out.begin_array_at("messages");
        self.messages.iter().for_each(|message| valid &= message.write(recipient.revision, out));
        out.end_array();
        out.field_integer("maxTokens", self.max_tokens.into());
        if let Some(preferences) = self.preferences {
            preferences.write(out);
        }
        out.field_optional("systemPrompt", self.system_prompt);
        let has_context = !recipient.revision.has(WireFeature::SamplingTools)
            || recipient.client.has(ClientCapabilities::SAMPLING_CONTEXT)
            || self.include_context == Some(IncludeContext::None);
        let context = self.include_context.filter(|_| has_context);
        out.field_optional("includeContext", context.map(IncludeContext::as_str));
        write_decimal_member("temperature", self.temperature, out);
        write_array_member("stopSequences", self.stop_sequences, out, |text, out| out.string(text));
        if let Some(metadata) = self.metadata {
            out.key("metadata");
            valid &= out.raw_object(metadata);
        }
        valid && self.write_tools(recipient.revision, out)
    }
}

view! {
    /// A request for a model to generate a message. The application should show the request to the user. The user may
    /// change or decline the request.
    ///
    /// Specification: *Sampling*.
    CreateMessageView with meta
}

impl<'a> CreateMessageView<'a> {
    /// Returns the messages of the conversation so far.
    pub fn messages(&self) -> impl Iterator<Item = SampleMessageView<'a>> + use<'a> {
        list(self.json, "messages").map(SampleMessageView::from_json)
    }

    /// Returns the maximum number of tokens to generate, or 0 if the server sent no valid number. The client must not
    /// exceed this number.
    #[must_use]
    pub fn max_tokens(&self) -> u64 {
        self.json.get("maxTokens").and_then(Json::unsigned).unwrap_or(0)
    }

    /// Returns the system prompt that the server prefers.
    #[must_use]
    pub fn system_prompt(&self) -> Option<Str<'a>> {
        text(self.json, "systemPrompt")
    }

    /// Returns the temperature that the server prefers.
    #[must_use]
    pub fn temperature(&self) -> Option<Decimal> {
        number(self.json, "temperature")
    }

    /// Returns the strings that stop the generation.
    pub fn stop_sequences(&self) -> impl Iterator<Item = Str<'a>> + use<'a> {
        list(self.json, "stopSequences").filter_map(Json::string)
    }

    /// Returns the server's preferences for the choice of a model.
    #[must_use]
    pub fn model_preferences(&self) -> Option<ModelPreferencesView<'a>> {
        self.json.get("modelPreferences").map(ModelPreferencesView::from_json)
    }

    /// Returns the requested context of MCP servers for the prompt. If the server sends no known value, returns
    /// [`IncludeContext::None`]. The application may include less context, or none.
    #[must_use]
    pub fn include_context(&self) -> IncludeContext {
        text(self.json, "includeContext").and_then(IncludeContext::from_json).unwrap_or(IncludeContext::None)
    }

    /// Returns the tools that the model may use. A server may send tools only to a client that declared
    /// [`SAMPLING_TOOLS`](crate::ClientCapabilities::SAMPLING_TOOLS).
    pub fn tools(&self) -> impl Iterator<Item = ToolView<'a>> + use<'a> {
        list(self.json, "tools").map(ToolView::from_json)
    }

    /// Returns whether the model may, must or must not use the tools. If the server sends no known mode, returns
    /// [`ToolChoice::Auto`].
    #[must_use]
    pub fn tool_choice(&self) -> ToolChoice {
        let mode = self.json.get("toolChoice").and_then(|choice| text(choice, "mode"));
        mode.and_then(ToolChoice::from_json).unwrap_or(ToolChoice::Auto)
    }

    /// Returns the metadata for the provider of the model.
    #[must_use]
    pub fn metadata(&self) -> Option<Json<'a>> {
        self.json.get("metadata").filter(|metadata| !metadata.is_null())
    }
}
