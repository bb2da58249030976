//! Heads of requests (RFC 9112, sections 3 and 5).

use crate::fields::HeaderFields;
use crate::http1::field_buffer::{FieldBuffer, Full};
use crate::http1::framing::{announced, keeps_alive};
use crate::http1::head::{HEAD_TOO_LONG, HeadDecoder, StartLine};
use crate::http1::names::{FieldName, Side};
use crate::http1::syntax::{is_host, is_token, list, split_run};
use crate::http1::version::VersionMatcher;
use crate::http1::{BodyFraming, HttpError, HttpVersion};

/// Longest method. A longer one is answered with status 501.
const MAX_METHOD_LENGTH: usize = 16;

/// Incremental parser of a request head, for a server.
///
/// The lent buffer takes the method, the target, and four bytes and the value for each field that matters. If it is too
/// small, the error has status 414 or 431.
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

    /// Sets the limit on the length of a head, including the fields that the decoder drops. Call it before the first
    /// byte.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> RequestDecoder<'b> {
        self.head.set_limit(bytes);
        self
    }

    /// Parses input up to the end of the head. Returns the number of consumed bytes.
    ///
    /// After the end it consumes nothing. Empty lines in front of the head are skipped (RFC 9112, section 2.2).
    ///
    /// # Errors
    ///
    /// The request is invalid or too large. Every later call returns the same error.
    pub fn feed(&mut self, input: &[u8]) -> Result<usize, HttpError> {
        self.head.feed(input)
    }

    /// Returns the head. `None` until it is complete.
    #[must_use]
    pub fn head(&self) -> Option<RequestHead<'_>> {
        self.head.head().map(|(line, fields)| RequestHead { line, fields })
    }

    /// Whether the decoder waits for the first byte of a request, so that the connection may be closed.
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
/// Its [`HeaderFields`] are the fields that a server for MCP needs: `host`, `origin`, `content-type`, `accept`,
/// `content-length`, `transfer-encoding`, `connection`, `expect`, `authorization`, `mcp-session-id`,
/// `mcp-protocol-version`, `mcp-method`, `mcp-name`, `last-event-id`, and `mcp-param-*`. Repeated lists are joined.
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

    /// Returns the path of the target, without the query. It is not percent-decoded.
    #[must_use]
    pub fn path(&self) -> &'a str {
        self.path_and_query().0
    }

    /// Returns the query of the target, without the question mark. `None` if the target has no question mark.
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

    /// Whether the client allows another request on the connection (RFC 9112, section 9.3).
    #[must_use]
    pub fn keeps_alive(&self) -> bool {
        keeps_alive(self.fields, self.line.version)
    }

    /// Whether the client waits for [`CONTINUE`](crate::http1::CONTINUE) before it sends the body (RFC 9110, section
    /// 10.1.1). The server may also send its final response at once.
    #[must_use]
    pub fn expects_continue(&self) -> bool {
        // An HTTP/1.0 client cannot expect it, and without a body there is nothing to wait for.
        let has_field = self.fields.value(FieldName::Expect, b"").is_some_and(|value| !value.is_empty());
        has_field && self.line.version == HttpVersion::Http11 && !self.line.framing.is_empty()
    }

    fn path_and_query(&self) -> (&'a str, Option<&'a str>) {
        let target = self.target();
        let target = match absolute_form(target) {
            Some((_, "")) => "/",
            Some((_, path)) => path,
            None => target,
        };
        match target.split_once('?') {
            Some(("", query)) => ("/", Some(query)),
            Some((path, query)) => (path, Some(query)),
            None => (target, None),
        }
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

/// Splits a target in absolute form into the authority and the rest.
fn absolute_form(target: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = target.split_once("://")?;
    if !["http", "https"].iter().any(|known| scheme.eq_ignore_ascii_case(known)) {
        return None;
    }
    Some(rest.find(['/', '?']).and_then(|end| rest.split_at_checked(end)).unwrap_or((rest, "")))
}

/// Request line, and properties of the whole head.
#[derive(Debug)]
struct RequestLine {
    state: State,
    method_length: usize,
    version_matcher: VersionMatcher,
    version: HttpVersion,
    framing: BodyFraming,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Start,
    /// Behind the CR of an empty line.
    StartLineFeed,
    Method,
    Target,
    Version,
    LineFeed,
}

impl Default for RequestLine {
    fn default() -> RequestLine {
        RequestLine {
            state: State::Start,
            method_length: 0,
            version_matcher: VersionMatcher::default(),
            version: HttpVersion::Http11,
            framing: BodyFraming::EMPTY,
        }
    }
}

const LINE: &str = "request line";
const METHOD_TOO_LONG: HttpError = HttpError::new(501, LINE, "unknown method");
const TARGET_TOO_LONG: HttpError = HttpError::new(414, LINE, "target is too long");

const fn bad_line<T>(reason: &'static str) -> Result<T, HttpError> {
    Err(HttpError::bad(LINE, reason))
}

impl StartLine for RequestLine {
    const SIDE: Side = Side::Server;

    fn next<'i>(
        &mut self,
        input: &'i [u8],
        text: &mut FieldBuffer<'_>,
    ) -> Result<(&'i [u8], bool), HttpError> {
        let Some((first, mut rest)) = input.split_first() else { return Ok((input, false)) };
        let mut is_complete = false;
        self.state = match (self.state, *first) {
            (State::Start, b'\r') => State::StartLineFeed,
            (State::StartLineFeed, b'\n') => State::Start,
            (State::Start | State::Method, byte) if is_token(byte) => {
                let (method, behind) = split_run(input, is_token);
                rest = behind;
                self.method_length = self.method_length.saturating_add(method.len());
                if self.method_length > MAX_METHOD_LENGTH {
                    return Err(METHOD_TOO_LONG);
                }
                text.push_start_line(method).map_err(|Full| METHOD_TOO_LONG)?;
                State::Method
            }
            (State::Method, b' ') => State::Target,
            (State::Start | State::StartLineFeed | State::Method, _) => return bad_line("invalid method"),
            (State::Target, b'!'..=b'~') => {
                let (target, behind) = split_run(input, |byte| byte.is_ascii_graphic());
                rest = behind;
                text.push_start_line(target).map_err(|Full| TARGET_TOO_LONG)?;
                State::Target
            }
            (State::Target, b' ') if !self.target(text).is_empty() => State::Version,
            (State::Target, b'\r' | b'\n') => return bad_line("no version"),
            (State::Target, _) => return bad_line("invalid target"),
            (State::Version, b'\r') if self.version_matcher.is_complete() => {
                let unsupported = HttpError::new(505, LINE, "only HTTP/1.1 and HTTP/1.0 are supported");
                self.version = self.version_matcher.version().ok_or(unsupported)?;
                State::LineFeed
            }
            (State::Version, byte) => match self.version_matcher.feed(byte) {
                Some(()) => State::Version,
                None => return bad_line("invalid version"),
            },
            (State::LineFeed, b'\n') => {
                is_complete = true;
                State::LineFeed
            }
            (State::LineFeed, _) => return bad_line("CR without LF"),
        };
        Ok((rest, is_complete))
    }

    fn too_long(&self) -> HttpError {
        match self.state {
            State::Target => TARGET_TOO_LONG,
            _ => HEAD_TOO_LONG,
        }
    }

    fn validate(&mut self, fields: &FieldBuffer<'_>) -> Result<(), HttpError> {
        self.validate_target(fields)?;
        let is_post = self.method(fields) == "POST";
        self.framing = match announced(fields, self.version)? {
            Some(framing) => framing,
            None if is_post => return Err(HttpError::new(411, "Content-Length", "missing")),
            None => BodyFraming::EMPTY,
        };
        let expected = fields.value(FieldName::Expect, b"").unwrap_or_default();
        if list(expected).any(|expected| !expected.eq_ignore_ascii_case(b"100-continue")) {
            return Err(HttpError::new(417, "Expect", "only 100-continue is supported"));
        }
        Ok(())
    }
}

