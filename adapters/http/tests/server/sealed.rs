//! Sealed session ids: any node with the same key accepts them, without a table of sessions.

use super::support::{Harness, LARGE, Request, Sizes, initialize, old_call};
use mcp_proto_http::server::{HttpConfig, SessionMode};

const HTTP: HttpConfig<'static> = HttpConfig::new().sessions(SessionMode::Sealed);

/// B-S21, B-S22, B-S23.
#[test]
fn sealed_session_works_on_any_node() {
    let (mut first, mut second) = (Harness::new(HTTP), Harness::new(HTTP));
    let session = first.initialize("2025-06-18");
    assert!(session.len() == 64 && session.bytes().all(|byte| byte.is_ascii_hexdigit()));
    for node in [&mut first, &mut second] {
        let reply = node.ask(&Request::old(old_call(1, "echo"), &session));
        assert!(reply.status == 200 && reply.body.contains("echo"), "{reply:?}");
        // The id is unknown if its text, the user, or the key of the server differs.
        let forged = session.replacen(&session[20..21], if &session[20..21] == "0" { "1" } else { "0" }, 1);
        for id in [forged.as_str(), &session[1..], "x"] {
            assert_eq!(node.ask(&Request::old(old_call(1, "echo"), id)).status, 404, "{id}");
        }
        let other = Request::old(old_call(1, "echo"), &session).with("authorization", "Bearer b");
        assert_eq!(node.ask(&other).status, 404);
        assert_eq!(node.ask(&Request::post(old_call(1, "echo"))).status, 400);
    }
    second.http.policy().key = 1;
    assert_eq!(second.ask(&Request::old(old_call(1, "echo"), &session)).status, 404);
    // B-S26: a client can neither end a sealed session nor open a general stream for it.
    assert_eq!(first.ask(&Request::new("DELETE").with("mcp-session-id", &session)).status, 405);
    assert_eq!(first.ask(&Request::new("GET").with("mcp-session-id", &session)).status, 405);
}

/// C-C1: the id of a sealed session contains the revision.
#[test]
fn sealed_session_keeps_its_revision() {
    for (revision, status) in [("2025-03-26", 200), ("2025-06-18", 400)] {
        let mut harness = Harness::new(HTTP);
        let session = harness.initialize(revision);
        let batch = format!("[{}]", old_call(1, "echo"));
        assert_eq!(harness.ask(&Request::old(batch, &session)).status, status, "{revision}");
    }
    let mut harness = Harness::new(HTTP);
    let reply = harness.ask(&Request::post(initialize("2025-06-18").replace("clientInfo", "x")));
    assert_eq!((reply.code(), reply.field("mcp-session-id")), (-32602, ""));
}

/// Without a table of sessions, the server does not notice that a client has left. The server therefore refuses
/// `resources/subscribe`, whose subscription would take memory forever.
#[test]
fn subscription_needs_a_stored_session() {
    const SUBSCRIBE: &str =
        r#"{"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"file:///é"}}"#;
    for mode in [SessionMode::Sealed, SessionMode::Stateless] {
        let mut harness = Harness::new(HTTP.sessions(mode));
        for _ in 0..20 {
            let session = match mode {
                SessionMode::Sealed => harness.initialize("2025-03-26"),
                _ => String::new(),
            };
            let reply = harness.ask(&Request::old(SUBSCRIBE, &session));
            assert_eq!((reply.status, reply.code()), (200, -32601), "{reply:?}");
            assert!(reply.body.contains(r#""id":2"#), "{reply:?}");
            let ping = r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#;
            let reply = harness.ask(&Request::old(format!("[{ping},{SUBSCRIBE}]"), &session));
            assert_eq!((reply.status, reply.code()), (400, -32601), "{reply:?}");
            assert_eq!(harness.ask(&Request::old(format!("[{ping}]"), &session)).status, 200);
        }
        let listen = r#""notifications":{"resourceSubscriptions":["file:///é"]}"#;
        let reply = harness.ask(&Request::modern(1, "subscriptions/listen", listen));
        assert!(reply.body.contains("acknowledged") && reply.body.contains("file:///é"), "{reply:?}");
    }
}

/// Two sealed sessions whose random bytes differ in one byte share nothing: neither ids of requests, nor
/// cancellations.
#[test]
fn sealed_sessions_with_similar_ids_are_independent() {
    let mut harness = Harness::new(HTTP);
    harness.http.policy().is_predictable = true;
    let sessions = [harness.initialize("2025-06-18"), harness.initialize("2025-06-18")];
    assert_ne!(sessions[0], sessions[1]);
    let [first, second] = sessions
        .each_ref()
        .map(|session| harness.send(&Request::old(old_call(1, "defer"), session)).unwrap());
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    assert_eq!(harness.ask(&Request::old(cancel, &sessions[1])).status, 202);
    assert_eq!((harness.reply(first).status, harness.reply(second).status), (0, 202));
    harness.respond(0);
    assert!(harness.reply(first).body.contains("late"), "{:?}", harness.reply(first));
    // A session refuses an id that one of its requests in flight already has.
    harness.send(&Request::old(old_call(1, "defer"), &sessions[0])).unwrap();
    let reply = harness.ask(&Request::old(old_call(1, "echo"), &sessions[0]));
    assert!(reply.body.contains("error"), "{reply:?}");
    assert!(harness.ask(&Request::old(old_call(1, "echo"), &sessions[1])).body.contains("echo"));
    // A handshake succeeds while a request of a session is in flight.
    assert_eq!(harness.initialize("2025-06-18").len(), 64);
}

/// The response to `initialize` names the session, however long the response takes.
#[test]
fn late_initialize_gets_its_session() {
    let mut harness = Harness::with_sizes(HTTP, Sizes::default());
    let send_unread = |harness: &mut Harness, tool| {
        let request = Request::call(1, tool);
        let id = harness.begin(&request).unwrap();
        harness.stalled.push(id);
        harness.piece(id, &request, request.body.as_bytes(), true);
        id
    };
    // Clients that do not read leave less space than the response to the deferred call needs.
    let unread = [(); 4].map(|()| send_unread(&mut harness, "large"));
    send_unread(&mut harness, "defer");
    let request = Request::post(initialize("2025-06-18"));
    let id = harness.begin(&request).unwrap();
    harness.pass(id, &request, request.body.as_bytes(), true);
    harness.server.reply(harness.tickets[0]).unwrap().text(LARGE);
    harness.run();
    harness.advance(5000);
    assert_eq!(harness.reply(id).status, 0);
    harness.stalled.clear();
    unread.into_iter().for_each(|id| harness.read(id));
    harness.run();
    let reply = harness.reply(id);
    assert_eq!(
        (reply.status, reply.ended, reply.field("mcp-session-id").len()),
        (200, true, 64),
        "{reply:?}"
    );
}
