//! `InvalidToolHeader`: rules of annotations `x-mcp-header`.

use crate::json::{WriteText, prints};

/// Rule that an annotation `x-mcp-header` in an input schema breaks.
///
/// The annotation names the header field `Mcp-Param-NAME`, which repeats the value of a property. A client over HTTP
/// does not offer a tool with an invalid annotation. Specification (`2026-07-28`): *Custom Headers from Tool
/// Parameters*.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[non_exhaustive]
pub enum InvalidToolHeader {
    /// The name is not a token of RFC 9110, or is longer than 64 bytes.
    Name,
    /// The type of the property is not `string`, `integer` or `boolean`.
    Type,
    /// Two annotations have the same name, without regard to case.
    Duplicate,
    /// The path of the value in the arguments is not fixed.
    ///
    /// The property is inside an array, a keyword such as `oneOf`, or a reference, or the annotation is not in a
    /// property.
    Unreachable,
    /// The schema has more than 32 annotations, or an annotation is nested more than 8 levels deep.
    TooMany,
}

impl InvalidToolHeader {
    /// Returns the rule as text, for panics at compile time.
    pub(crate) const fn message(self) -> &'static str {
        match self {
            InvalidToolHeader::Name => {
                "the name in `x-mcp-header` must have 1 to 64 letters, digits or characters of !#$%&'*+-.^_`|~"
            }
            InvalidToolHeader::Type => {
                "a property with `x-mcp-header` must have the type `string`, `integer` or `boolean`"
            }
            InvalidToolHeader::Duplicate => {
                "two properties have the same name in `x-mcp-header`; case does not matter"
            }
            InvalidToolHeader::Unreachable => {
                "`x-mcp-header` must be in a property that the root reaches through `properties` only"
            }
            InvalidToolHeader::TooMany => {
                "at most 32 properties can have `x-mcp-header`, at most 8 levels deep"
            }
        }
    }
}

impl WriteText for InvalidToolHeader {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        put(self.message());
    }
}

prints!(InvalidToolHeader);

impl core::error::Error for InvalidToolHeader {}
