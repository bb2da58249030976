//! The decoder's own error, which borrows its texts.

use super::TypedError;

/// Why a text does not fit a type. It becomes a [`TypedError`] where serde needs one, which is large on the stack
/// because it keeps a copy.
#[derive(Clone, Copy)]
pub(super) enum ErrorKind<'de> {
    /// The text is broken, or exceeds a limit.
    Message(&'static str),
    /// A value is of another type, or not within its bounds.
    Wrong { found: &'de str, expected: &'static str },
    /// The tag that tells variants apart is missing.
    #[cfg(feature = "derive")]
    NoTag(&'static str),
    /// The tag is none of the variants. `names`: its own, and theirs.
    #[cfg(feature = "derive")]
    NoVariant { found: &'de str, names: &'static [&'static str] },
}

impl ErrorKind<'_> {
    /// The text is not valid JSON.
    pub(super) const BROKEN: ErrorKind<'static> = ErrorKind::Message("not a valid JSON text");
}

impl From<ErrorKind<'_>> for TypedError {
    #[inline(never)]
    fn from(flaw: ErrorKind<'_>) -> TypedError {
        match flaw {
            ErrorKind::Message(message) => TypedError::new(&message),
            ErrorKind::Wrong { found, expected } => TypedError::wrong(found, expected),
            #[cfg(feature = "derive")]
            ErrorKind::NoTag(tag) => serde_core::de::Error::missing_field(tag),
            #[cfg(feature = "derive")]
            ErrorKind::NoVariant { found, names } => TypedError::no_variant(found, names),
        }
    }
}