impl RequestLine {
    fn method<'a>(&self, fields: &'a FieldBuffer<'_>) -> &'a str {
        text(fields.start_line().get(..self.method_length))
    }

    fn target<'a>(&self, fields: &'a FieldBuffer<'_>) -> &'a str {
        text(fields.start_line().get(self.method_length..))
    }

    /// Checks the form of the target, and the host (RFC 9112, section 3.2).
    fn validate_target(&self, fields: &FieldBuffer<'_>) -> Result<(), HttpError> {
        let target = self.target(fields);
        let is_allowed = match self.method(fields) {
            "CONNECT" => true,
            "OPTIONS" if target == "*" => true,
            _ => target.starts_with('/') || absolute_form(target).is_some(),
        };
        if !is_allowed {
            return bad_line("invalid target");
        }
        let is_host = |host: &[u8]| host.iter().all(|byte| is_host(*byte));
        if absolute_form(target).is_some_and(|(host, _)| host.is_empty() || !is_host(host.as_bytes())) {
            return bad_line("invalid host in the target");
        }
        match fields.value(FieldName::Host, b"") {
            None if self.version == HttpVersion::Http11 => Err(HttpError::bad("Host", "missing")),
            Some(host) if !is_host(host) => Err(HttpError::bad("Host", "invalid")),
            _ => Ok(()),
        }
    }
}

/// Returns bytes as text. All bytes are ASCII.
fn text(bytes: Option<&[u8]>) -> &str {
    bytes.and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
}
