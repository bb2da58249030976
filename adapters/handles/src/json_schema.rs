//! Tools whose arguments and results derive `JsonSchema` of the crate `schemars`.
//!
//! This module needs the feature `schemars`. An application uses its existing types, with all attributes of serde. The
//! application itself must depend on `schemars` in version 1, with the derive macros. The following example
//! uses [`arguments`] and [`result`] of this module.
//!
//! ```
//! use std::sync::LazyLock;
//!
//! # use mcp_proto::server::{Call, Feature, ServerConfig, Tool, Tools};
//! # use mcp_proto_handles::json_schema::{arguments, result};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! /// Moves a robot.
//! #[derive(Deserialize, JsonSchema)]
//! struct Move {
//!     #[serde(flatten)]
//!     target: Position,
//!     #[serde(alias = "v")]
//!     speed: Option<f32>,
//! }
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Position {
//!     x: i32,
//!     y: i32,
//! }
//!
//! static CATALOG: LazyLock<[Tool; 1]> = LazyLock::new(|| [result::<Position>(arguments::<Move>("move"))]);
//! static TOOLS: LazyLock<Tools> = LazyLock::new(|| Tools::new(&*CATALOG));
//!
//! fn on_call(call: Call<'_>) {
//!     match call.name() {
//!         "move" => call.with(|call, Move { target, .. }| call.structured(&target)),
//!         _ => call.unknown_tool(),
//!     }
//! }
//!
//! # let _ = on_call;
//! let features: [&dyn Feature; 1] = [&*TOOLS];
//! let info = ServerConfig::new("robot", "1.0.0").features(&features);
//! assert!(TOOLS.get("move").unwrap().input_schema().contains(r#""required":["x","y"]"#));
//! # let _ = info;
//! ```
//!
//! The generated schemas live until the process ends. Equal schemas are stored once. Each call of [`arguments`] and
//! [`result`] generates a schema, so create the tools once.
//!
//! Within one schema, `schemars` identifies a type by its module and name. Two types that are local to different
//! functions of one module therefore need different names. With equal names, the schema of the first type would
//! describe both types.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use mcp_proto::server::Tool;
#[cfg(feature = "derive")]
use mcp_proto::server::{IntoToolResult, Reply, ToolInput};
use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema};
use serde_json::Value;

