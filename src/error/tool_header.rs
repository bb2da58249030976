//! `InvalidToolHeader`: rules of annotations `x-mcp-header`.

use crate::error::error_values::error_values;

error_values! {
    /// Rule that an annotation `x-mcp-header` in an input schema breaks.
    ///
    /// The annotation names the header field `Mcp-Param-NAME`, which repeats the value of a property. A client over
    /// HTTP does not offer a tool with an invalid annotation. Specification (`2026-07-28`): *Custom Headers from Tool
    /// Parameters*.
    pub enum InvalidToolHeader {
        /// The name is not a token of RFC 9110, or is longer than 64 bytes.
        Name = "the name in `x-mcp-header` must have 1 to 64 letters, digits or characters of !#$%&'*+-.^_`|~",
        /// The type of the property is not `string`, `integer` or `boolean`.
        Type = "a property with `x-mcp-header` must have the type `string`, `integer` or `boolean`",
        /// Two annotations have the same name, without regard to case.
        Duplicate = "two properties have the same name in `x-mcp-header`; case does not matter",
        /// The path of the value in the arguments is not fixed.
        ///
        /// The property is inside an array, a keyword such as `oneOf`, or a reference, or the annotation is not in a
        /// property.
        Unreachable = "`x-mcp-header` must be in a property that the root reaches through `properties` only",
        /// The schema has more than 32 annotations, or an annotation is nested more than 8 levels deep.
        TooMany = "at most 32 properties can have `x-mcp-header`, at most 8 levels deep",
    }
}
