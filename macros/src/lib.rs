//! The macros of [`mcp-proto`]: arguments as structs, and tools, prompts and resources as functions.
//!
//! Use the macros through `mcp-proto` with the feature `derive`, or through an adapter, not directly.
//!
//! [`mcp-proto`]: https://docs.rs/mcp-proto

mod attributes;
mod fields;
mod handler;
mod names;
mod one_of;
mod parse;
#[cfg(doctest)]
mod refused;
mod root;
mod scope;
mod shape;

use proc_macro::TokenStream;

use crate::attributes::Direction;
use crate::handler::Kind;

/// Derives a type's JSON Schema and its decoder (serde's `Deserialize`). The schema and the decoder accept the same
/// values, with the exceptions in the documentation of `mcp_proto::schema`.
///
/// - A struct with named fields becomes an object: the arguments of a tool, or a part of them. A unit struct becomes an
///   object without members.
/// - An enum of unit variants becomes an enumeration of strings.
/// - An enum with `#[serde(tag = "…")]` becomes a tagged union of objects. A variant has named
///   fields, contains one struct with named fields, or is a unit variant.
/// - A newtype struct has the schema of its field, with the limits of the field's attributes.
///
/// Doc comments become descriptions. The doc comment of the arguments becomes the description of the tool.
///
/// The type may have parameters. Each type parameter must implement `Schema` and `Deserialize`. A type without type or
/// const parameters may contain itself, as in `Vec<Tree>`: its schema refers to itself, or to a definition in `$defs`.
/// Two types that contain each other are a compile error. The crate that uses the macro does not need `serde` as a
/// dependency. The type must not also derive `Deserialize`.
///
/// # Attributes of fields and variants
///
/// | attribute | meaning |
/// |---|---|
/// | `#[tool(range = 0..=100)]` | bounds of a number; also `0..` and `..=100`; the bounds of a float or a `Decimal` must be literals such as `0.0` |
/// | `#[tool(minimum = 0, maximum = 100)]` | the same bounds |
/// | `#[tool(min_length = 1, max_length = 8)]` | the number of characters of a string |
/// | `#[tool(min_items = 1, max_items = 8)]` | the number of elements of a list or members of a map, also of `heapless` |
/// | `#[tool(default = 5)]` | the field may be missing; the schema shows the default: a literal, or a variant such as `Speed::Slow` |
/// | `#[tool(format = "date-time")]` | the format of a string, for the model; the decoder does not check it |
/// | `#[tool(description = "…")]` | the description, instead of the doc comment |
/// | `#[tool(title = "…")]` | the name for the user, also of an argument of a prompt |
/// | `#[tool(header = "Region")]` | clients over HTTP repeat the value in the header `Mcp-Param-Region`, see below |
/// | `#[tool(schema = …)]` | a `Node` for a type of another crate that implements `Deserialize`; for an `Option`, the schema also accepts `null` |
/// | `#[serde(default)]`, `#[serde(default = "path")]` | the field may be missing |
/// | `#[serde(rename = "…")]` | the name of the member or of the variant in JSON |
/// | `#[serde(skip)]`, `#[serde(skip_deserializing)]` | not in the schema; a skipped field has its default, and the decoder refuses a skipped variant |
///
/// Bounds, lengths and item counts may be constants, such as `Self::MAX`. Those of an `Option` limit its value.
///
/// # Type attributes
///
/// | attribute | meaning |
/// |---|---|
/// | `#[serde(rename_all = "…")]`, `#[serde(rename_all_fields = "…")]` | the case of names |
/// | `#[serde(default)]`, `#[serde(default = "path")]` | every field may be missing |
/// | `#[serde(tag = "…")]` | the member that distinguishes the variants of an enum |
/// | `#[serde(deny_unknown_fields)]` | no effect: unknown members are refused by default |
/// | `#[tool(allow_unknown_fields)]` | unknown members are ignored |
/// | `#[tool(description = "…")]` | the description, instead of the doc comment |
/// | `#[tool(crate = path)]` | the path of the crate `mcp_proto` |
///
/// Contradictory attributes are compile errors. Examples are bounds that the type cannot hold, and a default out of
/// bounds. A number with a format, and a field with the name of the tag, are errors, too. The keys of a map must be
/// strings or an enumeration. A struct that contains itself may be the type of a field, but not the content of a
/// variant.
///
/// A field with a header is a string, an integer, a boolean or an `Option` of one. The arguments contain the field
/// directly or in a struct, but not in an array or an enum. A header on any other field is a compile error. The schema
/// of the field has the annotation `x-mcp-header`, but not the type `null` of an `Option`, because clients refuse
/// this annotation on a property that may be `null`.
///
/// Other attributes of serde are compile errors, because the schema would not reflect them. `borrow`, `transparent`,
/// and attributes that only affect `Serialize`, are allowed.
///
/// ```
/// # use mcp_proto::ToolArguments;
/// #[derive(ToolArguments)]
/// #[serde(tag = "shape", rename_all = "lowercase")]
/// enum Draw {
///     /// All around a point.
///     Circle {
///         #[tool(range = 0.5..=10.0)]
///         radius: f32,
///     },
///     Line {
///         /// Where it ends: x and y.
///         to: [i32; 2],
///         style: Style,
///     },
/// }
///
/// #[derive(ToolArguments)]
/// #[serde(rename_all = "kebab-case")]
/// enum Style {
///     Solid,
///     /// With gaps.
///     LongDashes,
/// }
///
/// assert_eq!(
///     Draw::INPUT_SCHEMA,
///     concat!(
///         r#"{"type":"object","oneOf":["#,
///         r#"{"type":"object","description":"All around a point.","properties":{"#,
///         r#""shape":{"type":"string","const":"circle"},"#,
///         r#""radius":{"type":"number","minimum":0.5,"maximum":10.0}"#,
///         r#"},"required":["shape","radius"],"additionalProperties":false},"#,
///         r#"{"type":"object","properties":{"#,
///         r#""shape":{"type":"string","const":"line"},"#,
///         r#""to":{"type":"array","description":"Where it ends: x and y.","items":{"type":"integer","#,
///         r#""minimum":-2147483648,"maximum":2147483647},"minItems":2,"maxItems":2},"#,
///         r#""style":{"type":"string","description":"- long-dashes: With gaps.","enum":["solid","long-dashes"]}"#,
///         r#"},"required":["shape","to","style"],"additionalProperties":false}]}"#,
///     )
/// );
/// ```
#[proc_macro_derive(ToolArguments, attributes(tool, serde))]
pub fn derive_tool_arguments(input: TokenStream) -> TokenStream {
    derive(input, Direction::Decode)
}

