//! Getting a prompt: what is asked for, and the answer.
//!
//! Specification: *Prompts*, *Getting a prompt*.

use crate::error::ProtocolError;
use crate::json::{Json, Kind, Str, WriteText, Writer};
use crate::protocol::annotations::Role;
use crate::protocol::content::{ContentBlock, Items};
use crate::protocol::revision::Revision;
use crate::rpc::code;
use crate::server::event::{Event, Parts};
use crate::server::features::catalogue::{Catalogue, Found};
use crate::server::features::prompts::Prompt;
use crate::server::input_required::InputResponses;
use crate::server::pending_event::RequestKind;
use crate::server::reply::Reply;
use crate::server::request::{request, rounds};
use crate::server::server_state::Shape;

/// A prompt is asked for: its name and arguments, and the right to answer.
///
/// Every answer consumes it, and none can fail. One that is dropped without an answer gets an error (-32603) at the
/// next poll.
///
/// ```
/// use mcp_proto::server::GetPrompt;
/// fn answer(prompt: GetPrompt<'_>) {
///     match (prompt.name(), prompt.argument("file")) {
///         ("review", Some(file)) => prompt.messages(|messages| {
///             messages.description("A review");
///             messages.user().text(format_args!("Review {file}."));
///             messages.assistant().text("With pleasure.");
///         }),
///         _ => prompt.unknown_prompt(),
///     }
/// }
/// ```
///
/// Specification: *Prompts*, *Getting a prompt*.
#[must_use = "a request has to be answered"]
#[derive(Debug)]
pub struct GetPrompt<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a [u8],
    pub(crate) returned: InputResponses<'a>,
    pub(crate) reply: Reply<'a>,
}

impl<'a> GetPrompt<'a> {
    pub(crate) fn event<'e>(parts: Parts<'e>, reply: Reply<'e>) -> Option<Event<'e>> {
        Some(Event::GetPrompt(GetPrompt {
            name: parts.subject,
            arguments: parts.arguments,
            returned: parts.returned,
            reply,
        }))
    }

    /// The name of the prompt.
    #[must_use]
    pub fn name(&self) -> &'a str {
        self.name
    }

    /// The prompt's entry in the catalogue, if that is the machine's.
    #[must_use]
    pub fn prompt(&self) -> Option<&'a Prompt<'a>> {
        match self.reply.find(Catalogue::Prompts, &|name| name == self.name) {
            Found::Prompt(prompt) => Some(prompt),
            _ => None,
        }
    }

    /// The arguments as they are: an object.
    #[must_use]
    pub fn raw_arguments(&self) -> Json<'a> {
        if self.arguments.is_empty() { Json::EMPTY_OBJECT } else { Json::trusted(self.arguments) }
    }

    /// An argument, if it was given.
    #[must_use]
    pub fn argument(&self, name: &str) -> Option<Str<'a>> {
        let value = self.raw_arguments().get(name)?;
        match value.kind() {
            Kind::Null => None,
            Kind::String => value.string(),
            // Only where these are taken as their text, in which nothing is escaped.
            _ => Some(Str::trusted(value.bytes())),
        }
    }

    /// Answers with messages.
    pub fn messages(self, body: impl FnOnce(&mut Messages<'_, '_>)) {
        self.reply.messages(body);
    }

    /// Says that there is no such prompt (-32602).
    pub fn unknown_prompt(self) {
        let name = self.name;
        self.error(code::INVALID_PARAMS, (ProtocolError::UnknownPrompt.message(), ": ", name));
    }

    /// Says that the arguments are not what the prompt needs (-32602).
    pub fn invalid(self, why: impl WriteText) {
        self.error(code::INVALID_PARAMS, ("Invalid arguments: ", why));
    }
}

request!(GetPrompt);
rounds!(GetPrompt);

impl Reply<'_> {
    /// Answers [a request for a prompt](GetPrompt) with messages.
    pub fn messages(self, body: impl FnOnce(&mut Messages<'_, '_>)) {
        let (fits, revision) =
            (self.pending.context.kind == RequestKind::GetPrompt, self.pending.context.revision);
        let mut body = Some(body);
        self.result(fits, Shape::Result, &mut |out| {
            let mut messages = Messages { out, items: Items::new("messages"), revision };
            if let Some(body) = body.take() {
                body(&mut messages);
            }
            let Messages { out, mut items, .. } = messages;
            items.end(out);
            items.valid
        });
    }
}

/// The messages of a prompt, one by one, each with one piece of content.
#[derive(Debug)]
pub struct Messages<'w, 'a> {
    out: &'w mut Writer<'a>,
    items: Items,
    revision: Revision,
}

impl<'a> Messages<'_, 'a> {
    /// What the prompt is for. It comes once, before the messages or behind them.
    pub fn description(&mut self, text: impl WriteText) {
        self.items.member(self.out);
        self.out.key("description");
        self.out.display(&text);
    }

    /// Begins a message of the person.
    pub fn user(&mut self) -> ContentBlock<'_, 'a> {
        self.message(Role::User)
    }

    /// Begins a message of the model.
    pub fn assistant(&mut self) -> ContentBlock<'_, 'a> {
        self.message(Role::Assistant)
    }

    /// Begins a message of either.
    pub fn message(&mut self, role: Role) -> ContentBlock<'_, 'a> {
        ContentBlock::new(self.out, &mut self.items, self.revision, Some(role))
    }
}
