//! Heads of responses, and refusals of requests.

use mcp_proto::rpc::code;
use mcp_proto::{Revision, WriteText};

use super::authorization::Challenge;
use crate::bytes::write_at;

/// A session id as text: 32 hexadecimal digits, or 64 if it is sealed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SessionId {
    pub(super) text: [u8; 64],
    pub(super) length: usize,
}

impl SessionId {
    /// Returns the id.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.text.get(..self.length).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or_default()
    }

    /// Encodes bytes as hexadecimal digits.
    pub(super) fn from_bytes(bytes: &[u8]) -> SessionId {
        let mut text = [0; 64];
        let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
        let mut length = 0;
        for (place, digit) in text.iter_mut().zip(digits) {
            *place =
                if digit < 10 { b'0'.wrapping_add(digit) } else { b'a'.wrapping_add(digit).wrapping_sub(10) };
            length = usize::wrapping_add(length, 1);
        }
        SessionId { text, length }
    }

    /// Decodes hexadecimal digits in lower case. Returns `None` unless the digits encode exactly `N` bytes.
    pub(super) fn parse<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
        let mut bytes = [0; N];
        let (pairs, rest) = text.as_chunks::<2>();
        if pairs.len() != N || !rest.is_empty() {
            return None;
        }
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte.wrapping_sub(b'0')),
            b'a'..=b'f' => Some(byte.wrapping_sub(b'a').wrapping_add(10)),
            _ => None,
        };
        for (place, [high, low]) in bytes.iter_mut().zip(pairs) {
            *place = digit(*high)? << 4 | digit(*low)?;
        }
        Some(bytes)
    }
}

/// Omits the id, because it is a secret (rule D-C4 of `docs/http-rules.md`).
impl core::fmt::Debug for SessionId {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("SessionId(…)")
    }
}

/// Media type of a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MediaType {
    /// The response has no body.
    None,
    /// `application/json`
    Json,
    /// `text/event-stream`
    EventStream,
    /// `text/plain`, the receipt of a message in HTTP+SSE
    Text,
}

/// Head of a response. `None` means that the response has no such header field.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResponseHead {
    /// The status code.
    pub status: u16,
    /// The media type of the body.
    pub media_type: MediaType,
    /// The length of the body. `None` for an event stream, for a chunked response, and with status 204.
    pub length: Option<usize>,
    /// The id of the session that this response creates.
    pub session: Option<SessionId>,
    /// The value of `Allow`, with status 405.
    pub allow: Option<&'static str>,
    /// The value of `WWW-Authenticate`.
    pub challenge: Option<Challenge>,
    /// The value of `Retry-After`, in seconds.
    pub retry_after: Option<u16>,
}

impl ResponseHead {
    pub(super) const fn new(status: u16, media_type: MediaType, length: Option<usize>) -> ResponseHead {
        ResponseHead {
            status,
            media_type,
            length,
            session: None,
            allow: None,
            challenge: None,
            retry_after: None,
        }
    }

    /// Passes the name and the value of each header field to `put`, including `Content-Length`.
    pub fn fields(&self, put: &mut dyn FnMut(&str, &str)) {
        match self.media_type {
            MediaType::None => {}
            MediaType::Json => put("content-type", "application/json"),
            MediaType::Text => put("content-type", "text/plain"),
            MediaType::EventStream => {
                put("content-type", "text/event-stream");
                put("cache-control", "no-cache");
                put("x-accel-buffering", "no");
            }
        }
        let mut digits = [0; 20];
        if let Some(length) = self.length {
            put("content-length", decimal(u64::try_from(length).unwrap_or(u64::MAX), &mut digits));
        }
        if let Some(session) = &self.session {
            put("mcp-session-id", session.as_str());
        }
        if let Some(allow) = self.allow {
            put("allow", allow);
        }
        if let Some(challenge) = &self.challenge {
            put("www-authenticate", challenge.as_str());
        }
        if let Some(seconds) = self.retry_after {
            put("retry-after", decimal(seconds.into(), &mut digits));
        }
    }
}

/// Writes a number into `digits`, and returns the text of the number.
pub(super) fn decimal(number: u64, digits: &mut [u8; 20]) -> &str {
    let mut length = 0usize;
    number.pieces(&mut |piece| {
        length = write_at(digits, length, piece.as_bytes()).unwrap_or(length);
    });
    digits.get(..length).and_then(|text| core::str::from_utf8(text).ok()).unwrap_or_default()
}

