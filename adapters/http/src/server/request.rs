//! Head of an HTTP request, as the HTTP library reports it.

use crate::fields::HeaderFields;

/// Method of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `GET`
    Get,
    /// `POST`
    Post,
    /// `DELETE`
    Delete,
    /// Any other method, to which every endpoint responds with status 405.
    Other,
}

impl Method {
    /// Returns the method with this name. Names are case-sensitive.
    #[must_use]
    pub fn from_bytes(name: &[u8]) -> Method {
        match name {
            b"GET" => Method::Get,
            b"POST" => Method::Post,
            b"DELETE" => Method::Delete,
            _ => Method::Other,
        }
    }
}

/// Head of a request.
#[derive(Clone, Copy)]
pub struct RequestHead<'a> {
    /// The method.
    pub method: Method,
    /// The path, with the query if there is one: `/mcp` or `/mcp?x=1`.
    pub target: &'a str,
    /// The value of `Content-Length`. `None` if the length of the body is not known.
    pub body_length: Option<u64>,
    /// The header fields.
    pub fields: &'a dyn HeaderFields,
}

impl<'a> RequestHead<'a> {
    /// Returns the path without the query. An empty path is `/` (RFC 9110, section 4.2.3).
    pub(super) fn path(&self) -> &'a str {
        self.target.split('?').next().filter(|path| !path.is_empty()).unwrap_or("/")
    }

    /// Returns the value of a parameter of the query, without percent-decoding. Returns `None` without this parameter.
    pub(super) fn query(&self, name: &str) -> Option<&'a str> {
        let (_, query) = self.target.split_once('?')?;
        query
            .split('&')
            .find_map(|pair| pair.split_once('=').filter(|(key, _)| *key == name))
            .map(|(_, it)| it)
    }

    /// Returns the value of a field without the white space around it, or `None` without this field.
    pub(super) fn field(&self, name: &str) -> Option<&'a [u8]> {
        self.fields.field(name).map(<[u8]>::trim_ascii)
    }
}

impl core::fmt::Debug for RequestHead<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("RequestHead").field("method", &self.method).field("target", &self.target).finish()
    }
}
