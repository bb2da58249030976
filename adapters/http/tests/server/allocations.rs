//! A POST allocates nothing.

use std::hint::black_box;

use mcp_proto::Millis;
use mcp_proto::server::{Event, Server};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::server::{
    ExchangeSlot, HttpConfig, HttpServer, Method, RequestHead, SessionMode, SessionSlot, Step,
};

use super::support::{CONFIG, TestPolicy, initialize};

const MODERN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"0123456789abcdef"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"client","version":"1.0.0"}}}}"#;

const OLD: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"0123456789abcdef"}}}"#;

struct Fields([(&'static str, &'static str); 8]);

impl HeaderFields for Fields {
    fn field(&self, name: &str) -> Option<&[u8]> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value.as_bytes())
    }
}

const FIELDS: Fields = Fields([
    ("host", "localhost:3000"),
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
    ("mcp-protocol-version", "2026-07-28"),
    ("mcp-method", "tools/call"),
    ("mcp-name", "echo"),
    ("user-agent", "test"),
    ("", ""),
]);

/// Fields of a request in the first session that [`TestPolicy`] creates.
const SESSION: Fields = Fields([
    ("host", "localhost:3000"),
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
    ("mcp-protocol-version", "2025-11-25"),
    ("mcp-session-id", "01010101010101010101010101010101"),
    ("", ""),
    ("user-agent", "test"),
    ("", ""),
]);

fn head<'f>(fields: &'f Fields, body: &str) -> RequestHead<'f> {
    RequestHead { method: Method::Post, target: "/mcp", body_length: Some(body.len() as u64), fields }
}

/// Sends one POST, and returns the status and the length of the response.
fn post(
    http: &mut HttpServer<'_, TestPolicy>,
    server: &mut Server<'_>,
    fields: &Fields,
    body: &str,
) -> (u16, usize) {
    let (head, now) = (head(fields, body), Millis(0));
    let Ok(id) = http.begin(&head, now) else { return (0, 0) };
    http.body(server, id, &head, body.as_bytes(), true, now);
    let (mut status, mut length) = (0, 0);
    loop {
        match http.poll(server, now) {
            Step::Event => {
                if let Some(Event::Call(call)) = server.event() {
                    call.text("0123456789abcdef");
                }
            }
            Step::Output(_) => loop {
                let output = http.output(id);
                if let Some(head) = output.head {
                    status = head.status;
                    head.fields(&mut |name, value| {
                        black_box((name, value));
                    });
                }
                let (n, is_end) = (output.body.len(), output.is_end);
                black_box(output.body);
                length += n;
                http.sent(id, n, now);
                if is_end {
                    break;
                }
            },
            Step::Wait(_) | Step::Closed => return (status, length),
        }
    }
}

#[test]
fn posts_allocate_nothing() {
    let config = HttpConfig::new().sessions(SessionMode::Sessions);
    let (mut exchanges, mut output) = ([ExchangeSlot::EMPTY; 100], [0; 64 * 1024]);
    let mut sessions = [SessionSlot::EMPTY; 100];
    let mut http =
        HttpServer::new(&config, TestPolicy::default(), &mut exchanges, &mut output).sessions(&mut sessions);
    let [mut rx, mut tx] = [[0; 4096]; 2];
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    let first = Fields([("", ""); 8].map(|_| ("content-type", "application/json")));
    assert_eq!(post(&mut http, &mut server, &first, &initialize("2025-11-25")).0, 200);
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(post(&mut http, &mut server, &SESSION, initialized).0, 202);
    let counted = allocation_counter::measure(|| {
        for _ in 0..100 {
            assert_eq!(post(&mut http, &mut server, &FIELDS, MODERN).0, 200);
            assert_eq!(post(&mut http, &mut server, &SESSION, OLD).0, 200);
            assert_eq!(post(&mut http, &mut server, &FIELDS, "{").0, 400);
        }
    });
    assert_eq!(counted.count_total, 0);
}
