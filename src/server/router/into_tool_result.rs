//! `IntoToolResult`: the values that a handler of a tool can return.

use crate::json::WriteText;
#[cfg(feature = "std")]
use crate::protocol::objects::tool::Generator;
use crate::protocol::objects::tool::Tool;
use crate::protocol::objects::tool_result::ToolResult;
use crate::schema::{Schema, derived};
use crate::server::call::Call;
use crate::server::reply::Reply;
use crate::server::router::failure::HandlerError;

/// A value that a handler of a tool can return.
///
/// | type | result |
/// |---|---|
/// | `()` | one empty text block |
/// | a string, a number, any other [`WriteText`] | one text block |
/// | [`Structured<T>`] | structured content with a text copy; the tool declares an output schema |
/// | [`WrittenJson`](crate::server::WrittenJson) | structured content that a `Writer` writes, with a text copy |
/// | [`Content`] | content blocks |
/// | `Result<T, E>` | `T`, or a tool failure (`isError`) with the text of `E`; or a JSON-RPC error: see [`HandlerError`] |
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    note = "return a text, a number, `()`, `Structured<T>`, `Content`, or a `Result` of one of these; the error of a \
            `Result` is a text or a `server::Failure`, into which `?` converts every error",
    note = "the `T` of a `Structured<T>` derives `Schema` and `serde::Serialize`"
)]
#[cfg_attr(
    not(feature = "alloc"),
    diagnostic::on_unimplemented(
        note = "`String`, `Vec`, `Box` and `Cow` need the feature `alloc` of `mcp-proto`"
    )
)]
pub trait IntoToolResult {
    /// The output schema of the tool as JSON text, if any.
    const OUTPUT_SCHEMA: Option<&'static str> = None;

    /// The function that generates the output schema at run time, if any.
    #[cfg(feature = "std")]
    #[doc(hidden)]
    const GENERATOR: Option<Generator> = None;

    /// Responds to a tool call with this value.
    fn respond(self, reply: Reply<'_>);

    /// Returns the text of the error. Returns `None` if this value is not an error, or is an error without a
    /// [text](HandlerError::text).
    #[doc(hidden)]
    fn failure(&self) -> Option<&dyn WriteText> {
        None
    }
}

impl<T: WriteText> IntoToolResult for T {
    fn respond(self, reply: Reply<'_>) {
        reply.text(self);
    }
}

impl IntoToolResult for () {
    fn respond(self, reply: Reply<'_>) {
        reply.text("");
    }
}

impl<T: IntoToolResult, E: HandlerError> IntoToolResult for Result<T, E> {
    const OUTPUT_SCHEMA: Option<&'static str> = T::OUTPUT_SCHEMA;
    #[cfg(feature = "std")]
    const GENERATOR: Option<Generator> = T::GENERATOR;

    fn respond(self, reply: Reply<'_>) {
        match self {
            Ok(value) => value.respond(reply),
            Err(error) => error.fail(reply),
        }
    }

    fn failure(&self) -> Option<&dyn WriteText> {
        self.as_ref().err()?.text()
    }
}

/// A value as JSON: the structured content of a tool, with a text copy, or the contents of a resource.
///
/// For a tool, `T` derives [`Schema`](macro@crate::Schema), or [`ToolArguments`](macro@crate::ToolArguments) if `T` is
/// also a part of arguments. The schema of `T` is the output schema of the tool. The schema must describe an object,
/// because the specification requires an object up to `2025-11-25`. With any other schema, the tool does not compile.
/// In debug builds with the features `std` and `derive`, a value that does not match its schema becomes a failure that
/// names the invalid member.
///
/// ```
/// use mcp_proto::server::{Router, Structured};
/// use mcp_proto::{Schema, router, tool};
///
/// #[derive(Schema, serde::Serialize)]
/// struct Reading {
///     celsius: i32,
/// }
///
/// /// Measures the temperature.
/// #[tool(read_only)]
/// fn measure() -> Result<Structured<Reading>, &'static str> {
///     Ok(Structured(Reading { celsius: 21 }))
/// }
///
/// static ROUTER: Router<()> = router![measure];
/// assert_eq!(ROUTER.tools().get("measure").unwrap().result_schema(), Some(Reading::JSON_SCHEMA));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Structured<T>(pub T);

impl<T: Schema + serde_core::Serialize> IntoToolResult for Structured<T> {
    const OUTPUT_SCHEMA: Option<&'static str> = Some(derived::output_schema::<T>());

    fn respond(self, reply: Reply<'_>) {
        reply.structured_with_schema(&self.0, Self::OUTPUT_SCHEMA);
    }
}

/// Content blocks as the result of a tool. The handler returns `impl IntoToolResult`.
///
/// ```
/// use mcp_proto::server::{Content, IntoToolResult, Router};
/// use mcp_proto::{router, tool};
///
/// /// Takes a picture.
/// #[tool]
/// fn picture() -> impl IntoToolResult {
///     Content::new(|result| {
///         result.text("The harbor");
///         result.image(b"GIF89a", "image/gif");
///     })
/// }
///
/// static ROUTER: Router<()> = router![picture];
/// # assert!(ROUTER.handler("picture").is_some());
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Content<F>(F);

impl<F: FnOnce(&mut ToolResult<'_, '_>)> Content<F> {
    /// Creates the content that `body` writes.
    #[must_use]
    pub fn new(body: F) -> Content<F> {
        Content(body)
    }
}

impl<F: FnOnce(&mut ToolResult<'_, '_>)> IntoToolResult for Content<F> {
    fn respond(self, reply: Reply<'_>) {
        reply.content(self.0);
    }
}

impl Tool<'_> {
    /// Sets the output schema to the schema of the handler's return type `T`, if `T` has one.
    #[must_use]
    #[allow(unused_mut, reason = "without `std` nothing is generated")]
    pub const fn result_of<T: IntoToolResult>(mut self) -> Self {
        #[cfg(feature = "std")]
        {
            self.generators.output = T::GENERATOR;
        }
        match T::OUTPUT_SCHEMA {
            Some(schema) => self.output_schema(schema),
            None => self,
        }
    }
}

impl Call<'_> {
    /// Responds with a value that a handler can return.
    pub fn respond(self, result: impl IntoToolResult) {
        result.respond(self.parts.reply);
    }
}
