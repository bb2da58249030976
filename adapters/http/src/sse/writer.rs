//! `SseWriter`: writes an event into a lent slice.
//!
//! The server of this crate does not use `SseWriter`: see `server/event_stream.rs`.

use mcp_proto::{Millis, WriteText};

use crate::WriteError;
use crate::bytes::split_long_run;
use crate::write::SliceWriter;

/// A comment that keeps a connection open. A server may send this comment between events.
pub const KEEP_ALIVE: &[u8] = b":\n\n";

/// The end of an event whose data follows [`SseWriter::begin_data`].
pub const DATA_END: &[u8] = b"\n\n";

/// Writer of one event into a lent slice.
///
/// No text can add a field or end the event: data is divided into lines, and a line end in any other text is an error.
/// Only [`finish`](SseWriter::finish) and [`begin_data`](SseWriter::begin_data) report errors.
///
/// ```
/// use mcp_proto::Millis;
/// use mcp_proto_http::sse::SseWriter;
///
/// // A priming event of MCP: it has an id and empty data.
/// let mut buffer = [0; 64];
/// let priming = SseWriter::new(&mut buffer).id(("s1-", 0)).retry(Millis(500)).data(b"").finish();
/// assert_eq!(priming?, b"id: s1-0\nretry: 500\ndata:\n\n");
/// # Ok::<(), mcp_proto_http::WriteError>(())
/// ```
#[derive(Debug)]
#[must_use]
pub struct SseWriter<'b> {
    text: SliceWriter<'b>,
}

impl<'b> SseWriter<'b> {
    /// Begins an event.
    pub fn new(buffer: &'b mut [u8]) -> SseWriter<'b> {
        SseWriter { text: SliceWriter::new(buffer) }
    }

    /// Writes the name of the event. Without this call, the name is `message`.
    pub fn event(self, name: impl WriteText) -> SseWriter<'b> {
        self.line(b"event: ", &name)
    }

    /// Writes the id of the event.
    pub fn id(self, id: impl WriteText) -> SseWriter<'b> {
        self.line(b"id: ", &id)
    }

    /// Sets the reconnection time of the client.
    pub fn retry(self, time: Millis) -> SseWriter<'b> {
        self.line(b"retry: ", &time.0)
    }

    /// Writes a comment, which a client ignores.
    pub fn comment(self, text: impl WriteText) -> SseWriter<'b> {
        self.line(b": ", &text)
    }

    /// Writes data. Each line of the data becomes a line of the event, and the client joins the lines with LF.
    pub fn data(mut self, data: &[u8]) -> SseWriter<'b> {
        let mut rest = Some(data);
        while let Some(data) = rest {
            let (line, behind) = split_line(data);
            self.text.push(if line.is_empty() { b"data:" } else { b"data: " });
            self.text.push(line);
            self.text.push(b"\n");
            rest = behind;
        }
        self
    }

    /// Ends the event. Returns the text of the event.
    ///
    /// # Errors
    ///
    /// The buffer is too small, or a text other than data contains a line end or a NUL.
    pub fn finish(mut self) -> Result<&'b [u8], WriteError> {
        self.text.push(b"\n");
        self.text.finish()
    }

    /// Ends the text with the beginning of a line of data, for a caller that sends the data without a copy.
    ///
    /// The caller sends the returned text, the data, and [`DATA_END`]. The data must not contain CR or LF.
    ///
    /// # Errors
    ///
    /// As [`SseWriter::finish`].
    pub fn begin_data(mut self) -> Result<&'b [u8], WriteError> {
        self.text.push(b"data: ");
        self.text.finish()
    }

    fn line(mut self, start: &[u8], value: &dyn WriteText) -> SseWriter<'b> {
        self.text.push(start);
        self.text.push_text(value, |byte| !matches!(byte, b'\r' | b'\n' | 0));
        self.text.push(b"\n");
        self
    }
}

/// Splits text at its first line end: CRLF, CR or LF. The rest is `None` without a line end.
fn split_line(text: &[u8]) -> (&[u8], Option<&[u8]>) {
    let (line, rest) = split_long_run(text, |byte| byte != b'\r' && byte != b'\n');
    (line, rest.strip_prefix(b"\r\n").or(rest.get(1..)))
}
