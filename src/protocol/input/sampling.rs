//! Sampling requests of a server.
//!
//! Specification: *Sampling*.

use crate::json::{Decimal, Writer};
use crate::protocol::annotations::Role;
use crate::protocol::base_metadata::not_an_object;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::input::content_block::Block;
use crate::protocol::input::{Input, Sealed, To};
use crate::protocol::methods;
use crate::protocol::revision::{Revision, Revisions, WireFeature};
use crate::protocol::sampling_options::{IncludeContext, ToolChoice};
use crate::server::Tool;

/// A request for the client's model to continue a conversation. Read the result with
/// [`SampledView::from_json`](super::SampledView::from_json).
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

/// A message of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct SampleMessage<'a> {
    role: Role,
    content: Content<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Content<'a> {
    One(Block<'a>),
    Many(&'a [Block<'a>]),
}

impl<'a> SampleMessage<'a> {
    /// A text message of the user.
    #[must_use]
    pub const fn user(text: &'a str) -> SampleMessage<'a> {
        SampleMessage { role: Role::User, content: Content::One(Block::text(text)) }
    }

    /// A text message of the model.
    #[must_use]
    pub const fn assistant(text: &'a str) -> SampleMessage<'a> {
        SampleMessage { role: Role::Assistant, content: Content::One(Block::text(text)) }
    }

    /// A message of several content blocks. Revisions before `2025-11-25` allow one block per message, so each block
    /// becomes a message there.
    #[must_use]
    pub const fn new(role: Role, content: &'a [Block<'a>]) -> SampleMessage<'a> {
        SampleMessage { role, content: Content::Many(content) }
    }

    fn blocks(&self) -> &[Block<'a>] {
        match &self.content {
            Content::One(block) => core::slice::from_ref(block),
            Content::Many(blocks) => blocks,
        }
    }

    fn write(&self, revision: Revision, out: &mut Writer<'_>) -> bool {
        let mut valid = true;
        let mut write = |blocks: &[Block<'_>]| {
            out.begin_object();
            out.field_string("role", self.role.as_str());
            out.key("content");
            match blocks {
                [block] => valid &= block.write(revision, out),
                blocks => {
                    out.begin_array();
                    blocks.iter().for_each(|block| valid &= block.write(revision, out));
                    out.end_array();
                }
            }
            out.end_object();
        };
        match self.blocks() {
            blocks if revision.has(WireFeature::SamplingBlocks) => write(blocks),
            blocks => blocks.chunks(1).for_each(write),
        }
        valid
    }
}

/// Preferences for the choice of a model. The client decides.
#[derive(Debug, Clone, Copy)]
pub struct ModelPreferences<'a> {
    hints: &'a [&'a str],
    cost: Option<Decimal>,
    speed: Option<Decimal>,
    intelligence: Option<Decimal>,
}

impl<'a> ModelPreferences<'a> {
    /// Creates preferences with hints: names of models or families, or substrings such as `sonnet`, the preferred
    /// first.
    #[must_use]
    pub const fn new(hints: &'a [&'a str]) -> ModelPreferences<'a> {
        ModelPreferences { hints, cost: None, speed: None, intelligence: None }
    }

    /// Sets the priority of a low cost, from 0 to 1.
    #[must_use]
    pub const fn cost(mut self, priority: Decimal) -> Self {
        self.cost = Some(priority);
        self
    }

    /// Sets the priority of speed, from 0 to 1.
    #[must_use]
    pub const fn speed(mut self, priority: Decimal) -> Self {
        self.speed = Some(priority);
        self
    }

    /// Sets the priority of intelligence, from 0 to 1.
    #[must_use]
    pub const fn intelligence(mut self, priority: Decimal) -> Self {
        self.intelligence = Some(priority);
        self
    }

    // Not inlined, so that its stack frame is gone while the messages are written.
    #[inline(never)]
    fn write(&self, out: &mut Writer<'_>) {
        out.key("modelPreferences");
        out.begin_object();
        if !self.hints.is_empty() {
            out.key("hints");
            out.begin_array();
            for hint in self.hints {
                out.begin_object();
                out.field_string("name", hint);
                out.end_object();
            }
            out.end_array();
        }
        let priorities = [
            ("costPriority", self.cost),
            ("speedPriority", self.speed),
            ("intelligencePriority", self.intelligence),
        ];
        for (key, priority) in priorities {
            if let Some(priority) = priority {
                out.key(key);
                // Not `clamp`, because it keeps a panic for invalid bounds.
                out.decimal(priority.max(Decimal::ZERO).min(Decimal::new(1, 0)));
            }
        }
        out.end_object();
    }
}

