//! Tables that the macro `router!` builds at compile time from functions with attributes.
//!
//! The attribute of a function generates an [`Entry`] and a [`Handler`]. For each kind of function, this module
//! collects the entries in one table, and the handlers in another. Only the tables are part of the program.
#![allow(clippy::as_conversions, reason = "evaluated only at compile time, and `From` is not constant")]
// The code runs only at compile time, so an invalid index or an overflow is a compile error.
#![allow(clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use crate::protocol::objects::prompt::{Prompt, PromptArgument};
use crate::protocol::objects::resource::{Resource, ResourceTemplate};
use crate::protocol::objects::tool::Tool;
use crate::schema::{Field, Fields, Node};
use crate::server::call::Call;
use crate::server::feature::Feature;
use crate::server::features::catalog::position;
use crate::server::features::completion::{Complete, Completion};
use crate::server::features::get_prompt::GetPrompt;
use crate::server::features::prompts::Prompts;
use crate::server::features::read_resource::ReadResource;
use crate::server::features::resources::Resources;
use crate::server::features::tools::Tools;
use crate::server::router::{CompletionHandler, PromptHandler, ResourceHandler, ToolHandler};

pub use crate::protocol::objects::completion::Reference;
#[cfg(feature = "std")]
pub use crate::protocol::objects::tool::Generator;
pub use crate::server::router::check::{check, with_values};
pub use crate::server::router::decode::{Scalar, Scalars, Space, arguments, scalars, typed, variable};
pub use crate::server::router::deferred::{matching, read_resource};
pub use crate::server::router::failure::refuse;
#[cfg(feature = "alloc")]
pub use crate::server::router::failure::{missing_text, unless_missing};
pub use crate::server::router::lend::{Lend, LendMut};

/// An entry of the catalog, from the attribute of a function.
#[derive(Debug, Clone, Copy)]
pub enum Entry<'t> {
    /// `#[tool]`.
    Tool(Tool<'t>),
    /// `#[prompt]`.
    Prompt(Prompt<'t>),
    /// `#[resource]` with a URI.
    Resource(Resource<'t>),
    /// `#[resource]` with a URI template.
    Template(ResourceTemplate<'t>),
    /// `#[complete]`: the argument of a prompt, or the variable of a template.
    Completion(Completed<'t>),
    /// A function whose attribute causes a compile error.
    Refused,
}

/// The argument or variable that a function completes.
#[derive(Debug, Clone, Copy)]
pub struct Completed<'t> {
    /// The prompt or the resource template.
    pub reference: Reference<'t>,
    /// The name of the argument or variable.
    pub argument: &'t str,
}

/// The function that handles the requests for an entry.
#[derive(Debug)]
pub enum Handler<C: ?Sized> {
    /// The handler of a tool.
    Tool(ToolHandler<C>),
    /// The handler of a prompt.
    Prompt(PromptHandler<C>),
    /// The handler of a resource.
    Resource(ResourceHandler<C>),
    /// The handler of a resource template.
    Template(ResourceHandler<C>),
    /// The handler of completions.
    Completion(CompletionHandler<C>),
    /// The handler of [`Entry::Refused`].
    Refused,
}

/// The tables of a router. Entries and handlers of one kind have the same order.
#[derive(Debug)]
pub struct Tables<'t, C: ?Sized> {
    /// The features that have entries, and completion if an argument of a prompt has values.
    pub features: Features<'t>,
    /// The tools.
    pub tools: &'t Tools<'t>,
    /// The handlers of the tools.
    pub tool_handlers: &'t [ToolHandler<C>],
    /// The prompts.
    pub prompts: &'t Prompts<'t>,
    /// The handlers of the prompts.
    pub prompt_handlers: &'t [PromptHandler<C>],
    /// The resources and templates.
    pub resources: &'t Resources<'t>,
    /// The handlers of the resources.
    pub resource_handlers: &'t [ResourceHandler<C>],
    /// The handlers of the templates.
    pub template_handlers: &'t [ResourceHandler<C>],
    /// The arguments and variables with completions.
    pub completed: &'t [Completed<'t>],
    /// The handlers of the completions.
    pub completion_handlers: &'t [CompletionHandler<C>],
}

/// A list of features.
#[derive(Clone, Copy)]
pub struct Features<'t>(pub &'t [&'t dyn Feature]);

impl core::fmt::Debug for Features<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Features").field(&self.0.len()).finish()
    }
}

/// The number of entries of each kind.
#[derive(Debug, Clone, Copy)]
pub struct Counts {
    /// The number of tools.
    pub tools: usize,
    /// The number of prompts.
    pub prompts: usize,
    /// The number of resources.
    pub resources: usize,
    /// The number of templates.
    pub templates: usize,
    /// The number of arguments and variables with a completion function.
    pub completions: usize,
    /// Whether an argument of a prompt has values for completion.
    has_values: bool,
}

