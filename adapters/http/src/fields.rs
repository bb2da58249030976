//! `HeaderFields`: header fields of a request or response, from any HTTP library.
//!
//! Also constants that client and server share.

/// Header fields of one request or response.
///
/// The heads of [`http1`](crate::http1) implement this trait. With an HTTP library, the application implements the
/// trait for a wrapper of the library's map of fields.
pub trait HeaderFields {
    /// Returns the value of the first field with this name, or `None` if there is no such field. If the value is a
    /// list, as in `Accept`, joins the values of all fields with this name by `, ` (RFC 9110, section 5.3).
    ///
    /// The caller passes `name` in lower case. The implementation must compare names without regard to case.
    fn field(&self, name: &str) -> Option<&[u8]>;

    /// Returns whether there is more than one field with this name.
    ///
    /// The default returns `false`. The default is right only if the implementation refuses repeated fields, or joins
    /// their values.
    fn is_repeated(&self, name: &str) -> bool {
        let _ = name;
        false
    }
}

/// Name of the member of `_meta` that contains the protocol revision of a request.
pub(crate) const VERSION_KEY: &str = "io.modelcontextprotocol/protocolVersion";

/// The methods whose requests have the field `Mcp-Name`, each with the member of `params` whose value the field
/// repeats.
pub(crate) const NAMED: [(&str, &str); 6] = [
    ("tools/call", "name"),
    ("prompts/get", "name"),
    ("resources/read", "uri"),
    ("tasks/get", "taskId"),
    ("tasks/update", "taskId"),
    ("tasks/cancel", "taskId"),
];

/// The marker before the base64 text in an encoded field value.
pub(crate) const BASE64_PREFIX: &str = "=?base64?";
/// The marker after the base64 text in an encoded field value.
pub(crate) const BASE64_SUFFIX: &str = "?=";

impl<F: HeaderFields + ?Sized> HeaderFields for &F {
    fn field(&self, name: &str) -> Option<&[u8]> {
        (**self).field(name)
    }

    fn is_repeated(&self, name: &str) -> bool {
        (**self).is_repeated(name)
    }
}
