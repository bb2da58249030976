//! `Router`: tools, prompts, resources and completions, and the functions that handle their requests.

mod check;
mod decode;
pub(crate) mod deferred;
pub(crate) mod failure;
#[cfg(feature = "std")]
mod generated;
pub(crate) mod into_prompt_result;
pub(crate) mod into_resource_result;
pub(crate) mod into_tool_result;
mod lend;
#[doc(hidden)]
pub mod routes;

use crate::error::ProtocolError;
use crate::json::Chars;
use crate::protocol::objects::completion::{Reference, ReferenceView};
use crate::protocol::uri_template;
use crate::server::call::Call;
use crate::server::event::Event;
use crate::server::feature::Feature;
use crate::server::features::completion::Complete;
use crate::server::features::get_prompt::GetPrompt;
use crate::server::features::prompts::Prompts;
use crate::server::features::read_resource::ReadResource;
use crate::server::features::resources::Resources;
use crate::server::features::tools::Tools;
use crate::server::reply::Reply;
use crate::server::router::routes::{Completed, Tables};

/// A function that handles the calls of one tool. `C` is the context, often the state of the application.
pub type ToolHandler<C> = fn(&mut C, Call<'_>);

/// A function that handles the requests for one prompt.
pub type PromptHandler<C> = fn(&mut C, GetPrompt<'_>);

/// A function that reads one resource, or the resources of one template.
pub type ResourceHandler<C> = fn(&mut C, ReadResource<'_>);

/// A function that completes one argument of a prompt, or one variable of a template.
pub type CompletionHandler<C> = fn(&mut C, Complete<'_>);

/// A static catalog of tools, prompts and resources, each with the function that handles its requests.
///
/// The attributes [`tool`](macro@crate::tool), [`prompt`](macro@crate::prompt), [`resource`](macro@crate::resource) and
/// [`complete`](macro@crate::complete) mark functions, and the macro [`router!`](crate::router) lists them. A function
/// defines the name, the description, the arguments and the handler of an entry:
///
/// ```
/// use mcp_proto::server::{Router, ServerConfig};
/// use mcp_proto::{Server, ToolArguments, complete, prompt, resource, router, tool};
///
/// struct Lamp {
///     is_on: bool,
/// }
///
/// #[derive(ToolArguments)]
/// struct Switch {
///     on: bool,
/// }
///
/// /// Turns the lamp on or off.
/// #[tool(idempotent)]
/// fn switch(lamp: &mut Lamp, Switch { on }: Switch) -> &'static str {
///     lamp.is_on = on;
///     "done"
/// }
///
/// /// The state of the lamp.
/// #[resource("lamp://state")]
/// fn state(lamp: &Lamp) -> &'static str {
///     if lamp.is_on { "on" } else { "off" }
/// }
///
/// /// The manual, by page.
/// #[resource("lamp://manual/{page}", mime = "text/markdown")]
/// fn manual(page: u8) -> Option<&'static str> {
///     (page == 1).then_some("# The lamp")
/// }
///
/// #[derive(ToolArguments)]
/// struct Room<'a> {
///     name: &'a str,
/// }
///
/// /// Asks for a color that fits a room.
/// #[prompt]
/// fn color(Room { name }: Room<'_>) -> String {
///     format!("Which color of light fits a {name}?")
/// }
///
/// #[complete(prompt = "color", argument = "name")]
/// fn rooms() -> [&'static str; 2] {
///     ["kitchen", "library"]
/// }
///
/// static ROUTER: Router<Lamp> = router![switch, state, manual, color, rooms];
/// static CONFIG: ServerConfig = ServerConfig::new("lamp", "1.0.0").features(ROUTER.features());
///
/// fn on_event(server: &mut Server<'_>, lamp: &mut Lamp) {
///     match server.event().and_then(|event| ROUTER.handle(lamp, event)) {
///         // Events that are no requests for the router.
///         Some(event) => drop(event),
///         None => {}
///     }
/// }
/// # assert_eq!(ROUTER.tools().get("switch").unwrap().input_schema(), Switch::INPUT_SCHEMA);
/// # assert_eq!(ROUTER.features().len(), 4);
/// # let _ = on_event;
/// ```
///
/// With an adapter for threads or tasks, use the adapter's type `Router`, which is an alias of this type:
/// `mcp_proto_tokio::Router<Lamp>`. The alias sets `C` to the adapter's type of context, which shares the state between
/// functions that run at the same time. The function `route` of an adapter accepts only a router of this alias.
///
/// The router has no state. Only [`generated_features`](Router::generated_features) uses a heap. `C` is the context
/// that [`handle`](Router::handle) lends to the handlers.
/// A handler with a parameter `&T` accepts each context that implements `Borrow<T>`; `&mut T` requires `BorrowMut<T>`.
/// Each type implements both traits for itself. If functions take parts of the context, implement `Borrow` and
/// `BorrowMut` of these parts for the context.
#[derive(Debug)]
pub struct Router<'t, C: ?Sized> {
    tables: &'t Tables<'t, C>,
}

impl<'t, C: ?Sized> Router<'t, C> {
    /// Creates a router. Only the macro `router!` calls this function.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(tables: &'t Tables<'t, C>) -> Router<'t, C> {
        Router { tables }
    }

    /// Returns the features of this router, for [`ServerConfig::features`](crate::server::ServerConfig::features).
    ///
    /// The list contains [`tools`](Router::tools), [`prompts`](Router::prompts) and [`resources`](Router::resources) if
    /// they have entries. The list contains [`Completion`](crate::server::Completion) if a function completes an
    /// argument or a variable, or if an argument of a prompt is an enumeration or has suggested values.
    ///
    /// If the server has further features, list all features in the configuration:
    ///
    /// ```
    /// # use mcp_proto::server::{Logging, Resources, Router, ServerConfig, Subscriptions};
    /// # use mcp_proto::{resource, router, tool};
    /// # #[tool]
    /// # fn stop() {}
    /// # #[resource("device://state")]
    /// # fn state() -> &'static str { "on" }
    /// static ROUTER: Router<()> = router![stop, state];
    /// static RESOURCES: Resources = ROUTER.resources().subscribe();
    /// static CONFIG: ServerConfig =
    ///     ServerConfig::new("device", "1.0.0").features(&[ROUTER.tools(), &RESOURCES, &Subscriptions, &Logging]);
    /// ```
    ///
    /// # Panics
    /// A tool has arguments or a result of the type `Schemars`: use [`generated_features`](Router::generated_features).
    /// In statics, the panic is a compile error.
    #[must_use]
    pub const fn features(&self) -> &'t [&'t dyn Feature] {
        #[cfg(feature = "std")]
        generated::check(self.tables.tools);
        self.tables.features.0
    }

    /// Returns the feature *tools* of this router.
    ///
    /// # Panics
    /// The same as [`features`](Router::features).
    #[must_use]
    pub const fn tools(&self) -> &'t Tools<'t> {
        #[cfg(feature = "std")]
        generated::check(self.tables.tools);
        self.tables.tools
    }

    /// Returns the feature *prompts* of this router.
    #[must_use]
    pub const fn prompts(&self) -> &'t Prompts<'t> {
        self.tables.prompts
    }

    /// Returns the feature *resources* of this router.
    #[must_use]
    pub const fn resources(&self) -> &'t Resources<'t> {
        self.tables.resources
    }

    /// Returns the handler of the tool with this name. Returns `None` if the router has no such tool.
    ///
    /// A server with several routers finds the router of a call's tool with this method.
    #[must_use]
    pub fn handler(&self, name: &str) -> Option<ToolHandler<C>> {
        let mut entries = self.tables.tools.entries().iter().zip(self.tables.tool_handlers);
        entries.find(|(tool, _)| tool.name() == name).map(|(_, handler)| *handler)
    }

    /// Passes a call to the handler of its tool, which responds.
    ///
    /// If the router does not have the tool, refuses the call with the error for an unknown tool (-32602).
    pub fn call(&self, context: &mut C, call: Call<'_>) {
        match self.handler(call.name()) {
            Some(handler) => handler(context, call),
            None => {
                let Reply { state, pending, .. } = call.parts.reply;
                state.refuse(&pending, ProtocolError::UnknownTool);
            }
        }
    }

    /// Passes the request of an event to its handler, which responds. Returns any other event. `None` means that the
    /// router has handled the event.
    ///
    /// Also returns a request for an entry that the router does not have, so that another router can handle the
    /// request. If the application drops the returned request, the server responds with an error (-32603). If the
    /// router has the prompt or template of a completion, but no function for the argument, the response has no values.
    pub fn handle<'e>(&self, context: &mut C, event: Event<'e>) -> Option<Event<'e>> {
        match event {
            Event::Call(call) => match self.handler(call.name()) {
                Some(handler) => handler(context, call),
                None => return Some(Event::Call(call)),
            },
            Event::GetPrompt(request) => match self.prompt_handler(request.name()) {
                Some(handler) => handler(context, request),
                None => return Some(Event::GetPrompt(request)),
            },
            Event::ReadResource(request) => match self.resource_handler(request.uri()) {
                Some(handler) => handler(context, request),
                None => return Some(Event::ReadResource(request)),
            },
            Event::Complete(request) => match self.completion_handler(&request) {
                Some(handler) => handler(context, request),
                // A client may request completions for every argument, even for an argument without a function.
                None if self.has_reference(request.reference()) => request.values([""; 0]),
                None => return Some(Event::Complete(request)),
            },
            other => return Some(other),
        }
        None
    }

    fn prompt_handler(&self, name: &str) -> Option<PromptHandler<C>> {
        let mut entries = self.tables.prompts.entries().iter().zip(self.tables.prompt_handlers);
        entries.find(|(prompt, _)| prompt.name() == name).map(|(_, handler)| *handler)
    }

    /// Returns the handler of the resource with this URI, or of the first template that matches the URI. Returns `None`
    /// if the router has neither.
    fn resource_handler(&self, uri: &str) -> Option<ResourceHandler<C>> {
        let Tables { resources, resource_handlers, template_handlers, .. } = self.tables;
        let (entries, templates) = resources.entries();
        let mut fixed = entries.iter().zip(*resource_handlers);
        let fixed = fixed.find(|(resource, _)| resource.uri() == uri).map(|(_, handler)| *handler);
        let matches = |template: &str| uri_template::find(template, Chars::new(uri), "").is_some();
        fixed.or_else(|| {
            let mut templates = templates.iter().zip(*template_handlers);
            templates.find(|(template, _)| matches(template.uri_template())).map(|(_, handler)| *handler)
        })
    }

    /// Returns whether the prompt or the resource template is an entry of this router.
    fn has_reference(&self, reference: ReferenceView<'_>) -> bool {
        match reference {
            ReferenceView::Prompt(name) => {
                self.tables.prompts.entries().iter().any(|prompt| name == *prompt.name())
            }
            ReferenceView::Resource(uri) => {
                let (_, templates) = self.tables.resources.entries();
                templates.iter().any(|template| uri == *template.uri_template())
            }
        }
    }

    fn completion_handler(&self, request: &Complete<'_>) -> Option<CompletionHandler<C>> {
        let (reference, argument) = (request.reference(), request.argument());
        let is_requested = |completed: &Completed<'_>| {
            argument == *completed.argument
                && match (reference, completed.reference) {
                    (ReferenceView::Prompt(wanted), Reference::Prompt(known))
                    | (ReferenceView::Resource(wanted), Reference::Resource(known)) => wanted == *known,
                    _ => false,
                }
        };
        let mut entries = self.tables.completed.iter().zip(self.tables.completion_handlers);
        entries.find(|(completed, _)| is_requested(completed)).map(|(_, handler)| *handler)
    }
}

impl<C: ?Sized> Clone for Router<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<C: ?Sized> Copy for Router<'_, C> {}
