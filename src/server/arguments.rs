//! Typed tool arguments: `Tool::with_arguments` and `Call::with`.

#[cfg(all(feature = "derive", feature = "std"))]
use crate::protocol::objects::tool::Generator;
#[cfg(feature = "derive")]
use crate::protocol::objects::tool::Tool;
#[cfg(feature = "derive")]
use crate::schema::arguments::ToolArguments;
use crate::server::call::Call;

#[cfg(feature = "derive")]
impl<'t> Tool<'t> {
    /// Creates a tool with arguments of type `T`. `T` provides the schema and the
    /// [description](ToolArguments::DESCRIPTION).
    ///
    /// See [`schema`](crate::schema) for an example.
    #[must_use]
    pub const fn with_arguments<T: ToolArguments>(name: &'t str) -> Tool<'t> {
        Tool::from_input::<T>(name)
    }
}

/// The arguments of a function with the attribute [`tool`](macro@crate::tool).
///
/// Implemented by each type that implements [`ToolArguments`], and by `Schemars` of the adapters for hosts (feature
/// `schemars`).
#[cfg(feature = "derive")]
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the arguments of a tool",
    note = "derive `ToolArguments` for it: it must be a struct with named fields, or an enum with `#[serde(tag = \"…\")]`"
)]
pub trait ToolInput {
    /// The JSON Schema of the arguments, as JSON text.
    const INPUT_SCHEMA: &'static str = "{}";

    /// The description of the tool.
    const DESCRIPTION: Option<&'static str> = None;

    /// The function that generates the schema and the description at run time, if any.
    #[cfg(feature = "std")]
    #[doc(hidden)]
    const GENERATOR: Option<Generator> = None;
}

#[cfg(feature = "derive")]
impl<T: ToolArguments> ToolInput for T {
    const INPUT_SCHEMA: &'static str = T::INPUT_SCHEMA;
    const DESCRIPTION: Option<&'static str> = T::DESCRIPTION;
}

#[cfg(feature = "derive")]
impl<'t> Tool<'t> {
    /// Creates a tool with the arguments of a function.
    #[doc(hidden)]
    #[must_use]
    pub const fn from_input<T: ToolInput>(name: &'t str) -> Tool<'t> {
        #[allow(unused_mut, reason = "without `std` nothing is generated")]
        let mut tool = Tool::new(name, T::INPUT_SCHEMA);
        #[cfg(feature = "std")]
        {
            tool.generators.input = T::GENERATOR;
        }
        match T::DESCRIPTION {
            Some(description) => tool.description(description),
            None => tool,
        }
    }
}

impl<'a> Call<'a> {
    /// Deserializes the arguments and passes them to `body`, which responds.
    ///
    /// If the arguments do not match `T`, the method calls [`invalid`](Call::invalid) with the error.
    ///
    /// ```
    /// use mcp_proto::server::Call;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Add {
    ///     a: i32,
    ///     b: i32,
    /// }
    ///
    /// fn on_call(call: Call<'_>) {
    ///     match call.name() {
    ///         "add" => call.with(|call, Add { a, b }| call.text(i64::from(a) + i64::from(b))),
    ///         _ => call.unknown_tool(),
    ///     }
    /// }
    /// ```
    pub fn with<T: serde_core::Deserialize<'a>>(mut self, body: impl FnOnce(Call<'a>, T)) {
        match self.arguments() {
            Ok(arguments) => body(self, arguments),
            Err(error) => self.invalid(error),
        }
    }
}
