//! End to end: a naive loop over `TcpListener`, the parser of HTTP/1.1 and the server, driven by raw bytes.

use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::Millis;
use mcp_proto::server::{Event, Server, Slot};
use mcp_proto_http::HeaderFields;
use mcp_proto_http::http1::{BodyDecoder, BodyFraming, ChunkHead, HeadWriter, LAST_CHUNK, RequestDecoder};
use mcp_proto_http::server::{
    ExchangeId, ExchangeSlot, HttpConfig, HttpServer, Method, REFUSAL_SIZE, RequestHead, ResponseHead,
    SessionMode, SessionSlot, Step,
};

use super::support::{CONFIG, Request, TestPolicy, initialize, old_call};

type Http<'b> = HttpServer<'b, TestPolicy>;

/// A connection of the naive server.
struct Connection {
    stream: TcpStream,
    input: Vec<u8>,
    exchange: Option<ExchangeId>,
    is_chunked: bool,
    is_closed: bool,
}

impl Connection {
    /// Reads a piece of the input. Starts the next exchange if its request is complete and no exchange is open.
    fn read(&mut self, http: &mut Http<'_>, server: &mut Server<'_>, now: Millis) {
        let mut bytes = [0; 1024];
        match self.stream.read(&mut bytes) {
            Ok(0) => self.is_closed = true,
            Ok(n) => self.input.extend_from_slice(&bytes[..n]),
            Err(error) => self.is_closed = error.kind() != ErrorKind::WouldBlock,
        }
        if self.exchange.is_some() {
            return;
        }
        let (input, mut buffer) = (self.input.clone(), [0; 512]);
        let mut decoder = RequestDecoder::new(&mut buffer);
        let consumed = decoder.feed(&input).expect("the test sends valid heads");
        let Some(parsed) = decoder.head() else { return };
        let (mut body, mut rest) = (Vec::new(), &input[consumed..]);
        let mut bodies = BodyDecoder::new(parsed.body());
        while !bodies.is_complete() {
            let piece = bodies.decode(rest).expect("the test sends valid bodies");
            if piece.consumed == 0 {
                return;
            }
            body.extend_from_slice(piece.data);
            rest = &rest[piece.consumed..];
        }
        let length = match parsed.body() {
            BodyFraming::Length(length) => Some(length),
            _ => None,
        };
        let fields: &dyn HeaderFields = &parsed;
        let method = Method::from_bytes(parsed.method().as_bytes());
        let head = RequestHead { method, target: parsed.target(), body_length: length, fields };
        match http.begin(&head, now) {
            Ok(id) => {
                http.body(server, id, &head, &body, true, now);
                self.exchange = Some(id);
            }
            Err(refusal) => {
                let mut text = [0; REFUSAL_SIZE];
                let (head, body) = refusal.write(&mut text);
                self.write_head(&head);
                self.stream.write_all(body).unwrap();
            }
        }
        self.input = rest.to_vec();
    }

    fn write_head(&mut self, head: &ResponseHead) {
        let mut buffer = [0; 512];
        let mut writer = Some(HeadWriter::response(&mut buffer, head.status));
        head.fields(&mut |name, value| writer = writer.take().map(|writer| writer.field(name, value)));
        self.is_chunked = head.length.is_none() && head.status != 204;
        let mut writer = writer.unwrap();
        if self.is_chunked {
            writer = writer.chunked();
        }
        self.stream.write_all(writer.finish().unwrap()).unwrap();
    }

    /// Writes the output of the exchange.
    fn write(&mut self, http: &mut Http<'_>, now: Millis) {
        while let Some(id) = self.exchange {
            let output = http.output(id);
            if output.is_cut {
                (self.exchange, self.is_closed) = (None, true);
                return;
            }
            if output.head.is_none() && output.body.is_empty() && !output.is_end {
                return;
            }
            let (body, is_end) = (output.body.to_vec(), output.is_end);
            if let Some(head) = output.head {
                self.write_head(&head);
            }
            match ChunkHead::new(body.len()).filter(|_| self.is_chunked) {
                Some(head) => {
                    let chunk = [head.as_bytes(), &body, ChunkHead::END].concat();
                    self.stream.write_all(&chunk).unwrap();
                }
                None => self.stream.write_all(&body).unwrap(),
            }
            if self.is_chunked && is_end {
                self.stream.write_all(LAST_CHUNK.as_ref()).unwrap();
            }
            http.sent(id, body.len(), now);
            if is_end {
                self.exchange = None;
            }
        }
    }
}

