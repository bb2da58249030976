//! One HTTP/1.1 connection: reads requests, and writes responses.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use mcp_proto_http::HeaderFields;
use mcp_proto_http::http1::{BodyDecoder, CONTINUE, HeadWriter, HttpError, RequestDecoder};
use mcp_proto_http::sse::SseWriter;

/// Maximum length of a request body, in bytes.
const MAX_BODY_LENGTH: usize = 16 * 1024 * 1024;
/// Time limit for the next bytes of a request, and for the client to accept bytes.
const STALL_TIME: Duration = Duration::from_secs(30);

/// The parts of a request that the bridge uses.
#[derive(Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) host: Option<String>,
    pub(crate) origin: Option<String>,
    pub(crate) session: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) mcp_method: Option<String>,
    pub(crate) mcp_name: Option<String>,
    pub(crate) is_json: bool,
    pub(crate) takes_events: bool,
    pub(crate) keeps_alive: bool,
    pub(crate) body: Vec<u8>,
}

pub(crate) struct Connection {
    stream: TcpStream,
    input: Vec<u8>,
    unread: std::ops::Range<usize>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Connection> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(STALL_TIME))?;
        stream.set_write_timeout(Some(STALL_TIME))?;
        Ok(Connection { stream, input: vec![0; 16 * 1024], unread: 0..0 })
    }

    /// Reads a request. Returns `None` if the connection ends before a complete head.
    ///
    /// # Errors
    /// The request is not valid HTTP, its body is too long, its bytes do not arrive in time, or the connection ends
    /// before the end of the body or breaks. The caller must close the connection.
    pub(crate) fn read_request(&mut self) -> io::Result<Option<Request>> {
        let mut fields = vec![0; 16 * 1024];
        let mut decoder = RequestDecoder::new(&mut fields);
        loop {
            let unread = &self.input[self.unread.clone()];
            self.unread.start += decoder.feed(unread).map_err(invalid)?;
            if decoder.head().is_some() {
                break;
            }
            if self.read()? == 0 {
                return Ok(None);
            }
        }
        let Some(head) = decoder.head() else { return Ok(None) };
        if head.expects_continue() {
            self.stream.write_all(CONTINUE)?;
        }
        let text = |name| head.field(name).map(|value| String::from_utf8_lossy(value).into_owned());
        // Media types are case-insensitive.
        let has =
            |name, wanted: &str| text(name).is_some_and(|value| value.to_ascii_lowercase().contains(wanted));
        Ok(Some(Request {
            method: head.method().into(),
            path: head.path().into(),
            host: text("host"),
            origin: text("origin"),
            session: text("mcp-session-id"),
            version: text("mcp-protocol-version"),
            mcp_method: text("mcp-method"),
            mcp_name: text("mcp-name"),
            is_json: has("content-type", "application/json"),
            takes_events: has("accept", "text/event-stream"),
            keeps_alive: head.keeps_alive(),
            body: self.read_body(BodyDecoder::new(head.body()))?,
        }))
    }

    fn read_body(&mut self, mut decoder: BodyDecoder) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        while !decoder.is_complete() {
            let piece = decoder.decode(&self.input[self.unread.clone()]).map_err(invalid)?;
            self.unread.start += piece.consumed;
            body.extend_from_slice(piece.data);
            if body.len() > MAX_BODY_LENGTH {
                return Err(ErrorKind::FileTooLarge.into());
            }
            if self.unread.is_empty() && !decoder.is_complete() && self.read()? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(body)
    }

    fn read(&mut self) -> io::Result<usize> {
        let n = self.stream.read(&mut self.input)?;
        self.unread = 0..n;
        Ok(n)
    }

    /// Writes a whole response to a request. An empty body gets no `Content-Type`. Returns whether the connection stays
    /// open.
    pub(crate) fn respond(
        &mut self,
        request: &Request,
        status: u16,
        body: &[u8],
        fields: &[(&str, &str)],
    ) -> io::Result<bool> {
        let mut buffer = [0; 1024];
        let mut head = HeadWriter::response(&mut buffer, status);
        if status != 204 {
            head = head.content_length(body.len() as u64);
        }
        if !body.is_empty() {
            head = head.field("Content-Type", "application/json");
        }
        for (name, value) in fields {
            head = head.field(name, *value);
        }
        if !request.keeps_alive {
            head = head.close();
        }
        let head = head.finish().map_err(io::Error::other)?;
        self.stream.write_all(&[head, body].concat())?;
        Ok(request.keeps_alive)
    }

    /// Writes the head of an event stream. The end of the connection ends the stream.
    pub(crate) fn begin_events(&mut self, fields: &[(&str, &str)]) -> io::Result<()> {
        let mut buffer = [0; 1024];
        let mut head = HeadWriter::response(&mut buffer, 200)
            .field("Content-Type", "text/event-stream")
            .field("Cache-Control", "no-cache")
            .field("X-Accel-Buffering", "no")
            .close();
        for (name, value) in fields {
            head = head.field(name, *value);
        }
        self.stream.write_all(head.finish().map_err(io::Error::other)?)
    }

    pub(crate) fn event(&mut self, message: &[u8]) -> io::Result<()> {
        let mut buffer = vec![0; message.len() + 16];
        let event = SseWriter::new(&mut buffer).data(message).finish().map_err(io::Error::other)?;
        self.stream.write_all(event)
    }

    pub(crate) fn comment(&mut self) -> io::Result<()> {
        self.stream.write_all(mcp_proto_http::sse::KEEP_ALIVE)
    }

    /// Returns whether the connection is closed or broken. Leaves the bytes of the next request unread.
    pub(crate) fn has_disconnected(&self) -> bool {
        let _ = self.stream.set_nonblocking(true);
        let result = self.stream.peek(&mut [0]);
        let _ = self.stream.set_nonblocking(false);
        match result {
            Ok(n) => n == 0,
            Err(error) => error.kind() != ErrorKind::WouldBlock,
        }
    }
}

fn invalid(error: HttpError) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error.to_string())
}
