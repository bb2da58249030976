//! Batches of 2025-03-26.

use super::support::{Harness, Request, old_call};
use mcp_proto_http::server::{HttpConfig, SessionMode};

const CONFIG: HttpConfig<'static> = HttpConfig::new().sessions(SessionMode::Sessions);

/// B-C1, B-C3, B-C4, B-S5, B-S7, B-S8.
#[test]
fn batch_gets_one_array_of_responses() {
    let mut harness = Harness::new(CONFIG);
    let session = harness.initialize("2025-03-26");
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    let body = format!("[{},{notification},{}]", old_call(1, "echo"), old_call(2, "echo"));
    let reply = harness.ask(&Request::old(body, &session));
    assert_eq!((reply.status, reply.field("content-type")), (200, "application/json"));
    assert!(reply.body.starts_with('[') && reply.body.matches("echo").count() == 2, "{reply:?}");

    let only = harness.ask(&Request::old(format!("[{notification}]"), &session));
    assert_eq!((only.status, only.body.as_str()), (202, ""));
    let responses = r#"[{"jsonrpc":"2.0","id":5,"result":{}}]"#;
    assert_eq!(harness.ask(&Request::old(responses, &session)).status, 202);
    let empty = harness.ask(&Request::old("[]", &session));
    assert_eq!((empty.status, empty.code()), (400, -32600));
    let initialize = format!("[{}]", super::support::initialize("2025-03-26"));
    let reply = harness.ask(&Request::old(initialize, &session));
    assert!(reply.status == 200 && reply.body.contains("-32600"), "{reply:?}");
}

/// B-S7, B-S9: a batch whose call reports progress gets an event stream that ends with the array.
#[test]
fn batch_with_progress_gets_a_stream() {
    let mut harness = Harness::new(CONFIG);
    let session = harness.initialize("2025-03-26");
    let body = format!("[{},{}]", old_call(1, "echo"), old_call(2, "defer"));
    let id = harness.send(&Request::old(body, &session)).unwrap();
    harness.progress(0, 1);
    harness.respond(0);
    let events = harness.reply(id).events();
    assert!(events.len() == 2 && events[1].starts_with('['), "{events:?}");
    assert!(harness.reply(id).ended);
}
