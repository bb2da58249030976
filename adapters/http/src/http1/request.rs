//! Heads of requests (RFC 9112, sections 3 and 5).

use crate::fields::HeaderFields;
use crate::http1::field_buffer::FieldBuffer;
use crate::http1::framing::keeps_alive;
use crate::http1::head::HeadDecoder;
use crate::http1::names::FieldName;
use crate::http1::request_line::{RequestLine, absolute_form, split_before};
use crate::http1::{BodyFraming, HttpError, HttpVersion};

/// Incremental parser of a request head, for a server.
///
/// The lent buffer holds the method, the target, and the fields of [`RequestHead`]. Each field takes four bytes
/// plus the length of its value. A field `Mcp-Param-*` also takes the length of the rest of its name. If the buffer is
/// too small, the error has status 414, 431 or 501.
#[derive(Debug)]
pub struct RequestDecoder<'b> {
    head: HeadDecoder<'b, RequestLine>,
}

impl<'b> RequestDecoder<'b> {
    /// Creates a decoder for heads of up to [`DEFAULT_HEAD_LIMIT`](crate::http1::DEFAULT_HEAD_LIMIT) bytes.
    #[must_use]
    pub fn new(buffer: &'b mut [u8]) -> RequestDecoder<'b> {
        RequestDecoder { head: HeadDecoder::new(buffer) }
    }

    /// Sets the limit on the length of a head, including the fields that the decoder drops. Call this method before the
    /// first byte.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> RequestDecoder<'b> {
        self.head.set_limit(bytes);
        self
    }

    /// Parses input up to the end of the head. Returns the number of consumed bytes.
    ///
    /// After the end, the decoder consumes nothing. Empty lines in front of the head are skipped (RFC 9112, section
    /// 2.2).
    ///
    /// # Errors
    ///
    /// The head is invalid or too large, or requires a part of HTTP that the decoder does not support. Every later call
    /// returns the same error until [`reset`](RequestDecoder::reset).
    pub fn feed(&mut self, input: &[u8]) -> Result<usize, HttpError> {
        self.head.feed(input)
    }

    /// Returns the head, or `None` until the head is complete.
    #[must_use]
    pub fn head(&self) -> Option<RequestHead<'_>> {
        self.head.head().map(|(line, fields)| RequestHead { line, fields })
    }

    /// Returns whether the decoder waits for the first byte of a request. The caller may then close the connection.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.head.is_idle()
    }

    /// Prepares for the next request of the connection.
    pub fn reset(&mut self) {
        self.head.clear();
    }
}

/// A complete request head.
///
/// The [`HeaderFields`] are the fields that a server for MCP needs: `host`, `origin`, `content-type`, `accept`,
/// `content-length`, `transfer-encoding`, `connection`, `expect`, `authorization`, `mcp-session-id`,
/// `mcp-protocol-version`, `mcp-method`, `mcp-name`, `last-event-id`, and `mcp-param-*`. The values of a repeated field
/// are joined if they are lists.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'a> {
    line: &'a RequestLine,
    fields: &'a FieldBuffer<'a>,
}

impl<'a> RequestHead<'a> {
    /// Returns the method, which is case-sensitive (RFC 9110, section 9.1).
    #[must_use]
    pub fn method(&self) -> &'a str {
        self.line.method(self.fields)
    }

    /// Returns the request target as received (RFC 9112, section 3.2).
    #[must_use]
    pub fn target(&self) -> &'a str {
        self.line.target(self.fields)
    }

    /// Returns the path of the target, without the query and without percent-decoding. Returns `/` if the target is a
    /// URI without a path.
    #[must_use]
    pub fn path(&self) -> &'a str {
        self.path_and_query().0
    }

    /// Returns the query of the target, without the question mark, or `None` if the target has no question mark.
    #[must_use]
    pub fn query(&self) -> Option<&'a str> {
        self.path_and_query().1
    }

    /// Returns the protocol version.
    #[must_use]
    pub fn version(&self) -> HttpVersion {
        self.line.version
    }

    /// Returns the framing of the body (RFC 9112, section 6.3).
    #[must_use]
    pub fn body(&self) -> BodyFraming {
        self.line.framing
    }

    /// Returns whether the client allows another request on the connection (RFC 9112, section 9.3).
    #[must_use]
    pub fn keeps_alive(&self) -> bool {
        keeps_alive(self.fields, self.line.version)
    }

    /// Returns whether the client waits for [`CONTINUE`](crate::http1::CONTINUE) before it sends the body (RFC 9110,
    /// section 10.1.1). The server may also send its final response at once.
    #[must_use]
    pub fn expects_continue(&self) -> bool {
        // An HTTP/1.0 client cannot expect status 100, and a request without a body has nothing to wait for.
        let has_field = self.fields.value(FieldName::Expect, b"").is_some_and(|value| !value.is_empty());
        has_field && self.line.version == HttpVersion::Http11 && !self.line.framing.is_empty()
    }

    /// Returns the target without the scheme and the authority of the absolute form. The path may then be empty.
    pub(crate) fn origin_form(&self) -> &'a str {
        let target = self.target();
        absolute_form(target).map_or(target, |(_, path)| path)
    }

    fn path_and_query(&self) -> (&'a str, Option<&'a str>) {
        let (path, query) = split_before(self.origin_form(), b"?");
        (if path.is_empty() { "/" } else { path }, query.get(1..))
    }
}

/// The authority of a target in absolute form replaces `host` (RFC 9112, section 3.2.2).
impl HeaderFields for RequestHead<'_> {
    fn field(&self, name: &str) -> Option<&[u8]> {
        let (field, suffix) = FieldName::find(name)?;
        match absolute_form(self.target()) {
            Some((authority, _)) if field == FieldName::Host => Some(authority.as_bytes()),
            _ => self.fields.value(field, suffix),
        }
    }
}
