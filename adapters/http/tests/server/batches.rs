//! Batches of 2025-03-26.

use super::support::{Harness, Request, old_call};
use mcp_proto_http::server::{HttpConfig, SessionMode};

const HTTP: HttpConfig<'static> = HttpConfig::new().sessions(SessionMode::Sessions);

/// B-C1, B-C3, B-C4, B-S5, B-S7, B-S8.
#[test]
fn batch_gets_one_array_of_responses() {
    let mut harness = Harness::new(HTTP);
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

/// B-S7: the limit on consecutive errors without an id does not apply to HTTP.
#[test]
fn every_refused_message_gets_an_error() {
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-03-26");
    let batch = format!("[{}]", [r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#; 45].join(","));
    let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#, "x".repeat(80));
    for body in [batch, long] {
        for _ in 0..9 {
            assert_eq!(harness.ask(&Request::old(&*body, &session)).code(), -32600);
        }
    }
    assert_eq!(harness.http.open_exchanges(), 0);
}

/// B-S7, B-S9: a batch whose call reports progress gets an event stream that ends with the array.
#[test]
fn batch_with_progress_gets_a_stream() {
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-03-26");
    let body = format!("[{},{}]", old_call(1, "echo"), old_call(2, "defer"));
    let id = harness.send(&Request::old(body, &session)).unwrap();
    harness.progress(0, 1);
    harness.respond(0);
    let events = harness.reply(id).events();
    assert!(events.len() == 2 && events[1].starts_with('['), "{events:?}");
    assert!(harness.reply(id).ended);
}

/// B-S10: a batch whose client has disconnected keeps its exchange while one of its requests is in flight.
#[test]
fn lost_batch_frees_its_exchange_when_its_requests_have_ended() {
    for is_cancelled in [false, true] {
        let mut harness = Harness::new(HTTP);
        let session = harness.initialize("2025-03-26");
        let batch = format!("[{},{}]", old_call(1, "defer"), old_call(2, "defer"));
        let id = harness.send(&Request::old(batch, &session)).unwrap();
        harness.http.close(id);
        harness.advance(45_000);
        assert_eq!(harness.http.open_exchanges(), 1);
        let next = harness.send(&Request::old(old_call(3, "defer"), &session)).unwrap();
        for number in [0, 1] {
            match is_cancelled {
                true => {
                    let cancel =
                        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
                    let cancel = format!("{cancel}{}}}}}", number + 1);
                    assert_eq!(harness.ask(&Request::old(cancel, &session)).status, 202);
                }
                false => harness.respond(number),
            }
        }
        assert_eq!(harness.reply(next).status, 0, "the response of the batch reaches no other exchange");
        harness.advance(30_000);
        harness.respond(2);
        let reply = harness.reply(next);
        assert!(reply.body.contains(r#""id":3"#) && !reply.body.contains(r#""id":1"#), "{reply:?}");
        assert_eq!(harness.http.open_exchanges(), 0);
    }
}

/// A cancelled request gets no response, so a batch may get none.
#[test]
fn cancelled_batch_ends_without_a_response() {
    const CANCEL: &str = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"#;
    let cancel = |id| format!("{CANCEL}{id}}}}}");
    for (is_stream, is_lost) in [(false, false), (true, false), (false, true)] {
        for is_batch in [false, true] {
            let mut harness = Harness::new(HTTP);
            let session = harness.initialize("2025-03-26");
            let batch = format!("[{},{}]", old_call(1, "defer"), old_call(2, "defer"));
            let id = harness.send(&Request::old(batch, &session)).unwrap();
            if is_stream {
                harness.progress(1, 1);
            }
            if is_lost {
                harness.http.close(id);
                harness.run();
            }
            if is_batch {
                let body = format!("[{},{}]", cancel(1), cancel(2));
                assert_eq!(harness.ask(&Request::old(body, &session)).status, 202);
            } else {
                assert_eq!(harness.ask(&Request::old(cancel(1), &session)).status, 202);
                assert_eq!(harness.http.open_exchanges(), 1);
                assert_eq!(harness.ask(&Request::old(cancel(2), &session)).status, 202);
            }
            let reply = harness.reply(id);
            assert_eq!(
                (reply.status, reply.ended),
                if is_lost { (0, false) } else { (if is_stream { 200 } else { 202 }, true) }
            );
            assert_eq!(harness.http.open_exchanges(), 0);
        }
    }
    // If only one request of a batch is cancelled, the response to the other request still arrives.
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-03-26");
    let batch = format!("[{},{}]", old_call(1, "echo"), old_call(2, "defer"));
    let id = harness.send(&Request::old(batch, &session)).unwrap();
    assert_eq!(harness.ask(&Request::old(cancel(2), &session)).status, 202);
    assert!(harness.reply(id).body.contains("echo"), "{:?}", harness.reply(id));
    // A batch can cancel its own request.
    let batch = format!("[{},{}]", old_call(3, "defer"), cancel(3));
    let reply = harness.ask(&Request::old(batch, &session));
    assert_eq!((reply.status, reply.ended, harness.http.open_exchanges()), (202, true, 0));
}

/// The client has disconnected, so only the end of its call frees the exchange.
#[test]
fn lost_call_that_a_batch_cancels_frees_its_exchange() {
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-03-26");
    let ids = [1, 2].map(|id| harness.send(&Request::old(old_call(id, "defer"), &session)).unwrap());
    ids.into_iter().for_each(|id| harness.http.close(id));
    let cancel = r#"[{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}]"#;
    assert_eq!(harness.ask(&Request::old(cancel, &session)).status, 202);
    harness.advance(30_000);
    assert_eq!(harness.http.open_exchanges(), 1);
    harness.respond(1);
    assert_eq!(harness.http.open_exchanges(), 0);
}

#[test]
fn connected_call_that_a_batch_cancels_ends_at_once() {
    let mut harness = Harness::new(HTTP);
    let session = harness.initialize("2025-03-26");
    let ids = [1, 2, 3].map(|id| harness.send(&Request::old(old_call(id, "defer"), &session)).unwrap());
    harness.progress(1, 1);
    let cancel = |id| {
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#)
    };
    let batch = format!("[{},{}]", cancel(1), cancel(2));
    assert_eq!(harness.ask(&Request::old(&batch, &session)).status, 202);
    assert_eq!(harness.reply(ids[0]).status, 202);
    assert!(harness.reply(ids[1]).ended && !harness.reply(ids[2]).ended);
    harness.respond(2);
    assert_eq!((harness.reply(ids[2]).status, harness.http.open_exchanges()), (200, 0));
}
