//! `HttpError`: the defect of a head or a body, with the status of the response.

use core::fmt;

use mcp_proto::WriteText;

/// A defect of a request or of a response.
///
/// A server responds with [`HttpError::status`] and closes the connection, because the end of the message is unknown. A
/// client closes the connection; a gateway also responds with status 502.
///
/// The displayed text names the defective element and the reason, for example `Host: missing`. The text contains no
/// byte that the peer sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HttpError {
    status: u16,
    element: &'static str,
    reason: &'static str,
}

impl HttpError {
    pub(super) const fn new(status: u16, element: &'static str, reason: &'static str) -> HttpError {
        HttpError { status, element, reason }
    }

    /// Creates an error with status 400 (Bad Request).
    pub(super) const fn bad(element: &'static str, reason: &'static str) -> HttpError {
        HttpError::new(400, element, reason)
    }

    /// Returns the status of the response: 400, 411, 414, 417, 501 or 505 (RFC 9110, section 15), or 431 (RFC 6585,
    /// section 5).
    #[must_use]
    pub const fn status(&self) -> u16 {
        self.status
    }

    /// Returns the defective element: the name of a header field, `request line`, `status line`, `field line`, `head`,
    /// `body` or `trailer field`.
    #[must_use]
    pub const fn element(&self) -> &'static str {
        self.element
    }

    /// Returns the reason in a few words.
    #[must_use]
    pub const fn reason(&self) -> &'static str {
        self.reason
    }
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        [self.element, ": ", self.reason].iter().try_for_each(|piece| f.write_str(piece))
    }
}

impl core::error::Error for HttpError {}

/// Writes the text without the formatting machinery.
impl WriteText for HttpError {
    fn pieces(&self, put: &mut dyn FnMut(&str)) {
        [self.element, ": ", self.reason].into_iter().for_each(put);
    }
}
