//! Messages of a prompt: written by a server, viewed by a client.
//!
//! Specification: *Prompts*, *Getting a prompt*.

use crate::json::{Str, WriteText, Writer};
use crate::protocol::objects::annotations::Role;
use crate::protocol::objects::content::{BlockView, ContentBlock, ContentView};
use crate::protocol::objects::result_array::ResultArray;
use crate::protocol::objects::view::{entries, member, text, view};
use crate::protocol::revision::Revision;

/// Writes the messages of a prompt, each with one content block.
#[derive(Debug)]
pub struct Messages<'w, 'a> {
    out: &'w mut Writer<'a>,
    items: ResultArray,
    revision: Revision,
    has_description: bool,
}

impl<'w, 'a> Messages<'w, 'a> {
    pub(crate) fn begin(out: &'w mut Writer<'a>, revision: Revision) -> Messages<'w, 'a> {
        Messages { out, items: ResultArray::new("messages"), revision, has_description: false }
    }

    /// Completes the list. Returns `false` if the list is not valid.
    pub(crate) fn end(mut self) -> bool {
        self.items.end(self.out);
        self.items.valid
    }

    /// Writes the description of the prompt. Call this method at most once, before the first message or after the last
    /// message. Otherwise the result is not valid.
    pub fn description(&mut self, text: impl WriteText) {
        self.items.member(self.out);
        self.out.field_display("description", &text);
        self.items.valid &= !self.has_description;
        self.has_description = true;
    }

    /// Begins a message of the user.
    pub fn user(&mut self) -> ContentBlock<'_, 'a> {
        self.message(Role::User)
    }

    /// Begins a message of the assistant.
    pub fn assistant(&mut self) -> ContentBlock<'_, 'a> {
        self.message(Role::Assistant)
    }

    /// Begins a message with this role.
    pub fn message(&mut self, role: Role) -> ContentBlock<'_, 'a> {
        ContentBlock::new(self.out, &mut self.items, self.revision, Some(role))
    }
}

view! {
    /// The result of `prompts/get`.
    ///
    /// Specification: *Prompts*, *Getting a prompt*.
    PromptResultView with meta
}

impl<'a> PromptResultView<'a> {
    /// Returns the description of the prompt.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.json, "description")
    }

    /// Returns the messages of the prompt.
    pub fn messages(&self) -> impl Iterator<Item = PromptMessageView<'a>> + use<'a> {
        entries(self.json, "messages").map(PromptMessageView::from_json)
    }
}

view! {
    /// A message of a prompt.
    PromptMessageView
}

impl<'a> PromptMessageView<'a> {
    /// Returns the role of the speaker.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        Role::from_json(text(self.json, "role")?)
    }

    /// Returns the content of the message.
    #[must_use]
    pub fn content(&self) -> ContentView<'a> {
        self.block().content()
    }

    /// Returns the content block of the message, with its annotations.
    #[must_use]
    pub fn block(&self) -> BlockView<'a> {
        BlockView::from_json(member(self.json, "content"))
    }
}