/// Derives the JSON Schema of a type that is serialized, such as the structured result of a tool.
///
/// The schema describes the values that serde's derived `Serialize` writes: the attributes of serde have the same
/// meaning as for `Serialize`. The macro has the same attributes and supports the same types as
/// [`ToolArguments`](macro@ToolArguments), except defaults, headers and unit structs. A field is required unless it is
/// an `Option` or has `skip_serializing_if`. A type that derives `ToolArguments` has a schema already.
///
/// ```
/// use mcp_proto::Schema;
///
/// /// The weather of a place.
/// #[derive(Schema, serde::Serialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Weather {
///     /// In degrees Celsius.
///     temperature: f32,
///     #[tool(range = 0..=100)]
///     cloud_cover: u8,
///     #[serde(skip_serializing_if = "Vec::is_empty")]
///     warnings: Vec<&'static str>,
/// }
///
/// assert_eq!(
///     <Weather as Schema>::JSON_SCHEMA,
///     concat!(
///         r#"{"type":"object","properties":{"#,
///         r#""temperature":{"type":"number","description":"In degrees Celsius."},"#,
///         r#""cloudCover":{"type":"integer","minimum":0,"maximum":100},"#,
///         r#""warnings":{"type":"array","items":{"type":"string"}}"#,
///         r#"},"required":["temperature","cloudCover"],"additionalProperties":false}"#,
///     )
/// );
/// ```
#[proc_macro_derive(Schema, attributes(tool, serde))]
pub fn derive_schema(input: TokenStream) -> TokenStream {
    derive(input, Direction::Encode)
}

