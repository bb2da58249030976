//! Messages of a conversation: written by a server, viewed by a client.
//!
//! Specification: *Sampling*, *SamplingMessage*.

use crate::json::Writer;
use crate::protocol::objects::annotations::Role;
use crate::protocol::objects::content::{BlockView, ContentView};
use crate::protocol::objects::view::{text, view};
use crate::protocol::revision::{Revision, WireFeature};
use crate::protocol::sampling::block::{Block, write_array};

/// A message of a conversation.
#[derive(Debug, Clone, Copy)]
pub struct SampleMessage<'a> {
    pub(super) role: Role,
    content: Content<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Content<'a> {
    One(Block<'a>),
    Many(&'a [Block<'a>]),
}

impl<'a> SampleMessage<'a> {
    /// Creates a text message of the user.
    #[must_use]
    pub const fn user(text: &'a str) -> SampleMessage<'a> {
        SampleMessage { role: Role::User, content: Content::One(Block::text(text)) }
    }

    /// Creates a text message of the model.
    #[must_use]
    pub const fn assistant(text: &'a str) -> SampleMessage<'a> {
        SampleMessage { role: Role::Assistant, content: Content::One(Block::text(text)) }
    }

    /// Creates a message with several content blocks. In revisions before `2025-11-25`, a message has only one
    /// block, so each block becomes a separate message.
    #[must_use]
    pub const fn new(role: Role, content: &'a [Block<'a>]) -> SampleMessage<'a> {
        SampleMessage { role, content: Content::Many(content) }
    }

    pub(super) fn blocks(&self) -> &[Block<'a>] {
        match &self.content {
            Content::One(block) => core::slice::from_ref(block),
            Content::Many(blocks) => blocks,
        }
    }

    pub(super) fn write(&self, revision: Revision, out: &mut Writer<'_>) -> bool {
        match self.blocks() {
            blocks if revision.has(WireFeature::SamplingBlocks) => self.write_blocks(blocks, revision, out),
            blocks => blocks.chunks(1).all(|block| self.write_blocks(block, revision, out)),
        }
    }

    fn write_blocks(&self, blocks: &[Block<'_>], revision: Revision, out: &mut Writer<'_>) -> bool {
        out.begin_object();
        out.field_string("role", self.role.as_str());
        out.key("content");
        let valid = match blocks {
            [block] => block.write(revision, out),
            blocks => write_array(blocks, revision, out),
        };
        out.end_object();
        valid
    }
}

view! {
    /// A message of the conversation.
    SampleMessageView with meta
}

impl<'a> SampleMessageView<'a> {
    /// Returns the role of the speaker.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        Role::from_json(text(self.json, "role")?)
    }

    /// Returns the content of the message, one item per block. On the wire, the content is a single block or an
    /// array.
    pub fn content(&self) -> impl Iterator<Item = ContentView<'a>> + use<'a> {
        self.blocks().map(|block| block.content())
    }

    /// Returns the content blocks of the message, with their annotations.
    pub fn blocks(&self) -> impl Iterator<Item = BlockView<'a>> + use<'a> {
        BlockView::one_or_many(self.json.get("content"))
    }
}
