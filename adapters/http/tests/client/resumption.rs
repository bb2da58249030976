//! Tests of streams whose resumption the server refuses.

use mcp_proto::Millis;
use mcp_proto::client::{Connect, Options};
use mcp_proto_http::client::{Head, Method};

use super::harness::{EVENTS, Fields, Harness, JSON, Sent, result, with_harness};

const HTML: (&str, &str) = ("content-type", "text/html");

/// Advances the time to the next deadline of the HTTP side, and returns the request that is due.
#[track_caller]
fn due_request(harness: &mut Harness<'_, '_>) -> Sent {
    harness.now = harness.http.next_deadline().expect("a deadline");
    harness.request()
}

/// D-C1: the server may refuse a resumption for a time.
#[test]
fn temporary_refusal_keeps_the_position_of_a_call() {
    for status in [408, 425, 429, 500, 502, 503, 504] {
        for fields in [&[JSON, ("retry-after", "1")][..], &[HTML], &[]] {
            with_harness(Connect::Handshake, 64, |mut harness| {
                let listen = harness.connect_session();
                harness.respond(listen.exchange, 405, &[], "");
                let call = harness.call();
                harness.respond(call.exchange, 200, &[EVENTS], "id: 5\ndata:\n\n");
                for pause in [1_000, 2_000, 4_000] {
                    let due = Millis(harness.now.0 + pause);
                    assert_eq!(harness.http.next_deadline(), Some(due), "{status} {fields:?}");
                    let resume = due_request(&mut harness);
                    assert_eq!(resume.field("Last-Event-ID"), Some("5"), "{status} {fields:?}");
                    harness.respond(resume.exchange, status, fields, "{}");
                    harness.expect(&[]);
                }
                let resume = due_request(&mut harness);
                let body = format!("id: 6\ndata: {}\n\n", result(call.id()));
                harness.respond(resume.exchange, 200, &[EVENTS], &body);
                harness.expect(&["7"]);
                assert_eq!(harness.http.next_deadline(), None);
            });
        }
    }
}

/// D-C1: a server may close each resumed stream without an event. Refusals and lost connections count toward the
/// maximum number of resumptions, until the server accepts a resumption.
#[test]
fn accepted_resumption_makes_all_resumptions_available_again() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        harness.http = harness.http.max_resumptions(2);
        let listen = harness.connect_session();
        harness.respond(listen.exchange, 405, &[], "");
        let call = harness.call();
        harness.respond(call.exchange, 200, &[EVENTS], "id: 5\nretry: 3000\ndata:\n\n");
        for _ in 0..8 {
            assert_eq!(harness.http.next_deadline(), Some(Millis(harness.now.0 + 3_000)));
            let lost = due_request(&mut harness);
            harness.finish(lost.exchange);
            let resume = due_request(&mut harness);
            assert_eq!((resume.method, resume.field("Last-Event-ID")), (Method::Get, Some("5")));
            harness.respond(resume.exchange, 200, &[EVENTS], "");
            harness.expect(&[]);
        }
        for status in [503, 503] {
            let refused = due_request(&mut harness);
            harness.respond(refused.exchange, status, &[], "");
        }
        harness.expect(&["closed"]);
    });
}

/// D-C1: a server that refuses a resumption may set the pause before the next one (`Retry-After`).
#[test]
fn retry_after_of_a_refusal_delays_the_resumption() {
    for status in [408, 429, 503] {
        for (retry_after, pause) in [
            (Some("7"), 7_000),
            (Some(" 007 "), 7_000),
            (Some("0"), 1_000),
            (Some("300"), 300_000),
            (Some("301"), 300_000),
            (Some("99999999999999999999999"), 300_000),
            (Some("Wed, 21 Oct 2099 07:28:00 GMT"), 1_000),
            (Some("-7"), 1_000),
            (Some("+7"), 1_000),
            (Some(""), 1_000),
            (None, 1_000),
        ] {
            with_harness(Connect::Handshake, 64, |mut harness| {
                let listen = harness.connect_session();
                let fields: Vec<_> = retry_after.map(|value| ("Retry-After", value)).into_iter().collect();
                harness.respond(listen.exchange, status, &fields, "");
                let due = Millis(harness.now.0 + pause);
                assert_eq!(harness.http.next_deadline(), Some(due), "{status} {retry_after:?}");
                // The pause applies to one request only, even if this request has no response.
                let again = due_request(&mut harness);
                harness.finish(again.exchange);
                assert_eq!(harness.http.next_deadline(), Some(Millis(harness.now.0 + 2_000)));
                let again = due_request(&mut harness);
                harness.respond(again.exchange, 200, &[EVENTS], "retry: 2000\ndata:\n\n");
                assert_eq!(harness.http.next_deadline(), Some(Millis(harness.now.0 + 2_000)));
            });
        }
    }
}

