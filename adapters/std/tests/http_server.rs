//! A server over HTTP: requests, connections, access, shutdown.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::time_limit::{TEST_TIMEOUT, within};
use mcp_proto::client::Connect;
use mcp_proto::server::{Event, ServerConfig, Tool, Tools};
use mcp_proto_std::http::{HttpAccess, HttpConfig, LegacyPaths, SessionMode, Verdict, relay};
use mcp_proto_std::{CallError, CallOptions, ClientHandle, Connector, HttpEndpoint, Serve, Stop};

static TOOLS: Tools = Tools::new(&[
    Tool::new("echo", "{}"),
    Tool::new("wait", "{}"),
    Tool::new("release", "{}"),
    Tool::new(
        "query",
        r#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#,
    ),
]);
static CONFIG: ServerConfig = ServerConfig::new("test", "1").features(&[&TOOLS]);
static HTTP: HttpConfig = HttpConfig::new()
    .path("/mcp")
    .sessions(SessionMode::Sessions)
    .legacy(LegacyPaths { events: "/sse", messages: "/messages" });

/// The time limit of each wait.
const LIMIT: Duration = Duration::from_secs(10);

/// A running server.
struct TestServer {
    address: SocketAddr,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    fn start() -> TestServer {
        TestServer::start_with(|access| access, None)
    }

    /// Starts a server. `cancelled` gets a message for each cancelled call of `wait`.
    fn start_with(
        access: impl FnOnce(HttpAccess<'static>) -> HttpAccess<'static> + Send + 'static,
        cancelled: Option<Sender<()>>,
    ) -> TestServer {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stop = Stop::new();
        let server = Serve::new(&CONFIG).stopped_by(&stop);
        let thread = thread::spawn(move || {
            let access = access(HttpAccess::new(&HTTP).check_parameters(&TOOLS));
            let served = server.http(listener, access, |event, server| match event {
                Event::Call(call) if call.name() == "wait" => {
                    let cancelled = cancelled.clone();
                    server.run(call, move |responder| {
                        responder.progress(1u32, None, "");
                        if responder.sleep_unless_cancelled(LIMIT).is_err()
                            && let Some(cancelled) = cancelled
                        {
                            cancelled.send(()).unwrap();
                        }
                    });
                }
                Event::Call(call) if call.name() == "release" => server.run(call, |responder| {
                    responder.release_connection();
                    let _ = responder.sleep_unless_cancelled(Duration::from_millis(50));
                    responder.text("7");
                }),
                Event::Call(call) => call.text("7"),
                _ => {}
            });
            served.unwrap();
        });
        TestServer { address, stop, thread: Some(thread) }
    }

    fn connect(&self, connect: Connect) -> ClientHandle {
        let endpoint = HttpEndpoint::new(format!("http://{}/mcp", self.address));
        Connector::new("c", "1").connect(connect).http(endpoint).unwrap()
    }

    /// Sends bytes on a new connection, and returns everything that the server sends before the connection closes.
    fn exchange(&self, request: &str) -> String {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        // The server may refuse a request before the client has sent the whole request.
        let _ = stream.write_all(request.as_bytes());
        let mut response = Vec::new();
        let _ = stream.read_to_end(&mut response);
        String::from_utf8(response).unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.stop.within(Duration::ZERO);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking());
        }
    }
}

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}}}"#;
const FIELDS: &str = "Host: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: echo\r\n";

/// Returns a POST request with [`CALL`] and additional fields.
fn post(fields: &str) -> String {
    format!("POST /mcp HTTP/1.1\r\n{FIELDS}Content-Length: {}\r\n{fields}\r\n{CALL}", CALL.len())
}

#[test]
fn clients_of_both_eras_call_tools() {
    let server = TestServer::start();
    for connect in [Connect::Automatic, Connect::Handshake] {
        let client = server.connect(connect);
        for _ in 0..3 {
            assert_eq!(client.call_json("echo", "{}").unwrap().text().as_deref(), Some("7"));
        }
        let calls: Vec<_> =
            (0..50).map(|_| client.begin_json("echo", "{}", CallOptions::new()).unwrap()).collect();
        for call in calls {
            assert_eq!(call.wait().unwrap().text().as_deref(), Some("7"));
        }
        client.close();
    }
}

