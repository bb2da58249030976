//! Feature `Tools`: catalogue, `tools/list`, and checks of `tools/call`.
//!
//! Specification: *Server features*, *Tools*.

use crate::error::{ConfigError, ProtocolError};
use crate::json::{Json, Kind, Writer};
use crate::protocol::base_metadata::{Details, Objects, details, write_raw};
use crate::protocol::methods::{self, Method};
use crate::protocol::revision::{Revision, WireFeature};
use crate::rpc::code;
use crate::server::call::Call;
use crate::server::config::ServerConfig;
use crate::server::feature::{Change, Feature, Measure, Received, Request, Sealed};
use crate::server::features::catalogue::{Catalogue, Found, duplicate_of};
use crate::server::features::dynamic_list::ListTools;
use crate::server::features::pagination;
use crate::server::pending_event::RequestKind;

/// A tool as it appears in `tools/list`.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'t> {
    details: Details<'t>,
    input_schema: &'t str,
    output_schema: Option<&'t str>,
    hints: Hints,
}

/// The behavior hints of a tool. Clients must treat them as untrusted.
#[derive(Debug, Clone, Copy)]
struct Hints([Option<bool>; 4]);

const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

details!(Tool);

impl<'t> Tool<'t> {
    /// A tool with a name and the JSON Schema of its arguments, as JSON text. `{}` means no arguments.
    ///
    /// Names should have 1 to 128 characters of `A-Z a-z 0-9 _ - .`.
    #[must_use]
    pub const fn new(name: &'t str, input_schema: &'t str) -> Tool<'t> {
        Tool { details: Details::new(name), input_schema, output_schema: None, hints: Hints([None; 4]) }
    }

    /// Sets the JSON Schema of structured results, as JSON text (since `2025-06-18`).
    #[must_use]
    pub const fn output_schema(mut self, schema: &'t str) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Sets whether the tool only reads (since `2025-03-26`).
    #[must_use]
    pub const fn read_only(self, yes: bool) -> Self {
        self.hint(0, yes)
    }

    /// Sets whether the tool may perform destructive updates (since `2025-03-26`).
    #[must_use]
    pub const fn destructive(self, yes: bool) -> Self {
        self.hint(1, yes)
    }

    /// Sets whether repeated calls have no additional effect (since `2025-03-26`).
    #[must_use]
    pub const fn idempotent(self, yes: bool) -> Self {
        self.hint(2, yes)
    }

    /// Sets whether the tool interacts with external entities (since `2025-03-26`).
    #[must_use]
    pub const fn open_world(self, yes: bool) -> Self {
        self.hint(3, yes)
    }

    const fn hint(mut self, which: usize, yes: bool) -> Self {
        if let Some((_, [hint, ..])) = self.hints.0.split_at_mut_checked(which) {
            *hint = Some(yes);
        }
        self
    }

    /// The JSON Schema of the arguments, as JSON text. The server does not validate arguments against it.
    #[must_use]
    pub const fn input_schema(&self) -> &'t str {
        self.input_schema
    }

    /// The JSON Schema of structured results, if it is set. The server does not validate results against it.
    #[must_use]
    pub const fn result_schema(&self) -> Option<&'t str> {
        self.output_schema
    }

    /// The JSON texts that must be objects.
    pub(crate) fn objects(&self) -> Objects<'t> {
        [Some(self.input_schema), self.output_schema, self.details.meta]
    }

    /// Writes the entry of the list, with the members of the revision.
    pub(crate) fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object();
        self.details.write(revision, out);
        let schema = match Json::trusted(self.input_schema.as_bytes()).bytes() {
            b"{}" => r#"{"type":"object"}"#,
            _ => self.input_schema,
        };
        write_raw("inputSchema", Some(schema), out);
        if revision.has(WireFeature::OutputSchemas) {
            write_raw("outputSchema", self.output_schema, out);
        }
        if revision.has(WireFeature::ToolAnnotations) {
            // A revision without titles has them in the annotations of a tool.
            let title = self.details.title().filter(|_| !revision.has(WireFeature::Titles));
            self.hints.write(title, out);
        }
        out.end_object();
    }
}

impl Hints {
    fn write(&self, title: Option<&str>, out: &mut Writer<'_>) {
        if title.is_none() && self.0.iter().all(Option::is_none) {
            return;
        }
        out.key("annotations");
        out.begin_object();
        out.field_optional("title", title);
        for (key, hint) in HINTS.iter().zip(self.0) {
            if let Some(hint) = hint {
                out.field_boolean(key, hint);
            }
        }
        out.end_object();
    }
}

/// The feature *tools*: a static catalogue, or a dynamic list that the application provides.
///
/// The lookup of a tool is a linear search, suitable for hundreds of tools.
#[derive(Debug, Clone, Copy)]
pub struct Tools<'t> {
    catalogue: Option<&'t [Tool<'t>]>,
    list_changed: bool,
    always_structured: bool,
}

duplicate_of!(duplicate, Tool, name());

/// Index of `tools/list` in `methods`.
const LIST: usize = 0;

