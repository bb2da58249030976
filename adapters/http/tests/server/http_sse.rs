//! HTTP+SSE of 2024-11-05.

use super::support::{Harness, Request, Sizes, initialize, old_call};
use mcp_proto::server::Change;
use mcp_proto_http::server::{ExchangeId, HttpConfig, LegacyPaths, SessionMode};

const HTTP: HttpConfig<'static> = HttpConfig::new()
    .path("/mcp")
    .sessions(SessionMode::Sessions)
    .legacy(LegacyPaths { events: "/sse", messages: "/messages" });

fn connect(harness: &mut Harness) -> (ExchangeId, String) {
    let stream = harness.send(&Request { target: "/sse".into(), ..Request::new("GET") }).unwrap();
    let body = harness.reply(stream).body;
    let uri = body.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end().to_string();
    (stream, uri)
}

fn message(uri: &str, body: impl Into<String>) -> Request {
    Request { target: uri.into(), ..Request::post(body).with("accept", "") }
}

/// A-S1, A-S2, A-S3, A-S6, B-S27.
#[test]
fn http_sse_client_is_served_at_two_endpoints() {
    let mut harness = Harness::new(HTTP);
    let (stream, uri) = connect(&mut harness);
    assert!(uri.starts_with("/messages?sessionId="));
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_string();
    for body in [initialize("2024-11-05"), initialized, old_call(1, "progress"), old_call(2, "defer")] {
        let reply = harness.ask(&message(&uri, body));
        assert_eq!((reply.status, reply.body.as_str()), (202, "Accepted"));
    }
    harness.respond(0);
    harness.changed(Change::Tools);
    let reply = harness.reply(stream);
    let events = reply.events();
    assert_eq!(events.len(), 7, "{events:?}");
    assert!(events[1].contains("2024-11-05") && events[4].contains(r#""id":1,"result""#), "{events:?}");
    assert!(events[5].contains(r#""id":2,"result""#) && events[6].contains("list_changed"), "{events:?}");
    assert_eq!(reply.body.matches("event: message\ndata: ").count(), 6);
    assert!(!reply.ended && reply.field("mcp-session-id").is_empty());
    assert_eq!(harness.http.open_exchanges(), 1);
    // The same server still serves Streamable HTTP.
    assert_eq!(harness.ask(&Request::call(1, "echo")).status, 200);
}

#[test]
fn a_call_has_the_user_of_its_session() {
    let mut harness = Harness::new(HTTP);
    harness.http.policy().tokens = &["first", "second"];
    let token = |request: Request| request.with("authorization", "Bearer second");
    let stream = harness.send(&token(Request { target: "/sse".into(), ..Request::new("GET") })).unwrap();
    let uri =
        harness.reply(stream).body.strip_prefix("event: endpoint\ndata: ").unwrap().trim_end().to_string();
    for body in [initialize("2024-11-05"), old_call(1, "defer")] {
        assert_eq!(harness.ask(&token(message(&uri, body))).status, 202);
    }
    let stream = harness.server.stream_of(harness.tickets[0]).unwrap();
    assert_eq!(harness.http.user(stream), Some(2));
}

/// A-C3, A-S4, A-S6.
#[test]
fn end_of_the_stream_is_the_end_of_the_session() {
    let mut harness = Harness::new(HTTP);
    let (stream, uri) = connect(&mut harness);
    harness.ask(&message(&uri, initialize("2024-11-05")));
    harness.ask(&message(&uri, old_call(1, "defer")));
    harness.http.close(stream);
    harness.run();
    assert_eq!(harness.events, ["cancelled Some(0)"]);
    assert_eq!(harness.ask(&message(&uri, initialize("2024-11-05"))).status, 404);
    let evil = Request { target: "/sse".into(), ..Request::new("GET") }.with("origin", "http://evil.example");
    assert_eq!(harness.ask(&evil).status, 403);
    let rows = [("/messages", "POST", 400), ("/messages?sessionId=x", "POST", 404), ("/sse", "POST", 405)];
    for (target, method, status) in rows {
        let request = Request { method, ..message(target, initialize("2024-11-05")) };
        assert_eq!(harness.ask(&request).status, status, "{target}");
    }
    assert_eq!(harness.http.open_exchanges(), 0);
}

/// A-S6: a message that arrives after the end of its stream does not reach the next session.
#[test]
fn late_message_of_an_ended_stream_is_refused() {
    let mut harness = Harness::new(HTTP);
    let (stream, uri) = connect(&mut harness);
    harness.ask(&message(&uri, initialize("2024-11-05")));
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let late = message(&uri, cancel);
    let id = harness.begin(&late).unwrap();
    harness.http.close(stream);
    harness.run();
    let (stream, uri) = connect(&mut harness);
    harness.ask(&message(&uri, initialize("2024-11-05")));
    harness.ask(&message(&uri, old_call(1, "defer")));
    harness.piece(id, &late, late.body.as_bytes(), true);
    assert_eq!(harness.reply(id).status, 404);
    assert!(harness.events.is_empty(), "{:?}", harness.events);
    harness.respond(0);
    assert!(harness.reply(stream).body.contains("late"));
}

#[test]
fn response_beyond_the_output_is_an_error_in_the_stream() {
    let mut harness = Harness::with_sizes(HTTP, Sizes { output: 1024, ..Sizes::default() });
    let (stream, uri) = connect(&mut harness);
    harness.ask(&message(&uri, initialize("2024-11-05")));
    for id in [1, 2] {
        assert_eq!(harness.ask(&message(&uri, old_call(id, "large"))).status, 202);
        let events = harness.reply(stream).events();
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32603,"#);
        assert!(events.last().unwrap().starts_with(&expected), "{events:?}");
        assert_eq!(harness.ask(&Request::call(1, "echo")).status, 200);
    }
    assert_eq!(harness.reply(stream).body.matches("event: message\n").count(), 3);
    assert!(!harness.reply(stream).ended);
}

/// A stream that is refused for lack of an exchange ends no session. If several streams are refused because the table
/// of sessions is full, only one idle session ends at a time.
#[test]
fn full_table_ends_one_idle_session_at_a_time() {
    let sse = Request { target: "/sse".into(), ..Request::new("GET") };
    let mut harness = Harness::with_sizes(HTTP, Sizes { exchanges: 3, sessions: 3, ..Sizes::default() });
    let sessions = [0, 1, 2].map(|_| harness.initialize("2025-11-25"));
    let is_open = |harness: &mut Harness, session: &str| {
        harness.ask(&Request::old(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, session)).status == 200
    };
    // No exchange is free for a stream.
    let get = Request::new("GET").with("mcp-session-id", &sessions[2]);
    let streams = [0, 1].map(|_| harness.send(&get).unwrap());
    assert_eq!(harness.ask(&sse).status, 503);
    harness.run();
    assert_eq!(sessions.each_ref().map(|it| is_open(&mut harness, it)), [true; 3]);
    harness.http.close(streams[0]);
    harness.run();
    let calls = [1, 2].map(|id| harness.send(&Request::call(id, "defer")).unwrap());
    assert_eq!(harness.ask(&sse).status, 503);
    harness.run();
    calls.into_iter().for_each(|call| harness.http.close(call));
    harness.run();
    assert_eq!(sessions.each_ref().map(|it| is_open(&mut harness, it)), [true; 3]);
    // The core server has not removed the first session yet.
    for _ in 0..2 {
        assert_eq!(harness.begin(&sse).unwrap_err().status, 503);
    }
    harness.run();
    assert_eq!(sessions.each_ref().map(|it| is_open(&mut harness, it)), [false, true, true]);
    assert_eq!(harness.ask(&sse).status, 200);
}

#[test]
fn http_sse_endpoints_are_off_by_default() {
    let mut harness = Harness::new(HttpConfig::new().path("/mcp").sessions(SessionMode::Sessions));
    assert_eq!(harness.ask(&Request { target: "/sse".into(), ..Request::new("GET") }).status, 404);
}