/// Derives the fields of an elicitation form, and the decoder of its content.
///
/// The struct has named fields: strings, numbers, booleans, enumerations of unit variants, and lists of such
/// enumerations. An `Option`, or a field with a default, is not required. The macro has the attributes of
/// [`ToolArguments`](macro@ToolArguments), except headers. The titles of choices are the doc comments of the variants.
/// The type of an enumeration must derive `ToolArguments`. The formats are `email`, `uri`, `date` and `date-time`. Any
/// other type or format is a compile error.
///
/// ```
/// use mcp_proto::input::Form;
/// use mcp_proto::{FormContent, ToolArguments};
///
/// #[derive(FormContent)]
/// struct Shirt {
///     /// It is printed on the back.
///     #[tool(title = "Your name", min_length = 1)]
///     name: String,
///     #[tool(default = Size::Medium)]
///     size: Size,
///     #[tool(format = "email")]
///     address: Option<String>,
/// }
///
/// #[derive(ToolArguments)]
/// #[serde(rename_all = "lowercase")]
/// enum Size {
///     /// Up to 1.70 m
///     Small,
///     Medium,
/// }
///
/// static FORM: Form = Form::with_content::<Shirt>("Who gets the shirt?");
/// ```
#[proc_macro_derive(FormContent, attributes(tool, serde))]
pub fn derive_form_content(input: TokenStream) -> TokenStream {
    derive(input, Direction::Form)
}

#[doc = include_str!("tool.md")]
#[proc_macro_attribute]
pub fn tool(attributes: TokenStream, item: TokenStream) -> TokenStream {
    handler::expand(Kind::Tool, attributes.into(), item.into()).into()
}

/// Creates a `Router` from functions and methods with the attributes [`tool`](macro@tool), [`prompt`](macro@prompt),
/// [`resource`](macro@resource) and [`complete`](macro@complete), in any order.
///
/// The paths may name another module, and types with parameters, as in
/// `router![motor::start, Counter::increment, Sensor::<u8>::measure]`. Write the name of a type, and not `Self`. Do not
/// import a function of another module, but write its path: the macro also uses the generated functions in that module.
///
/// A function without one of the attributes is a compile error: *cannot find function
/// `__handler_from_attribute_of_stop`*.
///
/// If another crate exports `mcp_proto`, the first item is the path of this export:
/// `router![crate = framework::mcp, motor::start]`. The attributes have the item `crate = path`, too.
///
/// Two tools or two prompts with the same name are a compile error, and so are two resources with the same URI:
///
/// ```compile_fail
/// use mcp_proto::server::Router;
/// use mcp_proto::{router, tool};
///
/// #[tool]
/// fn stop() {}
///
/// static ROUTER: Router<()> = router![stop, stop];
/// ```
#[proc_macro]
pub fn router(input: TokenStream) -> TokenStream {
    handler::expand_router(input.into()).into()
}

