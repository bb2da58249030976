//! `IntoPromptResult`: the values that a handler of a prompt can return.

use crate::json::WriteText;
use crate::protocol::objects::annotations::Role;
use crate::protocol::objects::prompt_result::Messages;
use crate::server::features::get_prompt::GetPrompt;
use crate::server::reply::Reply;
use crate::server::router::failure::HandlerError;

/// A value that a handler of a prompt can return.
///
/// | type | result |
/// |---|---|
/// | a string, a number, any other [`WriteText`] | one message of the user |
/// | an array, a slice or a `Vec` of `(Role, text)` | one message for each element |
/// | [`PromptMessages`] | messages with any content |
/// | `Result<T, E>` | `T`, or an error: see [`HandlerError`] |
#[diagnostic::on_unimplemented(
    message = "a prompt cannot return `{Self}`",
    note = "return a text, a list of `(Role, text)`, `PromptMessages`, or a `Result` of one of these; the error of a \
            `Result` is a text or a `server::Failure`, into which `?` converts every error"
)]
#[cfg_attr(
    not(feature = "alloc"),
    diagnostic::on_unimplemented(
        note = "`String`, `Vec`, `Box` and `Cow` need the feature `alloc` of `mcp-proto`"
    )
)]
pub trait IntoPromptResult {
    /// Responds with this value to a request for a prompt.
    fn respond(self, reply: Reply<'_>);

    /// Returns the text of an error. Returns `None` for a value, and for an error without a [text](HandlerError::text).
    #[doc(hidden)]
    fn failure(&self) -> Option<&dyn WriteText> {
        None
    }
}

impl<T: WriteText> IntoPromptResult for T {
    fn respond(self, reply: Reply<'_>) {
        reply.messages(|messages| messages.user().text(self));
    }
}

impl<T: WriteText> IntoPromptResult for &[(Role, T)] {
    fn respond(self, reply: Reply<'_>) {
        reply.messages(|messages| self.iter().for_each(|(role, text)| messages.message(*role).text(text)));
    }
}

impl<T: WriteText, const N: usize> IntoPromptResult for [(Role, T); N] {
    fn respond(self, reply: Reply<'_>) {
        self.as_slice().respond(reply);
    }
}

#[cfg(feature = "alloc")]
impl<T: WriteText> IntoPromptResult for alloc::vec::Vec<(Role, T)> {
    fn respond(self, reply: Reply<'_>) {
        self.as_slice().respond(reply);
    }
}

impl<T: IntoPromptResult, E: HandlerError> IntoPromptResult for Result<T, E> {
    fn respond(self, reply: Reply<'_>) {
        match self {
            Ok(value) => value.respond(reply),
            Err(error) => error.refuse(reply),
        }
    }

    fn failure(&self) -> Option<&dyn WriteText> {
        self.as_ref().err()?.text()
    }
}

/// Messages with any content as the result of a prompt. The handler returns `impl IntoPromptResult`.
///
/// ```
/// use mcp_proto::server::{IntoPromptResult, PromptMessages, Router};
/// use mcp_proto::{prompt, router};
///
/// /// Describes the picture.
/// #[prompt]
/// fn describe() -> impl IntoPromptResult {
///     PromptMessages::new(|messages| {
///         messages.user().image(b"GIF89a", "image/gif");
///         messages.user().text("Describe this picture.");
///     })
/// }
///
/// static ROUTER: Router<()> = router![describe];
/// # assert_eq!(ROUTER.features().len(), 1);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct PromptMessages<F>(F);

impl<F: FnOnce(&mut Messages<'_, '_>)> PromptMessages<F> {
    /// Creates the messages that `body` writes.
    #[must_use]
    pub fn new(body: F) -> PromptMessages<F> {
        PromptMessages(body)
    }
}

impl<F: FnOnce(&mut Messages<'_, '_>)> IntoPromptResult for PromptMessages<F> {
    fn respond(self, reply: Reply<'_>) {
        reply.messages(self.0);
    }
}

impl GetPrompt<'_> {
    /// Responds with a value that a handler can return.
    pub fn respond(self, result: impl IntoPromptResult) {
        result.respond(self.parts.reply);
    }
}
