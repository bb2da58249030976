//! Tools: listed by a server, viewed by a client.
//!
//! Specification: *Tools*, *Tool*.

use crate::json::{Json, Str, Writer};
use crate::protocol::objects::application_json::{Objects, write_raw};
use crate::protocol::objects::base_metadata::{BaseMetadata, ListedObject, base_metadata};
use crate::protocol::objects::schema_reader::{RootType, root_type};
use crate::protocol::objects::size;
use crate::protocol::objects::task::{TaskSupport, ToolTasks};
use crate::protocol::objects::view::{member, object, text, view};
use crate::protocol::revision::{Revision, WireFeature};

/// A tool, as a server lists it, or offers it to the model in a sampling request.
#[derive(Debug, Clone, Copy)]
pub struct Tool<'t> {
    base: BaseMetadata<'t>,
    input_schema: SchemaText<'t>,
    output_schema: Option<SchemaText<'t>>,
    hints: Hints,
    tasks: Option<&'static ToolTasks>,
    pub(crate) streamed: Option<&'t str>,
    #[cfg(all(feature = "derive", feature = "std"))]
    pub(crate) generators: Generators,
}

/// A function that returns the schema of a type, and the description of the type.
#[cfg(all(feature = "derive", feature = "std"))]
pub type Generator = fn() -> (&'static str, Option<&'static str>);

/// The functions that generate the schemas of a tool at run time.
#[cfg(all(feature = "derive", feature = "std"))]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Generators {
    pub(crate) input: Option<Generator>,
    pub(crate) output: Option<Generator>,
}

/// The behavior hints of a tool. Clients must treat the hints as untrusted.
#[derive(Debug, Clone, Copy)]
struct Hints([Option<bool>; 4]);

const HINTS: [&str; 4] = ["readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"];

base_metadata!(Tool);

