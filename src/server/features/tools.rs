//! Feature `Tools`: its catalog, and the checks of `tools/call`.
//!
//! `pagination.rs` responds to `tools/list`, and `protocol/objects/tool.rs` writes each tool.
//!
//! Specification: *Server features*, *Tools*.

use crate::error::{ConfigError, InvalidToolHeader, ProtocolError};
use crate::json::{Str, Writer};
use crate::protocol::methods::{self, Method};
use crate::protocol::objects::base_metadata::ListedObject;
use crate::protocol::objects::schema_reader::has_string_property;
use crate::protocol::objects::tool::Tool;
use crate::protocol::objects::tool_headers::invalid_header;
use crate::protocol::revision::{Revision, WireFeature};
use crate::server::argument_chunks::{ArgumentHook, handle_streamed};
use crate::server::call::Call;
use crate::server::change_set::ChangeSet;
use crate::server::config::ServerConfig;
use crate::server::feature::{Feature, OwnResults, Received, Request, Sealed, write_list_capability};
#[cfg(feature = "alloc")]
use crate::server::features::catalog::entry_in;
use crate::server::features::catalog::{Catalog, Entries, Found, duplicate_of, find_in, owner, position};
use crate::server::features::dynamic_list::ListTools;
use crate::server::features::pagination;
use crate::server::min_buffer_size::list_overhead;
use crate::server::pending_event::RequestKind;

/// The feature *tools*: a static catalog, or the application's dynamic list.
///
/// The lookup of a tool is a linear search, suitable for hundreds of tools.
#[derive(Debug, Clone, Copy)]
pub struct Tools<'t> {
    catalog: Entries<'t, Tool<'t>>,
    list_changed: bool,
    always_structured: bool,
    /// The code that handles streamed arguments. `None` if no tool has a streamed argument.
    argument_hook: Option<ArgumentHook>,
}

duplicate_of!(duplicate, Tool, name());