impl Counts {
    /// Counts the entries of a router.
    #[must_use]
    pub const fn new(entries: &[Entry<'_>]) -> Counts {
        let mut counts =
            Counts { tools: 0, prompts: 0, resources: 0, templates: 0, completions: 0, has_values: false };
        let mut index = 0;
        while index < entries.len() {
            match &entries[index] {
                Entry::Tool(_) => counts.tools += 1,
                Entry::Prompt(prompt) => {
                    counts.prompts += 1;
                    counts.has_values |= has_values(prompt);
                }
                Entry::Resource(_) => counts.resources += 1,
                Entry::Template(_) => counts.templates += 1,
                Entry::Completion(_) => counts.completions += 1,
                Entry::Refused => {}
            }
            index += 1;
        }
        counts
    }

    const fn has_resources(self) -> bool {
        self.resources + self.templates > 0
    }

    const fn has_completion(self) -> bool {
        self.completions > 0 || self.has_values
    }

    /// Returns the number of features.
    #[must_use]
    pub const fn features(self) -> usize {
        (self.tools > 0) as usize
            + (self.prompts > 0) as usize
            + self.has_resources() as usize
            + self.has_completion() as usize
    }
}

const fn has_values(prompt: &Prompt<'_>) -> bool {
    position!(prompt.arguments, |argument, index| !argument.values.is_empty()).is_some()
}

/// Returns the features of a router. `N` must be [`Counts::features`].
#[must_use]
pub const fn features<const N: usize>(
    counts: Counts,
    tools: &'static Tools<'static>,
    prompts: &'static Prompts<'static>,
    resources: &'static Resources<'static>,
) -> [&'static dyn Feature; N] {
    let present: [(bool, &'static dyn Feature); 4] = [
        (counts.tools > 0, tools),
        (counts.prompts > 0, prompts),
        (counts.has_resources(), resources),
        (counts.has_completion(), &Completion),
    ];
    let mut features: [&'static dyn Feature; N] = [&Completion; N];
    let (mut index, mut length) = (0, 0);
    while index < present.len() {
        if present[index].0 {
            features[length] = present[index].1;
            length += 1;
        }
        index += 1;
    }
    features
}

/// Defines the functions that select the entries and the handlers of one kind.
macro_rules! tables {
    ($($kind:ident $entry:ident $request:ident $handler:ident $entries:ident $handlers:ident $filler:expr;)*) => {$(
        /// Returns the entries of one kind, in order. `N` must be the number of these entries.
        #[must_use]
        pub const fn $entries<const N: usize>(entries: &[Entry<'static>]) -> [$entry<'static>; N] {
            let mut found = [$filler; N];
            let (mut index, mut length) = (0, 0);
            while index < entries.len() {
                if let Entry::$kind(entry) = entries[index] {
                    found[length] = entry;
                    length += 1;
                }
                index += 1;
            }
            found
        }

        /// Returns the handlers of one kind, in order. `N` must be the number of these handlers.
        #[must_use]
        pub const fn $handlers<C: ?Sized, const N: usize>(handlers: &[Handler<C>]) -> [$handler<C>; N] {
            const fn unused<C: ?Sized>(_: &mut C, _: $request<'_>) {}
            let mut found: [$handler<C>; N] = [unused; N];
            let (mut index, mut length) = (0, 0);
            while index < handlers.len() {
                if let Handler::$kind(handler) = handlers[index] {
                    found[length] = handler;
                    length += 1;
                }
                index += 1;
            }
            found
        }
    )*};
}

tables! {
    Tool Tool Call ToolHandler tools tool_handlers Tool::new("", "{}");
    Prompt Prompt GetPrompt PromptHandler prompts prompt_handlers Prompt::new("");
    Resource Resource ReadResource ResourceHandler resources resource_handlers Resource::new("", "");
    Template ResourceTemplate ReadResource ResourceHandler templates template_handlers ResourceTemplate::new("", "");
    Completion Completed Complete CompletionHandler completed completion_handlers
        Completed { reference: Reference::Prompt(""), argument: "" };
}

/// Returns the arguments of a prompt for the first `N` fields of a type.
#[must_use]
pub const fn prompt_arguments<const N: usize>(fields: &Fields) -> [PromptArgument<'static>; N] {
    let mut arguments = [PromptArgument::new(""); N];
    let mut index = 0;
    while index < N {
        let Field { name, title, description, node, has_default, .. } = fields.fields[index];
        let mut argument = PromptArgument::new(name);
        if let Some(title) = title {
            argument = argument.title(title);
        }
        if let Node::Names(names) = node.inner() {
            argument = argument.values(names.names);
        }
        if let Some(description) = description {
            argument = argument.description(description);
        }
        if !has_default && !node.is_optional() {
            argument = argument.required();
        }
        arguments[index] = argument;
        index += 1;
    }
    arguments
}