/// Rules A-C1 and B-C13 of `docs/http-rules.md`: a client of HTTP+SSE, with cancellation and the end of the server.
#[test]
fn client_falls_back_to_http_sse() {
    let (cancelled, is_cancelled) = channel();
    let mut server = TestServer::start_with(|access| access, Some(cancelled));
    for connect in [Connect::Automatic, Connect::Handshake] {
        let endpoint = HttpEndpoint::new(format!("http://{}/sse", server.address));
        let client = Connector::new("c", "1").connect(connect).http(endpoint).unwrap();
        let calls: Vec<_> =
            (0..50).map(|_| client.begin_json("echo", "{}", CallOptions::new()).unwrap()).collect();
        for call in calls {
            assert_eq!(call.wait().unwrap().text().as_deref(), Some("7"));
        }
        // Progress shows that the work has begun.
        let call = client.begin_json("wait", "{}", CallOptions::new().with_progress()).unwrap();
        let canceller = call.canceller();
        assert_eq!(call.wait_with(|_| canceller.cancel("")), Err(CallError::Cancelled));
        is_cancelled.recv_timeout(LIMIT).expect("the work is cancelled");
        client.close();
    }
    let endpoint = HttpEndpoint::new(format!("http://{}/sse", server.address));
    let client = Connector::new("c", "1").http(endpoint).unwrap();
    let call = client.begin_json("wait", "{}", CallOptions::new().with_progress()).unwrap();
    // Wait until the call is sent, because an unsent call would wait for the next connection.
    assert!(call.wait_with(|_| server.stop.within(Duration::ZERO)).is_err());
    server.thread.take().unwrap().join().unwrap();
}

