//! Heads of responses (RFC 9112, sections 4 and 5).

use crate::bytes::split_long_run;
use crate::fields::HeaderFields;
use crate::http1::field_buffer::FieldBuffer;
use crate::http1::framing::{announced, keeps_alive};
use crate::http1::head::{HEAD_TOO_LONG, HeadDecoder, StartLine};
use crate::http1::names::{FieldName, Side};
use crate::http1::syntax::is_value;
use crate::http1::version::VersionMatcher;
use crate::http1::{BodyFraming, HttpError, HttpVersion};

/// Incremental parser of a response head, for a client.
///
/// The lent buffer holds the fields of [`ResponseHead`]. Each field takes four bytes plus the length of its value. If
/// the buffer is too small, the error has status 431.
#[derive(Debug)]
pub struct ResponseDecoder<'b> {
    head: HeadDecoder<'b, StatusLine>,
}

impl<'b> ResponseDecoder<'b> {
    /// Creates a decoder for heads of up to [`DEFAULT_HEAD_LIMIT`](crate::http1::DEFAULT_HEAD_LIMIT) bytes.
    #[must_use]
    pub fn new(buffer: &'b mut [u8]) -> ResponseDecoder<'b> {
        ResponseDecoder { head: HeadDecoder::new(buffer) }
    }

    /// Sets the limit on the length of a head, including the fields that the decoder drops. Call this method before the
    /// first byte.
    #[must_use]
    pub fn with_limit(mut self, bytes: usize) -> ResponseDecoder<'b> {
        self.head.set_limit(bytes);
        self
    }

    /// Parses input up to the end of the head. Returns the number of consumed bytes.
    ///
    /// After the end, the decoder consumes nothing.
    ///
    /// # Errors
    ///
    /// The head is invalid or too large, or requires a part of HTTP that the decoder does not support. Every later call
    /// returns the same error until [`reset`](ResponseDecoder::reset).
    pub fn feed(&mut self, input: &[u8]) -> Result<usize, HttpError> {
        self.head.feed(input)
    }

    /// Returns the head, or `None` until the head is complete.
    #[must_use]
    pub fn head(&self) -> Option<ResponseHead<'_>> {
        self.head.head().map(|(line, fields)| ResponseHead { line, fields })
    }

    /// Prepares for the next response of the connection. Call this method also after an interim response.
    pub fn reset(&mut self) {
        self.head.clear();
    }
}

/// A complete response head.
///
/// The [`HeaderFields`] are the fields that a client for MCP needs: `content-type`, `content-length`,
/// `transfer-encoding`, `connection`, `mcp-session-id`, `mcp-protocol-version`, `retry-after`, `www-authenticate`, and
/// `allow`. The values of a repeated field are joined if they are lists.
#[derive(Debug, Clone, Copy)]
pub struct ResponseHead<'a> {
    line: &'a StatusLine,
    fields: &'a FieldBuffer<'a>,
}

impl ResponseHead<'_> {
    /// Returns the status code, from 100 to 999 (RFC 9110, section 15).
    #[must_use]
    pub fn status(&self) -> u16 {
        self.line.status
    }

    /// Returns whether another response to the same request follows (RFC 9110, section 15.2).
    ///
    /// Status 101 does not count as interim, because the connection no longer carries HTTP after this status.
    #[must_use]
    pub fn is_interim(&self) -> bool {
        matches!(self.line.status, 100 | 102..=199)
    }

    /// Returns the protocol version.
    #[must_use]
    pub fn version(&self) -> HttpVersion {
        self.line.version
    }

    /// Returns the framing of the body (RFC 9112, section 6.3).
    ///
    /// The response to a HEAD request has no body, whatever this method returns.
    #[must_use]
    pub fn body(&self) -> BodyFraming {
        self.line.framing
    }

    /// Returns whether the connection can take another request (RFC 9112, section 9.3).
    #[must_use]
    pub fn keeps_alive(&self) -> bool {
        self.line.framing != BodyFraming::UntilClose && keeps_alive(self.fields, self.line.version)
    }
}

impl HeaderFields for ResponseHead<'_> {
    fn field(&self, name: &str) -> Option<&[u8]> {
        let (field, suffix) = FieldName::find(name)?;
        self.fields.value(field, suffix)
    }
}

/// Status line, and properties of the whole head.
#[derive(Debug)]
struct StatusLine {
    state: State,
    version_matcher: VersionMatcher,
    version: HttpVersion,
    status: u16,
    framing: BodyFraming,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Version,
    /// Contains the number of digits so far.
    Status(u8),
    Reason,
    LineFeed,
}

impl Default for StatusLine {
    fn default() -> StatusLine {
        StatusLine {
            state: State::Version,
            version_matcher: VersionMatcher::default(),
            version: HttpVersion::Http11,
            status: 0,
            framing: BodyFraming::UntilClose,
        }
    }
}

const fn bad_line<T>(reason: &'static str) -> Result<T, HttpError> {
    Err(HttpError::bad("status line", reason))
}

impl StartLine for StatusLine {
    const SIDE: Side = Side::Client;

    fn next<'i>(
        &mut self,
        input: &'i [u8],
        _text: &mut FieldBuffer<'_>,
    ) -> Result<(&'i [u8], bool), HttpError> {
        let Some((first, mut rest)) = input.split_first() else { return Ok((input, false)) };
        let mut is_complete = false;
        self.state = match (self.state, *first) {
            (State::Version, b' ') if self.version_matcher.is_complete() => {
                let unsupported =
                    HttpError::new(505, "status line", "only HTTP/1.1 and HTTP/1.0 are supported");
                self.version = self.version_matcher.version().ok_or(unsupported)?;
                State::Status(0)
            }
            (State::Version, byte) => match self.version_matcher.feed(byte) {
                Some(()) => State::Version,
                None => return bad_line("invalid version"),
            },
            (State::Status(digits @ 0..=2), byte @ b'0'..=b'9') => {
                let digit = u16::from(byte.saturating_sub(b'0'));
                self.status = self.status.saturating_mul(10).saturating_add(digit);
                State::Status(digits.saturating_add(1))
            }
            // The reason phrase may be empty, and some servers leave out the space in front of it.
            (State::Status(3), b' ') if self.status >= 100 => State::Reason,
            (State::Status(3) | State::Reason, b'\r') if self.status >= 100 => State::LineFeed,
            (State::Status(_), _) => return bad_line("invalid status"),
            (State::Reason, byte) if is_value(byte) => {
                rest = split_long_run(input, is_value).1;
                State::Reason
            }
            (State::Reason, _) => return bad_line("invalid reason phrase"),
            (State::LineFeed, b'\n') => {
                is_complete = true;
                State::LineFeed
            }
            (State::LineFeed, _) => return bad_line("CR without LF"),
        };
        Ok((rest, is_complete))
    }

    fn too_long(&self) -> HttpError {
        HEAD_TOO_LONG
    }

    fn validate(&mut self, fields: &FieldBuffer<'_>) -> Result<(), HttpError> {
        self.framing = match self.status {
            // Responses with these statuses have no body, whatever their header fields say.
            100..=199 | 204 | 304 => BodyFraming::EMPTY,
            _ => announced(fields, self.version)?.unwrap_or(BodyFraming::UntilClose),
        };
        Ok(())
    }
}
