//! The derive macro of [`mcp-proto`]: the JSON Schema of a tool's arguments and their decoder from one struct.
//!
//! It is used through `mcp-proto` with the feature `derive`, never by itself.
//!
//! [`mcp-proto`]: https://docs.rs/mcp-proto

mod attributes;
mod fields;
mod names;
mod one_of;
mod parse;
mod shape;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Makes the JSON Schema of a type and its decoder, serde's `Deserialize`: one accepts what the other does.
///
/// - A struct with named fields becomes an object: the arguments of a tool, or a part of them.
/// - An enum whose variants hold nothing becomes a choice of strings.
/// - An enum with `#[serde(tag = "…")]`, whose variants have named fields, hold such a struct, or nothing, becomes a
///   choice of objects.
/// - A struct with one field that has no name is that field, with what its attributes ask of it.
///
/// Doc comments become descriptions. That of the arguments becomes the description of the tool.
///
/// There may be lifetimes, but no other parameters. A type cannot hold itself, not even in a `Box`: its schema would have
/// no end. `serde` need not be a dependency, and `Deserialize` must not be derived, too.
///
/// # Of a field
///
/// | attribute | meaning |
/// |---|---|
/// | `#[tool(range = 0..=100)]` | bounds of a number; also `0..` and `..=100`; those of a float are literals |
/// | `#[tool(minimum = 0, maximum = 100)]` | the same |
/// | `#[tool(min_length = 1, max_length = 8)]` | how many characters a string has |
/// | `#[tool(min_items = 1, max_items = 8)]` | how many elements a `Vec` has |
/// | `#[tool(default = 5)]` | it may be left out, and the schema shows what stands for it: a literal |
/// | `#[tool(description = "…")]` | instead of the doc comment |
/// | `#[tool(schema = …)]` | a `Node` that says what a type of another crate accepts, which implements `Deserialize` |
/// | `#[serde(default)]`, `#[serde(default = "path")]` | it may be left out |
/// | `#[serde(rename = "…")]` | another name |
/// | `#[serde(skip)]`, `#[serde(skip_deserializing)]` | not in the schema; it is `Default::default()` |
///
/// `range` and its like also go for the value inside an `Option`.
///
/// # Of a type
///
/// | attribute | meaning |
/// |---|---|
/// | `#[serde(rename_all = "…")]`, `#[serde(rename_all_fields = "…")]` | names in another case |
/// | `#[serde(default)]`, `#[serde(default = "path")]` | every field may be left out |
/// | `#[serde(tag = "…")]` | the member that tells the variants of an enum apart |
/// | `#[serde(deny_unknown_fields)]` | what happens anyway: members without a field are refused |
/// | `#[tool(allow_unknown_fields)]` | members without a field are passed over |
/// | `#[tool(description = "…")]` | instead of the doc comment |
/// | `#[tool(crate = path)]` | where `mcp_proto` is |
///
/// What does not go together is an error, too: bounds that the type cannot hold, a default out of bounds, a field with
/// the name of the tag.
///
/// ```compile_fail
/// #[derive(mcp_proto::ToolArguments)]
/// struct Dim {
///     #[tool(range = 0..=300)]
///     percent: u8,
/// }
/// ```
///
/// ```compile_fail
/// #[derive(mcp_proto::ToolArguments)]
/// struct Dim {
///     #[tool(range = 0..=100, default = 101)]
///     percent: u8,
/// }
/// ```
///
/// ```compile_fail
/// #[derive(mcp_proto::ToolArguments)]
/// #[serde(tag = "kind")]
/// enum Dim {
///     Down { kind: u8 },
/// }
/// ```
///
/// What serde's other attributes say would have to be in the schema too, and is not: they are errors. Those that are
/// for `Serialize` alone may stand there.
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
    let input = parse_macro_input!(input as DeriveInput);
    shape::expand(&input).unwrap_or_else(syn::Error::into_compile_error).into()
}