/// Makes a function or a method a prompt. List the function in a [`router!`](macro@router).
///
/// The name of the function is the name of the prompt, and its doc comment is the description. The attribute does
/// not change the function. The arguments are a struct with [`ToolArguments`](derive@ToolArguments): a field is an
/// argument, with its doc comment as the description. A field that may be missing is an optional argument.
///
/// Values are texts on the wire. A field may be a text, a number, a boolean or an enumeration. The server completes
/// values of enumerations. The server refuses values that do not match the struct (-32602).
///
/// ```
/// use mcp_proto::server::{Router, ServerConfig};
/// use mcp_proto::{ToolArguments, prompt, router};
///
/// #[derive(ToolArguments)]
/// struct Review<'a> {
///     /// The file to review.
///     file: &'a str,
///     depth: Option<Depth>,
///     #[tool(range = 1..=20, default = 5)]
///     findings: u8,
/// }
///
/// #[derive(ToolArguments)]
/// #[serde(rename_all = "lowercase")]
/// enum Depth {
///     Quick,
///     Thorough,
/// }
///
/// /// Reviews a file.
/// #[prompt]
/// fn review(Review { file, depth, findings }: Review<'_>) -> String {
///     let depth = if let Some(Depth::Thorough) = depth { "thoroughly" } else { "quickly" };
///     format!("Review {file} {depth}, with at most {findings} findings.")
/// }
///
/// static ROUTER: Router<()> = router![review];
/// static CONFIG: ServerConfig = ServerConfig::new("reviewer", "1.0.0").features(ROUTER.features());
/// ```
///
/// # Parameters
///
/// | type | meaning |
/// |---|---|
/// | `&self`, `&mut self`, `&T`, `&mut T` | the state |
/// | a type with `ToolArguments` | the arguments; a prompt without this parameter has no arguments |
/// | `GetPrompt<'_>` | the request: the function itself responds, or defers the response |
/// | `Progress`, `Ask`, `Log`, `Cancellation`, `ClientDetails` | parts of a deferred request, as for [`tool`](macro@tool) |
/// | `ServerHandle`, `&ServerHandle` | the handle of the server, as for [`tool`](macro@tool) |
///
/// Without the feature `alloc` of `mcp-proto`, the arguments of a request have at most 256 bytes as JSON. The server
/// refuses longer arguments.
///
/// # Result
///
/// The function returns a value that implements `IntoPromptResult`: a text, a list of `(Role, text)`, `PromptMessages`,
/// or a `Result`. The root of the crate exports `Role`. A function that takes a `GetPrompt` returns nothing.
///
/// An `async fn` runs as a task on tokio. Any other function with the item `blocking`, or with a part of the request as
/// a parameter, runs on a worker thread: see [`tool`](macro@tool).
///
/// # Items
///
/// | item | meaning |
/// |---|---|
/// | `values(file = ["main.rs", "lib.rs"])` | suggested values of an argument, which the server completes |
/// | `name = "…"`, `title = "…"`, `description = "…"`, `icons = …`, `meta = …`, `blocking`, `crate = path` | as for [`tool`](macro@tool) |
///
/// For other completions, see [`complete`](macro@complete).
#[proc_macro_attribute]
pub fn prompt(attributes: TokenStream, item: TokenStream) -> TokenStream {
    handler::expand(Kind::Prompt, attributes.into(), item.into()).into()
}

/// Makes a function or a method a resource, or a template of resources. List the function in a
/// [`router!`](macro@router).
///
/// The name of the function is the name of the resource, and its doc comment is the description. The attribute does not
/// change the function. A URI with variables, such as `{id}`, is a template. A parameter with the name of a variable
/// takes the percent-decoded value of the variable. If a value does not match the type of its parameter, the resource
/// is unknown.
///
/// ```
/// use mcp_proto::server::{Router, ServerConfig};
/// use mcp_proto::{resource, router};
///
/// struct Notes {
///     notes: Vec<String>,
/// }
///
/// impl Notes {
///     /// The number of notes.
///     #[resource("note://count")]
///     fn count(&self) -> usize {
///         self.notes.len()
///     }
///
///     /// One note.
///     #[resource("note:///{id}", mime = "text/markdown")]
///     fn note(&self, id: usize) -> Option<&str> {
///         self.notes.get(id).map(String::as_str)
///     }
/// }
///
/// static ROUTER: Router<Notes> = router![Notes::count, Notes::note];
/// static CONFIG: ServerConfig = ServerConfig::new("notes", "1.0.0").features(ROUTER.features());
/// # assert_eq!(ROUTER.features().len(), 1);
/// ```
///
/// # Parameters
///
/// | type | meaning |
/// |---|---|
/// | `&self`, `&mut self`, `&T`, `&mut T` | the state |
/// | a text, a number or a boolean, or a type with such a schema (`ToolArguments`) | the variable of the same name |
/// | `ReadResource<'_>` | the request: the function itself responds, or defers the response |
/// | `Progress`, `Ask`, `Log`, `Cancellation`, `ClientDetails` | parts of a deferred request, as for [`tool`](macro@tool) |
/// | `ServerHandle`, `&ServerHandle` | the handle of the server, as for [`tool`](macro@tool) |
///
/// Without the feature `alloc` of `mcp-proto`, a value has at most 126 bytes as JSON, without quotes. If a value is
/// longer, the resource is unknown.
///
/// # Result
///
/// The function returns a value that implements `IntoResourceResult`: a text, a number, bytes, `Structured<T>` or
/// `WrittenJson`, or an `Option` or a `Result` of one. `None` means that the resource is unknown. A function that takes
/// a `ReadResource` returns nothing.
///
/// An `async fn` runs as a task on tokio. Any other function with the item `blocking`, or with a part of the request as
/// a parameter, runs on a worker thread: see [`tool`](macro@tool).
///
/// # Items
///
/// The first item is the URI or the URI template.
///
/// | item | meaning |
/// |---|---|
/// | `mime = "…"` | the media type; the default for `Structured<T>` and `WrittenJson` is `application/json` |
/// | `annotations = …` | a constant, such as `Annotations::new().audience(&[Role::User])` |
/// | `size = …` | the size in bytes, except for a template |
/// | `name = "…"`, `title = "…"`, `description = "…"`, `icons = …`, `meta = …`, `blocking`, `crate = path` | as for [`tool`](macro@tool) |
///
/// A parameter without a variable is a compile error:
///
/// ```compile_fail
/// #[mcp_proto::resource("note:///{id}")]
/// fn note(number: u32) -> u32 {
///     number
/// }
/// ```
#[proc_macro_attribute]
pub fn resource(attributes: TokenStream, item: TokenStream) -> TokenStream {
    handler::expand(Kind::Resource, attributes.into(), item.into()).into()
}