impl<'a> CreateMessage<'a> {
    /// Creates a request with a conversation and the maximum number of tokens to generate.
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

    /// Sets the context of MCP servers to include. From `2025-11-25` on it is omitted, which means none, for clients
    /// that did not declare [`SAMPLING_CONTEXT`](ClientCapabilities::SAMPLING_CONTEXT).
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

    /// Sets metadata for the provider of the model: the JSON text of an object.
    #[must_use]
    pub const fn metadata(mut self, object: &'a str) -> Self {
        self.metadata = Some(object);
        self
    }

    /// Sets the tools that the model may call (from `2025-11-25` on, if the client declared
    /// [`SAMPLING_TOOLS`](ClientCapabilities::SAMPLING_TOOLS)). The server executes them itself.
    #[must_use]
    pub const fn tools(mut self, tools: &'a [Tool<'a>]) -> Self {
        self.tools = tools;
        self
    }

    /// Sets whether the model may, must or must not call the tools.
    #[must_use]
    pub const fn tool_choice(mut self, choice: ToolChoice) -> Self {
        self.tool_choice = Some(choice);
        self
    }

    fn needs_tools(&self) -> bool {
        !self.tools.is_empty()
            || self.tool_choice.is_some()
            || self.messages.iter().any(|message| message.blocks().iter().any(Block::needs_tools))
    }

    /// Whether every tool use has its result in the next message, which is the user's and has only results.
    fn tool_uses_have_results(&self) -> bool {
        let mut calls: &[Block<'_>] = &[];
        for message in self.messages {
            let blocks = message.blocks();
            let results = || blocks.iter().filter_map(Block::tool_result_id);
            let answered = results().count() == blocks.len() && message.role == Role::User;
            let mut open = calls.iter().filter_map(Block::tool_use_id).peekable();
            if open.peek().is_some() && !(answered && open.all(|call| results().any(|id| id == call))) {
                return false;
            }
            let known = |id| calls.iter().filter_map(Block::tool_use_id).any(|call| call == id);
            if results().next().is_some() && !(answered && results().all(known)) {
                return false;
            }
            let may_call = message.role == Role::Assistant;
            if !may_call && blocks.iter().any(|block| block.tool_use_id().is_some()) {
                return false;
            }
            calls = blocks;
        }
        !calls.iter().any(|block| block.tool_use_id().is_some())
    }

    fn write_tools(&self, revision: Revision, out: &mut Writer<'_>) -> bool {
        if !self.tools.is_empty() {
            out.key("tools");
            out.begin_array();
            self.tools.iter().for_each(|tool| tool.write(revision, out));
            out.end_array();
        }
        if let Some(choice) = self.tool_choice {
            out.key("toolChoice");
            out.begin_object();
            out.field_string("mode", choice.as_str());
            out.end_object();
        }
        self.tools.iter().all(|tool| not_an_object(tool.objects()).is_none())
    }
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
        out.key("messages");
        out.begin_array();
        self.messages.iter().for_each(|message| valid &= message.write(recipient.revision, out));
        out.end_array();
        out.field_integer("maxTokens", self.max_tokens.into());
        if let Some(preferences) = self.preferences {
            preferences.write(out);
        }
        if let Some(prompt) = self.system_prompt {
            out.field_string("systemPrompt", prompt);
        }
        let has_context = !recipient.revision.has(WireFeature::SamplingTools)
            || recipient.client.has(ClientCapabilities::SAMPLING_CONTEXT)
            || self.include_context == Some(IncludeContext::None);
        if let Some(context) = self.include_context.filter(|_| has_context) {
            out.field_string("includeContext", context.as_str());
        }
        if let Some(temperature) = self.temperature {
            out.key("temperature");
            out.decimal(temperature);
        }
        if !self.stop_sequences.is_empty() {
            out.key("stopSequences");
            out.begin_array();
            self.stop_sequences.iter().for_each(|text| out.string(text));
            out.end_array();
        }
        if let Some(metadata) = self.metadata {
            out.key("metadata");
            valid &= out.raw_object(metadata);
        }
        valid && self.write_tools(recipient.revision, out)
    }
}