/// Serves until `stop`, and returns the number of open exchanges.
fn serve(listener: &TcpListener, stop: &AtomicBool) -> usize {
    let config = HttpConfig::new().sessions(SessionMode::Sessions);
    let (mut exchanges, mut output) = ([ExchangeSlot::EMPTY; 8], [0; 16 * 1024]);
    let mut sessions = [SessionSlot::EMPTY; 8];
    let mut http =
        HttpServer::new(&config, TestPolicy::default(), &mut exchanges, &mut output).sessions(&mut sessions);
    let ([mut rx, mut tx], mut slots, mut text) = ([[0; 4096]; 2], [Slot::EMPTY; 4], [0; 256]);
    let mut server = Server::new(&CONFIG, &mut rx, &mut tx).unwrap().message_mode().unwrap();
    server = server.in_flight(&mut slots, &mut text).unwrap();
    let (start, mut connections) = (Instant::now(), Vec::<Connection>::new());
    // After `stop`, the open exchanges have ten seconds to end.
    let mut left = 10_000;
    while !stop.load(Ordering::Relaxed) || http.open_exchanges() > 0 && left > 0 {
        left -= u32::from(stop.load(Ordering::Relaxed));
        let now = Millis(start.elapsed().as_millis() as u64);
        if let Ok((stream, _)) = listener.accept() {
            stream.set_nonblocking(true).unwrap();
            let input = Vec::new();
            connections.push(Connection {
                stream,
                input,
                exchange: None,
                is_chunked: false,
                is_closed: false,
            });
        }
        for connection in &mut connections {
            connection.read(&mut http, &mut server, now);
        }
        loop {
            match http.poll(&mut server, now) {
                Step::Event => {
                    if let Some(Event::Call(mut call)) = server.event() {
                        let _ = call.progress(1, None, "");
                        call.text("echo");
                    }
                }
                Step::Output(id) => {
                    for connection in connections.iter_mut().filter(|it| it.exchange == Some(id)) {
                        connection.write(&mut http, now);
                    }
                }
                Step::Wait(_) | Step::Closed => break,
            }
        }
        connections.retain(|connection| {
            if let Some(id) = connection.exchange.filter(|_| connection.is_closed) {
                http.close(id);
            }
            !connection.is_closed
        });
        thread::sleep(Duration::from_millis(1));
    }
    http.open_exchanges()
}

/// Returns the bytes of a request.
fn bytes_of(request: &Request) -> Vec<u8> {
    let mut text = format!("{} /mcp HTTP/1.1\r\nHost: localhost\r\n", request.method);
    for (name, value) in &request.fields {
        text += &format!("{name}: {value}\r\n");
    }
    text += &format!("Content-Length: {}\r\n\r\n{}", request.body.len(), request.body);
    text.into_bytes()
}

/// Reads until the text contains `end`.
fn read_until(stream: &mut TcpStream, end: &str) -> String {
    let (mut text, mut bytes) = (String::new(), [0; 1024]);
    while !text.contains(end) {
        let n = stream.read(&mut bytes).unwrap();
        assert!(n > 0, "{text}");
        text += std::str::from_utf8(&bytes[..n]).unwrap();
    }
    text
}

/// Heads in pieces, chunked bodies, pipelines, and connections that are used again.
#[test]
fn raw_bytes_are_answered_over_tcp() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (address, stop) = (listener.local_addr().unwrap(), AtomicBool::new(false));
    let connect = || {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        stream
    };
    thread::scope(|scope| {
        let server = scope.spawn(|| serve(&listener, &stop));
        let mut client = connect();
        // A head in pieces, with names in odd case.
        let request = String::from_utf8(bytes_of(&Request::call(1, "echo"))).unwrap();
        for piece in request.replace("mcp-method", "MCP-METHOD").as_bytes().chunks(50) {
            client.write_all(piece).unwrap();
            thread::sleep(Duration::from_millis(2));
        }
        let text = read_until(&mut client, "0\r\n\r\n");
        assert!(text.starts_with("HTTP/1.1 200 ") && text.contains("text/event-stream"), "{text}");
        assert!(text.contains("notifications/progress") && text.contains(r#""text":"echo""#), "{text}");

        // A pipeline on the same connection: a notification, then `initialize`.
        let notification = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        let first = Request::post(notification).with("mcp-protocol-version", "2026-07-28");
        let pipeline = [bytes_of(&first), bytes_of(&Request::post(initialize("2025-11-25")))].concat();
        client.write_all(&pipeline).unwrap();
        let text = read_until(&mut client, "serverInfo");
        assert!(text.starts_with("HTTP/1.1 202 ") && text.contains("HTTP/1.1 200 "), "{text}");
        let session = text.split("mcp-session-id: ").nth(1).unwrap().split("\r\n").next().unwrap();

        // A chunked body in the session, on another connection.
        let call = old_call(1, "echo");
        let (left, right) = call.split_at(40);
        let mut other = connect();
        write!(
            other,
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMcp-Session-Id: {session}\r\nTransfer-Encoding: chunked\r\n\r\n{:x}\r\n{left}\r\n{:x}\r\n{right}\r\n0\r\n\r\n",
            left.len(),
            right.len(),
        )
        .unwrap();
        let text = read_until(&mut other, r#""text":"echo""#);
        assert!(text.contains("content-type: application/json\r\n"), "{text}");

        // A refusal, a subscription whose client disconnects, and the end of the session.
        other.write_all(&bytes_of(&Request::call(1, "echo").with("origin", "http://evil.example"))).unwrap();
        assert!(read_until(&mut other, "}}").starts_with("HTTP/1.1 403 "));
        let listen =
            Request::modern(7, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#);
        client.write_all(&bytes_of(&listen)).unwrap();
        read_until(&mut client, "acknowledged");
        drop(client);
        let delete = Request::new("DELETE").with("mcp-session-id", session);
        other.write_all(&bytes_of(&delete)).unwrap();
        assert!(read_until(&mut other, "\r\n\r\n").starts_with("HTTP/1.1 204 "));
        stop.store(true, Ordering::Relaxed);
        assert_eq!(server.join().unwrap(), 0);
    });
}
