//! The decoder's internal error, which borrows its texts.

use super::TypedError;

/// The reason why a text does not fit a type. The decoder creates a [`TypedError`] only where serde needs one, because
/// a `TypedError` is large on the stack.
#[derive(Clone, Copy)]
pub(super) enum ErrorKind<'de> {
    /// The text is invalid or exceeds a limit.
    Message(&'static str),
    /// A value is of another type or out of bounds.
    Wrong { found: &'de str, expected: &'static str },
}

impl ErrorKind<'_> {
    /// The text is not valid JSON.
    pub(super) const BROKEN: ErrorKind<'static> = ErrorKind::Message("not a valid JSON text");
}

impl From<ErrorKind<'_>> for TypedError {
    #[inline(never)]
    fn from(kind: ErrorKind<'_>) -> TypedError {
        match kind {
            ErrorKind::Message(message) => TypedError::new(&message),
            ErrorKind::Wrong { found, expected } => TypedError::wrong(found, expected),
        }
    }
}