/// Returns the index of the first tool with an invalid annotation `x-mcp-header`, and the error. Returns `None` if all
/// annotations are valid.
const fn invalid_annotation(catalog: &[Tool<'_>]) -> Option<(usize, InvalidToolHeader)> {
    let (mut rest, mut index) = (catalog, 0usize);
    while let [tool, tail @ ..] = rest {
        if let Some(error) = invalid_header(tool.input_schema()) {
            return Some((index, error));
        }
        (rest, index) = (tail, index.wrapping_add(1));
    }
    None
}

/// Returns the hook for the streamed arguments of a catalog. Returns `None` if no tool has a streamed argument.
///
/// # Errors
/// The index of the first tool whose input schema does not declare its streamed argument as a string.
const fn argument_hook(catalog: &[Tool<'_>]) -> Result<Option<ArgumentHook>, usize> {
    let invalid = position!(catalog, |tool, index| matches!(
        tool.streamed,
        Some(argument) if !has_string_property(tool.input_schema(), argument)
    ));
    match (invalid, position!(catalog, |tool, index| tool.streamed.is_some())) {
        (Some(index), _) => Err(index),
        (None, Some(_)) => Ok(Some(handle_streamed)),
        (None, None) => Ok(None),
    }
}

// Indices in `methods`.
const LIST: usize = 0;
const CALL: usize = 1;

impl<'t> Tools<'t> {
    /// Creates the feature with a static catalog. The server lists the tools, and refuses calls of unknown tools.
    ///
    /// Use this function in constants and statics, where two tools with the same name do not compile:
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::server::{Tool, Tools};
    /// static TOOLS: Tools = Tools::new(&[Tool::new("led_set", "{}"), Tool::new("led_set", "{}")]);
    /// ```
    ///
    /// An invalid annotation `x-mcp-header` does not compile either: see [`Tool::new`].
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::server::{Tool, Tools};
    /// const SCHEMA: &str = r#"{"properties":{"price":{"type":"number","x-mcp-header":"Price"}}}"#;
    /// static TOOLS: Tools = Tools::new(&[Tool::new("buy", SCHEMA)]);
    /// ```
    ///
    /// # Panics
    /// Two tools have the same name, an annotation `x-mcp-header` is invalid, or the input schema does not declare a
    /// [streamed](Tool::streamed) argument as a string. At run time, use [`try_new`](Tools::try_new).
    #[must_use]
    #[expect(clippy::panic, reason = "meant for constants and statics, where a panic is a compile error")]
    pub const fn new(catalog: &'t [Tool<'t>]) -> Tools<'t> {
        match Tools::try_new(catalog) {
            Ok(tools) => tools,
            Err(ConfigError::InvalidToolHeader { error, .. }) => panic!("{}", error.message()),
            Err(ConfigError::InvalidStreamedArgument { .. }) => {
                panic!("a streamed argument must be a property with the type `string`")
            }
            Err(_) => panic!("two tools have the same name: names must be unique"),
        }
    }

    /// Creates the feature with a catalog that is built at run time.
    ///
    /// # Errors
    /// [`ConfigError::DuplicateName`]: two tools have the same name. [`ConfigError::InvalidToolHeader`]: an annotation
    /// `x-mcp-header` is invalid. [`ConfigError::InvalidStreamedArgument`]: the input schema of a tool does not declare
    /// its [streamed](Tool::streamed) argument as a string.
    pub const fn try_new(catalog: &'t [Tool<'t>]) -> Result<Tools<'t>, ConfigError> {
        match (duplicate(catalog), invalid_annotation(catalog), argument_hook(catalog)) {
            (Some(entry), _, _) => Err(ConfigError::DuplicateName { entry }),
            (_, Some((entry, error)), _) => Err(ConfigError::InvalidToolHeader { entry, error }),
            (_, _, Err(entry)) => Err(ConfigError::InvalidStreamedArgument { entry }),
            (_, _, Ok(argument_hook)) => {
                Ok(Tools { catalog: Entries::fixed(catalog), argument_hook, ..Tools::dynamic_list() })
            }
        }
    }

    /// Creates the feature with a dynamic list, which the application provides: see
    /// [`Event::ListTools`](crate::server::Event::ListTools). The server emits an event for a `tools/call` with any
    /// name.
    #[must_use]
    pub const fn dynamic_list() -> Tools<'static> {
        Tools {
            catalog: Entries::dynamic(ListTools::event),
            list_changed: false,
            always_structured: false,
            argument_hook: None,
        }
    }

    /// Returns the size of a transmit buffer that holds the static list of this feature in one response, in bytes.
    ///
    /// With a smaller buffer, the server may split the list into pages: see [`ProtocolError::ListSplit`]. Some clients
    /// read only the first page. The size is sufficient for ids up to [`Limits::id`](crate::server::Limits::id), in all
    /// revisions, in [message mode](crate::Server::message_mode) and outside of it. The size may be up to 100 bytes too
    /// large, plus 60 bytes for each tool. Returns 0 if the list is dynamic.
    ///
    /// With an assertion in a constant, a buffer that is too small does not compile:
    ///
    /// ```
    /// use mcp_proto::server::{ServerConfig, Tool, Tools};
    /// use mcp_proto::{Era, Server};
    /// static TOOLS: Tools = Tools::new(&[Tool::new("led_set", r#"{"type":"object"}"#)]);
    /// static CONFIG: ServerConfig = ServerConfig::new("blinky", "0.1.0").features(&[&TOOLS]);
    /// const RX: usize = 640;
    /// const TX: usize = 512;
    /// const _: () = assert!(TX >= TOOLS.list_size(&CONFIG), "the list of tools would be split");
    /// const _: () = assert!(RX >= CONFIG.min_rx(Era::Stateless, 64), "a call would be too long");
    ///
    /// let (mut rx, mut tx) = ([0; RX], [0; TX]);
    /// let server = Server::new(&CONFIG, &mut rx, &mut tx)?;
    /// # drop(server);
    /// # Ok::<(), mcp_proto::ConfigError>(())
    /// ```
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::server::{ServerConfig, Tool, Tools};
    /// static TOOLS: Tools = Tools::new(&[Tool::new("led_set", r#"{"type":"object"}"#)]);
    /// static CONFIG: ServerConfig = ServerConfig::new("blinky", "0.1.0").features(&[&TOOLS]);
    /// const _: () = assert!(256 >= TOOLS.list_size(&CONFIG), "the list of tools would be split");
    /// ```
    #[must_use]
    pub const fn list_size(&self, config: &ServerConfig<'_>) -> usize {
        let mut rest = self.catalog.fixed;
        if self.catalog.event.is_some() {
            return 0;
        }
        let mut length = list_overhead(config, <Tool<'_> as ListedObject>::LIST);
        while let [tool, tail @ ..] = rest {
            length = length.saturating_add(tool.size());
            rest = tail;
        }
        length
    }

    /// Returns the tool with this name. Returns `None` if the catalog has no such tool, or if the list is dynamic.
    ///
    /// ```
    /// use mcp_proto::server::{Tool, Tools};
    /// static TOOLS: Tools = Tools::new(&[Tool::new("led_set", "{}")]);
    /// assert_eq!(TOOLS.get("led_set").unwrap().input_schema(), "{}");
    /// assert!(TOOLS.get("led_get").is_none());
    /// ```
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&'t Tool<'t>> {
        self.catalog.fixed.iter().find(|tool| tool.name() == name)
    }

    /// Returns the tools of a static catalog. Empty if the list is dynamic.
    #[cfg(feature = "derive")]
    pub(crate) const fn entries(&self) -> &'t [Tool<'t>] {
        self.catalog.fixed
    }

    /// Adds `"structuredContent":{}` to results without structured content (since `2025-06-18`). Some clients require
    /// the member.
    ///
    /// This setting affects neither tools with an output schema nor tools of a dynamic list.
    #[must_use]
    pub const fn always_structured_content(mut self) -> Self {
        self.always_structured = true;
        self
    }

    /// Declares `listChanged`. Report changes with [`Server::changed`](crate::Server::changed).
    ///
    /// The server notifies clients of `2026-07-28` only with the feature
    /// [`Subscriptions`](crate::server::Subscriptions) or
    /// [`AuthorizedSubscriptions`](crate::server::AuthorizedSubscriptions).
    #[must_use]
    pub const fn list_changed(mut self) -> Self {
        self.list_changed = true;
        self
    }
}

