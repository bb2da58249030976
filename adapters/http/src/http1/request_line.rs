//! `RequestLine`: the request line, and the checks of a complete request head.

use crate::bytes::split_run;
use crate::http1::field_buffer::{FieldBuffer, Full};
use crate::http1::framing::announced;
use crate::http1::head::{HEAD_TOO_LONG, StartLine};
use crate::http1::names::{FieldName, Side};
use crate::http1::syntax::{is_host, is_token, list};
use crate::http1::version::VersionMatcher;
use crate::http1::{BodyFraming, HttpError, HttpVersion};

/// Maximum length of a method. A server responds to a longer method with status 501.
const MAX_METHOD_LENGTH: usize = 16;

/// Splits a target in absolute form into the authority and the rest. Returns `None` for any other form, and for a
/// scheme other than `http` and `https`.
pub(super) fn absolute_form(target: &str) -> Option<(&str, &str)> {
    let rest = ["http://", "https://"].iter().find_map(|scheme| {
        let (start, rest) = target.split_at_checked(scheme.len())?;
        start.eq_ignore_ascii_case(scheme).then_some(rest)
    })?;
    Some(split_before(rest, b"/?"))
}

/// Splits a text before the first byte that is in `ends`. If there is no such byte, the second part is empty.
// Does not use `str::find`, because its code needs more flash memory.
pub(super) fn split_before<'a>(text: &'a str, ends: &[u8]) -> (&'a str, &'a str) {
    let length = text.bytes().position(|byte| ends.contains(&byte)).unwrap_or(text.len());
    text.split_at_checked(length).unwrap_or((text, ""))
}

/// Request line, and properties of the whole head.
#[derive(Debug)]
pub(super) struct RequestLine {
    state: State,
    method_length: usize,
    version_matcher: VersionMatcher,
    pub(super) version: HttpVersion,
    pub(super) framing: BodyFraming,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Start,
    /// After the CR of an empty line.
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
    pub(super) fn method<'a>(&self, fields: &'a FieldBuffer<'_>) -> &'a str {
        text(fields.start_line().get(..self.method_length))
    }

    pub(super) fn target<'a>(&self, fields: &'a FieldBuffer<'_>) -> &'a str {
        text(fields.start_line().get(self.method_length..))
    }

    /// Checks the form of the target, and the host (RFC 9112, section 3.2).
    fn validate_target(&self, fields: &FieldBuffer<'_>) -> Result<(), HttpError> {
        let target = self.target(fields);
        let is_allowed = match self.method(fields) {
            "CONNECT" => true,
            "OPTIONS" if target == "*" => true,
            _ => target.as_bytes().first() == Some(&b'/') || absolute_form(target).is_some(),
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

/// Converts ASCII bytes to text. Returns an empty text for `None`.
fn text(bytes: Option<&[u8]>) -> &str {
    bytes.and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
}
