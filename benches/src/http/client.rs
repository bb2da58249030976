//! A client that calls the tool `echo`, and checks the responses.

use workloads::dialect::Dialect;

use super::connection::{Connection, Response};
use super::server::Server;
use crate::stdio::{check, numbered};

/// The first id, which is so large that all ids have the same length.
const FIRST_ID: usize = 1_000_000;

/// A client with one connection. In the handshake era, the client also has a session, unless the server has no sessions
/// or its responses are constant.
pub(crate) struct Client {
    pub(crate) connection: Connection,
    server: String,
    dialect: Dialect,
    head: String,
    next_id: usize,
    is_constant: bool,
}

impl Client {
    pub(crate) fn open(server: &Server, dialect: Dialect) -> Client {
        let mut connection = Connection::open(&server.address);
        let head = if dialect.is_stateless() {
            let fields = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n";
            post_head(server, fields)
        } else {
            let session = if server.is_constant() { None } else { begin_session(server, &mut connection) };
            post_head(server, &session_fields(session.as_deref()))
        };
        let (name, is_constant) = (server.name().to_owned(), server.is_constant());
        Client { connection, server: name, dialect, head, next_id: FIRST_ID, is_constant }
    }

    /// Returns the next call.
    pub(crate) fn request(&mut self, text: &str) -> Vec<u8> {
        self.next_id += 1;
        with_body(&self.head, &self.dialect.call(self.next_id, &numbered(self.next_id, text)))
    }

    pub(crate) fn send(&mut self, text: &str) {
        let request = self.request(text);
        self.connection.send(&request);
    }

    /// Receives and checks the response to the last call. Of a constant response, checks only the status and that the
    /// body is longer than `text`.
    pub(crate) fn receive(&mut self, text: &str) -> Response {
        let response = self.connection.receive();
        assert_eq!(response.status, 200, "{}", self.server);
        if self.is_constant {
            assert!(response.body.len() > text.len(), "{}", self.server);
        } else {
            let id = check(response.message(), &self.server, self.dialect, text);
            assert_eq!(id, self.next_id, "{}", self.server);
        }
        response
    }
}

/// Begins a session of 2025-11-25, and returns its id, or `None` if the server has no sessions.
pub(crate) fn begin_session(server: &Server, connection: &mut Connection) -> Option<String> {
    let opening = Dialect::Handshake.opening();
    let messages: Vec<_> = opening.split(|it| *it == b'\n').filter(|it| !it.is_empty()).collect();
    let [initialize, initialized] = messages[..] else { panic!("two messages") };
    connection.send(&with_body(&post_head(server, ""), initialize));
    let response = connection.receive();
    assert_eq!(response.status, 200, "{}", server.name());
    assert!(
        response.message().starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":"),
        "{}",
        server.name()
    );
    let fields = session_fields(response.session.as_deref());
    connection.send(&with_body(&post_head(server, &fields), initialized));
    assert_eq!(connection.receive().status, 202, "{}", server.name());
    response.session
}

/// Returns the header fields of requests after `initialize`.
pub(crate) fn session_fields(session: Option<&str>) -> String {
    let session = session.map(|id| format!("Mcp-Session-Id: {id}\r\n")).unwrap_or_default();
    format!("MCP-Protocol-Version: 2025-11-25\r\n{session}")
}

/// Returns the head of a POST, without the length of its body and the final empty line.
fn post_head(server: &Server, fields: &str) -> String {
    let accept = "Accept: application/json, text/event-stream\r\n";
    let host = &server.address;
    format!("POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n{accept}{fields}")
}

fn with_body(head: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("{head}Content-Length: {}\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}
