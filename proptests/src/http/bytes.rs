//! Requests as bytes of HTTP/1.1 connections, compared with the same requests without HTTP/1.1.
//!
//! - Each request has one response, however its bytes are cut. The status and the body of a complete response equal
//!   those of a second server, which receives the request without HTTP/1.1.
//! - The framing of a complete response is valid, and nothing follows the end of the response.
//! - After a complete response, a connection is idle or serves no further request.
//! - After each request, both servers have the same number of open exchanges.
//! - Arbitrary bytes get no response, an interim response, or a response with status 4xx or 5xx.

use std::fmt::Write;

use arbitrary::Arbitrary;
use mcp_proto::Millis;
use mcp_proto::server::Server;
use mcp_proto_http::server::{
    Connection, ConnectionStatus, HttpServer, Method, REFUSAL_SIZE, RESPONSE_SPACE, Step,
};

use super::application::{Application, NumberPolicy};
use super::request::{Body, Request, Shape};
use super::setup::Setup;
use crate::fuzz::moves::Moves;

const NOW: Millis = Millis(1);

/// A request of a client, or arbitrary bytes.
#[derive(Debug, Arbitrary)]
pub(crate) enum Item {
    Post(Shape, Body),
    Delete(Shape),
    /// Bytes that are followed by the end of a head.
    Bytes(Vec<u8>),
}

/// The lengths of reads, writes and chunks, and whether the connection passes a body to the server as a whole.
#[derive(Debug, Clone, Copy, Arbitrary)]
pub(crate) struct Cuts {
    reads: Moves,
    writes: Moves,
    chunks: Moves,
    collects: bool,
}

/// An HTTP server and its core server, with their application.
struct Node<'b> {
    http: HttpServer<'b, NumberPolicy>,
    server: Server<'b>,
    application: Application,
}

/// Sends the same requests to two servers, with and without HTTP/1.1, and compares the responses.
pub(crate) fn run(setup: Setup, cuts: Cuts, items: &[Item]) {
    setup.roomy().with_servers(|http, server| {
        let mut expected = Node { http, server, application: Application::default() };
        setup.roomy().with_servers(|http, server| {
            let mut tested = Node { http, server, application: Application::default() };
            compare(&mut expected, &mut tested, cuts, items);
        });
    });
}

fn compare(expected: &mut Node<'_>, tested: &mut Node<'_>, cuts: Cuts, items: &[Item]) {
    let mut head = [0; 1024];
    let mut client = Client { connection: Connection::new(&mut head), cuts };
    let mut sessions: Vec<String> = Vec::new();
    for (token, item) in items.iter().enumerate() {
        let named = |shape: Shape| sessions.get(usize::from(shape.session) % sessions.len().max(1));
        let mut request = match item {
            Item::Post(shape, body) => {
                Request::post(*shape, named(*shape).map(String::as_str), *body, token * 2, None)
            }
            Item::Delete(shape) => Request::new(Method::Delete, *shape, named(*shape).map(String::as_str)),
            Item::Bytes(bytes) => {
                client.send_bytes(tested, bytes);
                assert_eq!(tested.http.open_exchanges(), expected.http.open_exchanges(), "{bytes:?}");
                continue;
            }
        };
        if request.text_of("host").is_empty() {
            request.fields.push(("host", "localhost".to_owned()));
        }
        // The connection refuses some repeated fields that the server accepts, so no request repeats a field.
        let mut names = Vec::new();
        request.fields.retain(|(name, _)| {
            !names.contains(name) && {
                names.push(*name);
                true
            }
        });
        let direct = expected.serve(&request);
        let response = client.send(tested, &bytes_of(&request, cuts.chunks));
        match direct {
            Some((status, body)) => {
                let (head, data) = Response::parse(&response, client.connection.status());
                assert_eq!((head.status, data), (status, body), "{request:?}\n{response}");
                sessions.extend(head.session);
            }
            // The response is an event stream without an end.
            None => assert!(!response.ends_with("0\r\n\r\n"), "{request:?}\n{response}"),
        }
        client.end_unless_idle(tested);
        assert_eq!(tested.http.open_exchanges(), expected.http.open_exchanges(), "{request:?}");
    }
}

impl Node<'_> {
    /// Runs the server until it waits or is closed.
    fn run(&mut self) {
        for _ in 0..1000 {
            match self.http.poll(&mut self.server, NOW) {
                Step::Event => self.application.event(&mut self.server),
                Step::Output(_) => {}
                Step::Wait(_) | Step::Closed => return,
            }
        }
        panic!("the server does not come to rest");
    }

    /// Serves a request. Returns the status and the body of the response, or `None` for an event stream without an end.
    fn serve(&mut self, request: &Request) -> Option<(u16, String)> {
        let head = request.head();
        let id = match self.http.begin(&head, NOW) {
            Ok(id) => id,
            Err(refusal) => {
                let mut body = [0; REFUSAL_SIZE];
                return Some((refusal.status(), text(refusal.write(&mut body).1)));
            }
        };
        if request.method == Method::Post {
            self.http.body(&mut self.server, id, &head, &request.body, true, NOW);
        }
        let (mut status, mut body) = (0, String::new());
        loop {
            self.run();
            let output = self.http.output(id);
            assert!(!output.is_cut, "the client reads: {request:?}");
            let (length, is_end, is_head) = (output.body.len(), output.is_end, output.head.is_some());
            status = output.head.map_or(status, |head| head.status);
            body += &text(output.body);
            if length > 0 || is_end || is_head {
                self.http.sent(id, length, NOW);
            } else if !self.application.respond(&mut self.server, 0) {
                self.http.close(id);
                self.run();
                return None;
            }
            if is_end {
                self.run();
                return Some((status, body));
            }
        }
    }
}

