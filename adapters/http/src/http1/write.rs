//! `HeadWriter`: heads of responses and requests.

use mcp_proto::WriteText;

use crate::WriteError;
use crate::http1::status::reason_phrase;
use crate::http1::syntax::{is_token, is_value};
use crate::write::SliceWriter;

/// The interim response that requests the body from a client (RFC 9110, section 15.2.1).
pub const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";

/// Writer of a head into a lent slice.
///
/// Errors are reported once, by [`HeadWriter::finish`]. Names and values are checked, so no text of a peer can add a
/// line.
///
/// ```
/// use mcp_proto_http::http1::HeadWriter;
///
/// let mut buffer = [0; 128];
/// let head = HeadWriter::response(&mut buffer, 200).field("Content-Type", "application/json").content_length(2).finish();
/// assert_eq!(head?, b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n");
/// # Ok::<(), mcp_proto_http::WriteError>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct HeadWriter<'b> {
    text: SliceWriter<'b>,
}

impl<'b> HeadWriter<'b> {
    /// Begins a response with its status line (RFC 9112, section 4). A status outside of 100 to 999 is clamped.
    pub fn response(buffer: &'b mut [u8], status: u16) -> HeadWriter<'b> {
        let mut text = SliceWriter::new(buffer);
        text.push(b"HTTP/1.1 ");
        // A status has three digits.
        text.push_text(&status.clamp(100, 999), is_value);
        text.push(b" ");
        text.push(reason_phrase(status).as_bytes());
        text.push(b"\r\n");
        HeadWriter { text }
    }

    /// Begins a request with its request line and `Host` (RFC 9112, section 3).
    ///
    /// `target` is the path with its query, and `host` the authority of the URI.
    pub fn request(buffer: &'b mut [u8], method: &str, target: &str, host: &str) -> HeadWriter<'b> {
        let mut text = SliceWriter::new(buffer);
        if method.is_empty() || target.is_empty() {
            text.fail(WriteError::InvalidByte);
        }
        text.push_checked(method.as_bytes(), is_token);
        text.push(b" ");
        text.push_checked(target.as_bytes(), |byte| byte.is_ascii_graphic());
        text.push(b" HTTP/1.1\r\n");
        HeadWriter { text }.field("Host", host)
    }

    /// Appends a field (RFC 9112, section 5).
    pub fn field(mut self, name: &str, value: impl WriteText) -> HeadWriter<'b> {
        self.begin_field(name);
        self.text.push_text(&value, is_value);
        self.end_field()
    }

    /// Appends a field whose value is bytes, for example a value that the peer has sent.
    pub fn raw_field(mut self, name: &str, value: &[u8]) -> HeadWriter<'b> {
        self.begin_field(name);
        self.text.push_checked(value, is_value);
        self.end_field()
    }

    /// Announces a body of known length (RFC 9110, section 8.6).
    pub fn content_length(self, bytes: u64) -> HeadWriter<'b> {
        self.field("Content-Length", bytes)
    }

    /// Announces a chunked body (RFC 9112, section 7.1). Call this method only if the peer supports HTTP/1.1.
    pub fn chunked(self) -> HeadWriter<'b> {
        self.field("Transfer-Encoding", "chunked")
    }

    /// Announces that the connection closes after this message (RFC 9112, section 9.6).
    pub fn close(self) -> HeadWriter<'b> {
        self.field("Connection", "close")
    }

    /// Ends the head. Returns the text of the head.
    ///
    /// # Errors
    ///
    /// The buffer is too small, a text contains an invalid byte, or the method, the target, or a field name is empty.
    pub fn finish(mut self) -> Result<&'b [u8], WriteError> {
        self.text.push(b"\r\n");
        self.text.finish()
    }

    /// Appends a field without consuming the writer.
    pub(crate) fn add(&mut self, name: &str, value: &str) {
        self.begin_field(name);
        self.text.push_checked(value.as_bytes(), is_value);
        self.text.push(b"\r\n");
    }

    fn begin_field(&mut self, name: &str) {
        if name.is_empty() {
            self.text.fail(WriteError::InvalidByte);
        }
        self.text.push_checked(name.as_bytes(), is_token);
        self.text.push(b": ");
    }

    fn end_field(mut self) -> HeadWriter<'b> {
        self.text.push(b"\r\n");
        self
    }
}
