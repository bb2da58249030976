//! Typed tool arguments: `Tool::with_arguments` and `Call::with`.

#[cfg(feature = "derive")]
use crate::protocol::objects::tool::Tool;
#[cfg(feature = "derive")]
use crate::schema::arguments::ToolArguments;
use crate::server::call::Call;

#[cfg(feature = "derive")]
impl<'t> Tool<'t> {
    /// A tool with arguments of type `T`. `T` provides the schema, and the doc comment of `T` is the description.
    ///
    /// See [`schema`](crate::schema) for an example.
    #[must_use]
    pub const fn with_arguments<T: ToolArguments>(name: &'t str) -> Tool<'t> {
        let tool = Tool::new(name, T::INPUT_SCHEMA);
        match T::DESCRIPTION {
            Some(description) => tool.description(description),
            None => tool,
        }
    }
}

impl<'a> Call<'a> {
    /// Deserializes the arguments and passes them to `body`, which responds.
    ///
    /// If the arguments do not match `T`, the method calls [`invalid`](Call::invalid) with a text that names the field.
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
