//! Handshake era: sessions, their end, general streams, both eras on one endpoint.

use super::support::{Harness, Request, Sizes, initialize, old_call};
use mcp_proto::server::{Change, RequestOptions};
use mcp_proto::{Millis, SendError};
use mcp_proto_http::server::{HttpConfig, HttpTimes, SessionMode};

const HTTP: HttpConfig<'static> = HttpConfig::new().sessions(SessionMode::Sessions);

fn get(session: &str) -> Request {
    Request::new("GET").with("accept", "text/event-stream").with("mcp-session-id", session)
}

fn delete(session: &str) -> Request {
    Request::new("DELETE").with("mcp-session-id", session)
}

/// E-C8: a notification of 2026-07-28 names no session, so it does not reach the current session of the core server.
#[test]
fn modern_notification_does_not_reach_a_session() {
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-11-25");
    let call = harness.send(&Request::old(old_call(1, "defer"), &session)).unwrap();
    let cancelled = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let request = Request::post(cancelled).with("mcp-protocol-version", "2026-07-28");
    assert_eq!(harness.ask(&request).status, 202);
    assert!(harness.events.iter().all(|event| !event.contains("cancelled")), "{:?}", harness.events);
    harness.respond(0);
    assert!(harness.reply(call).body.contains("late"));
}

