//! Tests of `client`. Numbers such as `E-C5` are requirements of `docs/http-rules.md`.

mod harness;
mod http_sse;
mod resumption;

use harness::{EVENTS, Fields, JSON, result, with_harness};
use mcp_proto::Millis;
use mcp_proto::client::{Connect, Options};
use mcp_proto_http::client::{Finish, Head, Method};

/// The sizes of the pieces of a body, for the tests that vary them.
const PIECES: [usize; 4] = [1, 2, 7, 4096];

#[test]
fn stateless_request_repeats_its_message_in_fields() {
    with_harness(Connect::Automatic, 64, |mut harness| {
        let probe = harness.request();
        assert_eq!(probe.method, Method::Post);
        assert_eq!(probe.field("Accept"), Some("application/json, text/event-stream"), "E-C2");
        assert_eq!(probe.field("Content-Type"), Some("application/json"));
        assert_eq!(probe.field("MCP-Protocol-Version"), Some("2026-07-28"), "E-C4");
        assert_eq!(probe.field("Mcp-Method"), Some("server/discover"), "E-C5");
        assert_eq!(probe.field("Mcp-Name"), None, "E-C6");
        harness.sent.push_front(probe);
        harness.connect_stateless();
        let call = harness.call();
        assert_eq!(call.field("Mcp-Method"), Some("tools/call"), "E-C5");
        assert_eq!(call.field("Mcp-Name"), Some("add"), "E-C6");
        assert_eq!(call.field("Mcp-Session-Id"), None);
        harness.client.read_resource("file:///ü", Options::DEFAULT).unwrap();
        assert_eq!(harness.request().field("Mcp-Name"), Some("=?base64?ZmlsZTovLy/DvA==?="), "E-X6");
    });
}

#[test]
fn response_arrives_as_json_or_as_events() {
    for piece in PIECES {
        for connect in [Connect::Automatic, Connect::Handshake] {
            with_harness(connect, piece, |mut harness| {
                match connect {
                    Connect::Automatic => harness.connect_stateless(),
                    _ => drop(harness.connect_session()),
                }
                let call = harness.call();
                harness.respond(call.exchange, 200, &[JSON], &result(call.id()));
                harness.expect(&["7"]);
                let call = harness.call();
                let response = result(call.id());
                let body = format!(
                    ": comment\r\n\r\nevent: other\ndata: x\n\nid: 1\ndata:\n\ndata: {response}\r\n\r\n"
                );
                harness.respond(call.exchange, 200, &[EVENTS], &body);
                harness.expect(&["7"]);
            });
        }
    }
}

#[test]
fn request_without_response_fails() {
    let long = format!("\"{}\"", "x".repeat(2000));
    let long_event = format!("data: {long}\n\n");
    for (status, fields, body, expected) in [
        (202, &[][..], "", "closed"),
        (204, &[], "", "closed"),
        (200, &[JSON], "", "closed"),
        (200, &[JSON], "[1", "closed"),
        (200, &[JSON], long.as_str(), "closed"),
        (200, &[("content-type", "text/html")], "<p>", "closed"),
        (200, &[EVENTS], ": nothing\n\n", "closed"),
        (200, &[EVENTS], "data: {\"jsonrpc\":\"2.0\"", "closed"),
        (200, &[EVENTS], long_event.as_str(), "closed"),
        (400, &[JSON], r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32020,"message":"m"}}"#, "error -32020"),
        (404, &[JSON], r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"m"}}"#, "error -32601"),
        (500, &[], "", "closed"),
        (503, &[("retry-after", "1")], "", "closed"),
    ] {
        with_harness(Connect::Automatic, 64, |mut harness| {
            harness.connect_stateless();
            let call = harness.call();
            harness.respond(call.exchange, status, fields, &body.replace("ID", call.id()));
            let event = harness.events.last().cloned().unwrap_or_default();
            assert_eq!(event, expected, "{status} {body:.30}");
            // The exchange of the failed call is free again.
            for _ in 0..3 {
                harness.call();
            }
        });
    }
}

