//! Views of prompts and their messages.

use crate::client::views::implementation::icons;
use crate::client::views::{Block, Content, Icon, entries, named, text, view};
use crate::json::{Json, Str};
use crate::protocol::annotations::Role;

view! {
    /// A prompt, as the server describes it.
    ///
    /// Specification: *Prompts*, *Prompt*.
    Prompt with meta
}

named!(
    Prompt,
    "The name, which [`Client::get_prompt`](crate::Client::get_prompt) takes.",
    "The description."
);

impl<'a> Prompt<'a> {
    /// The arguments of the prompt.
    pub fn arguments(&self) -> impl Iterator<Item = PromptArgument<'a>> + use<'a> {
        entries(self.json, "arguments").map(PromptArgument::from_json)
    }

    /// The icons.
    pub fn icons(&self) -> impl Iterator<Item = Icon<'a>> + use<'a> {
        icons(self.json)
    }
}

view! {
    /// An argument of a prompt. Its value is a string.
    PromptArgument
}

named!(PromptArgument, "The name.", "The description.");

impl<'a> PromptArgument<'a> {
    /// Whether the argument is required.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.json.get("required").and_then(Json::boolean) == Some(true)
    }
}

view! {
    /// The result of `prompts/get`.
    ///
    /// Specification: *Prompts*, *Getting a prompt*.
    PromptResult with meta
}

impl<'a> PromptResult<'a> {
    /// The description of the prompt.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.json, "description")
    }

    /// The messages of the prompt.
    pub fn messages(&self) -> impl Iterator<Item = PromptMessage<'a>> + use<'a> {
        entries(self.json, "messages").map(PromptMessage::from_json)
    }
}

view! {
    /// A message of a prompt.
    PromptMessage
}

impl<'a> PromptMessage<'a> {
    /// The role of the speaker.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        Role::from_json(self.json.get("role")?)
    }

    /// The content of the message.
    #[must_use]
    pub fn content(&self) -> Content<'a> {
        self.block().content()
    }

    /// The content block of the message, with its annotations.
    #[must_use]
    pub fn block(&self) -> Block<'a> {
        Block::from_json(self.json.get("content").unwrap_or(Json::NULL))
    }
}