impl<'t> Tool<'t> {
    /// Creates a tool with a name and an argument schema. The schema is the JSON text of a JSON Schema of objects. If
    /// the schema has no `type`, the server adds `"type":"object"`, which every revision requires.
    ///
    /// A name should have 1 to 128 characters from `A-Z a-z 0-9 _ - .`.
    ///
    /// A property may have the annotation `"x-mcp-header":"Region"`. Clients over HTTP then repeat the value of the
    /// property in the header field `Mcp-Param-Region` (since `2026-07-28`), where a proxy can read the value:
    ///
    /// ```
    /// use mcp_proto::server::{Tool, Tools};
    /// const SCHEMA: &str = r#"{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#;
    /// static TOOLS: Tools = Tools::new(&[Tool::new("deploy", SCHEMA)]);
    /// ```
    ///
    /// [`Tools::new`](crate::server::Tools::new) checks the annotations at compile time.
    #[must_use]
    pub const fn new(name: &'t str, input_schema: &'t str) -> Tool<'t> {
        let hints = Hints([None; 4]);
        Tool {
            base: BaseMetadata::new(name),
            input_schema: SchemaText::new(input_schema),
            output_schema: None,
            hints,
            tasks: None,
            streamed: None,
            #[cfg(all(feature = "derive", feature = "std"))]
            generators: Generators { input: None, output: None },
        }
    }

    /// Returns whether a schema is generated at run time.
    #[cfg(all(feature = "derive", feature = "std"))]
    pub(crate) const fn has_generators(&self) -> bool {
        self.generators.input.is_some() || self.generators.output.is_some()
    }

    /// Returns the tool with generated schemas. A tool without a description gets the description of the type of its
    /// arguments.
    #[cfg(all(feature = "derive", feature = "std"))]
    pub(crate) fn generated(mut self) -> Tool<'t> {
        let Generators { input, output } = self.generators;
        self.generators = Generators { input: None, output: None };
        if let Some(generate) = input {
            let (schema, description) = generate();
            self.input_schema = SchemaText::new(schema);
            if !self.base.has_description()
                && let Some(description) = description
            {
                self = self.description(description);
            }
        }
        match output {
            Some(generate) => self.output_schema(generate().0),
            None => self,
        }
    }

    /// Sets the JSON Schema of structured results, as JSON text (since `2025-06-18`).
    ///
    /// Before `2026-07-28`, structured results are objects. So in these revisions, the server adds `"type":"object"` to
    /// a schema without a `type`, and omits a schema of another type.
    #[must_use]
    pub const fn output_schema(mut self, schema: &'t str) -> Self {
        self.output_schema = Some(SchemaText::new(schema));
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

    /// Sets whether repeated calls with the same arguments have no additional effect (since `2025-03-26`).
    #[must_use]
    pub const fn idempotent(self, yes: bool) -> Self {
        self.hint(2, yes)
    }

    /// Sets `openWorldHint`: whether the tool reaches beyond its own data and devices, for example to the web (since
    /// `2025-03-26`).
    #[must_use]
    pub const fn open_world(self, yes: bool) -> Self {
        self.hint(3, yes)
    }

    /// Sets whether calls may become tasks. By default, calls never become tasks.
    ///
    /// With the feature [`Tasks`](crate::server::Tasks), the server refuses calls that contradict the value. The list
    /// of tools shows the value in `2025-11-25`.
    #[must_use]
    pub const fn task_support(mut self, support: TaskSupport) -> Self {
        self.tasks = Some(ToolTasks::new(support));
        self
    }

    /// Sets the name of the argument that may be larger than the receive buffer. The argument is a string, such as the
    /// content of a file.
    ///
    /// If the receive buffer becomes full within the argument of a call, the server emits the part of the argument that
    /// has arrived as [`Event::ArgumentChunk`](crate::server::Event::ArgumentChunk), and removes this part from the
    /// buffer. The chunks end with the [`Event::Call`](crate::server::Event::Call), whose argument is the rest of the
    /// string. A call that fits into the buffer has no chunks. To handle all calls in the same way, an application
    /// appends the argument of the call to the chunks. If the message turns out not to be a valid call,
    /// [`Event::ArgumentsAborted`](crate::server::Event::ArgumentsAborted) ends the chunks.
    ///
    /// ```
    /// use mcp_proto::server::{Event, Tool, Tools};
    ///
    /// static TOOLS: Tools = Tools::new(&[Tool::new(
    ///     "flash_write",
    ///     r#"{"type":"object","properties":{"data":{"type":"string"}},"required":["data"]}"#,
    /// )
    /// .streamed("data")]);
    ///
    /// /// Receives one file at a time.
    /// fn handle(event: Event<'_>, file: &mut String) {
    ///     match event {
    ///         Event::ArgumentChunk(chunk) => file.push_str(chunk.text()),
    ///         Event::Call(call) => {
    ///             let rest = call.raw_arguments().get("data").and_then(|data| data.string());
    ///             file.extend(rest.into_iter().flat_map(|rest| rest.chars()));
    ///             call.text((file.len(), " bytes"));
    ///             file.clear();
    ///         }
    ///         Event::ArgumentsAborted => file.clear(),
    ///         _ => {}
    ///     }
    /// }
    /// # let _ = handle;
    /// ```
    ///
    /// The rest of the message must fit into the receive buffer. The members `method`, `name` and `arguments` must
    /// precede the string, in this order. Official clients use this order. The text before the string must take at most
    /// seven eighths of the buffer. The `id` may follow the string. If a message exceeds the buffer and breaks one of
    /// these rules, the server refuses the message as too long.
    ///
    /// [`Tools::new`](crate::server::Tools::new) checks at compile time that the schema has the argument as a string:
    ///
    /// ```compile_fail,E0080
    /// use mcp_proto::server::{Tool, Tools};
    /// const SCHEMA: &str = r#"{"properties":{"data":{"type":"integer"}}}"#;
    /// static TOOLS: Tools = Tools::new(&[Tool::new("flash_write", SCHEMA).streamed("data")]);
    /// ```
    ///
    /// In [message mode](crate::Server::message_mode), which HTTP uses, a message arrives whole: each call has the
    /// whole string, and no chunks. A message must then fit into the receive buffer, and over HTTP also into the limit
    /// of a body. The same application can therefore serve a UART and HTTP, with a larger buffer for HTTP.
    ///
    /// Tools of a [dynamic list](crate::server::Tools::dynamic_list) cannot have such an argument. An
    /// [observer](crate::Observer) sees the message without the chunks.
    #[must_use]
    pub const fn streamed(mut self, argument: &'t str) -> Self {
        self.streamed = Some(argument);
        self
    }

    const fn hint(mut self, which: usize, yes: bool) -> Self {
        if let Some((_, [hint, ..])) = self.hints.0.split_at_mut_checked(which) {
            *hint = Some(yes);
        }
        self
    }

    /// Returns the JSON Schema of the arguments, as JSON text. The server does not validate arguments against the
    /// schema.
    #[must_use]
    pub const fn input_schema(&self) -> &'t str {
        self.input_schema.whole
    }

    /// Returns the JSON Schema of structured results, if the tool has one. Only debug builds with the features `std`
    /// and `derive` check structured results against the schema.
    #[must_use]
    pub const fn result_schema(&self) -> Option<&'t str> {
        match &self.output_schema {
            Some(schema) => Some(schema.whole),
            None => None,
        }
    }

    /// Returns the maximum size of the list entry and its comma in any revision, in bytes.
    pub(crate) const fn size(&self) -> usize {
        let mut length = r#"{},"annotations":{},"execution":{"taskSupport":"forbidden"}"#.len();
        let (mut keys, mut hints) = (HINTS.as_slice(), self.hints.0.as_slice());
        while let ([key, other_keys @ ..], [hint, other_hints @ ..]) = (keys, hints) {
            if hint.is_some() {
                length = length.saturating_add(size::raw(key, Some("false")));
            }
            (keys, hints) = (other_keys, other_hints);
        }
        length
            .saturating_add(self.base.size())
            .saturating_add(self.input_schema.size("inputSchema"))
            .saturating_add(match &self.output_schema {
                Some(schema) => schema.size("outputSchema"),
                None => 0,
            })
    }

    /// Returns whether calls may, must or cannot become tasks.
    #[must_use]
    pub const fn supports_tasks(&self) -> TaskSupport {
        match self.tasks {
            Some(tasks) => tasks.support,
            None => TaskSupport::Forbidden,
        }
    }
}

