//! Prompts and their arguments: listed by a server, viewed by a client.
//!
//! Specification: *Prompts*, *Prompt*.

use crate::json::Writer;
use crate::protocol::objects::application_json::Objects;
use crate::protocol::objects::base_metadata::{BaseMetadata, ListedObject, base_metadata};
use crate::protocol::objects::optional_members::write_array_member;
use crate::protocol::objects::view::{entries, is_true, view};
use crate::protocol::revision::{Revision, WireFeature};

/// A prompt: a template of messages for the model. The user chooses the argument values.
///
/// ```
/// use mcp_proto::server::{PromptArgument, Prompt};
/// static REVIEW: Prompt = Prompt::new("review")
///     .description("Review a file")
///     .arguments(&[PromptArgument::new("file").required(), PromptArgument::new("style").values(&["short", "thorough"])]);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Prompt<'t> {
    pub(crate) base: BaseMetadata<'t>,
    pub(crate) arguments: &'t [PromptArgument<'t>],
}

base_metadata!(Prompt);

impl<'t> Prompt<'t> {
    /// Creates a prompt with this name and no arguments.
    #[must_use]
    pub const fn new(name: &'t str) -> Prompt<'t> {
        Prompt { base: BaseMetadata::new(name), arguments: &[] }
    }

    /// Sets the arguments.
    #[must_use]
    pub const fn arguments(mut self, arguments: &'t [PromptArgument<'t>]) -> Self {
        self.arguments = arguments;
        self
    }
}

impl ListedObject for Prompt<'_> {
    const LIST: &'static str = "prompts";

    fn key(&self) -> &str {
        self.name()
    }

    fn objects(&self) -> Objects<'_> {
        [self.base.meta, None, None]
    }

    fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object();
        self.base.write(revision, out);
        let write = |argument: &PromptArgument<'_>, out: &mut Writer<'_>| argument.write(revision, out);
        write_array_member("arguments", self.arguments, out, write);
        out.end_object();
    }
}

/// An argument of a prompt. The value of an argument is a string.
#[derive(Debug, Clone, Copy)]
pub struct PromptArgument<'t> {
    pub(crate) name: &'t str,
    title: Option<&'t str>,
    description: Option<&'t str>,
    pub(crate) required: bool,
    pub(crate) values: &'t [&'t str],
}

impl<'t> PromptArgument<'t> {
    /// Creates an optional argument with this name.
    #[must_use]
    pub const fn new(name: &'t str) -> PromptArgument<'t> {
        PromptArgument { name, title: None, description: None, required: false, values: &[] }
    }

    /// Sets the display name (since `2025-06-18`).
    #[must_use]
    pub const fn title(mut self, title: &'t str) -> Self {
        self.title = Some(title);
        self
    }

    /// Sets the description.
    #[must_use]
    pub const fn description(mut self, text: &'t str) -> Self {
        self.description = Some(text);
        self
    }

    /// Makes the argument required. Unless the list of prompts is dynamic, the server refuses a `prompts/get` request
    /// without the argument.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// Sets suggested values. The server also accepts other values.
    ///
    /// With the feature [`Completion`](crate::server::Completion), the server completes the user's input to these
    /// values.
    #[must_use]
    pub const fn values(mut self, values: &'t [&'t str]) -> Self {
        self.values = values;
        self
    }

    fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object();
        out.field_string("name", self.name);
        out.field_optional("title", self.title.filter(|_| revision.has(WireFeature::Titles)));
        out.field_optional("description", self.description);
        out.field_boolean("required", self.required);
        out.end_object();
    }
}

view! {
    /// A prompt in the server's list. The application passes the name to
    /// [`Client::get_prompt`](crate::Client::get_prompt).
    ///
    /// Specification: *Prompts*, *Prompt*.
    PromptView with meta, base_metadata, icons
}

impl<'a> PromptView<'a> {
    /// Returns the arguments of the prompt.
    pub fn arguments(&self) -> impl Iterator<Item = PromptArgumentView<'a>> + use<'a> {
        entries(self.json, "arguments").map(PromptArgumentView::from_json)
    }
}

view! {
    /// An argument of a prompt. The value of an argument is a string.
    PromptArgumentView with base_metadata
}

impl<'a> PromptArgumentView<'a> {
    /// Returns whether the prompt requires the argument.
    #[must_use]
    pub fn is_required(&self) -> bool {
        is_true(self.json, "required")
    }
}
