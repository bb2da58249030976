//! Event streams of 2026-07-28: when a response becomes a stream, keep-alive, subscriptions, cancellation.

use super::support::{Harness, Request};
use mcp_proto::server::Change;
use mcp_proto_http::server::HttpConfig;

/// E-S16, E-S17, E-S19, E-S20, E-S22, E-S23.
#[test]
fn first_notification_makes_the_response_an_event_stream() {
    for piece in [usize::MAX, 13, 1] {
        let mut harness = Harness::new(HttpConfig::new());
        harness.piece = piece;
        let reply = harness.ask(&Request::call(7, "progress"));
        assert!(reply.is_stream() && reply.status == 200 && reply.ended, "{reply:?}");
        assert_eq!(reply.field("x-accel-buffering"), "no");
        assert_eq!(reply.field("cache-control"), "no-cache");
        let events = reply.events();
        assert_eq!(events.len(), 3, "{events:?}");
        assert!(events[0].contains("notifications/message") && events[1].contains("notifications/progress"));
        assert!(events[2].starts_with(r#"{"jsonrpc":"2.0","id":7,"result""#), "{events:?}");
        assert!(reply.ids().is_empty());
        assert_eq!(harness.http.open_exchanges(), 0);
    }
}

#[test]
fn client_gets_only_types_that_it_accepts() {
    for (accept, config) in [
        ("application/json", HttpConfig::new()),
        ("*/*", HttpConfig::new()),
        ("application/json, text/event-stream", HttpConfig::new().json_only()),
    ] {
        let mut harness = Harness::new(config);
        let reply = harness.ask(&Request::call(1, "progress").with("accept", accept));
        assert_eq!((reply.field("content-type"), reply.ended), ("application/json", true), "{accept}");
        assert!(reply.body.contains("done"));
        let id = harness.send(&Request::call(1, "defer").with("accept", accept)).unwrap();
        harness.advance(60_000);
        assert!(!harness.reply(id).is_stream());
    }
    let mut harness = Harness::new(HttpConfig::new());
    let reply = harness.ask(&Request::call(1, "echo").with("accept", "text/event-stream"));
    assert!(reply.is_stream() && reply.ended && reply.events().len() == 1, "{reply:?}");
}

/// E-S21, E-C11.
#[test]
fn late_response_becomes_a_stream_with_comments() {
    let mut harness = Harness::new(HttpConfig::new());
    let id = harness.send(&Request::call(1, "defer")).unwrap();
    harness.advance(4_999);
    assert_eq!(harness.reply(id).status, 0);
    harness.advance(1);
    assert!(harness.reply(id).is_stream());
    harness.advance(14_999);
    assert_eq!(harness.reply(id).body, "");
    harness.advance(1);
    assert_eq!(harness.reply(id).body, ":\n\n");
    harness.progress(0, 1);
    harness.advance(14_999);
    assert_eq!(harness.reply(id).body.matches(":\n\n").count(), 1);
    harness.advance(1);
    harness.respond(0);
    let reply = harness.reply(id);
    assert!(
        reply.ended && reply.body.matches(":\n\n").count() == 2 && reply.events().len() == 2,
        "{reply:?}"
    );
}

/// E-S24, E-S25, E-S26.
#[test]
fn closed_stream_cancels_its_call() {
    for late in [false, true] {
        let mut harness = Harness::new(HttpConfig::new());
        let id = harness.send(&Request::call(1, "defer")).unwrap();
        let other = harness.send(&Request::call(1, "defer")).unwrap();
        if late {
            harness.advance(6_000);
        }
        harness.http.close(id);
        harness.run();
        assert_eq!(harness.events, ["cancelled Some(0)"]);
        assert!(harness.server.reply(harness.tickets[0]).is_err());
        assert_eq!(harness.http.open_exchanges(), 1);
        harness.respond(1);
        assert!(harness.reply(other).ended && !harness.reply(id).ended);
    }
}

/// E-S27: the client may disconnect at any point.
#[test]
fn close_is_harmless_before_the_body_and_after_the_response() {
    let mut harness = Harness::new(HttpConfig::new());
    let request = Request::call(1, "echo");
    let id = harness.begin(&request).unwrap();
    harness.http.close(id);
    harness.piece(id, &request, request.body.as_bytes(), true);
    assert_eq!((harness.http.open_exchanges(), harness.reply(id).status), (0, 0));
    let done = harness.send(&request).unwrap();
    harness.http.close(done);
    harness.run();
    assert!(harness.events.is_empty() && harness.http.output(done).is_cut);
}

#[test]
fn clients_use_the_same_id_at_once() {
    let mut harness = Harness::new(HttpConfig::new());
    let ids = [0, 1, 2].map(|_| harness.send(&Request::call(1, "defer")).unwrap());
    for (number, id) in [(2, ids[2]), (0, ids[0]), (1, ids[1])] {
        harness.respond(number);
        assert!(harness.reply(id).body.contains(r#""id":1,"result""#));
    }
}

fn listen(id: &str) -> Request {
    Request::modern(id, "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#)
}

/// E-L1, E-L2, E-L3, E-L4, E-L5, E-L6.
#[test]
fn subscription_is_a_stream_that_stays_open() {
    let mut harness = Harness::new(HttpConfig::new());
    let ids = [r#""a""#, r#""a""#, "7"].map(|id| harness.send(&listen(id)).unwrap());
    for (id, tag) in ids.iter().zip([r#""a""#, r#""a""#, "7"]) {
        let reply = harness.reply(*id);
        assert!(reply.is_stream() && !reply.ended);
        assert!(reply.events()[0].contains("notifications/subscriptions/acknowledged"), "{reply:?}");
        assert!(reply.events()[0].contains(&format!(r#"subscriptionId":{tag}"#)), "{reply:?}");
    }
    let call = harness.ask(&Request::call(9, "progress"));
    assert_eq!(call.events().len(), 3);
    harness.changed(Change::Prompts);
    harness.changed(Change::Tools);
    for id in ids {
        let events = harness.reply(id).events();
        assert_eq!(events.len(), 2);
        assert!(events[1].contains("notifications/tools/list_changed"), "{events:?}");
    }
    // E-L7: the client ends a subscription by closing its stream.
    harness.http.close(ids[0]);
    harness.run();
    harness.changed(Change::Tools);
    assert_eq!((harness.reply(ids[0]).events().len(), harness.reply(ids[1]).events().len()), (2, 3));
}

/// E-L7, E-L8, E-L10: the server ends a subscription by its result.
#[test]
fn shutdown_ends_subscriptions_by_a_result() {
    let mut harness = Harness::new(HttpConfig::new());
    let id = harness.send(&listen("7")).unwrap();
    harness.server.shutdown(harness.now);
    harness.run();
    let reply = harness.reply(id);
    assert!(
        reply.ended && reply.events()[1].contains(r#""id":7,"result":{"resultType":"complete""#),
        "{reply:?}"
    );
    assert_eq!(reply.events().len(), 2);
}

/// E-S25: the head announces no length of the body.
#[test]
fn body_without_a_length_is_limited_as_it_arrives() {
    let mut harness = Harness::new(HttpConfig::new());
    harness.piece = 100;
    let body = " ".repeat(3000);
    let request = Request { body, announces_length: false, ..Request::call(1, "echo") };
    let reply = harness.ask(&request);
    assert_eq!((reply.status, reply.code()), (413, -32600));
    assert_eq!(harness.ask(&Request::call(1, "echo")).status, 200);
}
