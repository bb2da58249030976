//! `HeaderFields`: header fields of a request or response, from any HTTP library.

/// Header fields of one request or response.
///
/// The heads of [`http1`](crate::http1) implement this trait. With an HTTP library, the application implements the
/// trait for a wrapper of its map of fields.
pub trait HeaderFields {
    /// Returns the value of the first field with this name. If the value is a list, as in `Accept`, returns the values
    /// of all fields with this name, joined by `, ` (RFC 9110, section 5.3).
    ///
    /// `name` is in lower case. The implementation compares names without regard to case, as HTTP requires.
    /// `None` means that there is no such field.
    fn field(&self, name: &str) -> Option<&[u8]>;

    /// Returns whether there is more than one field with this name.
    ///
    /// The default returns `false`, for an implementation that refuses repeated fields, or joins them.
    fn is_repeated(&self, name: &str) -> bool {
        let _ = name;
        false
    }
}

impl<F: HeaderFields + ?Sized> HeaderFields for &F {
    fn field(&self, name: &str) -> Option<&[u8]> {
        (**self).field(name)
    }

    fn is_repeated(&self, name: &str) -> bool {
        (**self).is_repeated(name)
    }
}