/// A late response to the request of a disconnected client reaches no other client.
#[test]
fn late_response_of_a_lost_client_reaches_no_client() {
    let mut times = HTTP.get_times();
    times.session_idle = Millis(1_000);
    let config = HTTP.sessions(SessionMode::Stateless).times(times);
    let mut harness = Harness::with_sizes(config, Sizes { exchanges: 2, ..Sizes::default() });
    let call = |id| Request::post(old_call(id, "defer"));
    let lost = harness.send(&call(1)).unwrap();
    harness.http.close(lost);
    harness.advance(2_000);
    let other = harness.send(&call(2)).unwrap();
    // The core server still has the first request, so the exchange of the request is in use.
    assert_eq!(harness.send(&call(3)).unwrap_err().status, 503);
    harness.respond(0);
    assert_eq!(harness.reply(other).status, 0);
    let third = harness.send(&call(3)).unwrap();
    harness.respond(1);
    assert!(harness.reply(other).body.contains(r#""id":2"#) && harness.reply(third).status == 0);
}

/// B-S21, B-S22, B-S23, D-S10: the response to `initialize` has a session id.
#[test]
fn initialize_creates_a_session() {
    let mut harness = Harness::new(HTTP);
    let first = harness.initialize("2025-06-18");
    let second = harness.initialize("2025-11-25");
    assert!(first.len() == 32 && first.bytes().all(|byte| byte.is_ascii_hexdigit()) && first != second);
    assert_eq!(harness.events, ["ready", "ready"]);
    for session in [&first, &second, &first] {
        let reply = harness.ask(&Request::old(old_call(1, "echo"), session));
        assert_eq!((reply.status, reply.field("mcp-session-id")), (200, ""), "{reply:?}");
        assert!(reply.body.contains("echo"));
    }
    // A failed `initialize` creates no session.
    let bad = initialize("2025-06-18").replace("clientInfo", "nobody");
    let reply = harness.ask(&Request::post(bad));
    assert_eq!((reply.status, reply.code(), reply.field("mcp-session-id")), (200, -32602, ""));
    // An `initialize` that names a live session creates another session.
    let again = harness.ask(&Request::old(initialize("2025-06-18"), &first));
    assert!(again.status == 200 && again.field("mcp-session-id") != first);
}

/// A row: requirement, message, session, version, status.
type Row = (&'static str, &'static str, &'static str, &'static str, u16);

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// The session `first` has revision 2025-11-25.
const ROWS: &[Row] = &[
    ("B-C10", PING, "first", "", 200),
    ("B-S24 missing", PING, "", "", 400),
    ("B-S24 missing", r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, "", "", 400),
    ("B-S25 unknown", PING, "0123456789abcdef0123456789abcdef", "", 404),
    ("malformed id", PING, "x", "", 404),
    ("C-C3", PING, "first", "2025-11-25", 200),
    ("version of another revision", PING, "first", "2025-03-26", 200),
    ("C-S3 unknown", PING, "first", "2020-01-01", 400),
    ("C-S3 invalid", PING, "first", "x", 400),
    ("C-S2 absent", PING, "first", "", 200),
    ("C-C1 C-S1 array", r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, "first", "", 400),
    ("B-S5 response", r#"{"jsonrpc":"2.0","id":99,"result":{}}"#, "first", "", 202),
    ("B-S6 not JSON-RPC", r#"{"jsonrpc":"2.0"}"#, "first", "", 400),
    ("unknown method", r#"{"jsonrpc":"2.0","id":1,"method":"no"}"#, "first", "", 200),
];

#[test]
fn session_and_version_are_checked() {
    for (rule, body, session, version, status) in ROWS {
        let mut harness = Harness::new(HTTP);
        let first = harness.initialize("2025-11-25");
        let session = if *session == "first" { &first } else { *session };
        let reply = harness.ask(&Request::old(*body, session).with("mcp-protocol-version", version));
        assert_eq!(reply.status, *status, "{rule}: {reply:?}");
    }
}

/// C-S3: the server checks `MCP-Protocol-Version` also for requests without a body.
#[test]
fn version_of_get_and_delete_is_checked() {
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-11-25");
    let request = |method, version| {
        Request::new(method).with("mcp-session-id", &session).with("mcp-protocol-version", version)
    };
    for (method, version) in [("GET", "1999-01-01"), ("GET", "x"), ("DELETE", "1999-01-01"), ("DELETE", "x")]
    {
        let reply = harness.ask(&request(method, version));
        assert_eq!((reply.status, reply.code()), (400, -32600), "{method} {version}: {reply:?}");
        assert_eq!(harness.ask(&Request::old(PING, &session)).status, 200, "{method} {version}");
    }
    for (method, version, status) in
        [("GET", "2025-11-25", 200), ("GET", "", 200), ("DELETE", "2025-11-25", 204)]
    {
        assert_eq!(harness.ask(&request(method, version)).status, status, "{method} {version}");
    }
}

/// E-D1: one endpoint serves both eras, and their requests in flight may have the same id.
#[test]
fn both_eras_are_served_at_once() {
    let mut harness = Harness::new(HTTP);
    let sessions = [harness.initialize("2025-03-26"), harness.initialize("2025-11-25")];
    let modern = harness.send(&Request::call(1, "defer")).unwrap();
    let old = sessions.each_ref().map(|it| harness.send(&Request::old(old_call(1, "defer"), it)).unwrap());
    // The same id twice in one session is refused.
    let twice = harness.ask(&Request::old(old_call(1, "defer"), &sessions[0]));
    assert_eq!((twice.status, twice.code()), (200, -32600));
    for number in [2, 0, 1] {
        harness.respond(number);
    }
    for id in [modern, old[0], old[1]] {
        assert!(harness.reply(id).body.contains("late"), "{:?}", harness.reply(id));
    }
    assert_eq!(harness.http.open_exchanges(), 0);
}

/// B-S25, B-C11: DELETE ends the session, its streams and its calls.
#[test]
fn delete_ends_the_session() {
    let mut harness = Harness::new(HTTP);
    let (session, other) = (harness.initialize("2025-11-25"), harness.initialize("2025-11-25"));
    let general = harness.send(&get(&session)).unwrap();
    let waiting = harness.send(&Request::old(old_call(1, "defer"), &session)).unwrap();
    let stream = harness.send(&Request::old(old_call(2, "defer"), &session)).unwrap();
    let spared = harness.send(&Request::old(old_call(1, "defer"), &other)).unwrap();
    harness.progress(1, 1);
    let reply = harness.ask(&delete(&session));
    assert_eq!((reply.status, reply.field("content-length")), (204, ""));
    assert!(harness.reply(general).ended && harness.reply(stream).ended);
    let reply = harness.reply(waiting);
    assert!(reply.status == 404 && reply.body.starts_with(r#"{"jsonrpc":"2.0","id":1,"error""#), "{reply:?}");
    assert_eq!(harness.events[2..], ["cancelled Some(0)", "cancelled Some(1)"]);
    for request in [delete(&session), get(&session), Request::old(PING, &session)] {
        assert_eq!(harness.ask(&request).status, 404);
    }
    harness.respond(2);
    assert!(harness.reply(spared).body.contains("late"));
    assert_eq!(harness.http.open_exchanges(), 0);
    assert_eq!(harness.ask(&Request::new("DELETE")).status, 400);
}

/// D-S11, B-S25: a message that arrives after the end of its session does not reach the next session.
#[test]
fn late_message_of_an_ended_session_is_refused() {
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    let as_user = |request: Request, user: &str| request.with("authorization", user);
    for answers in [false, true] {
        let mut harness = Harness::new(HTTP);
        let open = |harness: &mut Harness, user| {
            let reply = harness.ask(&as_user(Request::post(initialize("2025-11-25")), user));
            reply.field("mcp-session-id").to_string()
        };
        let first = open(&mut harness, "Bearer a");
        let mut late = as_user(Request::old(cancel, &first), "Bearer a");
        let id = harness.begin(&late).unwrap();
        assert_eq!(harness.ask(&as_user(delete(&first), "Bearer a")).status, 204);
        let second = open(&mut harness, "Bearer b");
        let call = as_user(Request::old(old_call(1, "defer"), &second), "Bearer b");
        let call = harness.send(&call).unwrap();
        if answers {
            harness.ping_during(0);
            let event = harness.reply(call).events().pop().unwrap();
            let ping = mcp_proto::json::Json::parse(event.as_bytes()).unwrap();
            late.body =
                format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, ping.get("id").unwrap().raw());
        }
        harness.events.clear();
        harness.piece(id, &late, late.body.as_bytes(), true);
        assert_eq!((harness.reply(id).status, harness.reply(id).code()), (404, -32600));
        assert!(harness.events.is_empty(), "{:?}", harness.events);
        harness.respond(0);
        assert!(harness.reply(call).body.contains("late"));
        assert_eq!(harness.http.open_exchanges(), 0);
    }
}

#[test]
fn refused_session_is_an_error_with_the_id_of_the_request() {
    for waits in [false, true] {
        let mut harness = Harness::with_sizes(HTTP, Sizes { sessions: 1, ..Sizes::default() });
        let session = harness.initialize("2025-11-25");
        harness.send(&get(&session)).unwrap();
        if waits {
            let busy = harness.begin(&Request::call(1, "echo")).unwrap();
            harness.pass(busy, &Request::call(1, "echo"), Request::call(1, "echo").body.as_bytes(), true);
        }
        let full = harness.ask(&Request::post(initialize("2025-11-25")));
        assert_eq!(full.status, 503, "{full:?}");
        assert!(full.body.starts_with(r#"{"jsonrpc":"2.0","id":0,"error""#), "{full:?}");
        // The session ends while a request, and a response to a request of the server, wait for the core server.
        let request = Request::old(old_call(7, "echo"), &session);
        let response = Request::old(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, &session);
        let busy = Request::call(1, "echo");
        let ids = [&busy, &request, &response].map(|request| {
            let id = harness.begin(request).unwrap();
            harness.pass(id, request, request.body.as_bytes(), true);
            id
        });
        assert_eq!(harness.ask(&delete(&session)).status, 204);
        let [busy, late, response] = ids.map(|id| harness.reply(id));
        assert_eq!((busy.status, late.status, response.status), (200, 404, 404), "{late:?}");
        assert!(late.body.starts_with(r#"{"jsonrpc":"2.0","id":7,"error""#), "{late:?}");
        assert!(response.body.starts_with(r#"{"jsonrpc":"2.0","error""#), "{response:?}");
        assert_eq!(harness.http.open_exchanges(), 0);
    }
}

/// A response that is unread at the end of its session does not change the next session.
#[test]
fn unread_response_of_an_ended_session_is_not_counted() {
    let mut harness = Harness::with_sizes(HTTP, Sizes { sessions: 1, ..Sizes::default() });
    let first = harness.initialize("2025-11-25");
    let request = Request::old(PING, &first);
    let unread = harness.begin(&request).unwrap();
    harness.stalled.push(unread);
    harness.piece(unread, &request, request.body.as_bytes(), true);
    assert_eq!(harness.ask(&delete(&first)).status, 204);
    let second = harness.initialize("2025-11-25");
    harness.send(&get(&second)).unwrap();
    harness.http.close(unread);
    harness.run();
    // The stream keeps the session in use, so no other client can take the slot of the session.
    assert_eq!(harness.ask(&Request::post(initialize("2025-11-25"))).status, 503);
    assert_eq!(harness.ask(&Request::old(PING, &second)).status, 200);
}

/// At the end of a session, the server refuses messages of the session that still wait for the core server.
#[test]
fn queued_message_of_an_ended_session_is_refused() {
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-11-25");
    let requests = [1, 2].map(|id| Request::old(old_call(id, "echo"), &session));
    let ids = requests.each_ref().map(|request| harness.begin(request).unwrap());
    for (id, request) in ids.iter().zip(&requests) {
        harness.pass(*id, request, request.body.as_bytes(), true);
    }
    assert_eq!(harness.ask(&delete(&session)).status, 204);
    // The core server has the first message already.
    assert_eq!(ids.map(|id| harness.reply(id).status), [200, 404]);
    assert_eq!(harness.http.open_exchanges(), 0);
}

/// B-S10, B-S11, B-C6: a lost connection is no cancellation, but `notifications/cancelled` is.
#[test]
fn lost_connection_does_not_cancel() {
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-06-18");
    for number in [0, 1] {
        let id = harness.send(&Request::old(old_call(number, "defer"), &session)).unwrap();
        harness.http.close(id);
        harness.run();
    }
    assert_eq!((harness.events.len(), harness.http.open_exchanges()), (1, 2));
    // The exchange of a call is free as soon as the call has ended.
    harness.respond(0);
    assert_eq!(harness.http.open_exchanges(), 1);
    let cancel = |id| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    assert_eq!(harness.ask(&Request::old(cancel(1), &session)).status, 202);
    assert_eq!((harness.events[1].as_str(), harness.http.open_exchanges()), ("cancelled Some(1)", 0));
    // A cancelled call has no response, so its exchange ends without one.
    for is_stream in [false, true] {
        let id = harness.send(&Request::old(old_call(5, "defer"), &session)).unwrap();
        if is_stream {
            harness.progress(harness.tickets.len() - 1, 1);
        }
        harness.ask(&Request::old(cancel(5), &session));
        let reply = harness.reply(id);
        assert_eq!((reply.status, reply.ended), (if is_stream { 200 } else { 202 }, true));
    }
}

/// B-S9, B-C5: a request of the server, and its response on another POST.
#[test]
fn request_of_the_server_belongs_to_its_call() {
    let mut harness = Harness::new(HTTP);
    let (session, other) = (harness.initialize("2025-11-25"), harness.initialize("2025-11-25"));
    let id = harness.send(&Request::old(old_call(1, "ask"), &session)).unwrap();
    harness.ask(&Request::old(PING, &other));
    harness.ping_during(0);
    let event = harness.reply(id).events()[0].clone();
    assert!(event.contains(r#""method":"ping""#), "{event}");
    let request = mcp_proto::json::Json::parse(event.as_bytes()).unwrap();
    let response = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, request.get("id").unwrap().raw());
    // Only the client of the session may respond.
    assert_eq!(harness.ask(&Request::old(response.clone(), &other)).status, 202);
    assert_eq!(harness.events.last().unwrap(), "a response that matches no request in flight");
    assert_eq!(harness.ask(&Request::old(response, &session)).status, 202);
    assert_eq!(harness.events.last().unwrap(), "Result({})");
    harness.respond(0);
    assert_eq!(harness.reply(id).events().len(), 2);
}

/// A call of 2026-07-28 has no session, so the server sends its client no requests.
#[test]
fn modern_call_selects_no_session() {
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-11-25");
    let call = harness.send(&Request::call(1, "defer")).unwrap();
    assert_eq!(harness.ask(&Request::old(PING, &session)).status, 200);
    let during = RequestOptions::DEFAULT.during(harness.tickets[0]);
    assert_eq!(harness.server.ping(during), Err(SendError::Unsupported));
    harness.http.enter(&mut harness.server, harness.tickets[0]).unwrap();
    assert_eq!(harness.server.ping(RequestOptions::DEFAULT), Err(SendError::NotConnected));
    harness.respond(0);
    assert!(harness.reply(call).body.contains("late"));
    assert_eq!(harness.ask(&Request::old(PING, &session)).status, 200);
}

/// B-S12, B-S13, B-S14, B-S15, B-S16: general streams.
#[test]
fn session_message_goes_to_exactly_one_stream() {
    let mut harness = Harness::new(HTTP);
    let (session, other) = (harness.initialize("2025-11-25"), harness.initialize("2025-06-18"));
    let streams = [0, 1].map(|_| harness.send(&get(&session)).unwrap());
    let foreign = harness.send(&get(&other)).unwrap();
    assert!(harness.reply(foreign).is_stream() && harness.reply(foreign).body.is_empty());
    let subscribe = r#"{"jsonrpc":"2.0","id":1,"method":"resources/subscribe","params":{"uri":"file:///é"}}"#;
    assert_eq!(harness.ask(&Request::old(subscribe, &session)).code(), 0);
    harness.changed(Change::Resource("file:///é"));
    let count = |harness: &Harness, id| harness.reply(id).events().len();
    let told = streams.map(|id| count(&harness, id));
    assert_eq!((told[0] + told[1], count(&harness, foreign)), (1, 0));
    harness.ask(&Request::old(old_call(1, "progress"), &session));
    assert_eq!(streams.map(|id| count(&harness, id)), told, "messages of a call stay on its stream");
    harness.http.close(streams[0]);
    harness.http.close(streams[1]);
    harness.run();
    harness.changed(Change::Resource("file:///é"));
    assert_eq!(harness.http.open_exchanges(), 1);
    assert_eq!(harness.ask(&get(&session).with("accept", "application/json")).status, 406);
}

#[test]
fn changed_list_is_reported_to_every_session() {
    let mut harness = Harness::new(HTTP);
    let sessions = [harness.initialize("2025-11-25"), harness.initialize("2025-06-18")];
    let streams = sessions.each_ref().map(|session| harness.send(&get(session)).unwrap());
    harness.changed(Change::Tools);
    // A later request of a session does not cause a second notification.
    for session in &sessions {
        assert_eq!(harness.ask(&Request::old(PING, session)).status, 200);
    }
    for id in streams {
        let events = harness.reply(id).events();
        assert_eq!(events, [r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#]);
    }
}

/// The server of the tests declares `listChanged` for tools only.
#[test]
fn change_of_an_undeclared_list_is_not_reported() {
    let mut harness = Harness::new(HTTP);
    let sessions = [harness.initialize("2025-11-25"), harness.initialize("2025-06-18")];
    let streams = sessions.each_ref().map(|session| harness.send(&get(session)).unwrap());
    harness.changed(Change::Resources);
    harness.changed(Change::Prompts);
    for id in streams {
        assert_eq!(harness.reply(id).events(), [""; 0]);
    }
}

/// D-S11, B-S25: idle sessions end, and a full table drops the session that was idle for the longest time.
#[test]
fn idle_sessions_end() {
    let mut harness = Harness::with_sizes(HTTP, Sizes { sessions: 2, ..Sizes::default() });
    let first = harness.initialize("2025-11-25");
    harness.advance(1000);
    let second = harness.initialize("2025-11-25");
    harness.advance(1000);
    assert_eq!(harness.ask(&Request::old(PING, &first)).status, 200);
    let third = harness.initialize("2025-11-25");
    let status = |harness: &mut Harness, session: &str| harness.ask(&Request::old(PING, session)).status;
    assert_eq!([&first, &second, &third].map(|it| status(&mut harness, it)), [200, 404, 200]);
    // Sessions with open streams stay.
    let streams = [&first, &third].map(|session| harness.send(&get(session)).unwrap());
    let full = harness.ask(&Request::post(initialize("2025-11-25")));
    assert_eq!((full.status, full.field("retry-after")), (503, "1"));
    harness.http.close(streams[0]);
    harness.run();
    let fourth = harness.initialize("2025-11-25");
    assert_eq!([&first, &third, &fourth].map(|it| status(&mut harness, it)), [404, 200, 200]);
    // Time alone ends sessions without a stream.
    for _ in 0..4 {
        harness.advance(Millis::seconds(8 * 3600).0 / 4);
    }
    assert_eq!([&third, &fourth].map(|it| status(&mut harness, it)), [200, 404]);
}

#[test]
fn dropped_request_to_the_client_ends_with_its_timeout() {
    for (accept, config) in
        [("application/json", HTTP), ("application/json, text/event-stream", HTTP.json_only())]
    {
        let mut harness = Harness::new(config);
        let session = harness.initialize("2025-11-25");
        let id = harness.send(&Request::old(old_call(1, "defer"), &session).with("accept", accept)).unwrap();
        harness.events.clear();
        harness.ping_during(0);
        harness.advance(59_999);
        harness.respond(0);
        assert!(harness.events.is_empty() && harness.reply(id).body.contains("late"), "{:?}", harness.events);
        harness.advance(1);
        assert_eq!(harness.events, ["Failed(TimedOut)"]);
    }
}

#[test]
fn session_cannot_be_entered_during_shutdown() {
    let mut harness = Harness::new(HTTP);
    let sessions = [harness.initialize("2025-11-25"), harness.initialize("2025-11-25")];
    let calls = sessions.each_ref().map(|it| harness.send(&Request::old(old_call(1, "defer"), it)).unwrap());
    harness.server.shutdown(Millis(1000));
    harness.run();
    // During the shutdown, the core server keeps its current session, which is the second one.
    let entered = [0, 1].map(|number| harness.http.enter(&mut harness.server, harness.tickets[number]));
    assert_eq!(entered, [Err(SendError::NotConnected), Ok(())]);
    harness.respond(0);
    harness.respond(1);
    assert!(calls.iter().all(|id| harness.reply(*id).body.contains("late")));
}

/// D-S11: a session belongs to its user.
#[test]
fn session_of_another_user_is_unknown() {
    let mut harness = Harness::new(HTTP);
    let reply = harness.ask(&Request::post(initialize("2025-11-25")).with("authorization", "Bearer a"));
    let session = reply.field("mcp-session-id");
    for (token, status) in [("Bearer a", 200), ("Bearer b", 404), ("", 404)] {
        let request = Request::old(PING, session).with("authorization", token);
        assert_eq!(harness.ask(&request).status, status, "{token}");
    }
}

/// B-S21: sessions are optional.
#[test]
fn stateless_handshake_needs_no_session() {
    let mut harness = Harness::new(HttpConfig::new().sessions(SessionMode::Stateless));
    let reply = harness.ask(&Request::post(initialize("2025-06-18")));
    assert_eq!((reply.status, reply.field("mcp-session-id")), (200, ""));
    assert!(reply.body.contains("2025-06-18"));
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(harness.ask(&Request::post(initialized)).status, 202);
    let ids = [0, 1].map(|_| {
        let call = Request::post(old_call(1, "defer")).with("mcp-protocol-version", "2025-06-18");
        harness.send(&call).unwrap()
    });
    harness.respond(1);
    harness.respond(0);
    assert!(ids.iter().all(|id| harness.reply(*id).body.contains("late")));
    assert_eq!(harness.ask(&get("x")).status, 405);
    assert_eq!(harness.ask(&delete("x")).status, 405);
    assert_eq!(harness.ask(&Request::call(1, "echo")).status, 200);
    assert!(harness.events.is_empty(), "{:?}", harness.events);
}

#[test]
fn times_can_be_changed() {
    let mut times: HttpTimes = HTTP.get_times();
    times.upgrade_after = Millis(10);
    let mut harness = Harness::new(HTTP.times(times));
    let session = harness.initialize("2025-06-18");
    let id = harness.send(&Request::old(old_call(1, "defer"), &session)).unwrap();
    assert_eq!(harness.wait, Some(Millis(10)));
    harness.advance(10);
    assert!(harness.reply(id).is_stream());
}
