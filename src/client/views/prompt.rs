//! Prompts: what there is, and what one says.

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

named!(Prompt, "Its name: what [`Client::get_prompt`](crate::Client::get_prompt) takes.", "What it is for.");

impl<'a> Prompt<'a> {
    /// The arguments that it takes.
    pub fn arguments(&self) -> impl Iterator<Item = PromptArgument<'a>> + use<'a> {
        entries(self.json, "arguments").map(PromptArgument::from_json)
    }

    /// Its icons.
    pub fn icons(&self) -> impl Iterator<Item = Icon<'a>> + use<'a> {
        icons(self.json)
    }
}

view! {
    /// An argument of a prompt. Its value is a string.
    PromptArgument
}

named!(PromptArgument, "Its name.", "What it is.");

impl<'a> PromptArgument<'a> {
    /// Whether it has to be given.
    #[must_use]
    pub fn is_required(&self) -> bool {
        self.json.get("required").and_then(Json::boolean) == Some(true)
    }
}

view! {
    /// What `prompts/get` has answered.
    ///
    /// Specification: *Prompts*, *Getting a prompt*.
    PromptResult with meta
}

impl<'a> PromptResult<'a> {
    /// What the prompt is for.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.json, "description")
    }

    /// What it says.
    pub fn messages(&self) -> impl Iterator<Item = PromptMessage<'a>> + use<'a> {
        entries(self.json, "messages").map(PromptMessage::from_json)
    }
}

view! {
    /// A message of a prompt.
    PromptMessage
}

impl<'a> PromptMessage<'a> {
    /// Who says it.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        Role::from_json(self.json.get("role")?)
    }

    /// What is said.
    #[must_use]
    pub fn content(&self) -> Content<'a> {
        self.block().content()
    }

    /// What is said, with what is said about it.
    #[must_use]
    pub fn block(&self) -> Block<'a> {
        Block::from_json(self.json.get("content").unwrap_or(Json::NULL))
    }
}
