//! Tests of the fallback to HTTP+SSE of 2024-11-05.

use mcp_proto::client::Connect;
use mcp_proto::{Millis, OutboundMessage, OutboundMessageKind, Relation, StreamId};
use mcp_proto_http::client::{Begin, Exchange, ExchangeId, Finish, Head, HttpClient, Inbound, Method};

use super::PIECES;
use super::harness::{EVENTS, Fields, Harness, JSON, Sent, result, with_harness};

/// Falls back to HTTP+SSE. Returns the event stream and the repeated `initialize`.
fn fall_back(harness: &mut Harness<'_, '_>, event: &str) -> (Sent, Sent) {
    let initialize = harness.request();
    let head = harness.respond(initialize.exchange, 405, &[], "Method Not Allowed");
    assert_eq!(head, Head::Refused);
    let stream = harness.request();
    assert_eq!((stream.method, stream.field("Accept")), (Method::Get, Some("text/event-stream")));
    assert_eq!(stream.endpoint, None);
    assert!(harness.sent.is_empty(), "A-C1: nothing is sent before the endpoint is known");
    assert_eq!(harness.http.head(stream.exchange, 200, &Fields(&[EVENTS])), Head::Body);
    harness.pass(stream.exchange, event);
    let again = harness.request();
    assert_eq!((again.method, &again.body), (Method::Post, &initialize.body), "B-C13");
    (stream, again)
}

const ENDPOINT: &str = "event: endpoint\r\ndata: /messages?sessionId=1\r\n\r\n";

/// A-C1, A-C3, B-C13, D-C5.
#[test]
fn refused_initialize_is_followed_by_http_sse() {
    for piece in PIECES {
        with_harness(Connect::Handshake, piece, |mut harness| {
            let (stream, initialize) = fall_back(&mut harness, ENDPOINT);
            assert_eq!(initialize.endpoint.as_deref(), Some("/messages?sessionId=1"));
            harness.respond(initialize.exchange, 202, &[], "Accepted");
            let response = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"protocolVersion":"2024-11-05","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#,
                initialize.id()
            );
            harness.pass(stream.exchange, &format!("event: message\ndata: {response}\n\n"));
            harness.expect(&["connected 2024-11-05"]);
            let initialized = harness.request();
            assert!(initialized.body.contains("notifications/initialized"));
            assert_eq!(initialized.field("Mcp-Session-Id"), None);
            harness.respond(initialized.exchange, 202, &[], "");
            // Responses arrive on the stream, in any order. A call in flight takes no exchange.
            let calls: Vec<_> = (0..4)
                .map(|_| {
                    let call = harness.call();
                    assert_eq!(call.endpoint.as_deref(), Some("/messages?sessionId=1"));
                    harness.respond(call.exchange, 202, &[], "");
                    call
                })
                .collect();
            for call in calls.iter().rev() {
                harness.pass(stream.exchange, &format!("event: message\ndata: {}\n\n", result(call.id())));
            }
            harness.expect(&["7"; 4]);
            // The refusal of a request fails only this request.
            let refused = harness.call();
            harness.respond(refused.exchange, 400, &[], "");
            harness.expect(&["closed"]);
            harness.finish(stream.exchange);
            harness.expect(&["session lost"]);
            assert_eq!(harness.http.poll(harness.now), None, "the session has no DELETE");
        });
    }
}

#[test]
fn answered_initialize_is_not_sent_over_http_sse() {
    const REFUSED: &str =
        r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"Unsupported protocol version"}}"#;
    for (status, fields, body, falls_back) in [
        (400, &[JSON][..], REFUSED, false),
        (404, &[JSON], REFUSED, false),
        (400, &[JSON], r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}"#, true),
        (404, &[JSON], r#"{"detail":"Not Found"}"#, true),
        (405, &[JSON], "", true),
        (400, &[], "Bad Request", true),
        (401, &[], "", false),
        (500, &[], "", false),
    ] {
        with_harness(Connect::Handshake, 64, |mut harness| {
            let initialize = harness.request();
            harness.respond(initialize.exchange, status, fields, &body.replace("ID", initialize.id()));
            assert_eq!(
                harness.sent.front().is_some_and(|sent| sent.method == Method::Get),
                falls_back,
                "{status} {body}"
            );
            assert_eq!(harness.events.is_empty(), falls_back, "{status} {body}");
        });
    }
}

