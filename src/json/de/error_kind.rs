//! The decoder's internal error, which borrows its texts.

use super::{PathlessError, TypedError};

/// The reason why a text does not fit a type. The decoder creates a [`PathlessError`] only where serde needs one,
/// because a `PathlessError` is large on the stack.
#[derive(Clone, Copy)]
pub(super) enum ErrorKind<'de> {
    /// A fixed message, such as for invalid JSON or for too many elements.
    Message(&'static str),
    /// A value that has the wrong type or is out of bounds.
    Wrong { found: &'de str, expected: &'static str },
}

impl ErrorKind<'_> {
    /// The text is not valid JSON.
    pub(super) const BROKEN: ErrorKind<'static> = ErrorKind::Message("not valid JSON");
}

impl From<ErrorKind<'_>> for PathlessError {
    #[cold]
    fn from(kind: ErrorKind<'_>) -> PathlessError {
        match kind {
            ErrorKind::Message(message) => PathlessError::new(&message),
            ErrorKind::Wrong { found, expected } => PathlessError::wrong(found, expected),
        }
    }
}

impl From<ErrorKind<'_>> for TypedError {
    fn from(kind: ErrorKind<'_>) -> TypedError {
        PathlessError::from(kind).into()
    }
}