/// The timeout of the request limits the resumptions.
#[test]
fn refused_resumptions_end_with_the_request() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let listen = harness.connect_session();
        harness.respond(listen.exchange, 405, &[], "");
        let call = harness.call();
        harness.respond(call.exchange, 200, &[EVENTS], "id: 5\ndata:\n\n");
        let end = Millis(harness.now.0 + 600_000);
        while harness.http.next_deadline().is_some() && harness.now < end {
            let resume = due_request(&mut harness);
            let status = if resume.method == Method::Get { 503 } else { 202 };
            harness.respond(resume.exchange, status, &[JSON], "{}");
        }
        harness.expect(&["failed TimedOut"]);
        assert_eq!(harness.http.next_deadline(), None);
    });
}

/// B-C9: the client loses its position in the stream only if the server refuses this position.
#[test]
fn session_stream_keeps_its_position_unless_refused() {
    for (status, id) in [
        (401, Some("5")),
        (403, Some("5")),
        (408, Some("5")),
        (429, Some("5")),
        (503, Some("5")),
        (400, None),
        (410, None),
        (412, None),
    ] {
        for fields in [&[JSON][..], &[HTML], &[]] {
            with_harness(Connect::Handshake, 64, |mut harness| {
                let listen = harness.connect_session();
                harness.respond(listen.exchange, 200, &[EVENTS], "id: 5\ndata:\n\n");
                let resume = due_request(&mut harness);
                assert_eq!(resume.field("Last-Event-ID"), Some("5"), "B-C9");
                harness.respond(resume.exchange, status, fields, "{}");
                let next = due_request(&mut harness);
                assert_eq!(next.method, Method::Get);
                assert_eq!(next.field("Last-Event-ID"), id, "{status} {fields:?}");
            });
        }
    }
}

/// A server of 2025-03-26 may send the response in an array.
#[test]
fn response_in_an_array_ends_the_stream() {
    const PROGRESS: &str =
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"a","progress":1}}"#;
    for (has_response, deadline) in [(true, None), (false, Some(Millis(2_000)))] {
        with_harness(Connect::Handshake, 64, |mut harness| {
            harness.revision = "2025-03-26";
            let listen = harness.connect_session();
            harness.respond(listen.exchange, 405, &[], "");
            let call = harness.call();
            let last = if has_response { result(call.id()) } else { PROGRESS.into() };
            assert_eq!(harness.http.head(call.exchange, 200, &Fields(&[EVENTS])), Head::Body);
            harness.pass(call.exchange, &format!("id: 1\ndata: [{PROGRESS},{last}]\n\n"));
            assert_eq!(harness.events.last().is_some_and(|event| event == "7"), has_response);
            assert_eq!(harness.http.next_deadline().is_some(), has_response, "the client closes the stream");
            harness.finish(call.exchange);
            assert_eq!(harness.http.next_deadline(), deadline);
        });
    }
}

/// Some servers and proxies never respond to a notification. The client then ends the exchange of the notification,
/// because requests and later messages wait for it.
#[test]
fn exchange_of_an_unanswered_notification_ends_after_30_seconds() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let initialized = harness.connect_until_initialized();
        harness.client.call_json("add", r#"{"region":"eu"}"#, Options::DEFAULT).unwrap();
        harness.run();
        assert!(harness.sent.is_empty(), "the session is starting");
        assert_eq!(harness.http.next_deadline(), Some(Millis(harness.now.0 + 30_000)));
        harness.now = Millis(harness.now.0 + 29_999);
        harness.run();
        assert!(harness.closed.is_empty());
        harness.now = Millis(harness.now.0 + 1);
        let listen = harness.request();
        assert_eq!(harness.closed, [initialized.exchange]);
        assert_eq!(listen.method, Method::Get, "the stream of the session");
        harness.respond(listen.exchange, 405, &[], "");
        let call = harness.request();
        harness.respond(call.exchange, 200, &[JSON], &result(call.id()));
        harness.expect(&["7"]);
        assert_eq!(harness.http.next_deadline(), None);
    });
}

/// The server accepts each notification with an event stream that it never ends.
#[test]
fn endless_response_to_a_notification_ends_after_30_seconds() {
    with_harness(Connect::Automatic, 64, |mut harness| {
        harness.connect_stateless();
        for _ in 0..8 {
            harness.client.notify("notifications/example", |_| {}).unwrap();
            let notification = harness.request();
            assert_eq!(harness.http.head(notification.exchange, 200, &Fields(&[EVENTS])), Head::Body);
            harness.pass(notification.exchange, ":\n\n");
            let end = Millis(harness.now.0 + 30_000);
            assert_eq!(harness.http.next_deadline(), Some(end));
            harness.now = end;
            harness.close_due();
            assert_eq!(std::mem::take(&mut harness.closed), [notification.exchange]);
            assert_eq!(harness.http.next_deadline(), None);
        }
    });
}

/// The server accepts `notifications/initialized` with an event stream that it never ends.
#[test]
fn endless_response_to_initialized_opens_one_stream_of_the_session() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let initialized = harness.connect_until_initialized();
        assert_eq!(harness.http.head(initialized.exchange, 200, &Fields(&[EVENTS])), Head::Body);
        assert_eq!(harness.request().method, Method::Get);
        harness.now.0 += 30_000;
        harness.close_due();
        assert_eq!(harness.closed, [initialized.exchange]);
        harness.run();
        assert!(harness.sent.is_empty());
    });
}