/// Creates a tool with arguments of type `T`. The doc comment of `T` is the description of the tool.
///
/// `T` must also derive `Deserialize`, for [`Call::with`](mcp_proto::server::Call::with).
///
/// # Panics
/// The schema of `T` does not describe an object. These types describe objects: structs with named fields, maps,
/// newtypes of such types, and enums. A unit variant of an enum is an object only with `#[serde(tag = "…")]`. With
/// `#[serde(untagged)]`, a variant is an object only if its content is one.
#[must_use]
pub fn arguments<T: JsonSchema>(name: &'static str) -> Tool<'static> {
    let (schema, description) = generate::<T>(Contract::Deserialize);
    let tool = Tool::new(name, schema);
    match description {
        Some(description) => tool.description(description),
        None => tool,
    }
}

/// Sets the output schema of a tool to the schema of `T`. The tool must respond with `T` through
/// [`Call::structured`](mcp_proto::server::Call::structured), so `T` must also derive `Serialize`.
///
/// # Panics
/// The schema of `T` does not describe an object: see [`arguments`].
#[must_use]
pub fn result<T: JsonSchema>(tool: Tool<'static>) -> Tool<'static> {
    tool.output_schema(generate::<T>(Contract::Serialize).0)
}

/// A value whose type derives `JsonSchema`: the arguments or the result of a function with the attribute
/// [`tool`](macro@mcp_proto::tool).
///
/// A router with such a function generates the schemas at run time, in
/// [`generated_features`](mcp_proto::server::Router::generated_features). That method panics if a schema does not
/// describe an object. Arguments must also derive `Deserialize`, and results `Serialize`.
///
/// ```
/// use std::sync::LazyLock;
///
/// # use mcp_proto::server::{Router, ServerConfig};
/// # use mcp_proto::{router, tool};
/// # use mcp_proto_handles::json_schema::Schemars;
/// use schemars::JsonSchema;
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Goal {
///     x: i32,
/// }
///
/// #[derive(Serialize, JsonSchema)]
/// struct Steps {
///     steps: u32,
/// }
///
/// /// Moves the robot.
/// #[tool]
/// fn go(Schemars(goal): Schemars<Goal>) -> Schemars<Steps> {
///     Schemars(Steps { steps: goal.x.unsigned_abs() })
/// }
///
/// static ROUTER: Router<()> = router![go];
/// static CONFIG: LazyLock<ServerConfig> =
///     LazyLock::new(|| ServerConfig::new("robot", "1.0.0").features(ROUTER.generated_features()));
/// # assert_eq!(ROUTER.generated_features().len(), 1);
/// # let _ = &CONFIG;
/// ```
#[cfg(feature = "derive")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schemars<T>(pub T);

#[cfg(feature = "derive")]
impl<'de, T: serde_core::Deserialize<'de>> serde_core::Deserialize<'de> for Schemars<T> {
    fn deserialize<D: serde_core::Deserializer<'de>>(deserializer: D) -> Result<Schemars<T>, D::Error> {
        T::deserialize(deserializer).map(Schemars)
    }
}

#[cfg(feature = "derive")]
impl<T: JsonSchema> ToolInput for Schemars<T> {
    const GENERATOR: Option<fn() -> Generated> = Some(|| generate::<T>(Contract::Deserialize));
}

#[cfg(feature = "derive")]
impl<T: JsonSchema + serde_core::Serialize> IntoToolResult for Schemars<T> {
    const GENERATOR: Option<fn() -> Generated> = Some(|| generate::<T>(Contract::Serialize));

    fn respond(self, reply: Reply<'_>) {
        reply.structured(&self.0);
    }
}

/// A schema, and the description of its type.
type Generated = (&'static str, Option<&'static str>);

/// The texts of the schemas and of their descriptions.
static STORED: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// Stores a text until the process ends. Equal texts are stored once.
fn stored(text: String) -> &'static str {
    let mut stored = STORED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = stored.get(&*text) {
        return known;
    }
    let text = text.leak();
    stored.insert(text);
    text
}

/// Generates the schema of `T`. Does not cache schemas by [`schema_id`](JsonSchema::schema_id), because local types of
/// different functions may have equal ids.
fn generate<T: JsonSchema>(contract: Contract) -> Generated {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.meta_schema = None;
        settings.contract = contract;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    let description = match schema.remove("description") {
        Some(Value::String(text)) => Some(stored(text)),
        _ => None,
    };
    assert!(is_object(&mut schema), "the schema of `{}` does not describe an object", T::schema_name());
    (stored(schema.as_value().to_string()), description)
}

/// Returns whether the schema describes an object. Adds `"type": "object"`, which the specification requires, to a
/// schema of objects without `type`, such as the schema of an enum.
fn is_object(schema: &mut Schema) -> bool {
    let is_object = describes_object(schema.as_value(), schema.as_value(), &mut Vec::new());
    if let Some(members) = schema.as_object_mut().filter(|_| is_object) {
        members.entry("type").or_insert_with(|| "object".into());
    }
    is_object
}

/// Returns whether a part of the schema `root` describes only objects. `visited` contains the references that were
/// followed before.
fn describes_object<'s>(part: &'s Value, root: &'s Value, visited: &mut Vec<&'s str>) -> bool {
    if let Some(kind) = part.get("type") {
        return kind == "object";
    }
    if let Some(reference) = part.get("$ref").and_then(Value::as_str) {
        // A repeated reference, such as a recursive one, adds no other kind of value.
        if visited.contains(&reference) {
            return true;
        }
        visited.push(reference);
        // A reference with a percent-encoded character is not found. Its schema counts as an object.
        let target = reference.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        return target.is_none_or(|target| describes_object(target, root, visited));
    }
    let variants = part.get("oneOf").or_else(|| part.get("anyOf")).and_then(Value::as_array);
    variants.is_some_and(|variants| variants.iter().all(|variant| describes_object(variant, root, visited)))
}
