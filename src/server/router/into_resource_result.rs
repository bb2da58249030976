//! `IntoResourceResult`: the values that a handler of a resource can return.

use crate::json::{WriteText, Writer};
use crate::server::features::read_resource::ReadResource;
use crate::server::reply::Reply;
use crate::server::router::failure::HandlerError;
use crate::server::router::into_tool_result::{IntoToolResult, Structured};

/// A value that a handler of a resource can return.
///
/// | type | result |
/// |---|---|
/// | a string, a number, any other [`WriteText`] | text |
/// | a slice, an array or a `Vec` of bytes | bytes |
/// | [`Structured<T>`], [`WrittenJson`] | JSON as text; the default media type is `application/json` |
/// | `Option<T>` | `T`, or the error of an unknown resource |
/// | `Result<T, E>` | `T`, or an error: see [`HandlerError`] |
#[diagnostic::on_unimplemented(
    message = "a resource cannot return `{Self}`",
    note = "return a text, bytes, `Structured<T>`, `WrittenJson`, or an `Option` or a `Result` of one of these; the error \
            of a `Result` is a text or a `server::Failure`, into which `?` converts every error",
    note = "the `T` of a `Structured<T>` derives `serde::Serialize`"
)]
#[cfg_attr(
    not(feature = "alloc"),
    diagnostic::on_unimplemented(
        note = "`String`, `Vec`, `Box` and `Cow` need the feature `alloc` of `mcp-proto`"
    )
)]
pub trait IntoResourceResult {
    /// The default media type of the contents, if the Rust type implies one.
    const MIME_TYPE: Option<&'static str> = None;

    /// Responds with this value to a request to read a resource.
    fn respond(self, request: ReadResource<'_>);

    /// Returns the text of the error. Returns `None` if this value is not an error, or is an error without a
    /// [text](HandlerError::text).
    #[doc(hidden)]
    fn failure(&self) -> Option<&dyn WriteText> {
        None
    }
}

const JSON: Option<&str> = Some("application/json");

impl<T: WriteText> IntoResourceResult for T {
    fn respond(self, request: ReadResource<'_>) {
        request.text(self);
    }
}

impl IntoResourceResult for &[u8] {
    fn respond(self, request: ReadResource<'_>) {
        request.blob(self);
    }
}

impl<const N: usize> IntoResourceResult for [u8; N] {
    fn respond(self, request: ReadResource<'_>) {
        request.blob(&self);
    }
}

impl<const N: usize> IntoResourceResult for &[u8; N] {
    fn respond(self, request: ReadResource<'_>) {
        request.blob(self);
    }
}

#[cfg(feature = "alloc")]
impl IntoResourceResult for alloc::vec::Vec<u8> {
    fn respond(self, request: ReadResource<'_>) {
        request.blob(&self);
    }
}

impl<T: IntoResourceResult> IntoResourceResult for Option<T> {
    const MIME_TYPE: Option<&'static str> = T::MIME_TYPE;

    fn respond(self, request: ReadResource<'_>) {
        match self {
            Some(value) => value.respond(request),
            None => request.not_found(),
        }
    }

    fn failure(&self) -> Option<&dyn WriteText> {
        self.as_ref()?.failure()
    }
}

impl<T: IntoResourceResult, E: HandlerError> IntoResourceResult for Result<T, E> {
    const MIME_TYPE: Option<&'static str> = T::MIME_TYPE;

    fn respond(self, request: ReadResource<'_>) {
        match self {
            Ok(value) => value.respond(request),
            Err(error) => error.refuse(request.parts.reply),
        }
    }

    fn failure(&self) -> Option<&dyn WriteText> {
        self.as_ref().err()?.text()
    }
}

impl<T: serde_core::Serialize> IntoResourceResult for Structured<T> {
    const MIME_TYPE: Option<&'static str> = JSON;

    fn respond(self, request: ReadResource<'_>) {
        request.json(&self.0);
    }
}

/// JSON that a [`Writer`] writes: the contents of a resource, or the structured content of a tool.
///
/// The handler of a resource returns `impl IntoResourceResult`. The handler of a tool returns `impl IntoToolResult`.
///
/// ```
/// use mcp_proto::server::{IntoResourceResult, Router, WrittenJson};
/// use mcp_proto::{resource, router};
///
/// #[resource("board://pins", mime = "application/json")]
/// fn pins() -> impl IntoResourceResult {
///     WrittenJson::new(|out| {
///         out.begin_object();
///         out.field_boolean("led", true);
///         out.end_object();
///     })
/// }
///
/// static ROUTER: Router<()> = router![pins];
/// # assert_eq!(ROUTER.features().len(), 1);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct WrittenJson<F>(F);

impl<F: FnOnce(&mut Writer<'_>)> WrittenJson<F> {
    /// Creates the JSON value that `body` writes.
    #[must_use]
    pub fn new(body: F) -> WrittenJson<F> {
        WrittenJson(body)
    }
}

impl<F: FnOnce(&mut Writer<'_>)> IntoResourceResult for WrittenJson<F> {
    const MIME_TYPE: Option<&'static str> = JSON;

    fn respond(self, request: ReadResource<'_>) {
        request.json_with(self.0);
    }
}

impl<F: FnOnce(&mut Writer<'_>)> IntoToolResult for WrittenJson<F> {
    fn respond(self, reply: Reply<'_>) {
        reply.structured_with(self.0);
    }
}

impl ReadResource<'_> {
    /// Responds with a value that a handler can return.
    pub fn respond(self, result: impl IntoResourceResult) {
        result.respond(self);
    }
}