#[test]
fn failed_probe_is_followed_by_a_handshake() {
    for (status, fields, body) in [
        (400, &[JSON][..], r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no session"}}"#),
        (400, &[], "Bad Request"),
        (404, &[], ""),
        (405, &[], ""),
    ] {
        with_harness(Connect::Automatic, 64, |mut harness| {
            let probe = harness.request();
            harness.respond(probe.exchange, status, fields, body);
            let listen = harness.connect_session();
            assert_eq!(listen.method, Method::Get, "{status} {body}");
        });
    }
}

#[test]
fn session_is_named_in_every_request() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let initialize = harness.request();
        assert_eq!(initialize.field("Mcp-Session-Id"), None);
        assert_eq!(initialize.field("MCP-Protocol-Version"), None);
        harness.sent.push_front(initialize);
        let listen = harness.connect_session();
        assert_eq!(listen.method, Method::Get, "B-C7");
        assert_eq!(listen.field("Accept"), Some("text/event-stream"), "B-C8");
        for request in [listen, harness.call()] {
            assert_eq!(request.field("Mcp-Session-Id"), Some("s-1"), "B-C10");
            assert_eq!(request.field("MCP-Protocol-Version"), Some("2025-11-25"), "C-C2");
            assert_eq!(request.field("Mcp-Method"), None);
        }
        harness.http.shutdown(harness.now);
        let end = harness.request();
        assert_eq!((end.method, end.field("Mcp-Session-Id")), (Method::Delete, Some("s-1")), "B-C12");
        assert_eq!(harness.respond(end.exchange, 405, &[], ""), Head::Refused, "B-S26");
    });
}

#[test]
fn call_whose_resumption_is_refused_may_have_run() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let listen = harness.connect_session();
        harness.respond(listen.exchange, 405, &[], "");
        let call = harness.call();
        harness.respond(call.exchange, 200, &[EVENTS], "id: 5\ndata:\n\n");
        harness.now = harness.http.next_deadline().unwrap();
        let resume = harness.request();
        assert_eq!(harness.respond(resume.exchange, 404, &[], ""), Head::SessionLost { refused: None });
    });
}

#[test]
fn lost_session_is_followed_by_a_new_one() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        harness.connect_session();
        let call = harness.call();
        let head = harness.respond(call.exchange, 404, &[], "");
        assert!(matches!(head, Head::SessionLost { refused: Some(_) }), "B-C11: {head:?}");
        assert_eq!(harness.respond(call.exchange, 200, &[], ""), Head::Unknown);
        harness.client.reset();
        let initialize = harness.request();
        assert!(initialize.body.contains("initialize"));
        assert_eq!(initialize.field("Mcp-Session-Id"), None);
    });
}

#[test]
fn each_request_refused_with_its_session_is_named() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let listen = harness.connect_session();
        harness.respond(listen.exchange, 405, &[], "");
        let [first, second, third] = [(); 3].map(|()| harness.call());
        let refused = |head| match head {
            Head::SessionLost { refused } => refused,
            head => panic!("{head:?}"),
        };
        let first_stream = refused(harness.respond(first.exchange, 404, &[], ""));
        assert!(harness.http.awaits_refusals());
        let second_stream = refused(harness.respond(second.exchange, 404, &[], ""));
        assert!(first_stream.is_some() && second_stream.is_some() && first_stream != second_stream);
        assert!(harness.http.awaits_refusals());
        // The connection of the third request is lost.
        assert_eq!(harness.http.finish(third.exchange, harness.now), Finish::Ended);
        assert!(!harness.http.awaits_refusals());
        for call in [first, second, third] {
            assert_eq!(harness.respond(call.exchange, 404, &[], ""), Head::Unknown);
        }
    });
}

#[test]
fn refused_session_stream_is_not_requested_again() {
    for status in [404, 405] {
        with_harness(Connect::Handshake, 64, |mut harness| {
            let listen = harness.connect_session();
            assert_eq!(harness.respond(listen.exchange, status, &[], ""), Head::Refused);
            harness.now = Millis(1_000_000);
            harness.run();
            assert!(harness.sent.is_empty(), "{:?}", harness.sent);
            assert_eq!(harness.http.next_deadline(), None);
            harness.call();
        });
    }
}

#[test]
fn response_to_initialized_that_stays_open_blocks_no_request() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let initialized = harness.connect_until_initialized();
        harness.client.call_json("add", "{}", Options::DEFAULT).unwrap();
        harness.run();
        assert!(harness.sent.is_empty());
        assert_eq!(harness.http.head(initialized.exchange, 200, &Fields(&[EVENTS])), Head::Body);
        assert_eq!(harness.request().method, Method::Get);
        assert!(harness.request().body.contains("tools/call"));
    });
}

#[test]
fn session_id_that_does_not_fit_fails_the_connection() {
    for (length, expected) in [(1024, Head::Body), (1025, Head::Refused)] {
        with_harness(Connect::Handshake, 64, |mut harness| {
            let initialize = harness.request();
            let id = "x".repeat(length);
            let head = harness.http.head(initialize.exchange, 200, &Fields(&[JSON, ("Mcp-Session-Id", &id)]));
            assert_eq!(head, expected, "{length}");
        });
    }
}

