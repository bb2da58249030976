//! `Connection`: one HTTP/1.1 connection, from received to sent bytes.

use super::support::{Harness, Request, initialize};
use mcp_proto::Millis;
use mcp_proto_http::server::{Connection, ConnectionStatus, HttpConfig, RESPONSE_SPACE, SessionMode};

/// A client with one connection to a server.
struct Client {
    harness: Harness,
    connection: Connection<'static>,
    /// Bytes that the server has not consumed.
    unread: Vec<u8>,
    received: String,
    /// The largest piece in either direction.
    piece: usize,
}

impl Client {
    fn new(piece: usize) -> Client {
        let harness = Harness::new(HttpConfig::new().sessions(SessionMode::Sessions));
        let connection = Connection::new(Box::leak(Box::new([0; 400])));
        Client { harness, connection, unread: Vec::new(), received: String::new(), piece }
    }

    /// Sends bytes. Returns the bytes that the server has sent since the last call.
    fn send(&mut self, bytes: impl AsRef<[u8]>) -> String {
        self.unread.extend_from_slice(bytes.as_ref());
        self.run();
        std::mem::take(&mut self.received)
    }

    fn run(&mut self) {
        for _ in 0..100_000 {
            let (now, harness) = (self.harness.now, &mut self.harness);
            let input = &self.unread[..self.piece.min(self.unread.len())];
            let n = self.connection.receive(&mut harness.http, &mut harness.server, input, now);
            self.unread.drain(..n);
            harness.run();
            let mut space = [0; RESPONSE_SPACE];
            let output = self.connection.output(&mut harness.http, &mut space, now);
            let output = output[..self.piece.min(output.len())].to_vec();
            self.connection.sent(&mut harness.http, output.len(), now);
            self.received += std::str::from_utf8(&output).unwrap();
            if n == 0 && output.is_empty() {
                return;
            }
        }
        panic!("the connection makes no progress");
    }

    fn advance(&mut self, millis: u64) -> String {
        self.harness.now = self.harness.now.plus(Millis(millis));
        self.send("")
    }
}

fn bytes_of(request: &Request) -> String {
    let mut text = format!("{} /mcp HTTP/1.1\r\nHost: localhost\r\n", request.method);
    for (name, value) in &request.fields {
        text += &format!("{name}: {value}\r\n");
    }
    text + &format!("Content-Length: {}\r\n\r\n{}", request.body.len(), request.body)
}

fn chunked(request: &Request) -> String {
    let (left, right) = request.body.split_at(request.body.len() / 2);
    let body = format!("{:x}\r\n{left}\r\n{:x};a=b\r\n{right}\r\n0\r\n\r\n", left.len(), right.len());
    let text = bytes_of(request);
    let head = text.split("Content-Length").next().unwrap();
    format!("{head}Transfer-Encoding: chunked\r\n\r\n{body}")
}

/// Checks the framing of a chunked body, and returns its data.
fn unchunked(body: &str) -> String {
    let (mut rest, mut data) = (body, String::new());
    loop {
        let (size, behind) = rest.split_once("\r\n").expect("a chunk begins with its size");
        let size = usize::from_str_radix(size, 16).unwrap();
        data += &behind[..size];
        rest = behind[size..].strip_prefix("\r\n").expect("a chunk ends with a line end");
        if size == 0 {
            assert_eq!(rest, "");
            return data;
        }
    }
}

const PIECES: [usize; 5] = [1, 2, 7, 64, usize::MAX];