impl ListedObject for Tool<'_> {
    const LIST: &'static str = "tools";

    fn key(&self) -> &str {
        self.name()
    }

    fn objects(&self) -> Objects<'_> {
        [Some(self.input_schema()), self.result_schema(), self.base.meta]
    }

    fn write(&self, revision: Revision, out: &mut Writer<'_>) {
        out.begin_object();
        self.base.write(revision, out);
        self.input_schema.write_of_object("inputSchema", out);
        if let Some(schema) = &self.output_schema
            && revision.has(WireFeature::OutputSchemas)
        {
            if revision.has(WireFeature::StructuredValues) {
                write_raw("outputSchema", Some(schema.whole), out);
            } else if !schema.is_of_other_type {
                schema.write_of_object("outputSchema", out);
            }
        }
        if revision.has(WireFeature::ToolAnnotations) {
            // If a revision has no member `title`, write the title of the tool into the annotations.
            let title = self.base.title().filter(|_| !revision.has(WireFeature::Titles));
            self.hints.write(title, out);
        }
        if let Some(tasks) = self.tasks {
            (tasks.write)(tasks.support, revision, out);
        }
        out.end_object();
    }
}

/// A JSON Schema, split so that the server can add `"type":"object"`.
#[derive(Debug, Clone, Copy)]
struct SchemaText<'t> {
    whole: &'t str,
    /// The text, without its closing brace if the schema has no type.
    start: &'t str,
    /// The added type and the closing brace, or empty text if the schema has a type.
    end: &'static str,
    is_of_other_type: bool,
}

