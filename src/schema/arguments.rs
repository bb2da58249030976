//! The trait of derived argument types.

use crate::schema::Schema;

/// The arguments of a tool. The derive macro with the same name implements this trait for a struct or an enum.
///
/// The module [`schema`](crate::schema) describes the generated code. Use the type with
/// [`Tool::with_arguments`](crate::server::Tool::with_arguments) and [`Call::with`](crate::server::Call::with).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool",
    note = "derive `ToolArguments` for it: it must be a struct with named fields, or an enum with `#[serde(tag = \"…\")]`"
)]
pub trait ToolArguments: Schema {
    /// The JSON Schema of the arguments, as JSON text.
    const INPUT_SCHEMA: &'static str;

    /// The description of the tool: the attribute `description` of the type or, without one, the doc comment of the
    /// type. `None` for a type without either.
    const DESCRIPTION: Option<&'static str>;
}
