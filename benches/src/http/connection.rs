//! A keep-alive connection of HTTP/1.1.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// The time after which a server that does not respond fails the benchmark.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A keep-alive connection.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    /// Received bytes that are not parsed yet.
    received: Vec<u8>,
}

/// The parts of a response that the benchmarks read.
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) session: Option<String>,
    pub(crate) body: Vec<u8>,
    is_event_stream: bool,
    length: Option<usize>,
    is_chunked: bool,
}

impl Connection {
    pub(crate) fn open(address: &str) -> Connection {
        let stream = TcpStream::connect(address).expect("a server");
        stream.set_nodelay(true).expect("a socket");
        stream.set_read_timeout(Some(TIMEOUT)).expect("a socket");
        Connection { stream, received: Vec::new() }
    }

    pub(crate) fn send(&mut self, request: &[u8]) {
        self.stream.write_all(request).expect("the server reads");
    }

    /// Reads a response with its body.
    pub(crate) fn receive(&mut self) -> Response {
        let mut response = self.receive_head();
        if response.is_chunked {
            loop {
                let length = usize::from_str_radix(&self.line(), 16).expect("the length of a chunk");
                let chunk = self.take(length);
                response.body.extend_from_slice(&chunk);
                assert_eq!(self.line(), "", "the end of a chunk");
                if length == 0 {
                    return response;
                }
            }
        }
        // A response without a body, such as 202, need not have a length.
        response.body = self.take(response.length.unwrap_or(0));
        response
    }

    /// Reads the head of a response.
    pub(crate) fn receive_head(&mut self) -> Response {
        let status = self.line();
        let status = status.strip_prefix("HTTP/1.1 ").and_then(|it| it.get(..3)?.parse().ok());
        let mut response = Response {
            status: status.expect("a status line"),
            session: None,
            body: Vec::new(),
            is_event_stream: false,
            length: None,
            is_chunked: false,
        };
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else {
                assert_eq!(line, "", "a header field");
                return response;
            };
            let value = value.trim();
            match name.to_ascii_lowercase().as_str() {
                "content-length" => response.length = value.parse().ok(),
                "content-type" => response.is_event_stream = value.starts_with("text/event-stream"),
                "mcp-session-id" => response.session = Some(value.into()),
                "transfer-encoding" => response.is_chunked = value == "chunked",
                _ => {}
            }
        }
    }

    /// Removes the next line from the input, and returns it without its line break.
    fn line(&mut self) -> String {
        loop {
            if let Some(end) = self.received.windows(2).position(|it| it == b"\r\n") {
                let line = String::from_utf8(self.received[..end].to_vec()).expect("a text");
                self.received.drain(..end + 2);
                return line;
            }
            // Read little at a time, because the removal of a line moves all received bytes after the line.
            self.read(1 << 12);
        }
    }

    fn take(&mut self, length: usize) -> Vec<u8> {
        while self.received.len() < length {
            self.read(length - self.received.len());
        }
        let rest = self.received.split_off(length);
        std::mem::replace(&mut self.received, rest)
    }

    fn read(&mut self, length: usize) {
        let from = self.received.len();
        self.received.resize(from + length, 0);
        let n = self.stream.read(&mut self.received[from..]).expect("a response in time");
        assert!(n > 0, "the server has closed the connection");
        self.received.truncate(from + n);
    }
}

impl Response {
    /// Returns the message in the body: the whole body, or the last message of an event stream.
    pub(crate) fn message(&self) -> &[u8] {
        if !self.is_event_stream {
            return &self.body;
        }
        let lines = self.body.split(|it| *it == b'\n').rev();
        let message = lines.filter_map(|line| line.strip_prefix(b"data: ")).find(|it| it.starts_with(b"{"));
        message.expect("an event with a message")
    }
}