/// A client with one connection at a time.
struct Client<'b> {
    connection: Connection<'b>,
    cuts: Cuts,
}

impl Client<'_> {
    /// Sends bytes, and returns all output.
    fn send(&mut self, node: &mut Node<'_>, bytes: &[u8]) -> String {
        let Cuts { mut reads, mut writes, collects, .. } = self.cuts;
        let (mut at, mut body, mut response) = (0, Vec::new(), Vec::new());
        loop {
            let input = &bytes[at..bytes.len().min(reads.length().saturating_add(at))];
            let consumed = match collects {
                true => self.collect(node, input, &mut body),
                false => self.connection.receive(&mut node.http, &mut node.server, input, NOW),
            };
            assert!(consumed <= input.len());
            at += consumed;
            node.run();
            let mut space = [0; RESPONSE_SPACE];
            let output = self.connection.output(&mut node.http, &mut space, NOW);
            let sent = output.len().min(writes.length());
            response.extend_from_slice(&output[..sent]);
            self.connection.sent(&mut node.http, sent, NOW);
            let is_at_rest = consumed == 0 && sent == 0;
            if is_at_rest && !node.application.respond(&mut node.server, 0) {
                assert!(at == bytes.len() || self.connection.status() != ConnectionStatus::Open);
                return text(&response);
            }
        }
    }

    /// Parses input, and collects the body. Passes the body to the server when the body is complete. Returns the number
    /// of consumed bytes.
    fn collect(&mut self, node: &mut Node<'_>, input: &[u8], body: &mut Vec<u8>) -> usize {
        if !self.connection.takes_input() {
            return 0;
        }
        match self.connection.parse(node.http.config(), input, NOW) {
            Ok((consumed, data)) => {
                body.extend_from_slice(data);
                let is_whole = !self.connection.takes_input();
                let passed = if is_whole { &body[..] } else { &[] };
                self.connection.pass(&mut node.http, &mut node.server, passed, NOW);
                consumed
            }
            Err(error) => {
                self.connection.refuse(&mut node.http, error, NOW);
                0
            }
        }
    }

    /// Sends arbitrary bytes and the end of a head. Checks that the status of the response, if any, is 100 or at
    /// least 400. Closes the connection.
    fn send_bytes(&mut self, node: &mut Node<'_>, bytes: &[u8]) {
        let response = self.send(node, &[bytes, b"\r\n\r\n"].concat());
        let status = response.strip_prefix("HTTP/1.1 ").map(|text| &text[..3]);
        assert!(status.is_none_or(|status| status >= "400" || status == "100"), "{response}");
        self.connection.close(&mut node.http);
        node.run();
    }

    /// Closes a connection that serves no further request, or whose response has no end.
    fn end_unless_idle(&mut self, node: &mut Node<'_>) {
        if !self.connection.is_idle() {
            assert!(
                self.connection.status() != ConnectionStatus::Open || self.connection.exchange().is_some()
            );
            self.connection.close(&mut node.http);
            node.run();
        }
    }
}

/// The head of a response.
struct Response {
    status: u16,
    session: Option<String>,
}

impl Response {
    /// Splits a response into its head and its decoded body, and checks the framing.
    fn parse(text: &str, connection: ConnectionStatus) -> (Response, String) {
        let (head, mut rest) = text.split_once("\r\n\r\n").expect("a response has a head");
        let field = |name: &str| {
            let mut lines = head.split("\r\n").skip(1).filter_map(|line| line.split_once(": "));
            lines.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value)
        };
        let closes = field("connection") == Some("close");
        assert_eq!(closes, connection != ConnectionStatus::Open, "{text}");
        let status = head["HTTP/1.1 ".len()..][..3].parse().expect("a status has three digits");
        let mut data = String::new();
        if field("transfer-encoding") == Some("chunked") {
            loop {
                let (size, behind) = rest.split_once("\r\n").expect("a chunk has a size");
                let size = usize::from_str_radix(size, 16).expect("a size is a hexadecimal number");
                data += &behind[..size];
                rest = behind[size..].strip_prefix("\r\n").expect("a chunk has an end");
                if size == 0 {
                    break;
                }
            }
        } else {
            let length = field("content-length").map_or(0, |length| length.parse().expect("a number"));
            (data, rest) = (rest[..length].to_owned(), &rest[length..]);
        }
        assert_eq!(rest, "", "nothing follows a response");
        (Response { status, session: field("mcp-session-id").map(str::to_owned) }, data)
    }
}

fn bytes_of(request: &Request, chunks: Moves) -> Vec<u8> {
    let method = match request.method {
        Method::Get => "GET",
        Method::Post => "POST",
        Method::Delete => "DELETE",
        Method::Other => "PUT",
    };
    let mut head = format!("{method} {} HTTP/1.1\r\n", request.target);
    for (name, value) in &request.fields {
        write!(head, "{name}: {value}\r\n").expect("a string takes all text");
    }
    if request.has_length {
        return [format!("{head}content-length: {}\r\n\r\n", request.body.len()).as_bytes(), &request.body]
            .concat();
    }
    let mut bytes = format!("{head}transfer-encoding: chunked\r\n\r\n").into_bytes();
    for chunk in chunks.pieces(&request.body) {
        bytes.extend(format!("{:x}\r\n", chunk.len()).bytes().chain(chunk.iter().copied()).chain(*b"\r\n"));
    }
    bytes.extend(b"0\r\n\r\n");
    bytes
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
