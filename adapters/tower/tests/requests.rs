//! Raw requests over TCP: responses, refusals, connections.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use mcp_proto::Millis;
use mcp_proto_tower::{HttpAccess, HttpConfig, RESOURCE_METADATA_PATH, Serve, SessionMode, Verdict};

use crate::support::{CHUNKS, CONFIG, HTTP, LARGE, LIMIT, Report, TestServer, old_post, post, read_until};

const CLOSE: &str = "Connection: close\r\n";

#[test]
fn immediate_response_is_json_with_its_length() {
    let server = TestServer::start();
    let response = server.exchange(&post("echo", CLOSE));
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
    assert!(response.contains("content-type: application/json\r\n"), "{response}");
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    assert!(head.contains(&format!("content-length: {}", body.len())), "{response}");
    assert!(body.contains(r#""text":"7""#), "{response}");
    assert_eq!(server.service.open_exchanges(), 0);
}

#[test]
fn connection_serves_several_requests() {
    let server = TestServer::start();
    let requests = [post("echo", ""), post("task", ""), post("large", ""), post("echo", CLOSE)];
    let response = server.exchange(&requests.concat());
    assert_eq!(response.matches("HTTP/1.1 200 OK\r\n").count(), 4, "{}", response.len());
    assert_eq!(response.matches(r#""text":"7""#).count(), 2);
    assert!(response.contains("done") && response.contains(&"x".repeat(LARGE)));
}

#[test]
fn chunked_response_has_no_length_and_any_size() {
    let server = TestServer::start();
    for _ in 0..2 {
        let response = server.exchange(&post("chunks", CLOSE));
        let (head, body) = response.split_once("\r\n\r\n").unwrap();
        assert!(
            head.contains("content-type: application/json") && !head.contains("content-length"),
            "{head}"
        );
        assert!(head.contains("transfer-encoding: chunked"), "{head}");
        assert_eq!(body.bytes().filter(|byte| *byte == b'~').count(), CHUNKS);
        assert!(body.ends_with("\r\n0\r\n\r\n"));
    }
    drop(server.open(&post("chunks", "")));
    server.expect_no_exchange();
}

#[test]
fn body_in_pieces_is_collected() {
    let server = TestServer::start();
    let request = post("echo", CLOSE);
    let mut stream = server.open("");
    for piece in request.as_bytes().chunks(100) {
        stream.write_all(piece).unwrap();
        thread::sleep(Duration::from_millis(5));
    }
    read_until(&mut stream, r#""text":"7""#);
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let chunks: String = body
        .as_bytes()
        .chunks(50)
        .map(|chunk| format!("{:x}\r\n{}\r\n", chunk.len(), std::str::from_utf8(chunk).unwrap()))
        .collect();
    let head = head.replace(&format!("Content-Length: {}", body.len()), "Transfer-Encoding: chunked");
    let response = server.exchange(&format!("{head}\r\n\r\n{chunks}0\r\n\r\n"));
    assert!(response.contains(r#""text":"7""#), "{response}");
}

#[test]
fn thousand_calls_run_at_the_same_time() {
    let server = TestServer::start();
    let mut calls: Vec<_> = (0..1000).map(|_| server.open(&post("gather", CLOSE))).collect();
    for call in &mut calls {
        read_until(call, "done");
    }
    server.expect_no_exchange();
}

#[test]
fn progress_opens_an_event_stream() {
    let server = TestServer::start();
    let response = server.exchange(&post("progress", CLOSE));
    assert!(response.contains("content-type: text/event-stream\r\n"), "{response}");
    assert!(response.contains("cache-control: no-cache\r\n"), "{response}");
    assert_eq!(response.matches("notifications/progress").count(), 3, "{response}");
    let (progress, answer) = (response.find("progress").unwrap(), response.find("done").unwrap());
    assert!(progress < answer && response.ends_with("0\r\n\r\n"), "{response}");
}

#[test]
fn refusal_has_its_status() {
    let access = HttpAccess::new(&HTTP).authorize(|head| match head.fields.field("authorization") {
        None => Verdict::Allow { user: 0 },
        Some(_) => Verdict::Deny { status: 401, challenge: "Bearer".into() },
    });
    let server = TestServer::start_with(Serve::new(&CONFIG), access);
    for (request, status, text) in [
        (post("echo", CLOSE).replace("POST", "PUT"), 405, "allow: "),
        (post("echo", CLOSE).replace("localhost", "example.com"), 403, "`Host`"),
        (post("echo", &format!("{CLOSE}Origin: http://example.com\r\n")), 403, "`Origin`"),
        (post("echo", &format!("{CLOSE}Authorization: Bearer x\r\n")), 401, "www-authenticate: Bearer\r\n"),
        (post("echo", &format!("{CLOSE}Host: localhost\r\n")), 400, "twice"),
        (post("echo", &format!("{CLOSE}Origin: null\r\nOrigin: null\r\n")), 400, "twice"),
        (post("echo", &format!("{CLOSE}Mcp-Session-Id: a\r\nMcp-Session-Id: a\r\n")), 400, "twice"),
        (post("echo", CLOSE).replace("/mcp", "/other"), 404, "path"),
        (post("echo", CLOSE).replace("application/json\r\n", "text/plain\r\n"), 415, "`Content-Type`"),
        (post("echo", CLOSE).replace("Mcp-Name: echo", "Mcp-Name: wait"), 400, "-32020"),
        (post("echo", CLOSE).replace(r#"{"jsonrpc""#, r#"["jsonrpc""#), 400, "-32700"),
        (post("echo", CLOSE).replace("tools/call", "tools/none"), 404, "-32601"),
    ] {
        let response = server.exchange(&request);
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{request}\n{response}");
        assert!(response.contains(text), "{request}\n{response}");
    }
    server.expect_no_exchange();
}

#[test]
fn bearer_token_is_required_and_metadata_is_not_secret() {
    const METADATA: &str = r#"{"resource":"https://example.com/mcp"}"#;
    let path = format!("{RESOURCE_METADATA_PATH}/mcp");
    let url = format!("https://example.com{path}");
    let access = HttpAccess::new(&HTTP).bearer(["first"]).resource_metadata(url.clone(), METADATA);
    let server = TestServer::start_with(Serve::new(&CONFIG), access);
    let get = post("echo", CLOSE).replace("POST /mcp", &format!("GET {path}"));
    for (request, status, text) in [
        (post("echo", CLOSE), 401, format!("www-authenticate: Bearer resource_metadata=\"{url}\"\r\n")),
        (post("echo", &format!("{CLOSE}Authorization: Bearer x\r\n")), 401, "error=\"invalid_token\"".into()),
        // RFC 6750, section 3.1: a request with another scheme gets no error code.
        (
            post("echo", &format!("{CLOSE}Authorization: Basic eDp5\r\n")),
            401,
            format!("www-authenticate: Bearer resource_metadata=\"{url}\"\r\n"),
        ),
        (post("echo", &format!("{CLOSE}Authorization: Bearer first\r\n")), 200, "result".into()),
        (get, 200, METADATA.into()),
    ] {
        let response = server.exchange(&request);
        assert!(response.starts_with(&format!("HTTP/1.1 {status} ")), "{request}\n{response}");
        assert!(response.contains(&text), "{request}\n{response}");
    }
    server.expect_no_exchange();
}

#[test]
fn body_over_the_limit_is_refused() {
    let server = TestServer::start();
    let (head, _) =
        post("echo", CLOSE).split_once("\r\n\r\n").map(|(head, _)| (head.to_owned(), ())).unwrap();
    let (first, rest) = head.split_once("Content-Length: ").unwrap();
    let (_, rest) = rest.split_once("\r\n").unwrap();
    // The announced length is enough for a refusal.
    let announced = format!("{first}Content-Length: 99999999\r\n{rest}\r\n\r\n");
    let response = server.exchange(&announced);
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
    // Without an announced length, the server counts the bytes that arrive.
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let unannounced =
        format!("{first}Transfer-Encoding: chunked\r\n{rest}\r\n\r\n{chunk}1\r\nx\r\n0\r\n\r\n");
    let response = server.exchange(&unannounced);
    assert!(response.starts_with("HTTP/1.1 413 "), "{response}");
    server.expect_no_exchange();
}

#[test]
fn slow_body_is_refused_in_time() {
    static SLOW: HttpConfig = {
        let mut times = HttpConfig::new().get_times();
        times.body = Millis(100);
        HttpConfig::new().times(times)
    };
    let server = TestServer::start_with(Serve::new(&CONFIG), HttpAccess::new(&SLOW));
    let request = post("echo", CLOSE);
    let start = Instant::now();
    let mut stream = server.open(&request[..request.len() - 1]);
    let response = read_until(&mut stream, "}");
    assert!(response.starts_with("HTTP/1.1 408 "), "{response}");
    assert!(start.elapsed() >= Duration::from_millis(90) && start.elapsed() < LIMIT);
    server.expect_no_exchange();
}

#[test]
fn client_that_leaves_cancels_its_call() {
    let server = TestServer::start();
    let mut stream = server.open(&post("wait", ""));
    read_until(&mut stream, "notifications/progress");
    server.expect(Report::Waiting);
    drop(stream);
    server.expect(Report::Cancelled);
    server.expect_no_exchange();
}

/// Begins a session, and returns its header field.
fn begin_session(server: &TestServer) -> String {
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
    let response = server.exchange(&old_post(initialize, ""));
    let (_, rest) = response.split_once("mcp-session-id: ").expect("a session begins");
    let session = format!("Mcp-Session-Id: {}\r\n", rest.split("\r\n").next().unwrap());
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert!(server.exchange(&old_post(initialized, &session)).starts_with("HTTP/1.1 202 "));
    session
}

/// Several `Accept` lines count as one list (RFC 9110, section 5.3).
#[test]
fn accept_in_two_lines_is_one_list() {
    const LINES: &str = "Accept: application/json\r\nAccept: text/event-stream\r\n";
    let server = TestServer::start();
    let call = post("progress", CLOSE).replace("Accept: application/json, text/event-stream\r\n", LINES);
    let response = server.exchange(&call);
    assert!(response.contains("content-type: text/event-stream\r\n"), "{response}");
    assert_eq!(response.matches("notifications/progress").count(), 3, "{response}");
    let get = bodiless("GET", &begin_session(&server)).replace("Accept: text/event-stream\r\n", LINES);
    let response = read_until(&mut server.open(&get), "\r\n\r\n");
    assert!(response.starts_with("HTTP/1.1 200 OK\r\n"), "{response}");
}

/// Returns a request without a body for a session.
fn bodiless(method: &str, session: &str) -> String {
    format!("{method} /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{CLOSE}{session}\r\n")
}

#[test]
fn delete_ends_the_session_and_its_stream() {
    let server = TestServer::start();
    let session = begin_session(&server);
    let ping = old_post(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#, &session);
    assert!(server.exchange(&ping).contains(r#""result":{}"#));
    let mut stream = server.open(&bodiless("GET", &session));
    read_until(&mut stream, "text/event-stream");
    assert!(server.exchange(&bodiless("DELETE", &session)).starts_with("HTTP/1.1 204 "));
    read_until(&mut stream, "0\r\n\r\n");
    assert!(server.exchange(&ping).starts_with("HTTP/1.1 404 "));
    server.expect_no_exchange();
}

#[test]
fn change_reaches_the_streams_of_all_sessions() {
    let server = TestServer::start();
    let mut streams: Vec<_> = (0..3)
        .map(|_| {
            let mut stream = server.open(&bodiless("GET", &begin_session(&server)));
            read_until(&mut stream, "text/event-stream");
            stream
        })
        .collect();
    assert!(server.exchange(&post("change", CLOSE)).contains("changed"));
    for stream in &mut streams {
        read_until(stream, "notifications/tools/list_changed");
    }
}

#[test]
fn stream_resumes_after_the_last_event() {
    let server = TestServer::start();
    let session = begin_session(&server);
    let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"progress","_meta":{"progressToken":1}}}"#;
    let response = server.exchange(&old_post(call, &session));
    let ids: Vec<_> = response.lines().filter_map(|line| line.strip_prefix("id: ")).collect();
    assert_eq!(ids.len(), 5, "a priming event, three of progress, one response: {response}");
    let resumed = server.exchange(&bodiless("GET", &format!("{session}Last-Event-ID: {}\r\n", ids[2])));
    assert!(!resumed.contains(ids[2]) && resumed.contains(ids[3]) && resumed.contains("done"), "{resumed}");
}

#[test]
fn resumption_closes_the_connection_that_it_replaces() {
    let server = TestServer::start();
    let session = begin_session(&server);
    let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":1}}}"#;
    let mut old = server.open(&old_post(call, &session));
    let begin = read_until(&mut old, "notifications/progress");
    let id = begin.lines().find_map(|line| line.strip_prefix("id: ")).expect("a priming event");
    let mut new = server.open(&bodiless("GET", &format!("{session}Last-Event-ID: {id}\r\n")));
    read_until(&mut new, "notifications/progress");
    // The last chunk (`0`) is missing, because the stream is incomplete.
    let mut rest = String::new();
    old.read_to_string(&mut rest).expect("the connection closes");
    assert!(!rest.contains("0\r\n\r\n"), "{rest}");
}

#[test]
fn resumption_of_an_unknown_stream_is_refused() {
    let server = TestServer::start();
    let session = begin_session(&server);
    let response = server.exchange(&bodiless("GET", &format!("{session}Last-Event-ID: 999-1\r\n")));
    assert!(response.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{response}");
    server.expect_no_exchange();
}

#[test]
fn released_connection_ends_before_its_call() {
    let server = TestServer::start();
    let session = begin_session(&server);
    let call = r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"release"}}"#;
    let response = server.exchange(&old_post(call, &session));
    assert!(!response.contains("done") && response.ends_with("0\r\n\r\n"), "{response}");
    let id = response.lines().find_map(|line| line.strip_prefix("id: ")).expect("a priming event");
    let resumed = server.exchange(&bodiless("GET", &format!("{session}Last-Event-ID: {id}\r\n")));
    assert!(resumed.contains("done"), "{resumed}");
    server.expect_no_exchange();
}

#[test]
fn configuration_without_sessions_refuses_initialize() {
    static MODERN: HttpConfig = HttpConfig::new().sessions(SessionMode::Off);
    let server = TestServer::start_with(Serve::new(&CONFIG), HttpAccess::new(&MODERN));
    let initialize = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    assert!(server.exchange(&old_post(initialize, "")).starts_with("HTTP/1.1 400 "));
    assert!(server.exchange(&post("echo", CLOSE)).starts_with("HTTP/1.1 200 "));
}

#[test]
fn client_that_does_not_read_blocks_no_other() {
    let server = TestServer::start();
    let mut slow = server.open("");
    slow.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let request = post("large", "");
    // Send requests until the buffers of both directions are full.
    while slow.write_all(request.as_bytes()).is_ok() {}
    let start = Instant::now();
    assert!(server.exchange(&post("echo", CLOSE)).contains("\"7\""));
    assert!(start.elapsed() < LIMIT / 2, "{:?}", start.elapsed());
}

#[test]
fn panic_of_the_handler_fails_only_its_request() {
    let server = TestServer::start();
    assert!(server.exchange(&post("panic", CLOSE)).contains(r#""error":{"code":-32603,"#));
    assert!(server.exchange(&post("echo", CLOSE)).contains("\"7\""));
    assert!(server.exchange(&post("task", CLOSE)).contains("done"));
}