/// The refusal of a request, with a reason for the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    pub(super) status: u16,
    /// Code of the JSON-RPC error in the body. The code must be negative.
    pub(super) code: i32,
    pub(super) reason: &'static str,
    pub(super) detail: Detail,
}

/// The detail that a [`Refusal`] reports besides its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Detail {
    None,
    /// The value of `Allow`.
    Allow(&'static str),
    /// The value of `WWW-Authenticate`.
    Challenge(Challenge),
    /// The value of `Retry-After`, in seconds.
    RetryAfter(u16),
    /// The maximum length of a body, in bytes.
    Limit(usize),
    /// The defective element of a request that is not valid HTTP.
    Element(&'static str),
    /// The revision that the client requested from an endpoint that supports only 2026-07-28. `None` for an unknown
    /// revision, because a copy of its text would take stack memory for each refusal.
    Requested(Option<Revision>),
}

/// The size of the buffer for [`Refusal::write`], in bytes.
pub const REFUSAL_SIZE: usize = 256;

impl Refusal {
    pub(super) const fn new(status: u16, code: i32, reason: &'static str) -> Refusal {
        Refusal { status, code, reason, detail: Detail::None }
    }

    /// Creates the refusal of a body that is longer than this number of bytes.
    pub(super) fn body_too_long(limit: usize) -> Refusal {
        let refusal = Refusal::new(413, code::INVALID_REQUEST, "the body is longer than the limit");
        Refusal { detail: Detail::Limit(limit), ..refusal }
    }

    /// Returns the status code.
    #[must_use]
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the reason.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        self.reason
    }

    /// Writes the body, a JSON-RPC error without an id. Returns the head and the body.
    #[must_use]
    pub fn write<'t>(&self, body: &'t mut [u8; REFUSAL_SIZE]) -> (ResponseHead, &'t [u8]) {
        let mut length = 0usize;
        self.pieces(None, &mut |piece| {
            length = write_at(body, length, piece).unwrap_or(length);
        });
        (self.head_for(length), body.get(..length).unwrap_or_default())
    }

    /// Returns the head of the response.
    pub(super) fn head(&self) -> ResponseHead {
        let mut length = 0usize;
        self.pieces(None, &mut |piece| length = length.saturating_add(piece.len()));
        self.head_for(length)
    }

    fn head_for(&self, length: usize) -> ResponseHead {
        let mut head = ResponseHead::new(self.status, MediaType::Json, Some(length));
        match &self.detail {
            Detail::Allow(methods) => head.allow = Some(methods),
            Detail::Challenge(challenge) if *challenge != Challenge::NONE => {
                head.challenge = Some(challenge.clone());
            }
            Detail::Challenge(_)
            | Detail::Limit(_)
            | Detail::Element(_)
            | Detail::Requested(_)
            | Detail::None => {}
            Detail::RetryAfter(seconds) => head.retry_after = Some(*seconds),
        }
        head
    }

    /// Passes the pieces of the body to `put`. `id` is the id of the request as JSON, or `None` for a body without an
    /// id.
    pub(super) fn pieces(&self, id: Option<&[u8]>, put: &mut dyn FnMut(&[u8])) {
        put(br#"{"jsonrpc":"2.0","#);
        if let Some(id) = id {
            put(br#""id":"#);
            put(id);
            put(b",");
        }
        put(br#""error":{"code":-"#);
        put(decimal(self.code.unsigned_abs().into(), &mut [0; 20]).as_bytes());
        put(br#","message":""#);
        if let Detail::Element(element) = self.detail {
            put(element.as_bytes());
            put(b": ");
        }
        put(self.reason.as_bytes());
        if let Detail::Limit(bytes) = self.detail {
            put(b" of ");
            put(decimal(u64::try_from(bytes).unwrap_or(u64::MAX), &mut [0; 20]).as_bytes());
            put(b" bytes");
        }
        put(b"\"");
        if let Detail::Requested(requested) = &self.detail {
            put(br#","data":{"supported":[""#);
            put(Revision::V2026_07_28.as_str().as_bytes());
            put(br#""],"requested":""#);
            put(requested.map_or("?", Revision::as_str).as_bytes());
            put(br#""}"#);
        }
        put(b"}}");
    }
}