impl Feature for Tools<'_> {}

impl Sealed for Tools<'_> {
    fn write_capability(&self, config: &ServerConfig<'_>, _: Revision, out: &mut Writer<'_>) {
        let list_changed = config.declares_changes(self.list_changed, ChangeSet::TOOLS);
        write_list_capability("tools", list_changed, out);
    }

    fn methods(&self) -> &'static [Method] {
        &[methods::TOOLS_LIST, methods::TOOLS_CALL]
    }

    fn handle<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        if method == LIST { self.list(request) } else { self.call(request) }
    }

    fn find(&self, catalog: Catalog, matches: &dyn Fn(&str) -> bool) -> Found<'_> {
        match catalog {
            Catalog::Tools => find_in(&self.catalog, matches, Found::Tool),
            _ => Found::Absent,
        }
    }

    #[cfg(feature = "alloc")]
    fn entry(&self, catalog: Catalog, index: usize) -> Result<Found<'_>, usize> {
        match catalog {
            Catalog::Tools => entry_in(&self.catalog, index, Found::Tool),
            _ => Err(0),
        }
    }

    fn argument_hook(&self) -> Option<ArgumentHook> {
        self.argument_hook
    }

    fn change_notification(&self) -> Option<(ChangeSet, &'static str)> {
        self.list_changed.then_some((ChangeSet::TOOLS, methods::TOOLS_LIST_CHANGED.name))
    }

    fn check(&self, results: &mut OwnResults<'_>) -> Result<(), ConfigError> {
        pagination::check(&self.catalog, results)
    }
}

impl Tools<'_> {
    // Not inlined, so that the code of `call` stays together.
    #[inline(never)]
    fn list<'b>(&'b self, request: &mut Request<'_, 'b>) -> Received {
        pagination::respond(request, &self.catalog)
    }

    fn call<'b>(&'b self, request: &mut Request<'_, 'b>) -> Received {
        let Some(name) = request.view(request.spans.subject).string() else {
            return request.invalid_params("`name` must be the name of a tool");
        };
        if !request.check_arguments() {
            return request.invalid_params("`arguments` must be an object");
        }
        let is_called = |tool: &str| name == *tool;
        let found = self.find(Catalog::Tools, &is_called);
        if found.is_absent() {
            return call_of_other_feature(request, name);
        }
        let tool = if let Found::Tool(tool) = found { Some(tool) } else { None };
        let kind = self.kind(tool, request.pending.context.revision());
        match request.state.task_hooks() {
            Some(hooks) => (hooks.emit_call)(request, tool, kind),
            None => request.emit_request(kind, Call::event),
        }
    }

    /// Returns the request kind of a call to this tool. `None` stands for a tool of a dynamic list.
    #[inline]
    fn kind(&self, tool: Option<&Tool<'_>>, revision: Revision) -> RequestKind {
        let plain = tool.is_some_and(|tool| tool.result_schema().is_none());
        let pad_structured = self.always_structured && plain && revision.has(WireFeature::StructuredContent);
        RequestKind::CallTool { pad_structured, is_task: false }
    }
}

/// Passes a call to another feature that has the tool. Refuses the call if there is no such feature.
#[cold]
fn call_of_other_feature(request: &mut Request<'_, '_>, name: Str<'_>) -> Received {
    match owner(request.state.config, Catalog::Tools, &|tool| name == *tool) {
        Some(other) => other.handle(CALL, request),
        None => request.refuse(ProtocolError::UnknownTool, &name),
    }
}
