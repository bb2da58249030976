//! The program and the route, driven over TCP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use mcp_proto::server::{Change, ServerConfig, Slot, Subscriptions, Tools};
use mcp_proto::{Millis, Server};
use mcp_proto_embedded::{HttpShared, Timer};
use mcp_proto_http::server::{Challenge, ExchangeSlot, HttpConfig, HttpServer, Policy, RequestHead, Verdict};
use mcp_proto_picoserve::Mcp;
use picoserve::{Config, Router};

/// The running program.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn exchange(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

fn call(address: &str, tool: &str, fields: &str) -> String {
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{tool}","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    let head = format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n{fields}Content-Length: {}\r\n\r\n",
        body.len()
    );
    exchange(address, &(head + &body))
}

#[test]
fn route_serves_calls_and_refusals() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp-proto-picoserve"));
    let mut program = Program(command.arg("127.0.0.1:0").stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(program.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap();

    assert!(exchange(address, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").ends_with("MCP is at /mcp"));
    for expected in ["the LED is on", "the LED is off"] {
        let response = call(address, "blink", "");
        assert!(response.starts_with("HTTP/1.1 200 "), "{response}");
        assert!(response.contains("content-type: application/json\r\n"), "{response}");
        assert!(response.contains(expected), "{response}");
    }
    // Several `Accept` lines count as one list.
    for fields in ["Accept: text/event-stream\r\n", "Accept: text/html\r\nAccept: text/event-stream\r\n"] {
        let response = call(address, "blink", fields);
        assert!(response.contains("text/event-stream") && response.contains("\r\ndata: {"), "{response}");
        assert!(response.ends_with("\r\n0\r\n\r\n"), "{response}");
    }
    assert!(call(address, "blink", "Origin: http://evil.example\r\n").starts_with("HTTP/1.1 403 "));
    let response = exchange(address, "GET /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert!(response.starts_with("HTTP/1.1 405 ") && response.contains("allow: POST"), "{response}");
}

/// A policy that permits every request.
struct Permit;

impl Policy for Permit {
    const HANDSHAKE: bool = false;

    fn random(&mut self) -> [u8; 16] {
        [0; 16]
    }
}

/// A clock that stands still.
struct Clock;

impl Timer for Clock {
    fn now(&mut self) -> Millis {
        Millis(0)
    }

    async fn until(&mut self, _: Millis) {
        std::future::pending().await
    }
}

/// A challenge of more than 128 bytes.
const CHALLENGE: &str = concat!(
    r#"Bearer realm="board", error="invalid_token", scope="files:read files:write", "#,
    r#"resource_metadata="https://board.example.com/.well-known/oauth-protected-resource/mcp""#
);

/// A policy that refuses every request.
struct Refuse;

impl Policy for Refuse {
    const HANDSHAKE: bool = false;

    fn authorize(&mut self, _: &RequestHead<'_>) -> Verdict {
        Verdict::Deny { status: 401, challenge: Challenge::new(CHALLENGE) }
    }

    fn random(&mut self) -> [u8; 16] {
        [0; 16]
    }
}

#[tokio::test]
async fn long_challenge_is_sent() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let client = std::thread::spawn(move || call(&address, "blink", ""));
    let (config, http_config) = (ServerConfig::new("test", "1"), HttpConfig::new());
    let (mut rx, mut tx, mut slots, mut text) = ([0; 512], [0; 512], [Slot::EMPTY; 1], [0; 64]);
    let server = Server::new(&config, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text).unwrap();
    let mut server = server.message_mode().unwrap();
    let (mut exchanges, mut output) = ([ExchangeSlot::EMPTY; 1], [0; 4096]);
    let mut http = HttpServer::new(&http_config, Refuse, &mut exchanges, &mut output);
    let shared: HttpShared<'_, '_, Refuse, 1> = HttpShared::new(&mut http, &mut server);
    let app = Router::new().route_service("/mcp", Mcp { shared: &shared, now: || Millis(0) });
    let (socket, _) = listener.accept().await.unwrap();
    let mut buffer = [0; 2048];
    _ = picoserve::Server::new_tokio(&app, &Config::default(), &mut buffer).serve(socket).await;
    let response = client.join().unwrap();
    assert!(response.starts_with("HTTP/1.1 401 "), "{response}");
    assert!(response.contains(&format!("www-authenticate: {CHALLENGE}\r\n")), "{response}");
}

#[tokio::test]
async fn closed_server_responds_with_503() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let client = std::thread::spawn(move || call(&address, "blink", ""));
    let (config, http_config) = (ServerConfig::new("test", "1"), HttpConfig::new());
    let (mut rx, mut tx, mut slots, mut text) = ([0; 512], [0; 512], [Slot::EMPTY; 1], [0; 64]);
    let server = Server::new(&config, &mut rx, &mut tx).unwrap().in_flight(&mut slots, &mut text).unwrap();
    let mut server = server.message_mode().unwrap();
    let (mut exchanges, mut output) = ([ExchangeSlot::EMPTY; 1], [0; 4096]);
    let mut bodies = vec![0; http_config.get_limits().body];
    let http = HttpServer::new(&http_config, Permit, &mut exchanges, &mut output);
    let mut http = http.body_buffer(bodies.as_mut_slice());
    let shared: HttpShared<'_, '_, Permit, 1> = HttpShared::new(&mut http, &mut server);
    shared.with(|_, server| server.shutdown(Millis(0)));
    assert!(!shared.event(&mut Clock).await);
    let app = Router::new().route_service("/mcp", Mcp { shared: &shared, now: || Millis(0) });
    let (socket, _) = listener.accept().await.unwrap();
    let mut buffer = [0; 2048];
    let config = Config::default();
    let serve = picoserve::Server::new_tokio(&app, &config, &mut buffer).serve(socket);
    _ = tokio::time::timeout(Duration::from_secs(5), serve).await.expect("the request waits");
    assert!(client.join().unwrap().starts_with("HTTP/1.1 503 "));
}

/// A client detects the end of an event stream by its last chunk, so a cut stream has none.
#[tokio::test]
async fn cut_event_stream_has_no_last_chunk() {
    static TOOLS: Tools<'static> = Tools::new(&[]).list_changed();
    for is_cut in [false, true] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let client = tokio::task::spawn_blocking(move || {
            let body = r#"{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
            let head = format!(
                "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\nAccept: text/event-stream\r\nContent-Length: {}\r\n\r\n",
                body.len()
            );
            exchange(&address, &(head + body))
        });
        let features: [&dyn mcp_proto::server::Feature; 2] = [&TOOLS, &Subscriptions];
        let config = ServerConfig::new("test", "1").features(&features);
        let mut limits = HttpConfig::new().get_limits();
        limits.stream = 0;
        let http_config = HttpConfig::new().limits(limits);
        let (mut rx, mut tx, mut slots, mut text) = ([0; 512], [0; 512], [Slot::EMPTY; 1], [0; 64]);
        let server = Server::new(&config, &mut rx, &mut tx).unwrap();
        let server = server.in_flight(&mut slots, &mut text).unwrap();
        let mut server = server.message_mode().unwrap();
        let (mut exchanges, mut output) = ([ExchangeSlot::EMPTY; 2], [0; 4096]);
        let mut bodies = vec![0; http_config.get_limits().body];
        let http = HttpServer::new(&http_config, Permit, &mut exchanges, &mut output);
        let mut http = http.body_buffer(bodies.as_mut_slice());
        let shared: HttpShared<'_, '_, Permit, 2> = HttpShared::new(&mut http, &mut server);
        let app = Router::new().route_service("/mcp", Mcp { shared: &shared, now: || Millis(0) });
        let (socket, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 2048];
        let config = Config::default();
        let serve = picoserve::Server::new_tokio(&app, &config, &mut buffer).serve(socket);
        let end = async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            shared.with(|http, server| match is_cut {
                true => http.changed(server, Change::Tools),
                false => server.shutdown(Millis(1)),
            });
            std::future::pending::<()>().await;
        };
        let events = async {
            while shared.event(&mut Clock).await {
                shared.with(|_, server| _ = server.event());
            }
        };
        let response = tokio::select! {
            response = client => response.unwrap(),
            _ = async { tokio::join!(serve, events, end) } => unreachable!(),
        };
        assert!(response.contains("subscriptions/acknowledged"), "{response}");
        assert_eq!(response.ends_with("\r\n0\r\n\r\n"), !is_cut, "{response}");
    }
}
