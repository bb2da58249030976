//! Messages of the server: requests, notifications, invalid lines, silence.

use std::cell::Cell;

use crate::support::FailureContext;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::Options;
use mcp_proto::{KeepAlive, Millis};

const DEFAULT: Options = Options::DEFAULT;

fn answer(id: &str) -> String {
    format!(r#"{{"id":{id},"result":{{}}}}"#)
}

fn refusal(id: &str, code: i32, message: &str) -> String {
    format!(r#"{{"id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

/// Each case is a server request, its event, and the response of the handshake era.
#[test]
fn only_handshake_era_answers_server_requests() {
    let limit = "x".repeat(62);
    let (longest, too_long) = (format!("\"{limit}\""), format!("\"{limit}x\""));
    let unknown = |id: &str| refusal(id, -32601, "Method not found");
    let cases: &[(String, &[&str], Option<String>)] = &[
        (r#"{"id":1,"method":"ping"}"#.into(), &[], Some(answer("1"))),
        (r#"{"id":1,"method":"pi\u006eg"}"#.into(), &[], Some(answer("1"))),
        (r#"{"id":"","method":"ping","params":{}}"#.into(), &[], Some(answer(r#""""#))),
        (r#"{"id":"é\u0031","method":"ping"}"#.into(), &[], Some(answer(r#""é\u0031""#))),
        (r#"{"id":-3,"method":"ping","params":null}"#.into(), &[], Some(answer("-3"))),
        (r#"{"method":"ping","params":[1],"id":0}"#.into(), &[], Some(answer("0"))),
        (format!(r#"{{"id":{longest},"method":"ping"}}"#), &[], Some(answer(&longest))),
        (format!(r#"{{"id":{too_long},"method":"ping"}}"#), &["fault IdTooLong"], None),
        (r#"{"id":2,"method":"roots/list"}"#.into(), &["fault UnknownMethod"], Some(unknown("2"))),
        (
            r#"{"id":2,"method":"sampling/createMessage","params":{}}"#.into(),
            &["fault UnknownMethod"],
            Some(unknown("2")),
        ),
        (r#"{"id":2,"method":"elicitation/create"}"#.into(), &["fault UnknownMethod"], Some(unknown("2"))),
        (r#"{"id":2,"method":"initialize"}"#.into(), &["fault UnknownMethod"], Some(unknown("2"))),
        (r#"{"id":2,"method":""}"#.into(), &["fault UnknownMethod"], Some(unknown("2"))),
        // A request may have further members, even `result`.
        (r#"{"id":2,"method":"x","result":{}}"#.into(), &["fault UnknownMethod"], Some(unknown("2"))),
    ];
    for (request, events, answered) in cases {
        let _context = FailureContext(request.clone());
        Setup::automatic().connected(|harness| {
            harness.server_sends(request);
            match (harness.is_handshake(), answered) {
                (true, Some(answered)) => harness.events(events).sent(&[answered]),
                (true, None) => harness.events(events).sent(&[]),
                (false, _) => harness.events(&["fault UnknownMethod"]).sent(&[]),
            };
        });
    }
}

#[test]
fn pings_are_answered_while_every_slot_is_taken() {
    Setup { slots: 1, ..Setup::handshake() }.run(|harness| {
        harness.connect();
        harness.call("slow", DEFAULT).unwrap();
        harness.discard();
        harness.server_sends_all(&[r#"{"id":1,"method":"ping"}"#, r#"{"id":2,"method":"ping"}"#]);
        harness.sent(&[&answer("1"), &answer("2")]);
        harness.server_sends(r#"{"id":@slow,"result":{}}"#).events(&["slow: result {}"]);
    });
}

#[test]
fn invalid_server_lines_are_never_answered() {
    let cases: &[(&[u8], &[&str])] = &[
        (b"garbage", &["fault NotJson"]),
        (b"{", &["fault NotJson"]),
        (b"\xff\xfe\x00", &["fault NotJson"]),
        (b"{\"jsonrpc\":\"2.0\",\"id\":\"\xc3\x28\",\"method\":\"ping\"}", &["fault NotJson"]),
        (b"", &[]),
        (b"\r", &[]),
        (b" \t\r", &[]),
        (b"null", &["fault NotAnObject"]),
        (b"\"text\"", &["fault NotAnObject"]),
        (b"[]", &["fault Batch"]),
        (b"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", &["fault Batch"]),
        (b"{}", &["fault WrongJsonRpcVersion"]),
        (b"{\"id\":1,\"method\":\"ping\"}", &["fault WrongJsonRpcVersion"]),
        (b"{\"jsonrpc\":2.0,\"id\":1,\"method\":\"ping\"}", &["fault WrongJsonRpcVersion"]),
        (b"{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}", &["fault InvalidId"]),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1.5,\"method\":\"ping\"}", &["fault InvalidId"]),
        (b"{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", &["fault InvalidId"]),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":5}", &["fault InvalidMethod"]),
        (b"{\"jsonrpc\":\"2.0\",\"id\":1}", &["fault InvalidMethod"]),
        (b"{\"jsonrpc\":\"2.0\",\"id\":777,\"result\":{}}", &["fault UnknownResponse"]),
        (b"{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"\"}}", &["fault ErrorWithoutId"]),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}", &["notified ping"]),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"x/y\",\"params\":null}", &["notified x/y"]),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":1}}", &[r#"notified x {"a":1}"#]),
        (
            b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":null}}",
            &["fault InvalidParams"],
        ),
        (b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\"}", &["fault InvalidParams"]),
    ];
    for (line, events) in cases {
        let _context = FailureContext(String::from_utf8_lossy(line).into_owned());
        Setup::automatic().connected(|harness| {
            // The repetition shows that the client does not count these lines.
            for _ in 0..12 {
                harness.raw(line).events(events).sent(&[]);
            }
            harness.call("still", DEFAULT).unwrap();
            harness.discard().server_sends(r#"{"id":@still,"result":{}}"#).events(&["still: result {}"]);
        });
    }
}

#[test]
fn broken_request_with_a_readable_id_gets_an_error() {
    let error = r#"{"id":1,"error":{"code":-32700,"message":"Parse error: the message is not valid JSON"}}"#;
    for line in [
        br#"{"jsonrpc":"2.0","id":1,"method":"ping"}}"#.as_slice(),
        br#"{"jsonrpc":"2.0","id":1,"method":"ping",}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#,
        br#"{"method":"ping","id":1,"jsonrpc":"2.0""#,
    ] {
        let _context = FailureContext(String::from_utf8_lossy(line).into_owned());
        Setup::automatic().connected(|harness| {
            let answer: &[&str] = if harness.is_handshake() { &[error] } else { &[] };
            harness.raw(line).events(&["fault NotJson"]).sent(answer);
        });
    }
}

#[test]
fn notifications_emit_events() {
    let cases: &[(&str, &str)] = &[
        (
            r#"{"method":"notifications/message","params":{"level":"warning","logger":"db","data":{"n":1}}}"#,
            r#"log warning db {"n":1}"#,
        ),
        (r#"{"method":"notifications/message","params":{"level":"loud","data":"x"}}"#, r#"log ? "x""#),
        (r#"{"method":"notifications/message","params":{"level":"info"}}"#, "log info null"),
        (r#"{"method":"notifications/message"}"#, "fault InvalidParams"),
        (r#"{"method":"notifications/message","params":"x"}"#, "fault InvalidParams"),
        (r#"{"method":"$/logTrace","params":{}}"#, "notified $/logTrace {}"),
    ];
    for (message, events) in cases {
        let _context = FailureContext((*message).to_owned());
        Setup::automatic().connected(|harness| {
            harness.server_sends(message).events(&[events]).sent(&[]);
        });
    }
}

/// The stateless era needs a subscription: see `subscriptions.rs`.
#[test]
fn handshake_era_reports_changes_without_subscription() {
    let cases: &[(&str, &str)] = &[
        (r#"{"method":"notifications/tools/list_changed"}"#, "changed Tools"),
        (r#"{"method":"notifications/tools/list_changed","params":{}}"#, "changed Tools"),
        (r#"{"method":"notifications\/resources/list_changed"}"#, "changed Resources"),
        (r#"{"method":"notifications/prompts/list_changed","params":{"_meta":{}}}"#, "changed Prompts"),
        (r#"{"method":"notifications/resources/updated","params":{"uri":"a"}}"#, "updated a"),
    ];
    for (message, events) in cases {
        let _context = FailureContext((*message).to_owned());
        Setup::automatic().connected(|harness| {
            let events = if harness.is_handshake() { events } else { "fault UnknownSubscription" };
            harness.server_sends(message).events(&[events]).sent(&[]);
        });
    }
}

/// Each case is a message longer than 400 bytes, its event, and the response of the handshake era.
#[test]
fn oversized_line_ends_only_its_own_request() {
    let long = "x".repeat(500);
    let refused = |id: &str| Some(refusal(id, -32600, "Invalid request: the message is too long"));
    let limit = "y".repeat(62);
    let (longest, longer) = (format!("\"{limit}\""), format!("\"{limit}y\""));
    let cases: &[(String, &[&str], Option<String>)] = &[
        (format!(r#"{{"id":@add,"result":{{"content":[],"x":"{long}"}}}}"#), &["add: lost TooLong"], None),
        (format!(r#"{{"result":{{"content":[],"x":"{long}"}},"id":@add}}"#), &["add: lost TooLong"], None),
        (format!(r#"{{"error":{{"code":1,"message":"{long}"}},"id":"@add"}}"#), &["add: lost TooLong"], None),
        (format!(r#"{{"result":{{"id":@add}},"x":"{long}"}}"#), &["fault LineTooLong"], None),
        (format!(r#"{{"id":77777,"result":"{long}"}}"#), &["fault LineTooLong"], None),
        (format!(r#"{{"id":"{long}","result":{{}}}}"#), &["fault LineTooLong"], None),
        (format!(r#"{{"method":"x","params":"{long}"}}"#), &["fault LineTooLong"], None),
        (format!(r#"{{"id":9,"method":"x","params":"{long}"}}"#), &["fault LineTooLong"], refused("9")),
        (
            format!(r#"{{"params":"{long}","method":"ping","id":"late"}}"#),
            &["fault LineTooLong"],
            refused("\"late\""),
        ),
        (
            format!(r#"{{"id":{longest},"method":"x","params":"{long}"}}"#),
            &["fault LineTooLong"],
            refused(&longest),
        ),
        (format!(r#"{{"id":{longer},"method":"x","params":"{long}"}}"#), &["fault LineTooLong"], None),
        (format!(r#"{{"id":1.5,"method":"x","params":"{long}"}}"#), &["fault LineTooLong"], None),
        (format!(r#"{{"id":"{long}","method":"ping"}}"#), &["fault LineTooLong"], None),
        (format!(r#"[{{"id":@add,"result":"{long}"}}]"#), &["fault LineTooLong"], None),
        (format!(r#"garbage {long}"#), &["fault NotJson"], None),
        (format!(r#"{{"id":@add,"result":"{long}"}} and more"#), &["fault NotJson"], None),
    ];
    for (message, events, answered) in cases {
        let _context = FailureContext(message.clone());
        Setup::automatic().rx(400).connected(|harness| {
            harness.call("add", DEFAULT).unwrap();
            harness.call("other", DEFAULT).unwrap();
            harness.discard().server_sends_all(&[message, r#"{"id":@other,"result":{}}"#]);
            let events: Vec<&str> = events.iter().copied().chain(["other: result {}"]).collect();
            harness.events(&events);
            match answered.as_ref().filter(|_| harness.is_handshake()) {
                Some(answered) => harness.sent(&[answered]),
                None => harness.sent(&[]),
            };
        });
    }
}

#[test]
fn line_as_long_as_the_buffer_is_accepted() {
    let line = |length: usize| {
        let empty = r#"{"jsonrpc":"2.0","id":@add,"result":{"x":""}}"#.len();
        // In both eras, the id has one digit.
        let x = "x".repeat(length - (empty - "@add".len() + 1));
        format!(r#"{{"id":@add,"result":{{"x":"{x}"}}}}"#)
    };
    for (length, fits) in [(398, true), (399, true), (400, false), (401, false)] {
        let _context = FailureContext(length.to_string());
        Setup::automatic().rx(400).lines_only().connected(|harness| {
            harness.call("add", DEFAULT).unwrap();
            let message = harness.message(&line(length));
            assert_eq!(message.len(), length);
            harness.discard().raw(message.as_bytes());
            let events = harness.take_events();
            assert_eq!(events.len(), 1);
            assert_eq!(events[0].starts_with("add: result"), fits, "{events:?}");
        });
    }
}

#[test]
fn too_deep_response_ends_its_request() {
    let info = Setup::automatic().info.depth(8);
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    let cases = [
        (format!(r#"{{"id":@add,"result":{{"x":{}}}}}"#, deep(6)), "add: result"),
        (format!(r#"{{"id":@add,"result":{{"x":{}}}}}"#, deep(7)), "add: lost Invalid"),
        (format!(r#"{{"result":{{"x":{}}},"id":@add}}"#, deep(50)), "add: lost Invalid"),
        (format!(r#"{{"id":66666,"result":{}}}"#, deep(50)), "fault TooDeep"),
        (format!(r#"{{"method":"x","params":{}}}"#, deep(50)), "fault TooDeep"),
    ];
    for (message, event) in cases {
        let _context = FailureContext(message.clone());
        Setup { info, ..Setup::automatic() }.connected(|harness| {
            harness.call("add", DEFAULT).unwrap();
            harness.discard().server_sends(&message).sent(&[]);
            let events = harness.take_events();
            assert!(events.len() == 1 && events[0].starts_with(event), "{events:?}");
        });
    }
    let info = Setup::handshake().info.depth(8);
    Setup { info, ..Setup::handshake() }.run(|harness| {
        harness.connect();
        harness
            .server_sends(&format!(r#"{{"params":{},"id":5,"method":"x"}}"#, deep(9)))
            .events(&["fault TooDeep"]);
        harness.sent(&[&refusal("5", -32600, "Invalid request: the message is nested too deeply")]);
    });
}

/// A server request that waits for space gets its response, even if a request of the client times out during the wait.
#[test]
fn ping_waiting_for_space_is_answered_in_any_case() {
    Setup { tx: 512, ..Setup::handshake() }.run(|harness| {
        harness.connect();
        harness.peer_reads(false);
        harness.call("slow", DEFAULT.timeout(Millis(100))).unwrap();
        let pings: Vec<String> =
            (0..20).map(|id| format!(r#"{{"id":"ping number {id}","method":"ping"}}"#)).collect();
        for ping in &pings {
            harness.server_sends(ping);
        }
        harness.at(100).events(&["slow: lost TimedOut"]);
        harness.peer_reads(true);
        harness.pump();
        let answers = harness.take_sent().into_iter().filter(|line| line.contains("ping number")).count();
        assert_eq!(answers, 20);
    });
}

const PINGS: KeepAlive = KeepAlive { interval: Millis(100), timeout: Millis(40), close: false };

#[test]
fn silent_server_is_pinged_then_reported() {
    for close in [false, true] {
        Setup { keep_alive: Some(KeepAlive { close, ..PINGS }), ..Setup::automatic() }.connected(|harness| {
            let asked = |harness: &crate::support::client::ClientHarness, number: u32| {
                if harness.is_handshake() {
                    format!(r#"{{"id":"ping-{number}","method":"ping"}}"#)
                } else {
                    format!(
                        r#"{{"id":"ping-{number}","method":"server/discover","params":{{"_meta":{{..}}}}}}"#
                    )
                }
            };
            assert_eq!(harness.deadline, Some(100));
            harness.at(99).sent(&[]);
            let expected = asked(harness, 1);
            harness.at(100).sent(&[&expected]);
            assert_eq!(harness.deadline, Some(140));
            harness.at(120).server_sends(r#"{"id":"ping-1","result":{}}"#).events(&[]);
            assert_eq!(harness.deadline, Some(220));
            // Any input delays the ping.
            harness.at(200).server_sends(r#"{"method":"x"}"#).events(&["notified x"]);
            assert_eq!(harness.deadline, Some(300));
            let expected = asked(harness, 2);
            harness.at(300).sent(&[&expected]);
            // An error is a response, too.
            harness
                .at(310)
                .server_sends(r#"{"id":"ping-2","error":{"code":-32601,"message":"x"}}"#)
                .events(&[]);
            harness.at(410).discard();
            harness.call("pending", DEFAULT).unwrap();
            harness.discard().at(449).events(&[]).at(450);
            if close {
                harness.events(&["silent", "pending: lost Closed", "closed"]);
                return;
            }
            harness.events(&["silent"]);
            // A late response only counts as activity.
            harness.at(460).server_sends(r#"{"id":"ping-3","result":{}}"#).events(&[]);
            assert_eq!(harness.deadline, Some(560));
            harness.server_sends(r#"{"id":"ping-4","result":{}}"#).events(&["fault UnknownResponse"]);
            harness
                .server_sends(r#"{"id":"ping-0","result":{}}"#)
                .events(&["fault UnknownResponse"])
                .discard();
        });
    }
}

#[test]
fn malformed_response_ends_the_wait_for_the_ping() {
    for line in [r#"{"id":"ping-1"}"#, r#"{"id":"ping-1","result":{},"error":{}}"#] {
        Setup { keep_alive: Some(PINGS), ..Setup::automatic() }.connected(|harness| {
            harness.at(100).discard();
            harness.at(120).server_sends(line).events(&[]);
            harness.at(140).events(&[]).discard();
        });
    }
}

#[test]
fn oversized_response_counts_as_activity() {
    Setup { keep_alive: Some(PINGS), ..Setup::automatic() }.rx(400).connected(|harness| {
        harness.at(100).discard();
        harness
            .at(120)
            .server_sends(&format!(r#"{{"id":"ping-1","result":{{"x":"{}"}}}}"#, "x".repeat(500)))
            .events(&[]);
        harness.at(140).events(&[]).discard();
    });
}

#[test]
fn keep_alive_without_space_sets_no_past_deadline() {
    let keep_alive = Some(KeepAlive { interval: Millis(100), timeout: Millis(40), close: false });
    Setup { keep_alive, tx: 512, ..Setup::handshake() }.run(|harness| {
        harness.connect();
        harness.peer_reads(false);
        let tickets: Vec<_> =
            (0..3).map_while(|_| harness.client.call_json("t", "{}", DEFAULT).ok()).collect();
        harness.pump();
        for ticket in tickets {
            harness.cancel(ticket, &"x".repeat(100));
        }
        for _ in 0..8 {
            harness.server_sends(r#"{"id":"0123456789","method":"ping"}"#);
        }
        // The harness checks the deadline after every poll.
        harness.at(500).at(501).at(700);
        harness.peer_reads(true);
        harness.pump();
        harness.discard();
    });
}

/// Connects, and fills most of the transmit buffer with calls and cancellations that the server does not read.
fn fill_output(harness: &mut ClientHarness) {
    harness.connect();
    harness.peer_reads(false);
    let tickets: Vec<_> = (0..3).map_while(|_| harness.client.call_json("t", "{}", DEFAULT).ok()).collect();
    harness.pump();
    for ticket in tickets {
        harness.cancel(ticket, &"x".repeat(60));
    }
}

/// With some buffer sizes, the ping has to wait for space.
///
/// The client sends the ping for every buffer size.
#[test]
fn due_ping_is_sent_despite_input_before_space_is_free() {
    for tx in (500..640).step_by(10) {
        Setup { keep_alive: Some(PINGS), tx, ..Setup::handshake() }.lines_only().run(|harness| {
            fill_output(harness);
            harness.at(500).at(501).server_sends(r#"{"method":"x"}"#);
            assert!(harness.take_events().contains(&"notified x".to_owned()));
            harness.peer_reads(true);
            harness.at(502);
            let questions = harness.take_sent().iter().filter(|line| line.contains("\"ping-1\"")).count();
            assert_eq!(questions, 1);
        });
    }
}

/// With some buffer sizes, the ping has no space.
#[test]
fn server_that_reads_nothing_is_reported() {
    let unsent_pings = Cell::new(0);
    for tx in (500..640).step_by(10) {
        Setup { keep_alive: Some(PINGS), tx, ..Setup::handshake() }.lines_only().run(|harness| {
            fill_output(harness);
            harness.discard().at(500).at(539).events(&[]).at(540).events(&["silent"]);
            harness.peer_reads(true);
            harness.at(541);
            if !harness.take_sent().iter().any(|line| line.contains("\"ping-1\"")) {
                unsent_pings.set(unsent_pings.get() + 1);
            }
        });
    }
    assert_ne!(unsent_pings.get(), 0, "with each size, the ping had space");
}

/// Only requests need space for a response. The client processes other messages even if the server does not read.
#[test]
fn notifications_are_received_with_a_full_buffer() {
    let long = "x".repeat(500);
    let cases: &[(String, &[&str])] = &[
        ("garbage".into(), &["fault NotJson"]),
        (r#"{"method":"ping"}}"#.into(), &["fault NotJson"]),
        (r#"{"id":@add,"result":{}}}"#.into(), &["add: lost Invalid"]),
        (format!(r#"{{"id":@add,"result":"{long}"}}"#), &["add: lost TooLong"]),
        (format!(r#"{{"method":"x","params":"{long}"}}"#), &["fault LineTooLong"]),
        (format!(r#"{{"id":@add,"result":{}{}}}"#, "[".repeat(130), "]".repeat(130)), &["add: lost Invalid"]),
        (r#"{"id":@add,"result":{}}"#.into(), &["add: result {}"]),
        (r#"{"id":1.5,"method":"ping"}"#.into(), &["fault InvalidId"]),
        (r#"{"method":"x"}"#.into(), &["notified x"]),
    ];
    for (message, events) in cases {
        let _context = FailureContext(message.clone());
        Setup { tx: 700, slots: 8, ..Setup::automatic() }.rx(400).connected(|harness| {
            harness.call("add", DEFAULT).unwrap();
            harness.peer_reads(false);
            let mut tickets = Vec::new();
            while let Ok(ticket) = harness.client.call_json("filler", "{}", DEFAULT) {
                tickets.push(ticket);
            }
            harness.pump();
            for length in [200, 100, 50, 20, 5, 1] {
                if let Some(ticket) = tickets.pop() {
                    harness.cancel(ticket, &"x".repeat(length));
                }
            }
            harness.discard().server_sends(message).events(events);
            // In the stateless era the client drops a server request.
            if !harness.is_handshake() {
                harness.server_sends(r#"{"id":1,"method":"ping"}"#).events(&["fault UnknownMethod"]);
            }
        });
    }
}
