//! Tools: their catalogue, listing it page by page, and the results of calling them.
//!
//! Specification: *Server features*, *Tools*.

use core::fmt::Display;

use crate::fault::{Fault, Misuse};
use crate::json::{Json, Kind, Str, Writer};
use crate::rpc::code;
use crate::server::feature::{Change, Feature, Handled, Measure, Request, Sealed};
use crate::server::info::ServerInfo;
use crate::server::page;
use crate::server::plan::RequestKind;
use crate::version::{Revision, Revisions};

/// A tool, as it stands in the list of tools.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'t> {
    name: &'t str,
    input_schema: &'t str,
    title: Option<&'t str>,
    description: Option<&'t str>,
    output_schema: Option<&'t str>,
    hints: Hints,
}

/// What a tool does to the world. Clients are told, but need not believe it.
#[derive(Debug, Clone, Copy, Default)]
struct Hints {
    read_only: Option<bool>,
    destructive: Option<bool>,
    idempotent: Option<bool>,
    open_world: Option<bool>,
}

impl<'t> Tool<'t> {
    /// A tool with its name and the JSON Schema of its arguments, as JSON text. `{}` stands for no arguments.
    ///
    /// Names should have 1 to 128 characters of `A-Z a-z 0-9 _ - .`.
    #[must_use]
    pub const fn new(name: &'t str, input_schema: &'t str) -> Tool<'t> {
        let hints = Hints { read_only: None, destructive: None, idempotent: None, open_world: None };
        Tool { name, input_schema, title: None, description: None, output_schema: None, hints }
    }

    /// What it does, for the model.
    #[must_use]
    pub const fn description(mut self, text: &'t str) -> Self {
        self.description = Some(text);
        self
    }

    /// A name for people (from `2025-06-18` on).
    #[must_use]
    pub const fn title(mut self, title: &'t str) -> Self {
        self.title = Some(title);
        self
    }

    /// The JSON Schema of its structured results, as JSON text (from `2025-06-18` on).
    #[must_use]
    pub const fn output_schema(mut self, schema: &'t str) -> Self {
        self.output_schema = Some(schema);
        self
    }

    /// Whether it only reads (from `2025-03-26` on).
    #[must_use]
    pub const fn read_only(mut self, yes: bool) -> Self {
        self.hints.read_only = Some(yes);
        self
    }

    /// Whether it may destroy something (from `2025-03-26` on).
    #[must_use]
    pub const fn destructive(mut self, yes: bool) -> Self {
        self.hints.destructive = Some(yes);
        self
    }

    /// Whether calling it twice is the same as calling it once (from `2025-03-26` on).
    #[must_use]
    pub const fn idempotent(mut self, yes: bool) -> Self {
        self.hints.idempotent = Some(yes);
        self
    }

    /// Whether it deals with things outside of the server (from `2025-03-26` on).
    #[must_use]
    pub const fn open_world(mut self, yes: bool) -> Self {
        self.hints.open_world = Some(yes);
        self
    }

    /// Its name.
    #[must_use]
    pub const fn name(&self) -> &'t str {
        self.name
    }

    /// Writes the entry of the list, with the members that the revision has. An error: a schema is not valid JSON.
    pub(crate) fn write(
        &self,
        revision: Revision,
        out: &mut Writer<'_>,
    ) -> Result<(), crate::json::ScanError> {
        out.begin_object();
        out.field_string("name", self.name);
        if let Some(title) = self.title.filter(|_| revision >= Revision::V2025_06_18) {
            out.field_string("title", title);
        }
        if let Some(description) = self.description {
            out.field_string("description", description);
        }
        out.key("inputSchema");
        if self.input_schema.trim() == "{}" {
            out.token(r#"{"type":"object"}"#);
        } else {
            out.raw(self.input_schema)?;
        }
        if let Some(schema) = self.output_schema.filter(|_| revision >= Revision::V2025_06_18) {
            out.key("outputSchema");
            out.raw(schema)?;
        }
        if revision >= Revision::V2025_03_26 {
            self.hints.write(out);
        }
        out.end_object();
        Ok(())
    }
}

impl Hints {
    fn write(&self, out: &mut Writer<'_>) {
        let hints = [
            ("readOnlyHint", self.read_only),
            ("destructiveHint", self.destructive),
            ("idempotentHint", self.idempotent),
            ("openWorldHint", self.open_world),
        ];
        if hints.iter().all(|(_, hint)| hint.is_none()) {
            return;
        }
        out.key("annotations");
        out.begin_object();
        for (key, hint) in hints {
            if let Some(hint) = hint {
                out.field_boolean(key, hint);
            }
        }
        out.end_object();
    }
}

/// The feature *tools*: a catalogue in a static table, or a list that the host answers itself.
///
/// A call looks its tool up by walking the table, which is fine for hundreds of tools.
#[derive(Debug, Clone, Copy)]
pub struct Tools<'t> {
    catalogue: Option<&'t [Tool<'t>]>,
    list_changed: bool,
}

const LIST: u8 = 0;
const CALL: u8 = 1;

