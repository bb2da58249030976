//! Views of prompts and their messages.

use crate::client::views::implementation::icons;
use crate::client::views::{BlockView, ContentView, IconView, entries, named, text, view};
use crate::json::{Json, Str};
use crate::protocol::annotations::Role;

view! {
    /// A prompt, as the server describes it.
    ///
    /// Specification: *Prompts*, *Prompt*.
    PromptView with meta
}

named!(
    PromptView,
    "The name, which [`Client::get_prompt`](crate::Client::get_prompt) takes.",
    "The description."
);

impl<'a> PromptView<'a> {
    /// The arguments of the prompt.
    pub fn arguments(&self) -> impl Iterator<Item = PromptArgumentView<'a>> + use<'a> {
        entries(self.json, "arguments").map(PromptArgumentView::from_json)
    }

    /// The icons.
    pub fn icons(&self) -> impl Iterator<Item = IconView<'a>> + use<'a> {
        icons(self.json)
    }
}

view! {
    /// An argument of a prompt. Its value is a string.
    PromptArgumentView
}

named!(PromptArgumentView, "The name.", "The description.");

impl<'a> PromptArgumentView<'a> {
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
    PromptResultView with meta
}

impl<'a> PromptResultView<'a> {
    /// The description of the prompt.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.json, "description")
    }

    /// The messages of the prompt.
    pub fn messages(&self) -> impl Iterator<Item = PromptMessageView<'a>> + use<'a> {
        entries(self.json, "messages").map(PromptMessageView::from_json)
    }
}

view! {
    /// A message of a prompt.
    PromptMessageView
}

impl<'a> PromptMessageView<'a> {
    /// The role of the speaker.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        Role::from_json(self.json.get("role")?)
    }

    /// The content of the message.
    #[must_use]
    pub fn content(&self) -> ContentView<'a> {
        self.block().content()
    }

    /// The content block of the message, with its annotations.
    #[must_use]
    pub fn block(&self) -> BlockView<'a> {
        BlockView::from_json(self.json.get("content").unwrap_or(Json::NULL))
    }
}
