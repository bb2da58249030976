//! A server over HTTP, whose heads and bodies are in memory.

use std::hint::black_box;

use mcp_proto::server::{Event, Server};
use mcp_proto::{Buffer, Millis};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::server::{
    ExchangeId, ExchangeSlot, HttpConfig, HttpServer, Method, Policy, RequestHead, SessionMode, SessionSlot,
    Step,
};

use crate::dialect::Dialect;
use crate::machine::{CONFIG, echo};

/// The only session: its id is the constant randomness of [`FixedPolicy`] in hexadecimal.
const SESSION: &str = "01010101010101010101010101010101";

/// A policy whose randomness is a constant.
pub struct FixedPolicy;

impl Policy for FixedPolicy {
    fn random(&mut self) -> [u8; 16] {
        [1; 16]
    }
}

/// The header fields of a POST, as official clients send them.
struct Fields([(&'static str, &'static str); 7]);

impl HeaderFields for Fields {
    fn field(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_bytes())
    }
}

fn fields(dialect: Dialect, is_first: bool) -> Fields {
    let (revision, rest) = if dialect.is_stateless() {
        ("2026-07-28", [("mcp-method", "tools/call"), ("mcp-name", "echo")])
    } else {
        ("2025-11-25", [(if is_first { "user-session" } else { "mcp-session-id" }, SESSION), ("", "")])
    };
    Fields([
        ("host", "localhost:3000"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", revision),
        rest[0],
        rest[1],
        ("user-agent", "test"),
    ])
}

/// A server over HTTP, and a POST with a call, to send repeatedly.
pub struct Posts {
    http: HttpServer<'static, FixedPolicy>,
    server: Server<'static>,
    fields: Fields,
    body: Vec<u8>,
}

impl Posts {
    /// Creates a server, and a POST that calls `echo` in this dialect. In the handshake era, opens a session first.
    ///
    /// # Panics
    /// If the session does not begin.
    #[must_use]
    pub fn new(dialect: Dialect, text: &str) -> Posts {
        let config = Box::leak(Box::new(HttpConfig::new().sessions(SessionMode::Sessions)));
        let exchanges = Vec::leak((0..100).map(|_| ExchangeSlot::EMPTY).collect());
        let sessions = Vec::leak((0..100).map(|_| SessionSlot::EMPTY).collect());
        let http =
            HttpServer::new(config, FixedPolicy, exchanges, vec![0; 64 * 1024].leak()).sessions(sessions);
        let server =
            Server::new(&CONFIG, Buffer::grown(4096), Buffer::grown(4096)).and_then(Server::message_mode);
        let server = server.expect("a server");
        let mut posts = Posts { http, server, fields: fields(dialect, true), body: Vec::new() };
        if !dialect.is_stateless() {
            let opening = dialect.opening();
            for (message, status) in opening.split(|byte| *byte == b'\n').zip([200, 202]) {
                posts.body = message.to_vec();
                assert_eq!(posts.post().0, status);
                posts.fields = fields(dialect, false);
            }
        }
        posts.body = dialect.call(7, text);
        posts
    }

    /// Sends the POST. Returns the status and the length of the response, or zeros if the server refuses the head.
    #[inline(never)]
    pub fn post(&mut self) -> (u16, usize) {
        let now = Millis(0);
        let length = Some(self.body.len() as u64);
        let head =
            RequestHead { method: Method::Post, target: "/mcp", body_length: length, fields: &self.fields };
        let Ok(id) = self.http.begin(&head, now) else { return (0, 0) };
        self.http.body(&mut self.server, id, &head, &self.body, true, now);
        let mut response = (0, 0);
        loop {
            match self.http.poll(&mut self.server, now) {
                Step::Event => {
                    if let Some(Event::Call(call)) = self.server.event() {
                        echo(call);
                    }
                }
                Step::Output(_) => send(&mut self.http, id, &mut response),
                Step::Wait(_) | Step::Closed => return response,
            }
        }
    }
}

/// Takes all output of an exchange. Sets `status`, and adds the number of bytes of the body to `length`.
fn send(http: &mut HttpServer<'_, FixedPolicy>, id: ExchangeId, (status, length): &mut (u16, usize)) {
    loop {
        let output = http.output(id);
        if let Some(head) = output.head {
            *status = head.status;
            head.fields(&mut |name, value| {
                black_box((name, value));
            });
        }
        let (n, is_end) = (black_box(output.body).len(), output.is_end);
        *length += n;
        http.sent(id, n, Millis(0));
        if is_end {
            return;
        }
    }
}