#[test]
fn stream_is_resumed_after_the_retry_time() {
    for piece in PIECES {
        with_harness(Connect::Handshake, piece, |mut harness| {
            let listen = harness.connect_session();
            harness.respond(listen.exchange, 405, &[], "");
            let call = harness.call();
            harness.respond(call.exchange, 200, &[EVENTS], "id: 5\nretry: 300\ndata:\n\n");
            harness.run();
            assert!(harness.sent.is_empty());
            assert_eq!(harness.http.next_deadline(), Some(Millis(1_300)), "D-C2");
            harness.now = Millis(1_300);
            let resume = harness.request();
            assert_eq!(resume.method, Method::Get, "D-C3");
            assert_eq!(resume.field("Last-Event-ID"), Some("5"), "B-C9");
            assert_eq!(resume.body, "");
            let response = result(call.id());
            harness.respond(resume.exchange, 200, &[EVENTS], &format!("id: 6\ndata: {response}\n\n"));
            harness.expect(&["7"]);
            assert_eq!(harness.http.next_deadline(), None, "a response ends the stream");
        });
    }
}

#[test]
fn delay_doubles_until_an_event_arrives() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let mut listen = harness.connect_session();
        for delay in [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000] {
            harness.finish(listen.exchange);
            let due = Millis(harness.now.0 + delay);
            assert_eq!(harness.http.next_deadline(), Some(due));
            harness.now = due;
            listen = harness.request();
        }
        harness.respond(listen.exchange, 200, &[EVENTS], "data: {\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n\n");
        assert_eq!(harness.http.next_deadline(), Some(Millis(harness.now.0 + 1_000)));
    });
}

#[test]
fn refused_resumption_ends_the_request() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        harness.connect_session();
        let call = harness.call();
        harness.respond(call.exchange, 200, &[EVENTS], "id: 5\nretry: 0\ndata:\n\n");
        // The client pauses. Otherwise a server that ends each stream at once would get endless requests.
        harness.now = Millis(harness.now.0 + 100);
        let resume = harness.request();
        harness.respond(resume.exchange, 400, &[], "");
        harness.expect(&["closed"]);
    });
}

#[test]
fn cancellation_closes_the_exchange_or_is_sent() {
    with_harness(Connect::Automatic, 64, |mut harness| {
        harness.connect_stateless();
        let ticket = harness.client.call_json("add", "{}", Options::DEFAULT).unwrap();
        let call = harness.request();
        harness.client.cancel(ticket, "").unwrap();
        harness.run();
        assert_eq!(harness.closed, [call.exchange], "E-C13");
        assert!(harness.sent.is_empty());
        assert_eq!(harness.respond(call.exchange, 200, &[JSON], &result(call.id())), Head::Unknown);
    });
    with_harness(Connect::Handshake, 64, |mut harness| {
        harness.connect_session();
        let ticket = harness.client.call_json("add", "{}", Options::DEFAULT).unwrap();
        let call = harness.request();
        harness.client.cancel(ticket, "").unwrap();
        let cancelled = harness.request();
        assert!(cancelled.body.contains("notifications/cancelled"), "B-C6");
        assert!(harness.closed.is_empty());
        harness.respond(cancelled.exchange, 202, &[], "");
        assert_eq!(harness.closed, [call.exchange], "the exchange is not left open");
    });
}

#[test]
fn notifications_are_sent_while_requests_wait_for_exchanges() {
    with_harness(Connect::Automatic, 64, |mut harness| {
        harness.connect_stateless();
        let calls: Vec<_> = (0..3).map(|_| harness.call()).collect();
        harness.client.call_json("add", "{}", Options::DEFAULT).unwrap();
        harness.run();
        assert!(harness.sent.is_empty(), "one exchange is not for requests");
        harness.respond(calls[0].exchange, 200, &[JSON], &result(calls[0].id()));
        harness.request();
    });
}

#[test]
fn stream_that_stays_open_after_the_response_is_closed() {
    for connect in [Connect::Automatic, Connect::Handshake] {
        with_harness(connect, 64, |mut harness| {
            match connect {
                Connect::Automatic => harness.connect_stateless(),
                _ => {
                    let listen = harness.connect_session();
                    harness.respond(listen.exchange, 405, &[], "");
                }
            }
            let calls: Vec<_> = (0..3).map(|_| harness.call()).collect();
            for call in &calls {
                assert_eq!(harness.http.head(call.exchange, 200, &Fields(&[EVENTS])), Head::Body);
                harness.pass(call.exchange, &format!("id: 5\ndata: {}\n\n", result(call.id())));
            }
            harness.expect(&["7", "7", "7"]);
            harness.client.call_json("add", "{}", Options::DEFAULT).unwrap();
            harness.run();
            assert!(harness.sent.is_empty() && harness.closed.is_empty());
            let end = Millis(harness.now.0 + 1_000);
            assert_eq!(harness.http.next_deadline(), Some(end));
            harness.now = end;
            harness.run();
            assert_eq!(harness.closed, calls.iter().map(|call| call.exchange).collect::<Vec<_>>());
            assert!(harness.request().body.contains("tools/call"));
            assert_eq!(harness.http.next_deadline(), None);
        });
    }
}