#[test]
fn stream_without_an_endpoint_fails_the_connection() {
    for (status, fields, body) in [
        (405, &[][..], ""),
        (404, &[JSON], "{}"),
        (200, &[JSON], "{}"),
        (200, &[EVENTS], ": nothing\n\n"),
        (200, &[EVENTS], "event: endpoint\ndata: not a uri\n\n"),
        (200, &[EVENTS], "event: endpoint\ndata:\n\n"),
    ] {
        with_harness(Connect::Handshake, 64, |mut harness| {
            let initialize = harness.request();
            harness.respond(initialize.exchange, 404, &[], "");
            let stream = harness.request();
            harness.respond(stream.exchange, status, fields, body);
            assert!(harness.events.iter().any(|event| event.contains("ConnectFailed")), "{status} {body}");
        });
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;

#[test]
fn refusal_without_a_free_exchange_is_passed_on() {
    const REFUSAL: &str = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"m"}}"#;
    let (mut buffer, mut headers) = ([0; 1024], [0; 0]);
    let mut exchanges = [Exchange::new(&mut buffer[..])];
    let mut http = HttpClient::new(&mut exchanges[..], &mut headers[..]);
    let relation = Relation::Request(StreamId(1));
    let message = OutboundMessage::new(INITIALIZE.as_bytes(), OutboundMessageKind::Request, relation);
    let Begin::Send(initialize) = http.begin(&message) else { panic!("an exchange is free") };
    assert_eq!(http.head(initialize, 400, &Fields(&[JSON])), Head::Refused);
    http.body(initialize, REFUSAL.as_bytes());
    let expected = Inbound { message: REFUSAL.as_bytes(), stream: StreamId(1) };
    assert_eq!(http.finish(initialize, Millis(0)), Finish::Message(expected));
}

/// Sends `initialize` on this stream, like a relay, and opens the event stream of HTTP+SSE after a refusal. Returns the
/// exchange of the event stream.
fn fall_back_on(harness: &mut Harness<'_, '_>, stream: u32) -> ExchangeId {
    let relation = Relation::Request(StreamId(stream));
    let message = OutboundMessage::new(INITIALIZE.as_bytes(), OutboundMessageKind::Request, relation);
    let Begin::Send(initialize) = harness.http.begin(&message) else { panic!("an exchange is free") };
    harness.close_due();
    assert_eq!(harness.http.head(initialize, 405, &Fields(&[])), Head::Refused);
    assert_eq!(harness.http.finish(initialize, harness.now), Finish::Continues);
    harness.http.poll(harness.now).expect("the event stream is due")
}

#[test]
fn new_initialize_replaces_one_without_an_endpoint() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let streams: Vec<_> = (1..=9).map(|stream| fall_back_on(&mut harness, stream)).collect();
        let (last, replaced) = streams.split_last().unwrap();
        assert_eq!(harness.closed, replaced);
        assert_eq!(harness.http.finish(*last, harness.now), Finish::Closed(StreamId(9)));
    });
}

fn abort(stream: u32) -> OutboundMessage<'static> {
    OutboundMessage::new(b"", OutboundMessageKind::Abort, Relation::Request(StreamId(stream)))
}

#[test]
fn new_initialize_replaces_one_that_is_due_at_the_endpoint() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let streams: Vec<_> = (1..=9)
            .map(|stream| {
                let exchange = fall_back_on(&mut harness, stream);
                assert_eq!(harness.http.head(exchange, 200, &Fields(&[EVENTS])), Head::Body);
                harness.http.body(exchange, ENDPOINT.as_bytes());
                exchange
            })
            .collect();
        let (_, replaced) = streams.split_last().unwrap();
        assert_eq!(harness.closed, replaced);
        // The last `initialize` is due.
        let due = harness.http.poll(harness.now).unwrap();
        let request = harness.http.request(due, None).unwrap();
        assert_eq!((request.method(), request.endpoint()), (Method::Post, Some("/messages?sessionId=1")));
        assert_eq!(harness.http.poll(harness.now), None);
    });
}

#[test]
fn aborted_initialize_is_not_sent_to_the_endpoint() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let stream = fall_back_on(&mut harness, 1);
        assert_eq!(harness.http.head(stream, 200, &Fields(&[EVENTS])), Head::Body);
        harness.http.body(stream, ENDPOINT.as_bytes());
        assert_eq!(harness.http.begin(&abort(1)), Begin::Drop);
        harness.close_due();
        assert_eq!(harness.closed, [stream]);
        assert_eq!((harness.http.session(), harness.http.next_deadline()), (None, None));
    });
}

#[test]
fn aborted_initialize_closes_the_stream_without_an_endpoint() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let stream = fall_back_on(&mut harness, 1);
        assert_eq!(harness.http.head(stream, 200, &Fields(&[EVENTS])), Head::Body);
        assert_eq!(harness.http.begin(&abort(2)), Begin::Drop);
        harness.close_due();
        assert!(harness.closed.is_empty(), "the stream belongs to another request");
        assert_eq!(harness.http.begin(&abort(1)), Begin::Drop);
        harness.http.body(stream, ENDPOINT.as_bytes());
        harness.close_due();
        assert_eq!(harness.closed, [stream]);
        assert_eq!(harness.http.next_deadline(), None, "nothing is sent to the endpoint");
    });
}
