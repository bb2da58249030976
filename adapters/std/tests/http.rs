//! Clients of servers at a URL: connections, sessions, cancellation.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::client::Listed;
use mcp_proto_std::{CallError, CallOptions, ConnectError, Connector, HttpEndpoint, Notification, Reconnect};

/// The time limit of each wait.
pub(crate) const LIMIT: Duration = Duration::from_secs(10);

/// A request that the server received.
pub(crate) struct Request {
    pub(crate) line: String,
    fields: Vec<(String, String)>,
    body: String,
}

impl Request {
    fn read(stream: &mut impl BufRead) -> Option<Request> {
        let mut line = String::new();
        stream.read_line(&mut line).ok().filter(|n| *n > 0)?;
        let mut fields = Vec::new();
        loop {
            let mut field = String::new();
            stream.read_line(&mut field).ok()?;
            let Some((name, value)) = field.trim_end().split_once(": ") else { break };
            fields.push((name.to_ascii_lowercase(), value.to_owned()));
        }
        let mut request = Request { line, fields, body: String::new() };
        let length = request.field("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        stream.read_exact(&mut body).ok()?;
        request.body = String::from_utf8(body).unwrap();
        Some(request)
    }

    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn has(&self, text: &str) -> bool {
        self.body.contains(text)
    }

    /// Returns the id of the JSON-RPC message, as JSON.
    fn id(&self) -> &str {
        self.body.split(r#""id":"#).nth(1).unwrap().split([',', '}']).next().unwrap()
    }

    /// Returns an HTTP response with this JSON-RPC result.
    pub(crate) fn result(&self, result: &str) -> String {
        json(&format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, self.id()))
    }
}

pub(crate) fn json(body: &str) -> String {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

pub(crate) const ACCEPTED: &str = "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n";
pub(crate) const NOT_ALLOWED: &str = "HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n";
pub(crate) const NOT_FOUND: &str = "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n";
pub(crate) const STREAM: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
const DISCOVERED: &str =
    r#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"resultType":"complete","_meta":{}}"#;
pub(crate) const TEXT: &str = r#"{"content":[{"type":"text","text":"7"}],"resultType":"complete"}"#;

/// Starts a server that calls `respond` for each request. Returns the URL of the server.
pub(crate) fn start(respond: impl Fn(&Request, &mut TcpStream) + Clone + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    thread::spawn(move || {
        for stream in listener.incoming() {
            let (mut stream, respond) = (stream.unwrap(), respond.clone());
            thread::spawn(move || {
                let mut input = BufReader::new(stream.try_clone().unwrap());
                while let Some(request) = Request::read(&mut input) {
                    respond(&request, &mut stream);
                }
            });
        }
    });
    url
}

pub(crate) fn write(stream: &mut TcpStream, text: &str) {
    // In some tests the client has closed the connection, so the write may fail.
    let _ = stream.write_all(text.as_bytes());
}

fn connector() -> Connector {
    Connector::new("c", "1")
}

#[test]
fn calls_work_in_the_stateless_era() {
    let url = start(|request, stream| {
        assert_eq!(request.line, "POST /mcp HTTP/1.1\r\n");
        assert_eq!(request.field("authorization"), Some("Bearer secret"));
        assert_eq!(request.field("accept"), Some("application/json, text/event-stream"));
        let response = match request.field("mcp-method") {
            Some("server/discover") => request.result(DISCOVERED),
            Some("tools/call") => request.result(TEXT),
            other => panic!("{other:?}"),
        };
        write(stream, &response);
    });
    let client = connector().http(HttpEndpoint::new(url).header("Authorization", "Bearer secret")).unwrap();
    for _ in 0..3 {
        assert_eq!(client.call_json("add", "{}").unwrap().text().as_deref(), Some("7"));
    }
    let calls: Vec<_> =
        (0..20).map(|_| client.begin_json("add", "{}", CallOptions::new()).unwrap()).collect();
    for call in calls {
        assert_eq!(call.wait().unwrap().text().as_deref(), Some("7"));
    }
    client.close();
}

#[test]
fn tools_with_invalid_header_annotations_are_omitted() {
    const TOOLS: &str = r#"{"tools":[
        {"name":"plain","inputSchema":{"type":"object"}},
        {"name":"valid","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}},
        {"name":"invalid","inputSchema":{"type":"object","properties":{"a":{"type":"number","x-mcp-header":"A"}}}}],
        "resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
    let url = start(|request, stream| {
        let result = if request.field("mcp-method") == Some("server/discover") { DISCOVERED } else { TOOLS };
        write(stream, &request.result(result));
    });
    let client = connector().http(HttpEndpoint::new(url)).unwrap();
    let names: Vec<_> = client.list_tools().unwrap().into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["plain", "valid"]);
    assert_eq!(client.find_tool("invalid").unwrap(), None);
}

const UNAUTHORIZED: &str =
    "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Bearer scope=\"a\"\r\nContent-Length: 0\r\n\r\n";

/// Rule E-C9 of `docs/http-rules.md`: after a refusal of the header fields, the client lists the tools again, once, and
/// repeats the call.
#[test]
fn call_refused_for_its_header_fields_is_repeated_once() {
    const TOOLS: &str = r#"{"tools":[{"name":"add","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"A"}}}}],
        "resultType":"complete","ttlMs":0,"cacheScope":"private"}"#;
    let (sender, seen) = channel();
    let url = start(move |request, stream| {
        let parameter = request.field("mcp-param-a");
        let name = request.field("mcp-name").unwrap_or_default();
        sender
            .send(format!("{} {name} {}", request.field("mcp-method").unwrap(), parameter.is_some()))
            .unwrap();
        let response = match request.field("mcp-method") {
            Some("server/discover") => request.result(DISCOVERED),
            Some("tools/list") => request.result(TOOLS),
            _ if parameter.is_some() && name == "add" => request.result(TEXT),
            _ => {
                let id = request.id();
                let body = r#""error":{"code":-32020,"message":"Header mismatch"}}"#;
                json(&format!(r#"{{"jsonrpc":"2.0","id":{id},{body}"#)).replace("200 OK", "400 Bad Request")
            }
        };
        write(stream, &response);
    });
    let client = connector().http(HttpEndpoint::new(&url)).unwrap();
    assert_eq!(client.call_json("add", r#"{"a":"x"}"#).unwrap().text().as_deref(), Some("7"));
    let Err(CallError::Server(error)) = client.call_json("other", "{}") else { panic!("no error") };
    assert_eq!(error.code, -32020);
    let requests: Vec<String> = seen.try_iter().collect();
    assert_eq!(
        requests[1..],
        [
            "tools/call add false",
            "tools/list  false",
            "tools/call add true",
            "tools/call other false",
            "tools/list  false",
            "tools/call other false"
        ]
    );
    // All slots are free again.
    let calls: Vec<_> =
        (0..256).map(|_| client.begin_json("add", r#"{"a":"x"}"#, CallOptions::new()).unwrap()).collect();
    assert!(calls.into_iter().all(|call| call.wait().is_ok()));
    client.close();
}

/// Returns an HTTP response whose stream begins with the acknowledgment of a subscription to changes of the tool list.
fn acknowledged(request: &Request) -> String {
    let tag = format!(r#""_meta":{{"io.modelcontextprotocol/subscriptionId":{}}}"#, request.id());
    let method = "notifications/subscriptions/acknowledged";
    let params = format!(r#"{{{tag},"notifications":{{"toolsListChanged":true}}}}"#);
    format!("{STREAM}data: {{\"jsonrpc\":\"2.0\",\"method\":\"{method}\",\"params\":{params}}}\n\n")
}

#[test]
fn subscription_whose_streams_break_is_sent_again_and_ends() {
    let url = start(|request, stream| {
        if !request.has("subscriptions/listen") {
            return write(stream, &request.result(DISCOVERED));
        }
        write(stream, &acknowledged(request));
        // The stream breaks after the caller of `listen` has received the acknowledgment.
        thread::sleep(Duration::from_millis(50));
        let _ = stream.shutdown(std::net::Shutdown::Both);
    });
    let reconnect = Reconnect { attempts: 2, pause: Duration::from_millis(10) };
    let client = connector().reconnect(reconnect).http(HttpEndpoint::new(url)).unwrap();
    let mut subscription = client.listen(&[Listed::Tools], &[]).unwrap();
    assert_eq!(subscription.failure(), None);
    let notifications: Vec<_> = subscription.by_ref().collect();
    assert_eq!(notifications, [Notification::Reconnected, Notification::Reconnected]);
    assert!(matches!(subscription.failure(), Some(CallError::Http(_))), "{:?}", subscription.failure());
    client.close();
}

/// A refusal that names the time after which the client may try again.
const BUSY: &str = "HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\n\r\n";

#[test]
fn subscription_is_sent_again_after_the_time_of_a_refusal() {
    let count = Arc::new(AtomicUsize::new(0));
    let url = start(move |request, stream| {
        if !request.has("subscriptions/listen") {
            return write(stream, &request.result(DISCOVERED));
        }
        match count.fetch_add(1, Ordering::Relaxed) {
            0 => {
                write(stream, &acknowledged(request));
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
            1 => write(stream, BUSY),
            _ => write(stream, &acknowledged(request)),
        }
    });
    let reconnect = Reconnect { attempts: 8, pause: Duration::from_millis(1) };
    let client = connector().reconnect(reconnect).http(HttpEndpoint::new(url)).unwrap();
    let start = Instant::now();
    let mut subscription = client.listen(&[Listed::Tools], &[]).unwrap();
    assert_eq!(subscription.next(), Some(Notification::Reconnected));
    assert!(start.elapsed() >= Duration::from_secs(1), "{:?}", start.elapsed());
    client.close();
}

#[test]
fn subscription_that_was_sent_again_reports_its_end() {
    let is_broken = Arc::new(AtomicBool::new(false));
    let url = start(move |request, stream| {
        if !request.has("subscriptions/listen") {
            return write(stream, &request.result(DISCOVERED));
        }
        write(stream, &acknowledged(request));
        if !is_broken.swap(true, Ordering::Relaxed) {
            let _ = stream.shutdown(std::net::Shutdown::Both);
        }
    });
    let reconnect = Reconnect { attempts: 2, pause: Duration::from_millis(10) };
    let client = connector().reconnect(reconnect).http(HttpEndpoint::new(url)).unwrap();
    let mut subscription = client.listen(&[Listed::Tools], &[]).unwrap();
    assert_eq!(subscription.next(), Some(Notification::Reconnected));
    assert_eq!(subscription.failure(), None);
    client.close();
    assert_eq!(subscription.next(), None);
    assert_eq!(subscription.failure(), Some(CallError::Closed));
}

#[test]
fn server_that_cannot_be_reached_is_named() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let url = format!("http://{free}/mcp");
    let endpoint = HttpEndpoint::new(format!("http://user:secret@{free}/mcp?token=secret"));
    let Err(ConnectError::Http(failure)) = connector().http(endpoint) else { panic!("connected") };
    assert_eq!((failure.url.as_str(), failure.status), (url.as_str(), None));
    assert!(failure.to_string().starts_with(&format!("{url}: ")) && !failure.reason.is_empty(), "{failure}");
    let url = start(|_, stream| write(stream, UNAUTHORIZED));
    let Err(ConnectError::Http(failure)) = connector().http(HttpEndpoint::new(&url)) else {
        panic!("connected")
    };
    assert_eq!((failure.status, failure.challenge.as_deref()), (Some(401), Some("Bearer scope=\"a\"")));
    assert_eq!(failure.to_string(), format!("{url}: status 401, WWW-Authenticate: Bearer scope=\"a\""));
}

/// Starts a server of 2025-11-25 that closes the connection within the response to messages with this method.
fn start_server_that_cuts(method: &'static str) -> String {
    start(move |request, stream| {
        let response = if request.has("server/discover") {
            json(&format!(
                r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-32601,"message":"x"}}}}"#,
                request.id()
            ))
        } else if request.has("initialize\"") {
            request.result(
                r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#,
            )
        } else if request.has("tools/call") {
            request.result(TEXT)
        } else {
            return write(stream, if request.line.starts_with("GET") { NOT_ALLOWED } else { ACCEPTED });
        };
        if !request.has(method) {
            return write(stream, &response);
        }
        write(stream, &response[..response.len() - 12]);
        let _ = stream.shutdown(std::net::Shutdown::Both);
    })
}

/// The connection is lost within a JSON body.
#[test]
fn partial_response_is_a_lost_connection() {
    let url = start_server_that_cuts("tools/call");
    let client = connector().http(HttpEndpoint::new(&url)).unwrap();
    let Err(CallError::Http(failure)) = client.call_json("act", "{}") else { panic!("a response") };
    assert!(failure.url == url && failure.status.is_none() && !failure.reason.is_empty(), "{failure}");
    let url = start_server_that_cuts("initialize");
    let Err(ConnectError::Http(failure)) = connector().http(HttpEndpoint::new(&url)) else {
        panic!("connected")
    };
    assert!(failure.url == url && failure.status.is_none() && !failure.reason.is_empty(), "{failure}");
    // After the loss of the response to `server/discover`, the client falls back to the handshake.
    let client = connector().http(HttpEndpoint::new(start_server_that_cuts("server/discover"))).unwrap();
    assert_eq!(client.call_json("act", "{}").unwrap().text().as_deref(), Some("7"));
}

#[test]
fn refused_call_fails_alone_with_status_and_challenge() {
    const ERROR: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}"#;
    let url = start(|request, stream| {
        let response = match request.field("mcp-name") {
            None => request.result(DISCOVERED),
            Some("unauthorized") => UNAUTHORIZED.into(),
            Some("forbidden") => json(ERROR).replace("200 OK", "403 Forbidden").replacen(
                "\r\n",
                "\r\nWWW-Authenticate: Bearer error=\"insufficient_scope\"\r\n",
                1,
            ),
            Some("busy") => {
                "HTTP/1.1 429 Too Many Requests\r\nRetry-After: 5\r\nContent-Length: 0\r\n\r\n".into()
            }
            Some("broken") => "HTTP/1.1 502 Bad Gateway\r\nContent-Length: 3\r\n\r\n:-(".into(),
            Some("cut") => {
                let _ = stream.shutdown(std::net::Shutdown::Both);
                return;
            }
            Some("page") => json("<html>").replace("application/json", "text/html"),
            Some("accepted") => ACCEPTED.into(),
            Some("stream") => {
                write(stream, STREAM);
                let _ = stream.shutdown(std::net::Shutdown::Both);
                return;
            }
            Some("slow") => {
                thread::sleep(Duration::from_millis(200));
                request.result(TEXT)
            }
            Some(_) => request.result(TEXT),
        };
        write(stream, &response);
    });
    let client = connector().http(HttpEndpoint::new(&url)).unwrap();
    let slow = client.begin_json("slow", "{}", CallOptions::new()).unwrap();
    for (name, status, challenge, retry_after) in [
        ("unauthorized", Some(401), Some("Bearer scope=\"a\""), None),
        ("forbidden", Some(403), Some("Bearer error=\"insufficient_scope\""), None),
        ("busy", Some(429), None, Some("5")),
        ("broken", Some(502), None, None),
        ("cut", None, None, None),
        ("page", None, None, None),
        ("accepted", None, None, None),
        ("stream", None, None, None),
    ] {
        let Err(CallError::Http(failure)) = client.call_json(name, "{}") else { panic!("{name}") };
        assert_eq!(failure.url, url);
        assert_eq!(failure.status, status, "{name}");
        assert_eq!(failure.challenge.as_deref(), challenge, "{name}");
        assert_eq!(failure.retry_after.as_deref(), retry_after, "{name}");
        assert_eq!(failure.reason.is_empty(), status.is_some(), "{name}: {failure}");
    }
    assert_eq!(slow.wait().unwrap().text().as_deref(), Some("7"));
    assert_eq!(client.call_json("add", "{}").unwrap().text().as_deref(), Some("7"));
}

#[cfg(not(feature = "https"))]
#[test]
fn url_with_https_names_the_missing_feature() {
    let Err(ConnectError::Io(error)) = connector().http(HttpEndpoint::new("https://example.com")) else {
        panic!("connected")
    };
    assert!(error.to_string().contains("feature `https`"), "{error}");
}

#[test]
fn cancelled_request_closes_its_connection() {
    let ((opened, is_open), (closed, is_closed)) = (channel::<()>(), channel::<()>());
    let url = start(move |request, stream| {
        if request.field("mcp-method") == Some("server/discover") {
            return write(stream, &request.result(DISCOVERED));
        }
        opened.send(()).unwrap();
        write(stream, STREAM);
        write(stream, ": open\n\n");
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(rest.is_empty());
        closed.send(()).unwrap();
    });
    let client = connector().http(HttpEndpoint::new(url)).unwrap();
    let call = client.begin_json("add", "{}", CallOptions::new()).unwrap();
    let canceller = call.canceller();
    is_open.recv_timeout(LIMIT).expect("the request arrives");
    canceller.cancel("");
    assert_eq!(call.wait(), Err(CallError::Cancelled));
    is_closed.recv_timeout(LIMIT).expect("the connection closes");
}

/// Starts a server whose session ends with the call of `end`.
///
/// The server refuses the second `initialize`, and names one second as the time to wait.
fn session_server(seen: Sender<String>) -> String {
    let handshakes = Arc::new(AtomicUsize::new(0));
    start(move |request, stream| {
        let session = request.field("mcp-session-id").unwrap_or("none").to_owned();
        let _ = seen.send(format!("{} {session}", request.line.split(' ').next().unwrap()));
        let response = if request.has(r#""initialize""#) && handshakes.fetch_add(1, Ordering::Relaxed) == 1 {
            BUSY.into()
        } else if request.has(r#""initialize""#) {
            let result = r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}"#;
            request.result(result).replacen("\r\n", "\r\nMcp-Session-Id: s-1\r\n", 1)
        } else if request.line.starts_with("GET") {
            NOT_ALLOWED.into()
        } else if request.has("initialized") || request.line.starts_with("DELETE") {
            ACCEPTED.into()
        } else if request.has(r#""end""#) {
            NOT_FOUND.into()
        } else {
            request.result(TEXT)
        };
        write(stream, &response);
    })
}

/// Receives requests until `wanted` arrives. Panics at the time limit.
#[track_caller]
fn wait_for(seen: &Receiver<String>, wanted: &str) {
    let mut others = Vec::new();
    loop {
        match seen.recv_timeout(LIMIT) {
            Ok(request) if request == wanted => return,
            Ok(request) => others.push(request),
            Err(_) => panic!("{others:?}"),
        }
    }
}

#[test]
fn session_lasts_until_the_client_closes() {
    let (sender, seen) = channel();
    let url = session_server(sender);
    let handshake = mcp_proto::client::Connect::Handshake;
    let client = connector().connect(handshake).http(HttpEndpoint::new(url)).unwrap();
    wait_for(&seen, "POST none");
    assert_eq!(client.call_json("add", "{}").unwrap().text().as_deref(), Some("7"));
    wait_for(&seen, "POST s-1");
    client.close();
    wait_for(&seen, "DELETE s-1");
}

#[test]
fn request_refused_with_its_lost_session_is_repeated_once() {
    let (sender, seen) = channel();
    let url = session_server(sender);
    let handshake = mcp_proto::client::Connect::Handshake;
    let reconnect = Reconnect { pause: Duration::from_millis(1), ..Reconnect::DEFAULT };
    let client = connector().connect(handshake).reconnect(reconnect).http(HttpEndpoint::new(url)).unwrap();
    wait_for(&seen, "POST none");
    let start = Instant::now();
    let Err(CallError::Http(failure)) = client.call_json("end", "{}") else {
        panic!("not a failure of HTTP")
    };
    assert_eq!(failure.status, Some(404));
    wait_for(&seen, "POST none");
    wait_for(&seen, "POST none");
    assert_eq!(client.call_json("add", "{}").unwrap().text().as_deref(), Some("7"));
    assert!(start.elapsed() >= Duration::from_secs(1), "the server named this time: {:?}", start.elapsed());
}
