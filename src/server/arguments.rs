//! Tools whose arguments have a type.

#[cfg(feature = "derive")]
use crate::schema::ToolArguments;
use crate::server::call::Call;
use crate::server::features::tools::Tool;

#[cfg(feature = "derive")]
impl<'t> Tool<'t> {
    /// A tool that takes a `T`: the schema is the one of `T`, and the description is its doc comment.
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
    /// Hands the arguments to `body`, decoded, to be answered there. If they do not fit, that is the answer, and it
    /// names the field.
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
    /// fn called(call: Call<'_>) {
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