impl<'t> SchemaText<'t> {
    const fn new(whole: &'t str) -> SchemaText<'t> {
        let root_type = root_type(whole);
        let text = whole.trim_ascii_end();
        let (start, end) = match text.split_at_checked(text.len().saturating_sub(1)) {
            Some((start, _)) if matches!(root_type, RootType::Missing) => {
                let is_empty = matches!(start.as_bytes().trim_ascii(), b"{");
                (start, if is_empty { r#""type":"object"}"# } else { r#","type":"object"}"# })
            }
            _ => (text, ""),
        };
        SchemaText { whole, start, end, is_of_other_type: matches!(root_type, RootType::Other) }
    }

    /// Returns the maximum size of the member and its comma, in bytes.
    const fn size(&self, key: &str) -> usize {
        size::raw(key, Some(self.whole)).saturating_add(self.end.len())
    }

    /// Writes the schema as a member, with the added type, if any.
    fn write_of_object(&self, key: &str, out: &mut Writer<'_>) {
        write_raw(key, Some(self.start), out);
        out.token(self.end);
    }
}

impl Hints {
    fn write(&self, title: Option<&str>, out: &mut Writer<'_>) {
        if title.is_none() && self.0.iter().all(Option::is_none) {
            return;
        }
        out.begin_object_at("annotations");
        out.field_optional("title", title);
        for (key, hint) in HINTS.iter().zip(self.0) {
            if let Some(hint) = hint {
                out.field_boolean(key, hint);
            }
        }
        out.end_object();
    }
}

view! {
    /// A tool in the server's list.
    ///
    /// Specification: *Tools*, *Tool*.
    ToolView with meta, icons
}

/// A schema that accepts any object.
const ANY_OBJECT: &[u8] = br#"{"type":"object"}"#;

impl<'a> ToolView<'a> {
    /// Returns the name, which the application passes to [`Client::call_with`](crate::Client::call_with).
    #[must_use]
    pub fn name(&self) -> Option<Str<'a>> {
        text(self.json, "name")
    }

    /// Returns the member `title`. To show a tool to users, call [`display_name`](ToolView::display_name) instead.
    #[must_use]
    pub fn title(&self) -> Option<Str<'a>> {
        text(self.json, "title")
    }

    /// Returns the display name of the tool.
    ///
    /// The name is the member `title`. If this title is missing or empty, the name is the title in the hints. If both
    /// titles are missing or empty, the name is the member `name`.
    #[must_use]
    pub fn display_name(&self) -> Option<Str<'a>> {
        let titles = [self.title(), self.hints().title()];
        titles.into_iter().flatten().find(|title| !title.is_empty()).or_else(|| self.name())
    }

    /// Returns the description.
    #[must_use]
    pub fn description(&self) -> Option<Str<'a>> {
        text(self.json, "description")
    }

    /// Returns the JSON Schema of the arguments. If the server sends no schema or an empty schema, returns a schema
    /// that accepts any object.
    #[must_use]
    pub fn input_schema(&self) -> Json<'a> {
        let schema = object(self.json, "inputSchema").filter(|schema| schema.members().next().is_some());
        schema.unwrap_or(Json::trusted(ANY_OBJECT))
    }

    /// Returns the JSON Schema of structured results.
    #[must_use]
    pub fn output_schema(&self) -> Option<Json<'a>> {
        self.json.get("outputSchema")
    }

    /// Returns the hints about the tool's behavior.
    #[must_use]
    pub fn hints(&self) -> ToolHintsView<'a> {
        ToolHintsView::from_json(member(self.json, "annotations"))
    }

    /// Returns whether calls of the tool may, must or cannot become tasks (`2025-11-25`): see
    /// [`Options::task`](crate::client::Options::task). If the value is missing or unknown, returns `Forbidden`.
    #[must_use]
    pub fn task_support(&self) -> TaskSupport {
        let support = object(self.json, "execution").and_then(|execution| text(execution, "taskSupport"));
        support.and_then(TaskSupport::from_json).unwrap_or_default()
    }
}

view! {
    /// Hints about a tool's behavior. The application must not rely on hints of an untrusted server. If the server
    /// omits a hint, the getter returns the specification's default, which is the worst case.
    ///
    /// Specification: *Tools*, *ToolAnnotations*.
    ToolHintsView
}

impl<'a> ToolHintsView<'a> {
    /// Returns the title of the tool in its annotations.
    #[must_use]
    pub fn title(&self) -> Option<Str<'a>> {
        text(self.json, "title")
    }

    /// Returns whether the tool has no side effects. Default: false.
    #[must_use]
    pub fn read_only(&self) -> bool {
        self.flag("readOnlyHint", false)
    }

    /// Returns whether the tool may destroy data. Default: true. This hint has no meaning for a read-only tool.
    #[must_use]
    pub fn destructive(&self) -> bool {
        self.flag("destructiveHint", true)
    }

    /// Returns whether a repeated call with the same arguments has no further effect. Default: false. This hint has
    /// no meaning for a read-only tool.
    #[must_use]
    pub fn idempotent(&self) -> bool {
        self.flag("idempotentHint", false)
    }

    /// Returns whether the tool reaches beyond its own data and devices, for example to the web (`openWorldHint`).
    /// Default: true.
    #[must_use]
    pub fn open_world(&self) -> bool {
        self.flag("openWorldHint", true)
    }

    fn flag(&self, name: &str, default: bool) -> bool {
        self.json.get(name).and_then(Json::boolean).unwrap_or(default)
    }
}
