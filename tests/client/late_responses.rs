//! Messages about ended requests.
//!
//! Late responses match no request. A reused id belongs to the newer request.

use std::cell::RefCell;
use std::rc::Rc;

use crate::support::FailureContext;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::Options;
use mcp_proto::{ClientCapabilities, Millis, SendError, Ticket};

const DEFAULT: Options = Options::DEFAULT;
const PATIENT: Options = DEFAULT.timeout(Millis(90_000)).maximum(Millis(90_000));

/// Ends the request `old`, which has this ticket.
type End = fn(&mut ClientHarness, Ticket);

/// Messages after the end of a request, with the resulting events.
const LATE: [(&str, &[&str]); 7] = [
    (r#"{"id":@old,"result":{"content":[{"type":"text","text":"late"}]}}"#, &[]),
    (r#"{"id":"@old","result":{}}"#, &[]),
    (r#"{"id":@old,"error":{"code":1,"message":"late"}}"#, &[]),
    (r#"{"id":@old,"result":{"tools":[],"nextCursor":"x"}}"#, &[]),
    (r#"{"id":@old,"result":{"resultType":"input_required","requestState":"s"}}"#, &[]),
    (r#"{"id":@old}"#, &["fault InvalidMethod"]),
    (r#"{"method":"notifications/progress","params":{"progressToken":@old,"progress":9}}"#, &[]),
];

/// Asserts that `old` has ended and `new` uses its slot.
fn only_new_is_in_flight(harness: &mut ClientHarness) {
    let start = harness.now;
    let new = harness.call("new", DEFAULT.with_progress()).expect("a free slot");
    harness.discard();
    for (message, heard) in LATE {
        harness.server_sends(message).events(heard).sent(&[]);
        assert!(harness.client.is_pending(new), "after {message}");
        assert_eq!((harness.client.pending(), harness.deadline), (1, Some(start + 1000)), "after {message}");
    }
    harness.server_sends(r#"{"id":@new,"result":{"content":[]}}"#).events(&[r#"new: result {"content":[]}"#]);
    assert_eq!((harness.client.pending(), harness.deadline), (0, None));
}

#[test]
fn late_responses_do_not_match_the_next_request_in_the_slot() {
    let ends: [(&str, End); 4] = [
        ("timeout", |harness, _| _ = harness.at(1000).events(&["old: lost TimedOut"])),
        ("cancellation", |harness, ticket| harness.cancel(ticket, "why")),
        ("answer", |harness, _| {
            _ = harness.server_sends(r#"{"id":@old,"result":{}}"#).events(&["old: result {}"])
        }),
        ("invalid answer", |harness, _| {
            _ = harness.server_sends(r#"{"id":@old}"#).events(&["old: lost Invalid"])
        }),
    ];
    for (name, end) in ends {
        let _context = FailureContext(name.to_owned());
        Setup { slots: 1, text: 128, ..Setup::automatic() }.connected(|harness| {
            let old = harness.call("old", DEFAULT.with_progress()).unwrap();
            end(harness, old);
            only_new_is_in_flight(harness);
        });
    }
}

#[test]
fn responses_of_the_old_connection_match_nothing() {
    for resets in [false, true] {
        Setup { slots: 1, text: 128, ..Setup::automatic() }.connected(|harness| {
            harness.call("old", DEFAULT.with_progress()).unwrap();
            if resets {
                harness.reset().events(&[]);
            } else {
                harness.reconnect().events(&["old: lost Closed"]);
            }
            // These messages cause the same events while the client connects.
            for (message, heard) in LATE {
                harness.server_sends(message).events(heard);
            }
            harness.discard().connect();
            only_new_is_in_flight(harness);
        });
    }
}

#[test]
fn response_to_the_old_handshake_does_not_connect() {
    Setup::handshake().run(|harness| {
        harness.pump();
        let first = harness.message(
            r#"{"id":@initialize,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        );
        harness.connect();
        harness.reconnect().events(&[]);
        harness.raw(first.as_bytes()).events(&[]);
        assert_eq!(harness.client.call_json("a", "{}", DEFAULT), Err(SendError::NotConnected));
        harness.connect();
    });
}

/// The end of a request frees its slot exactly once. Repeated reports of the end have no effect.
#[test]
fn number_in_flight_is_exact_after_every_end() {
    let ends: [(&str, End); 8] = [
        ("answer", |harness, _| _ = harness.server_sends(r#"{"id":@old,"result":{}}"#)),
        ("error", |harness, _| _ = harness.server_sends(r#"{"id":@old,"error":{"code":1,"message":"m"}}"#)),
        ("no answer", |harness, _| _ = harness.server_sends(r#"{"id":@old}"#)),
        ("wrong result", |harness, _| _ = harness.server_sends(r#"{"id":@old,"result":[]}"#)),
        ("cancellation", |harness, ticket| harness.cancel(ticket, "why")),
        ("timeout", |harness, _| _ = harness.at(harness.now + 1000)),
        ("both", |harness, ticket| {
            harness.cancel(ticket, "why");
            harness.at(harness.now + 1000);
        }),
        ("too deep", |harness, _| {
            let deep = format!(r#"{{"id":@old,"result":{}1{}}}"#, "[".repeat(130), "]".repeat(130));
            harness.server_sends(&deep);
        }),
    ];
    for (name, end) in ends {
        let _context = FailureContext(name.to_owned());
        Setup { slots: 3, ..Setup::automatic() }.connected(|harness| {
            let other = harness.call("other", PATIENT).unwrap();
            for _ in 0..5 {
                let old = harness.call("old", DEFAULT).unwrap();
                assert_eq!(harness.client.pending(), 2);
                end(harness, old);
                assert_eq!((harness.client.pending(), harness.client.is_pending(old)), (1, false));
                // A second report changes nothing.
                harness.server_sends(r#"{"id":@old,"result":{}}"#);
                assert_eq!(harness.client.cancel(old, ""), Err(SendError::Gone));
                assert_eq!((harness.client.pending(), harness.client.is_pending(other)), (1, true));
            }
            harness.call("a", PATIENT).unwrap();
            harness.call("b", PATIENT).unwrap();
            assert_eq!(harness.call("c", PATIENT), Err(SendError::Full));
            harness.discard();
            harness.reconnect().events(&["other: lost Closed", "a: lost Closed", "b: lost Closed"]);
            assert_eq!(harness.client.pending(), 0);
            harness.discard();
        });
    }
}

#[test]
fn end_of_connection_ends_each_request_once() {
    let ends: [(&str, End); 3] = [
        ("end of input", |harness, gone| {
            harness.cancel(gone, "");
            harness.eof();
        }),
        // The cancellation cannot be written.
        ("broken output", |harness, gone| harness.break_unnoticed().cancel(gone, "")),
        ("shutdown", |harness, gone| {
            harness.cancel(gone, "");
            harness.client.shutdown(Millis(harness.now));
            harness.pump();
        }),
    ];
    for (name, end) in ends {
        let _context = FailureContext(name.to_owned());
        Setup::automatic().connected(|harness| {
            harness.call("a", DEFAULT).unwrap();
            let gone = harness.call("gone", DEFAULT).unwrap();
            harness.call("b", DEFAULT).unwrap();
            end(harness, gone);
            harness.events(&["a: lost Closed", "b: lost Closed", "closed"]).discard();
            assert_eq!(harness.client.pending(), 0);
        });
    }
}

/// The client accepts a string with the digits of the id, because some servers respond with such a string. Other
/// similar values match no request.
#[test]
fn value_similar_to_a_request_id_is_no_match() {
    Setup::automatic().connected(|harness| {
        let ticket = harness.call("add", DEFAULT.with_progress()).unwrap();
        harness.discard();
        let id: u128 = harness.message("@add").parse().unwrap();
        let (wraps, large) = (id + (1 << 64), id + 1_000_000);
        let long = format!("{id:0>25}");
        let cases = [
            (format!("+{id}"), "NotJson"),
            (format!("0{id}"), "NotJson"),
            (format!("{id}."), "NotJson"),
            (format!("{id}.0"), "InvalidId"),
            (format!("{id}e0"), "InvalidId"),
            (format!("[{id}]"), "InvalidId"),
            (format!(r#"{{"id":{id}}}"#), "InvalidId"),
            ("true".into(), "InvalidId"),
            (format!("-{id}"), "UnknownResponse"),
            ("0".into(), "UnknownResponse"),
            ("-0".into(), "UnknownResponse"),
            (format!("{large}"), "UnknownResponse"),
            (format!("{}", u64::MAX), "UnknownResponse"),
            (format!("{wraps}"), "UnknownResponse"),
            (format!("{}", id + (3 << 64)), "UnknownResponse"),
            (format!("1{}", "0".repeat(40)), "UnknownResponse"),
            (r#""""#.into(), "UnknownResponse"),
            (format!(r#""+{id}""#), "UnknownResponse"),
            (format!(r#""-{id}""#), "UnknownResponse"),
            (format!(r#""0{id}""#), "UnknownResponse"),
            (format!("\"{long}\""), "UnknownResponse"),
            (format!(r#"" {id}""#), "UnknownResponse"),
            (format!(r#""{id} ""#), "UnknownResponse"),
            (format!(r#""{id}.0""#), "UnknownResponse"),
            (format!(r#""{id}e0""#), "UnknownResponse"),
            (format!(r#""0x{id}""#), "UnknownResponse"),
            (format!("\"{wraps}\""), "UnknownResponse"),
            (format!(r#""ping-{id}""#), "UnknownResponse"),
        ];
        for (other, fault) in cases {
            harness.server_sends(&format!(r#"{{"id":{other},"result":{{"content":[]}}}}"#));
            assert_eq!(harness.take_events(), [format!("fault {fault}")], "{other}");
            // An error with an invalid id counts as an error without an id.
            let fault = fault.replace("InvalidId", "ErrorWithoutId");
            harness.server_sends(&format!(r#"{{"id":{other},"error":{{"code":1,"message":"m"}}}}"#));
            assert_eq!(harness.take_events(), [format!("fault {fault}")], "{other}");
            harness.server_sends(&format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":{other},"progress":1}}}}"#
            ));
            let heard = harness.take_events();
            assert!(heard.len() == 1 && heard[0].starts_with("fault "), "{other}: {heard:?}");
            assert!(harness.client.is_pending(ticket), "{other}");
            assert_eq!(harness.deadline, Some(1000), "{other}");
        }
        harness.sent(&[]).server_sends(r#"{"id":"@add","result":{}}"#).events(&["add: result {}"]);
    });
}

/// Defers each server request for 700 ms, and records the tickets.
fn defers(harness: &mut ClientHarness) -> Rc<RefCell<Vec<Ticket>>> {
    let tickets = Rc::new(RefCell::new(Vec::new()));
    let kept = tickets.clone();
    harness.on_server_request(move |asked| {
        let ticket = asked.defer(Some(Millis(700))).expect("a free slot");
        kept.borrow_mut().push(ticket);
        Some(ticket)
    });
    tickets
}

const ROOTS: &str = r#"{"id":5,"method":"roots/list"}"#;
const NO_ROOTS: &str = r#"{"id":5,"result":{"roots":[]}}"#;
const EXPIRED: &str = r#"{"id":5,"error":{"code":-32603,"message":"Internal error: the request timed out"}}"#;
const CANCEL: &str = r#"{"method":"notifications/cancelled","params":{"requestId":5}}"#;

/// Checks that a second request with the id 5 gets one response, through its own ticket. The first request must
/// have ended.
fn only_the_second_is_answered(harness: &mut ClientHarness, tickets: &Rc<RefCell<Vec<Ticket>>>) {
    let first = tickets.borrow()[0];
    assert_eq!(harness.client.reply(first).err(), Some(SendError::Gone));
    harness.server_sends(CANCEL).events(&[]);
    harness.server_sends(ROOTS).events(&["asked roots"]).sent(&[]);
    answer_the_second(harness, tickets);
}

fn answer_the_second(harness: &mut ClientHarness, tickets: &Rc<RefCell<Vec<Ticket>>>) {
    let [first, second] = tickets.borrow()[..] else { panic!("two requests were deferred") };
    assert_ne!(first, second);
    assert_eq!(harness.client.reply(first).err(), Some(SendError::Gone), "late");
    assert!(harness.client.is_pending(second) && !harness.client.is_pending(first));
    harness.pump();
    harness.sent(&[]);
    harness.client.reply(second).unwrap().roots(|_| {});
    harness.pump();
    harness.events(&[]).sent(&[NO_ROOTS]);
    for ticket in [first, second] {
        assert_eq!(harness.client.reply(ticket).err(), Some(SendError::Gone));
    }
    harness.server_sends(CANCEL).events(&[]);
    harness.at(20_000).events(&[]).sent(&[]);
    assert_eq!((harness.client.pending(), harness.deadline), (0, None));
}

fn asked(slots: usize) -> Setup {
    Setup { slots, ..Setup::handshake().declares(ClientCapabilities::ROOTS) }
}

#[test]
fn late_reply_does_not_answer_a_later_request_with_its_id() {
    let ends: [(&str, End); 3] = [
        ("cancelled", |harness, _| _ = harness.server_sends(CANCEL).events(&["cancelled"]).sent(&[])),
        ("expired", |harness, _| _ = harness.at(700).events(&["expired"]).sent(&[EXPIRED])),
        ("answered", |harness, ticket| {
            harness.client.reply(ticket).unwrap().roots(|_| {});
            harness.pump();
            harness.sent(&[NO_ROOTS]);
        }),
    ];
    for (name, end) in ends {
        let _context = FailureContext(name.to_owned());
        for slots in [1, 3] {
            asked(slots).run(|harness| {
                harness.connect();
                let tickets = defers(harness);
                harness.server_sends(ROOTS).events(&["asked roots"]).sent(&[]);
                let first = tickets.borrow()[0];
                end(harness, first);
                only_the_second_is_answered(harness, &tickets);
            });
        }
    }
}

#[test]
fn late_reply_does_not_answer_on_the_next_connection() {
    for resets in [false, true] {
        asked(1).run(|harness| {
            harness.connect();
            let tickets = defers(harness);
            harness.server_sends(ROOTS).events(&["asked roots"]);
            if resets {
                harness.reset().events(&[]);
            } else {
                harness.client.reconnect();
                let first = tickets.borrow()[0];
                assert_eq!(harness.client.reply(first).err(), Some(SendError::Gone), "before the next poll");
                harness.reconnect().events(&["cancelled"]);
            }
            harness.connect();
            only_the_second_is_answered(harness, &tickets);
        });
    }
}

/// The error of an expired request waits for space. During the wait, the server sends the request again, or a new
/// connection starts.
#[test]
fn error_of_an_expired_request_waits_for_space() {
    for reconnects in [false, true] {
        asked(8).run(|harness| {
            harness.connect();
            let tickets = defers(harness);
            harness.server_sends(ROOTS).events(&["asked roots"]);
            let small = [0; 5].map(|_| harness.call("small", PATIENT).unwrap());
            harness.discard().peer_reads(false);
            let sent = (0..harness.setup.tx).rev().find_map(|length| {
                let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
                harness.client.call_json("fill", &arguments, PATIENT).ok()
            });
            harness.name(sent.expect("one fits"), "fill");
            // Cancellations use the space reserved for responses. The last cancellations wait for space, and later
            // messages wait for these cancellations.
            small.iter().for_each(|ticket| harness.cancel(*ticket, &"r".repeat(50)));
            assert!(harness.client.pending() > 3, "cancellations wait");
            harness.at(700).events(&["expired"]);
            assert_eq!(harness.client.reply(tickets.borrow()[0]).err(), Some(SendError::Gone));
            harness.server_sends(CANCEL).events(&[]);
            if reconnects {
                harness.peer_reads(true);
                harness.reconnect().events(&["fill: lost Closed"]);
                let sent = harness.take_sent_lines();
                assert!(
                    sent.len() == 1 && sent[0].contains("initialize"),
                    "no message of the old request: {sent:?}"
                );
                harness.connect();
                only_the_second_is_answered(harness, &tickets);
                return;
            }
            harness.server_sends(ROOTS).events(&[]);
            harness.peer_reads(true);
            harness.pump();
            let sent = harness.take_sent();
            assert_eq!(sent.iter().filter(|line| line.contains(r#""id":5"#)).collect::<Vec<_>>(), [EXPIRED]);
            let heard = harness.take_events();
            assert_eq!(heard.iter().filter(|event| *event == "asked roots").count(), 1, "{heard:?}");
            harness.server_sends(r#"{"id":@fill,"result":{}}"#).events(&["fill: result {}"]);
            answer_the_second(harness, &tickets);
        });
    }
}