impl<'t> Tools<'t> {
    /// A static catalogue. The server lists it, and refuses calls of unknown tools.
    ///
    /// Use this in constants and statics, where two tools of the same name do not compile:
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::server::{Tool, Tools};
    /// static TOOLS: Tools = Tools::new(&[Tool::new("led_set", "{}"), Tool::new("led_set", "{}")]);
    /// ```
    ///
    /// # Panics
    /// Two tools have the same name. At run time, use [`try_new`](Tools::try_new).
    #[must_use]
    #[expect(clippy::panic, reason = "evaluated at compile time, so it is a compile error")]
    pub const fn new(catalogue: &'t [Tool<'t>]) -> Tools<'t> {
        match Tools::try_new(catalogue) {
            Ok(tools) => tools,
            Err(_) => panic!("two tools have the same name: each needs one of its own"),
        }
    }

    /// A catalogue that is built at run time.
    ///
    /// # Errors
    /// [`ConfigError::DuplicateName`]: two tools have the same name.
    pub const fn try_new(catalogue: &'t [Tool<'t>]) -> Result<Tools<'t>, ConfigError> {
        match duplicate(catalogue) {
            Some(entry) => Err(ConfigError::DuplicateName { entry }),
            None => Ok(Tools { catalogue: Some(catalogue), ..Tools::dynamic_list() }),
        }
    }

    /// A dynamic list, which the application provides: see [`Event::ListTools`](crate::server::Event::ListTools).
    #[must_use]
    pub const fn dynamic_list() -> Tools<'static> {
        Tools { catalogue: None, list_changed: false, always_structured: false }
    }

    /// Adds `"structuredContent":{}` to results without it, for clients that require it (since `2025-06-18`).
    ///
    /// This does not affect tools with an output schema, nor tools of a dynamic list.
    #[must_use]
    pub const fn always_structured_content(mut self) -> Self {
        self.always_structured = true;
        self
    }

    /// Declares `listChanged`. Report changes with [`Server::changed`](crate::Server::changed).
    ///
    /// Clients of `2026-07-28` are notified only with the feature [`Subscriptions`](crate::server::Subscriptions).
    #[must_use]
    pub const fn list_changed(mut self) -> Self {
        self.list_changed = true;
        self
    }
}

impl Feature for Tools<'_> {}

impl Sealed for Tools<'_> {
    fn write_capability(&self, _: Revision, out: &mut Writer<'_>) {
        out.key("tools");
        out.begin_object();
        if self.list_changed {
            out.field_boolean("listChanged", true);
        }
        out.end_object();
    }

    fn methods(&self) -> &'static [Method] {
        &[methods::TOOLS_LIST, methods::TOOLS_CALL]
    }

    fn handle<'b>(&'b self, method: usize, request: &mut Request<'_, 'b>) -> Received {
        if method == LIST { self.list(request) } else { self.call(request) }
    }

    fn find(&self, catalogue: Catalogue, is: &dyn Fn(&str) -> bool) -> Found<'_> {
        match self.catalogue.filter(|_| catalogue == Catalogue::Tools) {
            Some(tools) => tools.iter().find(|tool| is(tool.name())).map_or(Found::Absent, Found::Tool),
            None if catalogue == Catalogue::Tools => Found::Dynamic,
            None => Found::Absent,
        }
    }

    fn change_notification(&self) -> Option<(Change<'static>, &'static str)> {
        self.list_changed.then_some((Change::Tools, methods::TOOLS_LIST_CHANGED.name))
    }

    fn check(
        &self,
        revision: Revision,
        _: &ServerConfig<'_>,
        measure: Measure<'_>,
    ) -> Result<(), ConfigError> {
        for (index, tool) in self.catalogue.unwrap_or_default().iter().enumerate() {
            let entry = pagination::Entry { key: "tools", index, objects: tool.objects() };
            pagination::check(entry, measure, &mut |out| tool.write(revision, out))?;
        }
        Ok(())
    }
}

impl Tools<'_> {
    fn list(&self, request: &mut Request<'_, '_>) -> Received {
        pagination::respond(
            request,
            "tools",
            self.catalogue.map(<[_]>::len),
            ListTools::event,
            &mut |index, revision, out| {
                let tool = self.catalogue.unwrap_or_default().get(index)?;
                tool.write(revision, out);
                Some(true)
            },
        )
    }

    fn call<'b>(&'b self, request: &mut Request<'_, 'b>) -> Received {
        let (subject, arguments) = (request.name, request.arguments.filter(|arguments| !arguments.is_null()));
        let Some(name) = subject.and_then(Json::string) else {
            return request.refuse(ProtocolError::InvalidParams, &"`name` must be the name of a tool");
        };
        if arguments.is_some_and(|arguments| arguments.kind() != Kind::Object) {
            return request.refuse(ProtocolError::InvalidParams, &"`arguments` must be an object");
        }
        let found = self.find(Catalogue::Tools, &|tool| name == *tool);
        if found.is_absent() {
            return request.refuse(ProtocolError::UnknownTool, &name);
        }
        let tool = if let Found::Tool(tool) = found { Some(tool) } else { None };
        let kind = self.kind(tool, request.pending.context.revision);
        request.emit_request(kind, Call::event, subject, arguments)
    }

    /// The kind of a call to this tool.
    #[inline]
    fn kind(&self, tool: Option<&Tool<'_>>, revision: Revision) -> RequestKind {
        let plain = tool.is_some_and(|tool| tool.output_schema.is_none());
        let pad_structured = self.always_structured && plain && revision.has(WireFeature::StructuredContent);
        RequestKind::CallTool { pad_structured }
    }
}

/// The error code for an unknown tool.
pub(crate) const UNKNOWN_TOOL: i32 = code::INVALID_PARAMS;