impl<'t> Tools<'t> {
    /// Tools that never change. The machine lists them, and refuses calls of others.
    #[must_use]
    pub const fn new(catalogue: &'t [Tool<'t>]) -> Tools<'t> {
        Tools { catalogue: Some(catalogue), list_changed: false }
    }

    /// Tools that the host lists: see [`Event::ListTools`](crate::server::Event::ListTools).
    #[must_use]
    pub const fn listed_by_host() -> Tools<'static> {
        Tools { catalogue: None, list_changed: false }
    }

    /// Declares that the list may change; [`Server::changed`](crate::Server::changed) then says that it has. Clients of
    /// `2026-07-28` hear of it if [`Subscriptions`](crate::server::Subscriptions) are offered, too.
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

    fn method(&self, name: Str<'_>) -> Option<(u8, Revisions)> {
        if name == "tools/call" {
            Some((CALL, Revisions::ALL))
        } else if name == "tools/list" {
            Some((LIST, Revisions::ALL))
        } else {
            None
        }
    }

    fn handle(&self, method: u8, request: &mut Request<'_, '_>) -> Handled {
        if method == CALL { self.call(request) } else { self.list(request) }
    }

    fn change_notice(&self) -> Option<(Change<'static>, &'static str)> {
        self.list_changed.then_some((Change::Tools, "notifications/tools/list_changed"))
    }

    fn check(&self, revision: Revision, info: &ServerInfo<'_>, measure: Measure<'_>) -> Result<(), Misuse> {
        let catalogue = self.catalogue.unwrap_or_default();
        for (entry, tool) in catalogue.iter().enumerate() {
            if catalogue.iter().take(entry).any(|earlier| earlier.name == tool.name) {
                return Err(Misuse::DuplicateName { entry });
            }
            let mut outcome = Ok(());
            measure(&mut |out| {
                info.write_cache(revision, out);
                page::measure_one(out, "tools", &mut |out| outcome = tool.write(revision, out));
            });
            outcome.map_err(|error| Misuse::InvalidJson { entry, error })?;
            for schema in [Some(tool.input_schema), tool.output_schema].into_iter().flatten() {
                if Json::parse(schema.as_bytes()).is_ok_and(|schema| schema.kind() != Kind::Object) {
                    return Err(Misuse::NotAnObject { entry });
                }
            }
        }
        Ok(())
    }
}

impl Tools<'_> {
    fn list(&self, request: &mut Request<'_, '_>) -> Handled {
        let first = match page::first_of(request) {
            Ok(first) => first,
            Err(refused) => return refused,
        };
        let Some(catalogue) = self.catalogue else {
            return request.hand_out(RequestKind::ListTools { first }, None, None);
        };
        if first > 0 && first as usize >= catalogue.len() {
            return request.refuse(Fault::BadCursor, &"it is not one of this list");
        }
        let revision = request.context.revision;
        request.list(&mut |out| {
            page::write(out, "tools", first as usize, &mut |index, out| {
                catalogue.get(index).map(|tool| tool.write(revision, out).is_ok())
            });
        })
    }

    fn call(&self, request: &mut Request<'_, '_>) -> Handled {
        let Some(name) = request.param("name").and_then(Json::string) else {
            return request.refuse(Fault::InvalidParams, &"`name` must be the name of a tool");
        };
        let arguments = request.param("arguments");
        if arguments.is_some_and(|arguments| arguments.kind() != Kind::Object) {
            return request.refuse(Fault::InvalidParams, &"`arguments` must be an object");
        }
        if let Some(catalogue) = self.catalogue
            && !catalogue.iter().any(|tool| name == *tool.name)
        {
            return request.refuse(Fault::UnknownTool, &name);
        }
        request.hand_out(RequestKind::CallTool, request.param("name"), arguments)
    }
}

/// The code for an unknown tool.
pub(crate) const UNKNOWN_TOOL: i32 = code::INVALID_PARAMS;

/// The content of a tool's result, piece by piece.
#[derive(Debug)]
pub struct ToolResult<'w, 'a> {
    out: &'w mut Writer<'a>,
    pieces: usize,
    failed: bool,
}

impl<'w, 'a> ToolResult<'w, 'a> {
    pub(crate) fn begin(out: &'w mut Writer<'a>) -> ToolResult<'w, 'a> {
        out.key("content");
        out.begin_array();
        ToolResult { out, pieces: 0, failed: false }
    }

    /// Adds a piece of text.
    pub fn text(&mut self, text: impl Display) {
        self.pieces = self.pieces.saturating_add(1);
        write_text_block(self.out, &mut |out| out.display(&text));
    }

    /// Marks the result as a failure of the tool.
    pub fn failed(&mut self) {
        self.failed = true;
    }

    pub(crate) fn end(mut self) {
        if self.pieces == 0 {
            self.text("");
        }
        self.out.end_array();
        if self.failed {
            self.out.field_boolean("isError", true);
        }
    }
}

/// A result of one text.
pub(crate) fn write_text(out: &mut Writer<'_>, text: &dyn Display, failed: bool) {
    let mut result = ToolResult::begin(out);
    result.text(text);
    result.failed = failed;
    result.end();
}

fn write_text_block(out: &mut Writer<'_>, text: &mut dyn FnMut(&mut Writer<'_>)) {
    out.begin_object();
    out.field_string("type", "text");
    out.key("text");
    text(out);
    out.end_object();
}

/// A structured result, mirrored as text. Revisions without structured content get the text alone; those that know
/// only objects there get anything else as text alone.
pub(crate) fn write_structured(
    out: &mut Writer<'_>,
    revision: Revision,
    value: &mut dyn FnMut(&mut Writer<'_>) -> bool,
) -> bool {
    let before = out.mark();
    out.key("structuredContent");
    let from = out.len();
    if !value(out) {
        return false;
    }
    let to = out.len();
    let is_object = out.written().get(from) == Some(&b'{');
    let keeps = match revision {
        Revision::V2024_11_05 | Revision::V2025_03_26 => false,
        Revision::V2025_06_18 | Revision::V2025_11_25 => is_object,
        Revision::V2026_07_28 => true,
    };
    out.key("content");
    out.begin_array();
    write_text_block(out, &mut |out| {
        out.token("\"");
        out.escape_own(from, to);
        out.token("\"");
    });
    out.end_array();
    if !keeps {
        out.cut(before, to);
    }
    true
}