#[test]
fn relay_passes_messages_of_every_transport() {
    let server = TestServer::start();
    for path in ["/mcp", "/sse"] {
        let ((input, mut to_server), (from_server, output)) =
            (std::io::pipe().unwrap(), std::io::pipe().unwrap());
        let endpoint = HttpEndpoint::new(format!("http://{}{path}", server.address));
        let relay = thread::spawn(move || relay(endpoint, input, output));
        let mut lines = BufReader::new(from_server).lines().map(Result::unwrap);
        let mut ask = |message: &str| {
            writeln!(to_server, "{message}").unwrap();
            lines.next().unwrap()
        };
        let initialize = r#"{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
        assert!(ask(initialize).contains(r#""id":"i","result""#), "{path}");
        let ping = ask(
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n\n{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}",
        );
        assert_eq!(ping, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#, "{path}");
        // The responses to a batch arrive one by one.
        let batch =
            r#"[{"jsonrpc":"2.0","id":3,"method":"ping"},1,{"jsonrpc":"2.0","id":4,"method":"ping"}]"#;
        let mut answers = vec![ask(batch), ask(""), ask("")];
        answers.sort();
        assert!(answers[0].contains(r#""id":3"#) && answers[1].contains(r#""id":4"#), "{answers:?}");
        assert!(answers[2].contains(r#""id":null,"error":{"code":-32600"#), "{answers:?}");
        assert!(ask("[]").contains(r#""id":null,"error":{"code":-32600"#), "{path}");
        drop(to_server);
        relay.join().unwrap().unwrap();
    }
}

#[test]
fn cancelled_call_ends_on_the_server() {
    for connect in [Connect::Automatic, Connect::Handshake] {
        let (cancelled, is_cancelled) = channel();
        let server = TestServer::start_with(|access| access, Some(cancelled));
        let client = server.connect(connect);
        let (progress, has_progress) = channel();
        let call = client.begin_json("wait", "{}", CallOptions::new().with_progress()).unwrap();
        let canceller = call.canceller();
        let waiter = thread::spawn(move || {
            call.wait_with(move |_| {
                let _ = progress.send(());
            })
        });
        has_progress.recv_timeout(LIMIT).expect("progress arrives before the response");
        canceller.cancel("");
        assert_eq!(waiter.join().unwrap(), Err(CallError::Cancelled));
        is_cancelled.recv_timeout(LIMIT).expect("the work is cancelled");
    }
}

#[test]
fn disconnected_client_cancels_its_call() {
    let (cancelled, is_cancelled) = channel();
    let server = TestServer::start_with(|access| access, Some(cancelled));
    // With a progress token, the HTTP response begins before the call ends.
    let body = CALL.replace("echo", "wait").replace(r#""_meta":{"#, r#""_meta":{"progressToken":1,"#);
    let fields = FIELDS.replace("echo", "wait");
    let request = format!("POST /mcp HTTP/1.1\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len());
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut byte = [0];
    stream.read_exact(&mut byte).unwrap();
    drop(stream);
    is_cancelled.recv_timeout(LIMIT).expect("the work is cancelled");
}

#[test]
fn connection_serves_several_requests() {
    let server = TestServer::start();
    let requests = [
        post(""),
        format!(
            "POST /mcp HTTP/1.1\r\n{FIELDS}Transfer-Encoding: chunked\r\n\r\n{:x}\r\n{CALL}\r\n0\r\n\r\n",
            CALL.len()
        ),
        format!(
            "POST /mcp HTTP/1.1\r\n{FIELDS}Connection: close\r\nContent-Length: {}\r\n\r\n{CALL}",
            CALL.len()
        ),
    ];
    let response = server.exchange(&requests.concat());
    assert_eq!(response.matches("HTTP/1.1 200 OK\r\n").count(), 3, "{response}");
    assert_eq!(response.matches(r#""text":"7""#).count(), 3, "{response}");
    assert_eq!(response.matches("Connection: close\r\n").count(), 1, "{response}");
}

/// Rule B-S21 of `docs/http-rules.md`: servers with the same key serve each other's sessions.
#[test]
fn sealed_session_is_known_to_servers_with_the_same_key() {
    static SEALED: HttpConfig = HttpConfig::new().sessions(SessionMode::Sealed);
    let node = |key: u8| {
        let sign = move |data: &[u8]| {
            let mut code = [key; 16];
            data.iter().zip(0..).for_each(|(byte, at)| code[at % 16] = code[at % 16].rotate_left(1) ^ byte);
            code
        };
        TestServer::start_with(move |_| HttpAccess::new(&SEALED).sign(sign), None)
    };
    let request = |session: &str, body: &str| {
        let fields = "Host: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n";
        format!("POST / HTTP/1.1\r\n{fields}{session}Content-Length: {}\r\n\r\n{body}", body.len())
    };
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}"#;
    let (first, second, other) = (node(1), node(1), node(2));
    let response = first.exchange(&request("", initialize));
    let session = response.lines().find(|line| line.starts_with("mcp-session-id: ")).expect("a session id");
    let session = format!("{session}\r\nMCP-Protocol-Version: 2025-06-18\r\n");
    for (server, status) in [(&first, 200), (&second, 200), (&other, 404)] {
        let response = server.exchange(&request(&session, call));
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{response}");
        assert_eq!(response.contains(r#""text":"7""#), status == 200, "{response}");
    }
}

#[test]
fn refusal_has_its_status() {
    let server = TestServer::start_with(
        |access| {
            access.authorize(|head| match head.fields.field("authorization") {
                None => Verdict::Allow { user: 0 },
                Some(b"Bearer long") => {
                    Verdict::Deny { status: 401, challenge: "long ".repeat(3_000).into() }
                }
                Some(_) => Verdict::Deny { status: 401, challenge: "Bearer".into() },
            })
        },
        None,
    );
    let close = "Connection: close\r\n";
    for (request, status, text) in [
        (post(close).replace("POST", "PUT"), 405, "allow: "),
        (post(close).replace("localhost", "example.com"), 403, "`Host`"),
        (post(&format!("{close}Origin: http://example.com\r\n")), 403, "`Origin`"),
        (post(&format!("{close}Authorization: Bearer x\r\n")), 401, "www-authenticate: Bearer\r\n"),
        (post(&format!("{close}Authorization: Bearer long\r\n")), 401, "www-authenticate: long long"),
        (post(close).replace("/mcp", "/other"), 404, "path"),
        (post(close).replace("application/json\r\n", "text/plain\r\n"), 415, "`Content-Type`"),
        (post(close).replace("Mcp-Name: echo", "Mcp-Name: wait"), 400, "-32020"),
        (format!("POST /mcp HTTP/1.1\r\n{FIELDS}Content-Length: 99999999\r\n\r\n"), 413, "limit"),
        (
            "POST /mcp HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n".into(),
            400,
            "Content-Length",
        ),
        ("GET /mcp\r\n\r\n".into(), 400, "request line"),
        (format!("POST /mcp HTTP/1.1\r\n{FIELDS}{close}Content-Length: 1\r\n\r\n{{"), 400, "-32700"),
    ] {
        let response = server.exchange(&request);
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{request}\n{response}");
        assert!(response.contains(text), "{request}\n{response}");
    }
}

#[test]
fn bearer_token_is_required_and_metadata_is_not_secret() {
    const URL: &str = "https://example.com/.well-known/oauth-protected-resource/mcp";
    const METADATA: &str = r#"{"resource":"https://example.com/mcp"}"#;
    let server = TestServer::start_with(
        |access| access.bearer(["first", "second"]).resource_metadata(URL, METADATA),
        None,
    );
    let ask = |token: &str| server.exchange(&post(&format!("Connection: close\r\n{token}")));
    let missing = ask("");
    assert!(missing.starts_with("HTTP/1.1 401 "), "{missing}");
    assert!(
        missing.contains(&format!("www-authenticate: Bearer resource_metadata=\"{URL}\"\r\n")),
        "{missing}"
    );
    let wrong = ask("Authorization: Bearer third\r\n");
    assert!(
        wrong.contains("www-authenticate: Bearer error=\"invalid_token\", resource_metadata="),
        "{wrong}"
    );
    assert!(ask("Authorization: Bearer second\r\n").contains(r#""text":"7""#));
    let path = URL.strip_prefix("https://example.com").unwrap();
    let document = server.exchange(&format!("GET {path} HTTP/1.1\r\n{FIELDS}Connection: close\r\n\r\n"));
    assert!(document.starts_with("HTTP/1.1 200 ") && document.ends_with(METADATA), "{document}");
}

#[test]
fn client_that_does_not_read_blocks_no_other() {
    let server = TestServer::start();
    let mut slow = TcpStream::connect(server.address).unwrap();
    slow.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let refused = "GET /other HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(1000);
    // Send requests until the buffers of both directions are full.
    while slow.write_all(refused.as_bytes()).is_ok() {}
    let start = Instant::now();
    assert!(server.exchange(&post("Connection: close\r\n")).contains("\"7\""));
    assert!(start.elapsed() < LIMIT / 2, "{:?}", start.elapsed());
}

/// A client that sends `Expect: 100-continue` receives the status 100, or a refusal without sending the body.
#[test]
fn client_that_expects_100_sends_its_body_afterwards() {
    let server = TestServer::start();
    let mut stream = TcpStream::connect(server.address).unwrap();
    stream.set_read_timeout(Some(LIMIT)).unwrap();
    let head = |path: &str| {
        let length = CALL.len();
        format!(
            "POST {path} HTTP/1.1\r\n{FIELDS}Expect: 100-continue\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    stream.write_all(head("/mcp").as_bytes()).unwrap();
    let mut permission = [0; 25];
    stream.read_exact(&mut permission).unwrap();
    assert_eq!(&permission, b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(CALL.as_bytes()).unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n") && response.contains(r#""text":"7""#), "{response}");
    let refused = server.exchange(&head("/other"));
    assert!(refused.starts_with("HTTP/1.1 404 "), "{refused}");
}

/// Rules D-S3, D-S4 and D-C1 of `docs/http-rules.md`: the client connects again, and receives the response.
#[test]
fn released_call_continues_without_its_connection() {
    let server = TestServer::start();
    let send = |method: &str, session: &str, more: &str, body: &str| {
        let length = body.len();
        let fields = format!("Content-Type: application/json\r\nConnection: close\r\n{session}{more}");
        server.exchange(&format!(
            "{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: application/json, text/event-stream\r\n{fields}Content-Length: {length}\r\n\r\n{body}"
        ))
    };
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let response = send("POST", "", "", initialize);
    let session = response.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id"));
    let session = format!("{}\r\n", session.unwrap());
    send("POST", &session, "", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"release","arguments":{}}}"#;
    let released = send("POST", &session, "", call);
    assert!(released.contains("retry: ") && !released.contains("result"), "{released}");
    let last = released.lines().filter_map(|line| line.strip_prefix("id: ")).next_back().unwrap();
    let resumed = send("GET", &session, &format!("Last-Event-ID: {last}\r\n"), "");
    assert!(resumed.contains(r#""id":1,"result""#), "{resumed}");
    // The client of this crate connects again by itself, and receives the response.
    let client = server.connect(Connect::Handshake);
    assert_eq!(client.call_json("release", "{}").unwrap().text().as_deref(), Some("7"));
    // In the stateless era, the call keeps its connection.
    let client = server.connect(Connect::Automatic);
    assert_eq!(client.call_json("release", "{}").unwrap().text().as_deref(), Some("7"));
}

#[test]
fn handler_cannot_wait_for_its_own_server() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Stop::new();
    let server = Serve::new(&CONFIG).stopped_by(&stop);
    let thread = thread::spawn(move || {
        server.http(listener, HttpAccess::new(&HTTP), |event, server| {
            if let Event::Call(call) = event {
                call.text(if server.is_watched("file:///a").is_err() { "refused" } else { "returned" });
            }
        })
    });
    let endpoint = HttpEndpoint::new(format!("http://{address}/mcp"));
    let client = Connector::new("c", "1").http(endpoint).unwrap();
    assert_eq!(client.call_json("echo", "{}").unwrap().text().as_deref(), Some("refused"));
    stop.within(Duration::ZERO);
    thread.join().unwrap().unwrap();
}

#[test]
fn panic_of_the_handler_fails_only_its_request() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let stop = Stop::new();
    let server = Serve::new(&CONFIG).stopped_by(&stop);
    let thread = thread::spawn(move || {
        server.http(listener, HttpAccess::new(&HTTP), |event, _| match event {
            Event::Call(call) if call.name() == "wait" => panic!("a panic for the test"),
            Event::Call(call) => call.text("7"),
            _ => {}
        })
    });
    let endpoint = HttpEndpoint::new(format!("http://{address}/mcp"));
    let client = Connector::new("c", "1").http(endpoint).unwrap();
    let Err(CallError::Server(error)) = client.call_json("wait", "{}") else { panic!("no error response") };
    assert_eq!(error.code, -32603);
    assert_eq!(client.call_json("echo", "{}").unwrap().text().as_deref(), Some("7"));
    stop.within(Duration::ZERO);
    thread.join().unwrap().unwrap();
}

#[test]
fn parameter_field_must_equal_the_argument() {
    let server = TestServer::start();
    let request = |fields: &str| {
        let body = CALL.replace(r#""echo","arguments":{}"#, r#""query","arguments":{"region":"eu"}"#);
        let fields = format!("{}Connection: close\r\n{fields}", FIELDS.replace("echo", "query"));
        server
            .exchange(&format!("POST /mcp HTTP/1.1\r\n{fields}Content-Length: {}\r\n\r\n{body}", body.len()))
    };
    assert!(request("Mcp-Param-Region: eu\r\n").starts_with("HTTP/1.1 200 "), "E-X15");
    for wrong in ["", "Mcp-Param-Region: us\r\n"] {
        let response = request(wrong);
        assert!(response.starts_with("HTTP/1.1 400 ") && response.contains("-32020"), "{response}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn server_ends_if_its_socket_no_longer_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    // On Linux, each `accept` fails after the shutdown of the socket.
    TcpStream::from(std::os::fd::OwnedFd::from(listener.try_clone().unwrap()))
        .shutdown(std::net::Shutdown::Both)
        .unwrap();
    let served =
        within(TEST_TIMEOUT, || Serve::new(&CONFIG).http(listener, HttpAccess::new(&HTTP), |_, _| ()));
    assert!(served.is_err());
}

#[test]
fn stopped_server_ends_its_calls_and_connections() {
    let mut server = TestServer::start();
    let idle = TcpStream::connect(server.address).unwrap();
    let client = server.connect(Connect::Automatic);
    let call = client.begin_json("wait", "{}", CallOptions::new()).unwrap();
    thread::sleep(Duration::from_millis(50));
    let start = Instant::now();
    server.stop.within(Duration::from_millis(100));
    assert!(call.wait().is_err());
    server.thread.take().unwrap().join().unwrap();
    assert!(start.elapsed() < LIMIT);
    drop(idle);
    assert!(TcpStream::connect(server.address).is_err());
}