/// Makes a function or a method suggest values for an argument of a prompt, or for a variable of a resource template.
/// List the function in a [`router!`](macro@router), together with the prompt or the resource.
///
/// ```
/// use mcp_proto::server::Router;
/// use mcp_proto::{complete, resource, router};
///
/// /// The level of a pin.
/// #[resource("board://pin/{name}")]
/// fn pin(name: &str) -> Option<&'static str> {
///     (name == "led").then_some("high")
/// }
///
/// #[complete(resource = "board://pin/{name}", argument = "name")]
/// fn pin_names() -> [&'static str; 3] {
///     ["led", "rx", "tx"]
/// }
///
/// static ROUTER: Router<()> = router![pin, pin_names];
/// # assert_eq!(ROUTER.features().len(), 2);
/// ```
///
/// # Parameters
///
/// | type | meaning |
/// |---|---|
/// | `&self`, `&mut self`, `&T`, `&mut T` | the state |
/// | `&str` | the typed text |
/// | `Complete<'_>` | the request: the function itself responds, or defers the response |
/// | `Progress`, `Log`, `Cancellation`, `ClientDetails` | parts of a deferred request, as for [`tool`](macro@tool) |
/// | `ServerHandle`, `&ServerHandle` | the handle of the server, as for [`tool`](macro@tool) |
///
/// # Result
///
/// The function returns an array, a `Vec` or an iterator of texts or numbers, the best value first. If the function
/// takes the typed text, the function must select the values. If not, the server selects the values that begin with the
/// typed text. In both cases, the server sends at most the first 100 selected values. The function may also return a
/// `Result` of such values: the error is a text or a `Failure`. The macro recognizes the type by the name `Result`. A
/// function that takes a `Complete` returns nothing.
///
/// An `async fn` runs as a task on tokio. Any other function with the item `blocking`, or with a part of the request as
/// a parameter, runs on a worker thread: see [`tool`](macro@tool).
///
/// # Items
///
/// `prompt = "…"` with the name of a prompt, or `resource = "…"` with a URI template; `argument = "…"`; `blocking`;
/// `crate = path`. A completion for a prompt, an argument or a template that the router does not have is a compile
/// error. Two completions of one argument are a compile error, too.
#[proc_macro_attribute]
pub fn complete(attributes: TokenStream, item: TokenStream) -> TokenStream {
    handler::expand(Kind::Complete, attributes.into(), item.into()).into()
}

fn derive(input: TokenStream, direction: Direction) -> TokenStream {
    let expanded = syn::parse(input).map(|input| shape::expand(&input, direction));
    expanded.unwrap_or_else(syn::Error::into_compile_error).into()
}
