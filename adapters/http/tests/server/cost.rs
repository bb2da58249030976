//! Costs of a POST: no allocation, and a small multiple of the same call over lines.

use std::hint::black_box;
use std::time::{Duration, Instant};

use mcp_proto::server::{Event, Server};
use mcp_proto::{Action, Millis, Next};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::server::{
    ExchangeSlot, HttpConfig, HttpServer, Method, RequestHead, SessionMode, SessionSlot, Step,
};

use super::support::{INFO, TestPolicy, initialize};

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

/// Fields of a session, whose id is the first of [`TestPolicy`].
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

/// Sends one line, and returns the length of the response.
fn line(server: &mut Server<'_>, text: &str) -> usize {
    let (mut rest, mut length) = (text.as_bytes(), 0);
    loop {
        match server.poll(Millis(0)) {
            Action::Event => {
                if let Some(Event::Call(call)) = server.event() {
                    call.text("0123456789abcdef");
                }
            }
            Action::Io(io) => match io.next() {
                Next::Write(out) => {
                    length += black_box(out.bytes()).len();
                    let n = out.bytes().len();
                    out.sent(n);
                    if rest.is_empty() {
                        return length;
                    }
                }
                Next::Read(mut input) => {
                    if rest.is_empty() {
                        return length;
                    }
                    let space = input.space();
                    let n = space.len().min(rest.len());
                    space[..n].copy_from_slice(&rest[..n]);
                    rest = &rest[n..];
                    input.filled(n);
                }
                Next::Wait => return length,
            },
            Action::Closed => return length,
        }
    }
}

/// Runs `test` with a server over HTTP, whose one session is complete, and a server over lines.
fn with_servers(test: impl FnOnce(&mut HttpServer<'_, TestPolicy>, &mut Server<'_>, &mut Server<'_>)) {
    let config = HttpConfig::new().sessions(SessionMode::Sessions);
    let (mut exchanges, mut output) = ([ExchangeSlot::EMPTY; 100], [0; 64 * 1024]);
    let mut sessions = [SessionSlot::EMPTY; 100];
    let mut http =
        HttpServer::new(&config, TestPolicy::default(), &mut exchanges, &mut output).sessions(&mut sessions);
    let [mut rx, mut tx, mut line_rx, mut line_tx] = [[0; 4096]; 4];
    let mut server = Server::new(&INFO, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    let mut lines = Server::new(&INFO, &mut line_rx, &mut line_tx).unwrap();
    let open = initialize("2025-11-25");
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(
        post(
            &mut http,
            &mut server,
            &Fields([("", ""); 8].map(|_| ("content-type", "application/json"))),
            &open
        )
        .0,
        200
    );
    assert_eq!(post(&mut http, &mut server, &SESSION, initialized).0, 202);
    assert!(line(&mut lines, &(open + "\n")) > 0);
    line(&mut lines, &(initialized.to_string() + "\n"));
    test(&mut http, &mut server, &mut lines);
}

#[test]
fn posts_allocate_nothing() {
    with_servers(|http, server, _| {
        let counted = allocation_counter::measure(|| {
            for _ in 0..100 {
                assert_eq!(post(http, server, &FIELDS, MODERN).0, 200);
                assert_eq!(post(http, server, &SESSION, OLD).0, 200);
                assert_eq!(post(http, server, &FIELDS, "{").0, 400);
            }
        });
        assert_eq!(counted.count_total, 0);
    });
}

/// The largest cost of a POST, in costs of the same call over a line. The goal is 3.
const LIMIT: f64 = 3.2;

/// Measured in a release build, because other builds measure the checks of the compiler.
#[test]
#[cfg_attr(debug_assertions, ignore = "a measurement of a release build")]
fn post_costs_a_small_multiple_of_a_line() {
    with_servers(|http, server, lines| {
        let [modern, old] = [MODERN, OLD].map(|text| format!("{text}\n"));
        let measure = |run: &mut dyn FnMut()| {
            let start = Instant::now();
            (0..500).for_each(|_| run());
            start.elapsed()
        };
        for (name, line_text, fields, body) in
            [("2026-07-28", &modern, &FIELDS, MODERN), ("session", &old, &SESSION, OLD)]
        {
            let (mut over_lines, mut over_http) = (Duration::MAX, Duration::MAX);
            // In turns, because the processor changes its speed.
            for _ in 0..80 {
                over_lines = over_lines.min(measure(&mut || assert!(line(lines, line_text) > 0)));
                let mut run = || assert_eq!(post(http, server, fields, body).0, 200);
                over_http = over_http.min(measure(&mut run));
            }
            let ratio = over_http.as_secs_f64() / over_lines.as_secs_f64();
            println!(
                "{name}: {over_lines:?} over lines, {over_http:?} over HTTP for 500 calls, {ratio:.2} times"
            );
            assert!(ratio < LIMIT, "{name}: {ratio:.2} times");
        }
    });
}
