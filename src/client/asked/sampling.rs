//! What a model is to say, as a view of the server's request.
//!
//! Specification: *Sampling*.

use crate::client::Tool;
use crate::json::{Decimal, Json, Str};

use super::views::{number, text};

/// Something for a model to say. The user should see it, and be free to change it or to say no.
#[derive(Debug, Clone, Copy)]
pub struct Sample<'a> {
    pub(crate) params: Json<'a>,
}

/// Which servers' context a sample should include.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IncludeContext {
    /// None.
    None,
    /// That of the server that asks.
    ThisServer,
    /// That of every server.
    AllServers,
}

/// Whether a model uses tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ToolChoice {
    /// As it likes.
    Auto,
    /// At least one.
    Required,
    /// None.
    None,
}

impl<'a> Sample<'a> {
    /// What was said so far.
    pub fn messages(&self) -> impl Iterator<Item = Message<'a>> {
        self.params.get("messages").unwrap_or(Json::NULL).elements().map(|message| Message { message })
    }

    /// The most tokens that may be generated. This has to be kept to.
    #[must_use]
    pub fn max_tokens(&self) -> u64 {
        self.params.get("maxTokens").and_then(Json::unsigned).unwrap_or(0)
    }

    /// The system prompt that the server would like.
    #[must_use]
    pub fn system_prompt(&self) -> Option<Str<'a>> {
        self.params.get("systemPrompt")?.string()
    }

    /// The temperature that it would like.
    #[must_use]
    pub fn temperature(&self) -> Option<Decimal> {
        number(self.params, "temperature")
    }

    /// Texts that end what is generated.
    pub fn stop_sequences(&self) -> impl Iterator<Item = Str<'a>> {
        self.params.get("stopSequences").unwrap_or(Json::NULL).elements().filter_map(Json::string)
    }

    /// Which model it would like.
    #[must_use]
    pub fn model_preferences(&self) -> Option<ModelPreferences<'a>> {
        self.params.get("modelPreferences").map(|preferences| ModelPreferences { preferences })
    }

    /// Whose context it would like to be included. It may be ignored.
    #[must_use]
    pub fn include_context(&self) -> IncludeContext {
        let context = text(self.params, "includeContext");
        match () {
            () if context == "thisServer" => IncludeContext::ThisServer,
            () if context == "allServers" => IncludeContext::AllServers,
            () => IncludeContext::None,
        }
    }

    /// The tools that the model may use. There are some only if the client declared
    /// [`SAMPLING_TOOLS`](crate::ClientCapabilities::SAMPLING_TOOLS).
    pub fn tools(&self) -> impl Iterator<Item = Tool<'a>> {
        self.params.get("tools").unwrap_or(Json::NULL).elements().map(Tool::of)
    }

    /// Whether it is to use them.
    #[must_use]
    pub fn tool_choice(&self) -> ToolChoice {
        let mode = self.params.get("toolChoice").map_or(Str::trusted(b""), |choice| text(choice, "mode"));
        match () {
            () if mode == "required" => ToolChoice::Required,
            () if mode == "none" => ToolChoice::None,
            () => ToolChoice::Auto,
        }
    }

    /// What is meant for the provider of the model.
    #[must_use]
    pub fn metadata(&self) -> Option<Json<'a>> {
        self.params.get("metadata").filter(|metadata| !metadata.is_null())
    }

    /// The whole parameters.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.params
    }
}

/// Which model a server would like.
#[derive(Debug, Clone, Copy)]
pub struct ModelPreferences<'a> {
    preferences: Json<'a>,
}

impl<'a> ModelPreferences<'a> {
    /// Parts of names of models, the best first.
    pub fn hints(&self) -> impl Iterator<Item = Str<'a>> {
        let hints = self.preferences.get("hints").unwrap_or(Json::NULL);
        hints.elements().filter_map(|hint| hint.get("name")?.string())
    }

    /// How much a low price matters, from 0 to 1.
    #[must_use]
    pub fn cost(&self) -> Option<Decimal> {
        number(self.preferences, "costPriority")
    }

    /// How much speed matters, from 0 to 1.
    #[must_use]
    pub fn speed(&self) -> Option<Decimal> {
        number(self.preferences, "speedPriority")
    }

    /// How much intelligence matters, from 0 to 1.
    #[must_use]
    pub fn intelligence(&self) -> Option<Decimal> {
        number(self.preferences, "intelligencePriority")
    }
}

/// A message of what was said so far.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    pub(crate) message: Json<'a>,
}

/// A piece of a [`Message`].
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum Block<'a> {
    /// Text.
    Text(Str<'a>),
    /// A picture: base64, and its MIME type.
    Image {
        /// Base64.
        data: Str<'a>,
        /// The MIME type.
        mime_type: Str<'a>,
    },
    /// Sound: base64, and its MIME type.
    Audio {
        /// Base64.
        data: Str<'a>,
        /// The MIME type.
        mime_type: Str<'a>,
    },
    /// The model wants a tool to be used.
    ToolUse {
        /// Its name for the result.
        id: Str<'a>,
        /// The tool.
        name: Str<'a>,
        /// The arguments.
        input: Json<'a>,
    },
    /// What came of that.
    ToolResult {
        /// Which use it is the result of.
        tool_use_id: Str<'a>,
        /// The content: an array.
        content: Json<'a>,
        /// The structured content, if there is some.
        structured: Option<Json<'a>>,
        /// Whether the tool failed.
        is_error: bool,
    },
    /// Something else, as the server wrote it.
    Other(Json<'a>),
}

impl<'a> Message<'a> {
    /// Whether the model said it, and not the user.
    #[must_use]
    pub fn is_by_assistant(&self) -> bool {
        text(self.message, "role") == "assistant"
    }

    /// Its content, piece by piece, whether the server wrote one or several.
    pub fn content(&self) -> impl Iterator<Item = Block<'a>> {
        self.blocks().map(Block::of)
    }

    /// The whole message.
    #[must_use]
    pub fn raw(&self) -> Json<'a> {
        self.message
    }

    pub(crate) fn blocks(&self) -> impl Iterator<Item = Json<'a>> {
        let content = self.message.get("content");
        let one = content.filter(|content| content.get("type").is_some());
        content.unwrap_or(Json::NULL).elements().chain(one)
    }
}

impl<'a> Block<'a> {
    fn of(block: Json<'a>) -> Block<'a> {
        let kind = text(block, "type");
        match () {
            () if kind == "text" => Block::Text(text(block, "text")),
            () if kind == "image" => {
                Block::Image { data: text(block, "data"), mime_type: text(block, "mimeType") }
            }
            () if kind == "audio" => {
                Block::Audio { data: text(block, "data"), mime_type: text(block, "mimeType") }
            }
            () if kind == "tool_use" => Block::ToolUse {
                id: text(block, "id"),
                name: text(block, "name"),
                input: block.get("input").unwrap_or(Json::EMPTY_OBJECT),
            },
            () if kind == "tool_result" => Block::ToolResult {
                tool_use_id: text(block, "toolUseId"),
                content: block.get("content").unwrap_or(Json::NULL),
                structured: block.get("structuredContent"),
                is_error: block.get("isError").and_then(Json::boolean) == Some(true),
            },
            () => Block::Other(block),
        }
    }
}
