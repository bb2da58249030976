//! Messages about requests that are over: a late answer reaches nobody, and an id that comes again means the newer request.
mod wire;

use std::cell::RefCell;
use std::rc::Rc;

use mcp_proto::client::Options;
use mcp_proto::{ClientCapabilities, Millis, SendError, Ticket};
use wire::{Setup, ShownOnFailure, Wire};

const DEFAULT: Options = Options::DEFAULT;
const PATIENT: Options = DEFAULT.timeout(Millis(90_000)).maximum(Millis(90_000));

/// A way in which a request ends.
type End = fn(&mut Wire, Ticket);

/// What may still come under the id of a request that is over, and what the host hears then.
const LATE: [(&str, &[&str]); 7] = [
    (r#"{"id":@old,"result":{"content":[{"type":"text","text":"late"}]}}"#, &[]),
    (r#"{"id":"@old","result":{}}"#, &[]),
    (r#"{"id":@old,"error":{"code":1,"message":"late"}}"#, &[]),
    (r#"{"id":@old,"result":{"tools":[],"nextCursor":"x"}}"#, &[]),
    (r#"{"id":@old,"result":{"resultType":"input_required","requestState":"s"}}"#, &[]),
    (r#"{"id":@old}"#, &["fault InvalidMethod"]),
    (
        r#"{"method":"notifications/progress","params":{"progressToken":@old,"progress":9}}"#,
        &["fault UnknownProgress"],
    ),
];

/// The request `old` is over, and `new` has its slot.
fn only_new_is_in_flight(wire: &mut Wire) {
    let start = wire.now;
    let new = wire.call("new", DEFAULT.with_progress()).expect("a free slot");
    wire.forget();
    for (message, heard) in LATE {
        wire.server(message).heard(heard).sent(&[]);
        assert!(wire.client.is_pending(new), "after {message}");
        assert_eq!((wire.client.pending(), wire.deadline), (1, Some(start + 1000)), "after {message}");
    }
    wire.server(r#"{"id":@new,"result":{"content":[]}}"#).heard(&[r#"new: result {"content":[]}"#]);
    assert_eq!((wire.client.pending(), wire.deadline), (0, None));
}

#[test]
fn late_answers_do_not_reach_the_next_request_in_the_slot() {
    let ends: [(&str, End); 4] = [
        ("timeout", |wire, _| _ = wire.at(1000).heard(&["old: lost TimedOut"])),
        ("cancellation", |wire, ticket| wire.cancel(ticket, "why")),
        ("answer", |wire, _| _ = wire.server(r#"{"id":@old,"result":{}}"#).heard(&["old: result {}"])),
        ("invalid answer", |wire, _| _ = wire.server(r#"{"id":@old}"#).heard(&["old: lost Invalid"])),
    ];
    for (name, end) in ends {
        let _shown = ShownOnFailure(name.to_owned());
        Setup { slots: 1, text: 128, ..Setup::automatic() }.connected(|wire| {
            let old = wire.call("old", DEFAULT.with_progress()).unwrap();
            end(wire, old);
            only_new_is_in_flight(wire);
        });
    }
}

#[test]
fn answers_of_the_connection_before_reach_nobody() {
    for resets in [false, true] {
        Setup { slots: 1, text: 128, ..Setup::automatic() }.connected(|wire| {
            wire.call("old", DEFAULT.with_progress()).unwrap();
            if resets {
                wire.reset().heard(&[]);
            } else {
                wire.reconnect().heard(&["old: lost Closed"]);
            }
            // While the client connects, too.
            for (message, heard) in LATE {
                wire.server(message).heard(heard);
            }
            wire.forget().connect();
            only_new_is_in_flight(wire);
        });
    }
}

#[test]
fn the_answer_to_the_handshake_before_does_not_connect() {
    Setup::handshake().run(|wire| {
        wire.pump();
        let first = wire.message(
            r#"{"id":@initialize,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#,
        );
        wire.connect();
        wire.reconnect().heard(&[]);
        wire.raw(first.as_bytes()).heard(&[]);
        assert_eq!(wire.client.call_json("a", "{}", DEFAULT), Err(SendError::NotConnected));
        wire.connect();
    });
}

/// Each end of a request frees its slot once, however often its end is said.
#[test]
fn the_number_of_requests_in_flight_is_exact_after_every_end() {
    let ends: [(&str, End); 8] = [
        ("answer", |wire, _| _ = wire.server(r#"{"id":@old,"result":{}}"#)),
        ("error", |wire, _| _ = wire.server(r#"{"id":@old,"error":{"code":1,"message":"m"}}"#)),
        ("no answer", |wire, _| _ = wire.server(r#"{"id":@old}"#)),
        ("wrong result", |wire, _| _ = wire.server(r#"{"id":@old,"result":[]}"#)),
        ("cancellation", |wire, ticket| wire.cancel(ticket, "why")),
        ("timeout", |wire, _| _ = wire.at(wire.now + 1000)),
        ("both", |wire, ticket| {
            wire.cancel(ticket, "why");
            wire.at(wire.now + 1000);
        }),
        ("too deep", |wire, _| {
            let deep = format!(r#"{{"id":@old,"result":{}1{}}}"#, "[".repeat(130), "]".repeat(130));
            wire.server(&deep);
        }),
    ];
    for (name, end) in ends {
        let _shown = ShownOnFailure(name.to_owned());
        Setup { slots: 3, ..Setup::automatic() }.connected(|wire| {
            let other = wire.call("other", PATIENT).unwrap();
            for _ in 0..5 {
                let old = wire.call("old", DEFAULT).unwrap();
                assert_eq!(wire.client.pending(), 2);
                end(wire, old);
                assert_eq!((wire.client.pending(), wire.client.is_pending(old)), (1, false));
                // Said again, it changes nothing.
                wire.server(r#"{"id":@old,"result":{}}"#);
                assert_eq!(wire.client.cancel(old, ""), Err(SendError::Gone));
                assert_eq!((wire.client.pending(), wire.client.is_pending(other)), (1, true));
            }
            wire.call("a", PATIENT).unwrap();
            wire.call("b", PATIENT).unwrap();
            assert_eq!(wire.call("c", PATIENT), Err(SendError::Full));
            wire.forget();
            wire.reconnect().heard(&["other: lost Closed", "a: lost Closed", "b: lost Closed"]);
            assert_eq!(wire.client.pending(), 0);
            wire.forget();
        });
    }
}

#[test]
fn the_end_of_the_connection_ends_each_request_once() {
    let ends: [(&str, End); 3] = [
        ("end of input", |wire, gone| {
            wire.cancel(gone, "");
            wire.eof();
        }),
        // The cancellation is what cannot be written.
        ("broken output", |wire, gone| wire.breaks().cancel(gone, "")),
        ("shutdown", |wire, gone| {
            wire.cancel(gone, "");
            wire.client.shutdown(Millis(wire.now));
            wire.pump();
        }),
    ];
    for (name, end) in ends {
        let _shown = ShownOnFailure(name.to_owned());
        Setup::automatic().connected(|wire| {
            wire.call("a", DEFAULT).unwrap();
            let gone = wire.call("gone", DEFAULT).unwrap();
            wire.call("b", DEFAULT).unwrap();
            end(wire, gone);
            wire.heard(&["a: lost Closed", "b: lost Closed", "closed"]).forget();
            assert_eq!(wire.client.pending(), 0);
        });
    }
}

/// The digits in a string are accepted, because some servers answer so. Nothing else that resembles an id is one.
#[test]
fn what_resembles_the_id_of_a_request_is_no_id() {
    Setup::automatic().connected(|wire| {
        let ticket = wire.call("add", DEFAULT.with_progress()).unwrap();
        wire.forget();
        let id: u128 = wire.message("@add").parse().unwrap();
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
            wire.server(&format!(r#"{{"id":{other},"result":{{"content":[]}}}}"#));
            assert_eq!(wire.heard_now(), [format!("fault {fault}")], "{other}");
            // An error whose id is none is an error without an id.
            let fault = fault.replace("InvalidId", "ErrorWithoutId");
            wire.server(&format!(r#"{{"id":{other},"error":{{"code":1,"message":"m"}}}}"#));
            assert_eq!(wire.heard_now(), [format!("fault {fault}")], "{other}");
            wire.server(&format!(
                r#"{{"method":"notifications/progress","params":{{"progressToken":{other},"progress":1}}}}"#
            ));
            let heard = wire.heard_now();
            assert!(heard.len() == 1 && heard[0].starts_with("fault "), "{other}: {heard:?}");
            assert!(wire.client.is_pending(ticket), "{other}");
            assert_eq!(wire.deadline, Some(1000), "{other}");
        }
        wire.sent(&[]).server(r#"{"id":"@add","result":{}}"#).heard(&["add: result {}"]);
    });
}

/// Notes the tickets of what it defers, for 700 ms.
fn defers(wire: &mut Wire) -> Rc<RefCell<Vec<Ticket>>> {
    let tickets = Rc::new(RefCell::new(Vec::new()));
    let kept = tickets.clone();
    wire.on_server_request(move |asked| {
        let ticket = asked.defer(Some(Millis(700))).expect("a free slot");
        kept.borrow_mut().push(ticket);
        Some(ticket)
    });
    tickets
}

const ROOTS: &str = r#"{"id":5,"method":"roots/list"}"#;
const NO_ROOTS: &str = r#"{"id":5,"result":{"roots":[]}}"#;
const EXPIRED: &str =
    r#"{"id":5,"error":{"code":-32603,"message":"Internal error: the request was not finished in time"}}"#;
const CANCEL: &str = r#"{"method":"notifications/cancelled","params":{"requestId":5}}"#;

/// The first request with the id 5 is over. Another one with this id is answered once, by its own ticket.
fn only_the_second_is_answered(wire: &mut Wire, tickets: &Rc<RefCell<Vec<Ticket>>>) {
    let first = tickets.borrow()[0];
    assert_eq!(wire.client.reply(first).err(), Some(SendError::Gone));
    wire.server(CANCEL).heard(&["fault UnknownCancel"]);
    wire.server(ROOTS).heard(&["asked roots"]).sent(&[]);
    answer_the_second(wire, tickets);
}

fn answer_the_second(wire: &mut Wire, tickets: &Rc<RefCell<Vec<Ticket>>>) {
    let [first, second] = tickets.borrow()[..] else { panic!("two requests were deferred") };
    assert_ne!(first, second);
    assert_eq!(wire.client.reply(first).err(), Some(SendError::Gone), "late");
    assert!(wire.client.is_pending(second) && !wire.client.is_pending(first));
    wire.pump();
    wire.sent(&[]);
    wire.client.reply(second).unwrap().roots(|_| {});
    wire.pump();
    wire.heard(&[]).sent(&[NO_ROOTS]);
    for ticket in [first, second] {
        assert_eq!(wire.client.reply(ticket).err(), Some(SendError::Gone));
    }
    wire.server(CANCEL).heard(&["fault UnknownCancel"]);
    wire.at(20_000).heard(&[]).sent(&[]);
    assert_eq!((wire.client.pending(), wire.deadline), (0, None));
}

fn asked(slots: usize) -> Setup {
    Setup { slots, ..Setup::handshake().declares(ClientCapabilities::ROOTS) }
}

#[test]
fn a_late_reply_does_not_answer_the_next_request_with_its_id() {
    let ends: [(&str, End); 3] = [
        ("cancelled", |wire, _| _ = wire.server(CANCEL).heard(&["cancelled"]).sent(&[])),
        ("expired", |wire, _| _ = wire.at(700).heard(&["expired"]).sent(&[EXPIRED])),
        ("answered", |wire, ticket| {
            wire.client.reply(ticket).unwrap().roots(|_| {});
            wire.pump();
            wire.sent(&[NO_ROOTS]);
        }),
    ];
    for (name, end) in ends {
        let _shown = ShownOnFailure(name.to_owned());
        for slots in [1, 3] {
            asked(slots).run(|wire| {
                wire.connect();
                let tickets = defers(wire);
                wire.server(ROOTS).heard(&["asked roots"]).sent(&[]);
                let first = tickets.borrow()[0];
                end(wire, first);
                only_the_second_is_answered(wire, &tickets);
            });
        }
    }
}

#[test]
fn a_late_reply_does_not_answer_over_the_next_connection() {
    for resets in [false, true] {
        asked(1).run(|wire| {
            wire.connect();
            let tickets = defers(wire);
            wire.server(ROOTS).heard(&["asked roots"]);
            if resets {
                wire.reset().heard(&[]);
            } else {
                wire.client.reconnect();
                let first = tickets.borrow()[0];
                assert_eq!(wire.client.reply(first).err(), Some(SendError::Gone), "before the next poll");
                wire.reconnect().heard(&["cancelled"]);
            }
            wire.connect();
            only_the_second_is_answered(wire, &tickets);
        });
    }
}

/// The error of an expired request waits for room; the server asks again meanwhile, or the connection is replaced.
#[test]
fn the_error_of_an_expired_request_waits_for_room_and_stays_its_own() {
    for reconnects in [false, true] {
        asked(8).run(|wire| {
            wire.connect();
            let tickets = defers(wire);
            wire.server(ROOTS).heard(&["asked roots"]);
            let small = [0; 5].map(|_| wire.call("small", PATIENT).unwrap());
            wire.forget().reads = false;
            let sent = (0..wire.setup.tx).rev().find_map(|length| {
                let arguments = format!(r#"{{"a":"{}"}}"#, "x".repeat(length));
                wire.client.call_json("fill", &arguments, PATIENT).ok()
            });
            wire.name(sent.expect("one fits"), "fill");
            // What is kept for answers goes to cancellations. The last of them have to wait, and what comes later waits behind them.
            small.iter().for_each(|ticket| wire.cancel(*ticket, &"r".repeat(50)));
            assert!(wire.client.pending() > 3, "cancellations wait");
            wire.at(700).heard(&["expired"]);
            assert_eq!(wire.client.reply(tickets.borrow()[0]).err(), Some(SendError::Gone));
            wire.server(CANCEL).heard(&["fault UnknownCancel"]);
            if reconnects {
                wire.reads = true;
                wire.reconnect().heard(&["fill: lost Closed"]);
                let sent = wire.sent_lines();
                assert!(
                    sent.len() == 1 && sent[0].contains("initialize"),
                    "nothing of the old one: {sent:?}"
                );
                wire.connect();
                only_the_second_is_answered(wire, &tickets);
                return;
            }
            wire.server(ROOTS).heard(&[]);
            wire.reads = true;
            wire.pump();
            let sent = wire.sent_short();
            assert_eq!(sent.iter().filter(|line| line.contains(r#""id":5"#)).collect::<Vec<_>>(), [EXPIRED]);
            let heard = wire.heard_now();
            assert_eq!(heard.iter().filter(|event| *event == "asked roots").count(), 1, "{heard:?}");
            wire.server(r#"{"id":@fill,"result":{}}"#).heard(&["fill: result {}"]);
            answer_the_second(wire, &tickets);
        });
    }
}
