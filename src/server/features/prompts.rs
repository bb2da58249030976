//! Feature `Prompts`: catalog, `prompts/list`, and checks of `prompts/get`.
//!
//! Specification: *Server features*, *Prompts*.

use crate::error::{ConfigError, ProtocolError};
use crate::json::{Json, Kind, Writer};
use crate::protocol::methods::{self, Method};
use crate::protocol::objects::prompt::{Prompt, PromptArgument};
use crate::protocol::revision::Revision;
use crate::server::change_set::ChangeSet;
use crate::server::config::ServerConfig;
use crate::server::feature::{Feature, OwnResults, Received, Request, Sealed, write_list_capability};
#[cfg(feature = "alloc")]
use crate::server::features::catalog::entry_in;
use crate::server::features::catalog::{Catalog, Entries, Found, duplicate_of, find_in, owner, position};
use crate::server::features::dynamic_list::ListPrompts;
use crate::server::features::get_prompt::GetPrompt;
use crate::server::features::pagination;
use crate::server::pending_event::RequestKind;

/// The feature *prompts*: a static catalog, or the application's dynamic list.
///
/// ```
/// use mcp_proto::server::{Prompt, Prompts, ServerConfig};
/// static PROMPTS: Prompts = Prompts::new(&[Prompt::new("greet")]);
/// static CONFIG: ServerConfig = ServerConfig::new("example", "1.0.0").features(&[&PROMPTS]);
/// ```
///
/// For each valid `prompts/get` the server emits [`Event::GetPrompt`](crate::server::Event::GetPrompt). The server
/// finds a prompt by linear search, suitable for hundreds of prompts.
#[derive(Debug, Clone, Copy)]
pub struct Prompts<'t> {
    catalog: Entries<'t, Prompt<'t>>,
    list_changed: bool,
    stringify: bool,
}

duplicate_of!(duplicate, Prompt, name());
duplicate_of!(duplicate_argument, PromptArgument, name);

/// Returns the index of the first prompt with duplicate argument names, or `None` if there is no such prompt.
const fn duplicate_in_arguments(prompts: &[Prompt<'_>]) -> Option<usize> {
    position!(prompts, |prompt, index| duplicate_argument(prompt.arguments).is_some())
}

// Indices in `methods`.
const LIST: usize = 0;
const GET: usize = 1;

impl<'t> Prompts<'t> {
    /// Creates the feature with a static catalog. The server lists the prompts, and refuses requests for unknown
    /// prompts or without required arguments.
    ///
    /// Use this function in constants and statics, where two prompts with the same name do not compile:
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::server::{Prompt, Prompts};
    /// static PROMPTS: Prompts = Prompts::new(&[Prompt::new("greet"), Prompt::new("greet")]);
    /// ```
    ///
    /// # Panics
    /// Two prompts, or two arguments of one prompt, have the same name. At run time, use [`try_new`](Prompts::try_new).
    #[must_use]
    #[expect(clippy::panic, reason = "meant for constants and statics, where a panic is a compile error")]
    pub const fn new(catalog: &'t [Prompt<'t>]) -> Prompts<'t> {
        match Prompts::try_new(catalog) {
            Ok(prompts) => prompts,
            Err(_) => panic!("two prompts, or two arguments of one prompt, have the same name"),
        }
    }

    /// Creates the feature with a catalog that is built at run time.
    ///
    /// # Errors
    /// [`ConfigError::DuplicateName`]: two prompts, or two arguments of one prompt, have the same name.
    pub const fn try_new(catalog: &'t [Prompt<'t>]) -> Result<Prompts<'t>, ConfigError> {
        match (duplicate(catalog), duplicate_in_arguments(catalog)) {
            (Some(entry), _) | (None, Some(entry)) => Err(ConfigError::DuplicateName { entry }),
            (None, None) => Ok(Prompts { catalog: Entries::fixed(catalog), ..Prompts::dynamic_list() }),
        }
    }

    /// Creates the feature with a dynamic list, which the application provides: see
    /// [`Event::ListPrompts`](crate::server::Event::ListPrompts).
    ///
    /// The server emits an event for a `prompts/get` with any name.
    #[must_use]
    pub const fn dynamic_list() -> Prompts<'static> {
        Prompts { catalog: Entries::dynamic(ListPrompts::event), list_changed: false, stringify: false }
    }

    /// Returns the prompts of a static catalog. Empty if the list is dynamic.
    #[cfg(feature = "derive")]
    pub(crate) fn entries(&self) -> &'t [Prompt<'t>] {
        self.catalog.fixed
    }

    /// Declares `listChanged`. Report changes with [`Server::changed`](crate::Server::changed).
    #[must_use]
    pub const fn list_changed(mut self) -> Self {
        self.list_changed = true;
        self
    }

    /// Accepts numbers and booleans as argument values. The application receives their JSON text.
    ///
    /// By default the server refuses such values (-32602), because the protocol allows only strings.
    #[must_use]
    pub const fn stringify(mut self) -> Self {
        self.stringify = true;
        self
    }
}