#[test]
fn responses_do_not_depend_on_pieces() {
    let (echo, large) = (Request::call(1, "echo"), Request::call(2, "large"));
    for piece in PIECES {
        let mut client = Client::new(piece);
        for text in [bytes_of(&echo), chunked(&echo)] {
            let reply = client.send(text);
            let (head, body) = reply.split_once("\r\n\r\n").unwrap();
            assert!(head.starts_with("HTTP/1.1 200 OK\r\ncontent-type: application/json"), "{piece}: {head}");
            assert!(head.ends_with(&format!("content-length: {}", body.len())), "{piece}: {head}");
            assert!(body.contains(r#""text":"echo""#), "{piece}: {body}");
        }
        let reply = client.send(bytes_of(&large));
        assert!(reply.contains("xxxxx") && reply.ends_with('}'), "{piece}: {reply}");
        let reply = client.send(bytes_of(&Request::call(3, "progress")));
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("text/event-stream") && head.contains("Transfer-Encoding: chunked"), "{head}");
        let events = unchunked(body);
        assert!(events.contains("notifications/progress") && events.ends_with("\n\n"), "{events}");
        assert!(client.connection.is_idle() && client.connection.exchange().is_none());
        assert_eq!(client.harness.http.open_exchanges(), 0);
    }
}

#[test]
fn pipelined_requests_are_answered_in_order() {
    for piece in PIECES {
        let mut client = Client::new(piece);
        let first = Request::post(initialize("2025-11-25"));
        let texts = [bytes_of(&first), bytes_of(&Request::call(1, "echo")), bytes_of(&Request::new("PUT"))];
        let reply = client.send(texts.concat());
        let statuses: Vec<&str> = reply.split("HTTP/1.1 ").skip(1).map(|it| &it[..3]).collect();
        assert_eq!(statuses, ["200", "200", "405"], "{reply}");
        assert!(reply.contains("mcp-session-id: ") && reply.contains("allow: GET, POST, DELETE"), "{reply}");
        assert_eq!(client.connection.status(), ConnectionStatus::Open);
    }
}

/// Each row of the table: a request, the start of the response, and whether the connection stays open.
#[test]
fn refusals_end_the_connection_only_if_the_request_has_no_end() {
    let post = |field: &str| format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\n{field}\r\n\r\n");
    let long = format!("POST /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Name: {}\r\n", "x".repeat(500));
    let table = [
        ("GET /mcp HTTP/1.1\r\n\r\n".to_string(), "HTTP/1.1 400 ", false),
        ("nonsense\r\n\r\n".into(), "HTTP/1.1 400 ", false),
        (long, "HTTP/1.1 431 ", false),
        ("HEAD /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n".into(), "HTTP/1.1 405 ", true),
        ("HEAD /mcp HTTP/1.0\r\nHost: localhost\r\n\r\n".into(), "HTTP/1.1 405 ", false),
        (post("Content-Length: 0"), "HTTP/1.1 415 ", true),
        // The body is longer than the limit, so it is not read.
        (post("Content-Type: application/json\r\nContent-Length: 9999"), "HTTP/1.1 413 ", false),
        (
            post("Content-Type: application/json\r\nTransfer-Encoding: chunked") + "x\r\n",
            "HTTP/1.1 400 ",
            false,
        ),
        (post("Content-Type: application/json\r\nContent-Length: 2") + "{}", "HTTP/1.1 400 ", true),
        (bytes_of(&Request::call(1, "echo").with("origin", "http://evil.example")), "HTTP/1.1 403 ", true),
    ];
    for (request, expected, stays_open) in table {
        for piece in [16, usize::MAX] {
            let mut client = Client::new(piece);
            let reply = client.send(&request);
            assert!(reply.starts_with(expected), "{request}: {reply}");
            // If a request arrives in pieces, a refusal may be sent before the whole body has arrived. The connection
            // then ends.
            let status = client.connection.status();
            if piece == usize::MAX {
                assert_eq!(status == ConnectionStatus::Open, stays_open, "{request}: {reply}");
            }
            assert_eq!(reply.contains("Connection: close"), status == ConnectionStatus::Closing, "{reply}");
            let (head, body) = reply.split_once("\r\n\r\n").unwrap();
            assert_eq!(body.is_empty(), request.starts_with("HEAD"), "{reply}");
            if !body.is_empty() {
                assert!(head.contains(&format!("content-length: {}", body.len())), "{reply}");
            }
            if status == ConnectionStatus::Open {
                assert!(client.send(bytes_of(&Request::call(1, "echo"))).contains("200 OK"));
            } else {
                assert_eq!(client.send(bytes_of(&Request::call(1, "echo"))), "");
                assert!(client.unread.is_empty(), "input is dropped");
                client.advance(2_000);
                assert_eq!(client.connection.status(), ConnectionStatus::Closed);
            }
        }
    }
}

/// RFC 9112, section 3.2.2. Each row of the table: the path of the endpoint, the target, and the status of the
/// response.
#[test]
fn target_in_absolute_form_has_the_host_and_the_path() {
    let table = [
        ("/mcp", "http://localhost/mcp", 200),
        ("/mcp", "HTTP://127.0.0.1:80/mcp?a=b", 200),
        ("/", "http://localhost", 200),
        ("/", "http://localhost?a=b", 200),
        ("/mcp", "http://localhost/other", 404),
        ("/mcp", "http://localhost", 404),
        ("/mcp", "http://evil.example/mcp", 403),
    ];
    for (path, target, status) in table {
        let mut client = Client::new(usize::MAX);
        client.harness = Harness::new(HttpConfig::new().path(path));
        let request = bytes_of(&Request::call(1, "echo"));
        let reply = client.send(request.replace(" /mcp ", &format!(" {target} ")));
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{target}: {reply}");
        // The authority of the target replaces the field `Host`.
        let request = request.replace("localhost", "evil.example");
        let reply = client.send(request.replace(" /mcp ", &format!(" {target} ")));
        assert!(reply.starts_with(&format!("HTTP/1.1 {status} ")), "{target}: {reply}");
    }
}

#[test]
fn http_1_0_client_gets_no_chunks() {
    let mut client = Client::new(usize::MAX);
    let request = bytes_of(&Request::call(1, "progress")).replace("HTTP/1.1", "HTTP/1.0");
    let reply = client.send(request);
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    assert!(!head.contains("chunked") && head.contains("Connection: close"), "{head}");
    assert!(body.starts_with("data: ") && body.ends_with("\n\n"), "{body}");
    assert_eq!(client.connection.status(), ConnectionStatus::Closing);
}

#[test]
fn expected_continue_is_sent_before_the_body() {
    let mut client = Client::new(3);
    let text = bytes_of(&Request::call(1, "echo").with("expect", "100-continue"));
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert_eq!(client.send(format!("{head}\r\n\r\n")), "HTTP/1.1 100 Continue\r\n\r\n");
    assert!(client.send(body).starts_with("HTTP/1.1 200 OK"));
    // A refused request gets its final response at once.
    let reply = client.send(format!("{head}\r\nOrigin: http://evil.example\r\n\r\n"));
    assert!(reply.starts_with("HTTP/1.1 403 "), "{reply}");
}

#[test]
fn slow_clients_lose_the_connection() {
    let request = bytes_of(&Request::call(1, "echo"));
    // Each row: the number of request bytes sent, the time, the response, and the status of the connection.
    let table = [
        (0, 74_999, "", ConnectionStatus::Open),
        (0, 75_000, "", ConnectionStatus::Closed),
        (30, 29_999, "", ConnectionStatus::Open),
        (30, 30_000, "HTTP/1.1 408 ", ConnectionStatus::Closing),
        (request.len() - 1, 30_000, "HTTP/1.1 408 ", ConnectionStatus::Closing),
    ];
    for (length, time, expected, status) in table {
        let mut client = Client::new(usize::MAX);
        assert_eq!(client.send(&request[..length]), "");
        let reply = client.advance(time);
        assert!(reply.starts_with(expected) && reply.is_empty() == expected.is_empty(), "{length}: {reply}");
        assert_eq!(client.connection.status(), status, "{length} {time}");
        assert_eq!(
            client.harness.http.open_exchanges(),
            usize::from(status == ConnectionStatus::Open && length > 99)
        );
    }
}

#[test]
fn disconnected_client_cancels_its_request() {
    let mut client = Client::new(usize::MAX);
    assert_eq!(client.send(bytes_of(&Request::call(1, "defer"))), "");
    assert_eq!(client.harness.http.open_exchanges(), 1);
    client.connection.close(&mut client.harness.http);
    client.harness.run();
    assert_eq!(client.harness.http.open_exchanges(), 0);
    assert!(client.harness.events.iter().any(|event| event.contains("ancel")), "{:?}", client.harness.events);
    assert!(client.send(bytes_of(&Request::call(1, "echo"))).contains("200 OK"), "the value is used again");
}

#[test]
fn client_that_does_not_read_is_cut() {
    for read in [0, 10, 200] {
        let mut client = Client::new(usize::MAX);
        client.unread = bytes_of(&Request::call(1, "large")).into_bytes();
        let (now, harness) = (client.harness.now, &mut client.harness);
        client.connection.receive(&mut harness.http, &mut harness.server, &client.unread, now);
        harness.run();
        let mut space = [0; RESPONSE_SPACE];
        let mut left = read;
        while left > 0 {
            let n = client.connection.output(&mut harness.http, &mut space, now).len().min(left);
            client.connection.sent(&mut harness.http, n, now);
            left -= n;
        }
        assert!(!client.connection.output(&mut harness.http, &mut space, now).is_empty());
        harness.advance(30_000);
        let now = harness.now;
        assert!(client.connection.output(&mut harness.http, &mut space, now).is_empty());
        assert_eq!(client.connection.status(), ConnectionStatus::Closed, "{read}");
        assert_eq!(harness.http.open_exchanges(), 0);
    }
}

/// The exchange ends with the last byte of its data, before the last chunk.
#[test]
fn client_that_does_not_read_the_last_chunk_is_cut() {
    let mut client = Client::new(usize::MAX);
    let (mut now, harness) = (client.harness.now, &mut client.harness);
    let request = bytes_of(&Request::call(1, "progress"));
    client.connection.receive(&mut harness.http, &mut harness.server, request.as_bytes(), now);
    harness.run();
    let mut space = [0; RESPONSE_SPACE];
    while harness.http.open_exchanges() > 0 {
        let n = client.connection.output(&mut harness.http, &mut space, now).len();
        assert!(n > 0);
        client.connection.sent(&mut harness.http, n, now);
    }
    for millis in [29_999, 1] {
        assert_eq!(client.connection.output(&mut harness.http, &mut space, now), b"\r\n");
        assert_eq!(client.connection.deadline(), Some(Millis(30_000)));
        now = now.plus(Millis(millis));
    }
    assert!(client.connection.output(&mut harness.http, &mut space, now).is_empty());
    assert_eq!(client.connection.status(), ConnectionStatus::Closed);
}

#[test]
fn small_space_for_heads_closes_the_connection() {
    let mut client = Client::new(usize::MAX);
    let (now, harness) = (client.harness.now, &mut client.harness);
    let request = bytes_of(&Request::call(1, "echo"));
    client.connection.receive(&mut harness.http, &mut harness.server, request.as_bytes(), now);
    harness.run();
    assert!(client.connection.output(&mut harness.http, &mut [0; 32], now).is_empty());
    assert_eq!(client.connection.status(), ConnectionStatus::Closed);
}

#[test]
fn chunked_response_of_the_application_is_a_chunked_body() {
    for (piece, version) in PIECES.into_iter().flat_map(|piece| [(piece, "1.1"), (piece, "1.0")]) {
        let mut client = Client::new(piece);
        client.harness.chunked = true;
        let request = bytes_of(&Request::call(1, "defer")).replace("HTTP/1.1", &format!("HTTP/{version}"));
        let mut reply = client.send(request);
        let (text, mut sent) = ("x\n".repeat(10_000), 0);
        while sent < text.len() {
            let mut chunks = client.harness.server.chunks(client.harness.tickets[0]).unwrap();
            let taken = chunks.text(&text[sent..]);
            assert!(taken > 0, "the client reads");
            sent += taken;
            reply += &client.send("");
        }
        client.harness.server.chunks(client.harness.tickets[0]).unwrap().end();
        reply += &client.send("");
        let (head, body) = reply.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains("content-type: application/json") && !head.contains("content-length"),
            "{head}"
        );
        assert_eq!(head.contains("Transfer-Encoding: chunked"), version == "1.1", "{head}");
        let body = if version == "1.1" { unchunked(body) } else { body.to_string() };
        assert!(body.contains(&text.replace('\n', "\\n")) && body.ends_with("}}"), "{piece}");
        assert_eq!(client.connection.is_idle(), version == "1.1");
        assert_eq!(client.harness.http.open_exchanges(), 0);
    }
}