#[test]
fn request_fails_when_the_stream_of_a_wrong_response_is_closed() {
    with_harness(Connect::Automatic, 64, |mut harness| {
        harness.connect_stateless();
        let call = harness.call();
        assert_eq!(harness.http.head(call.exchange, 200, &Fields(&[EVENTS])), Head::Body);
        harness.pass(call.exchange, &format!("data: {}\n\n", result("99")));
        harness.events.clear();
        harness.now.0 += 1_000;
        harness.run();
        assert_eq!(harness.closed, [call.exchange]);
        harness.expect(&["closed"]);
    });
}

#[test]
fn requests_wait_until_the_stream_of_the_session_is_requested() {
    with_harness(Connect::Handshake, 64, |mut harness| {
        let listen = harness.connect_session_and(|harness| {
            harness.client.call_json("add", "{}", Options::DEFAULT).unwrap();
        });
        assert_eq!(listen.method, Method::Get);
        assert!(harness.request().body.contains("tools/call"));
    });
}

#[test]
fn annotated_parameters_of_listed_tools_are_fields() {
    for as_events in [false, true] {
        with_harness(Connect::Automatic, 64, |mut harness| {
            harness.connect_stateless();
            assert_eq!(harness.call().field("Mcp-Param-Region"), None);
            harness.client.list_tools(Options::DEFAULT).unwrap();
            let list = harness.request();
            let tools = format!(
                r#"{{"jsonrpc":"2.0","id":{},"result":{{"tools":[{{"name":"add","inputSchema":{{"type":"object","properties":{{"region":{{"type":"string","x-mcp-header":"Region"}}}}}}}}],"resultType":"complete","ttlMs":0,"cacheScope":"private"}}}}"#,
                list.id()
            );
            if as_events {
                harness.respond(list.exchange, 200, &[EVENTS], &format!("data: {tools}\n\n"));
            } else {
                harness.respond(list.exchange, 200, &[JSON], &tools);
            }
            let call = harness.call();
            assert_eq!(call.field("Mcp-Param-Region"), Some("eu"), "E-X11");
            // The memory must hold the name and the value of the longest field.
            let request = harness.http.request(call.exchange, Some(call.body.as_bytes())).unwrap();
            for length in 10.."Mcp-Param-Regioneu".len() {
                let error = request.fields(&mut vec![0; length], &mut |_, _| ()).unwrap_err();
                assert_eq!(error.needed, 18, "{length}");
            }
            assert_eq!(request.fields(&mut [0; 18], &mut |_, _| ()), Ok(()));
        });
    }
}

/// E-C5, E-C6: a message with a method of an extension has no field `Mcp-Name`.
#[test]
fn extension_messages_repeat_only_their_method() {
    for (result, event) in [
        (r#"{"resultType":"complete","value":7}"#, "result"),
        (r#"{"resultType":"com.example/later","value":7}"#, "result"),
        (r#"{"resultType":"com.example/unknown","value":7}"#, "failed Invalid"),
        (r#"{"value":7}"#, "result"),
        ("7", "failed Invalid"),
    ] {
        with_harness(Connect::Automatic, 64, |mut harness| {
            harness.connect_stateless();
            let own = |out: &mut mcp_proto::json::Writer<'_>| out.field_string("name", "n");
            harness.client.request("example/own", Options::DEFAULT, own).unwrap();
            let request = harness.request();
            assert_eq!(request.field("Mcp-Method"), Some("example/own"));
            assert_eq!(request.field("Mcp-Name"), None);
            let response = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, request.id());
            harness.respond(request.exchange, 200, &[JSON], &response);
            harness.expect(&[event]);
            harness.client.notify("notifications/example", own).unwrap();
            let notification = harness.request();
            assert!(notification.body.contains(r#""method":"notifications/example""#));
            assert_eq!(notification.field("MCP-Protocol-Version"), Some("2026-07-28"), "E-C4");
            assert_eq!(notification.field("Mcp-Method"), Some("notifications/example"));
            assert_eq!(notification.field("Mcp-Name"), None);
            assert!(notification.body.contains(r#""name":"n""#));
        });
    }
}
