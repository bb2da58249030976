//! Why a text does not fit a type, as the decoder says it to itself: in two borrowed texts.

use super::TypedError;

/// It becomes a [`TypedError`] where serde wants one. That is large, because it keeps a copy, and whatever returns it
/// by value takes that much of the stack.
#[derive(Clone, Copy)]
pub(super) enum ErrorKind<'de> {
    /// The text is broken, or no decoder of ours would take it.
    Said(&'static str),
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
    /// The text is not what a scanner would have let through.
    pub(super) const BROKEN: ErrorKind<'static> = ErrorKind::Said("not a valid JSON text");
}

impl From<ErrorKind<'_>> for TypedError {
    #[inline(never)]
    fn from(flaw: ErrorKind<'_>) -> TypedError {
        match flaw {
            ErrorKind::Said(message) => TypedError::new(&message),
            ErrorKind::Wrong { found, expected } => TypedError::wrong(found, expected),
            #[cfg(feature = "derive")]
            ErrorKind::NoTag(tag) => serde_core::de::Error::missing_field(tag),
            #[cfg(feature = "derive")]
            ErrorKind::NoVariant { found, names } => TypedError::no_variant(found, names),
        }
    }
}