impl Feature for Prompts<'_> {}

impl Sealed for Prompts<'_> {
    fn write_capability(&self, config: &ServerConfig<'_>, _: Revision, out: &mut Writer<'_>) {
        let list_changed = config.declares_changes(self.list_changed, ChangeSet::PROMPTS);
        write_list_capability("prompts", list_changed, out);
    }

    fn methods(&self) -> &'static [Method] {
        &[methods::PROMPTS_LIST, methods::PROMPTS_GET]
    }

    fn handle<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        if method == LIST { pagination::respond(request, &self.catalog) } else { self.get(request) }
    }

    fn find(&self, catalog: Catalog, matches: &dyn Fn(&str) -> bool) -> Found<'_> {
        match catalog {
            Catalog::Prompts => find_in(&self.catalog, matches, Found::Prompt),
            _ => Found::Absent,
        }
    }

    #[cfg(feature = "alloc")]
    fn entry(&self, catalog: Catalog, index: usize) -> Result<Found<'_>, usize> {
        match catalog {
            Catalog::Prompts => entry_in(&self.catalog, index, Found::Prompt),
            _ => Err(0),
        }
    }

    fn change_notification(&self) -> Option<(ChangeSet, &'static str)> {
        self.list_changed.then_some((ChangeSet::PROMPTS, methods::PROMPTS_LIST_CHANGED.name))
    }

    fn check(&self, results: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        pagination::check(&self.catalog, results)
    }
}

impl Prompts<'_> {
    fn get<'b>(&'b self, request: &mut Request<'_, 'b>) -> Received {
        let Some(name) = request.view(request.spans.subject).string() else {
            return request.invalid_params("`name` must be the name of a prompt");
        };
        if !request.check_arguments() {
            return request.invalid_params("`arguments` must be an object");
        }
        let is_requested = |prompt: &str| name == *prompt;
        let found = self.find(Catalog::Prompts, &is_requested);
        if found.is_absent() {
            return match owner(request.state.config, Catalog::Prompts, &is_requested) {
                Some(other) => other.handle(GET, request),
                None => request.refuse(ProtocolError::UnknownPrompt, &name),
            };
        }
        let given = request.view(request.spans.arguments);
        for (name, value) in given.members() {
            if !self.accepts(value) {
                let what = ("argument `", name, "` must be a string, found ", value.kind());
                return request.refuse(ProtocolError::InvalidParams, &what);
            }
        }
        if let Found::Prompt(prompt) = found {
            let missing = |argument: &&PromptArgument<'_>| {
                argument.required && given.get(argument.name).is_none_or(Json::is_null)
            };
            if let Some(argument) = prompt.arguments.iter().find(missing) {
                let what = ("argument `", argument.name, "` is missing");
                return request.refuse(ProtocolError::InvalidParams, &what);
            }
        }
        request.emit_request(RequestKind::GetPrompt, GetPrompt::event)
    }

    /// Returns whether an argument may have this value. `null` counts as absent.
    fn accepts(&self, value: Json<'_>) -> bool {
        match value.kind() {
            Kind::String | Kind::Null => true,
            Kind::Number | Kind::Bool => self.stringify,
            Kind::Array | Kind::Object => false,
        }
    }
}
