//! `BodyFraming`: the length of a body, and whether the connection persists (RFC 9112, sections 6.3 and 9.3).

use crate::http1::HttpError;
use crate::http1::field_buffer::FieldBuffer;
use crate::http1::names::FieldName;
use crate::http1::syntax::{decimal, list};

/// The protocol version of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum HttpVersion {
    /// HTTP/1.0.
    Http10,
    /// HTTP/1.1, or a later minor version, which a recipient treats as HTTP/1.1 (RFC 9110, section 2.5).
    Http11,
}

/// The length of a body (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BodyFraming {
    /// A known number of bytes. The number is zero if there is no body, and saturates beyond `u64`.
    Length(u64),
    /// Chunks, the last of which is empty (RFC 9112, section 7.1).
    Chunked,
    /// All bytes until the connection closes. Only a response has this framing.
    UntilClose,
}

impl BodyFraming {
    /// No body.
    pub const EMPTY: BodyFraming = BodyFraming::Length(0);

    /// Returns whether there is no body.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        matches!(self, BodyFraming::Length(0))
    }
}

const CONTENT_LENGTH: &str = "Content-Length";
const TRANSFER_ENCODING: &str = "Transfer-Encoding";

/// Returns the framing that the fields announce, or `None` if the fields announce no framing. Fails if the fields are
/// invalid, contradict each other, or announce a coding other than `chunked`.
pub(super) fn announced(
    fields: &FieldBuffer<'_>,
    version: HttpVersion,
) -> Result<Option<BodyFraming>, HttpError> {
    let length = fields.value(FieldName::ContentLength, b"");
    let Some(codings) = fields.value(FieldName::TransferEncoding, b"") else {
        let length =
            length.map(|length| decimal(length).ok_or(HttpError::bad(CONTENT_LENGTH, "not a number")));
        return Ok(length.transpose()?.map(BodyFraming::Length));
    };
    if length.is_some() {
        return Err(HttpError::bad(CONTENT_LENGTH, "not allowed with Transfer-Encoding"));
    }
    if version == HttpVersion::Http10 {
        return Err(HttpError::bad(TRANSFER_ENCODING, "not allowed in HTTP/1.0"));
    }
    let is_chunked = |coding: &[u8]| coding.eq_ignore_ascii_case(b"chunked");
    match list(codings).last() {
        Some(last) if is_chunked(last) => {}
        _ => return Err(HttpError::bad(TRANSFER_ENCODING, "chunked is not the last coding")),
    }
    match list(codings).filter(|coding| is_chunked(coding)).count() {
        1 if list(codings).count() == 1 => Ok(Some(BodyFraming::Chunked)),
        1 => Err(HttpError::new(501, TRANSFER_ENCODING, "only chunked is supported")),
        _ => Err(HttpError::bad(TRANSFER_ENCODING, "chunked is repeated")),
    }
}

/// Returns whether the connection persists after this message (RFC 9112, section 9.3).
pub(super) fn keeps_alive(fields: &FieldBuffer<'_>, version: HttpVersion) -> bool {
    let options = fields.value(FieldName::Connection, b"").unwrap_or_default();
    let has = |name: &[u8]| list(options).any(|option| option.eq_ignore_ascii_case(name));
    !has(b"close") && (version == HttpVersion::Http11 || has(b"keep-alive"))
}
