//! Timeouts, progress and cancellation.
use crate::support::FailureContext;
use crate::support::client::{ClientHarness, Setup};
use mcp_proto::client::Options;
use mcp_proto::{Millis, SendError};

/// Default options: timeout one second, maximum timeout five seconds.
const DEFAULT: Options = Options::DEFAULT;

fn cancelled(name: &str, reason: &str) -> String {
    format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":@{name},"reason":"{reason}"}}}}"#)
}

fn progress(harness: &mut ClientHarness, name: &str, value: &str) {
    harness.server_sends(&format!(
        r#"{{"method":"notifications/progress","params":{{"progressToken":@{name},"progress":{value}}}}}"#
    ));
}

#[test]
fn timed_out_request_is_cancelled_and_ends_once() {
    Setup::automatic().connected(|harness| {
        // The timeout starts at the first poll after the call.
        harness.at(100);
        let ticket = harness.client.call_json("add", "{}", DEFAULT).unwrap();
        harness.now = 400;
        harness.name(ticket, "add");
        assert_eq!(harness.deadline, Some(1400));
        harness.discard().at(1399).events(&[]).sent(&[]);
        harness.at(1400).events(&["add: lost TimedOut"]).sent(&[&cancelled("add", "timeout")]);
        assert_eq!((harness.deadline, harness.client.pending()), (None, 0));
        assert_eq!(harness.client.cancel(ticket, ""), Err(SendError::Gone));
        harness.at(9000).events(&[]);
        // The connection continues.
        harness.call("next", DEFAULT).unwrap();
        harness.server_sends(r#"{"id":@next,"result":{}}"#).events(&["next: result {}"]).discard();
    });
}

#[test]
fn deadline_is_the_earliest_timeout() {
    Setup::automatic().connected(|harness| {
        for (tool, timeout) in [("a", 500), ("b", 200), ("c", 900)] {
            harness.call(tool, DEFAULT.timeout(Millis(timeout))).unwrap();
        }
        assert_eq!(harness.deadline, Some(200));
        harness.server_sends(r#"{"id":@b,"result":{}}"#).events(&["b: result {}"]);
        assert_eq!(harness.deadline, Some(500));
        harness.at(901).events(&["a: lost TimedOut", "c: lost TimedOut"]).discard();
        assert_eq!(harness.deadline, None);
    });
}

#[test]
fn overflowing_timeout_never_expires() {
    Setup::automatic().connected(|harness| {
        let forever = Millis(u64::MAX);
        harness.at(10).call("a", DEFAULT.timeout(forever).maximum(forever)).unwrap();
        harness.at(u64::MAX - 1).events(&[]).discard();
    });
}

#[test]
fn progress_extends_the_timeout_up_to_the_maximum() {
    // Name, options, times and values of the progress, and the time at which the request times out.
    type Case = (&'static str, Options<'static>, &'static [(u64, &'static str)], u64);
    let cases: &[Case] = &[
        ("no progress", DEFAULT.with_progress(), &[], 1000),
        ("progress", DEFAULT.with_progress(), &[(500, "1")], 1500),
        ("it grows", DEFAULT.with_progress(), &[(500, "0.1"), (1400, "0.2"), (2300, "1e1")], 3300),
        (
            "it does not grow",
            DEFAULT.with_progress(),
            &[(500, "2"), (600, "2"), (700, "2.0"), (800, "1")],
            1500,
        ),
        (
            "it grows again",
            DEFAULT.with_progress(),
            &[(500, "2"), (600, "1"), (700, "1.5"), (800, "3")],
            1800,
        ),
        ("fixed", DEFAULT.with_progress().ignore_progress(), &[(500, "1"), (900, "2")], 1000),
        ("maximum", DEFAULT.with_progress().maximum(Millis(1700)), &[(900, "1"), (1600, "2")], 1700),
        ("maximum first", DEFAULT.with_progress().maximum(Millis(700)), &[(600, "1")], 700),
        (
            "by default",
            DEFAULT.with_progress(),
            &[(900, "1"), (1800, "2"), (2700, "3"), (3600, "4"), (4500, "5")],
            5000,
        ),
        ("zero", DEFAULT.with_progress(), &[(900, "0"), (950, "-0.0")], 1900),
        ("negative", DEFAULT.with_progress(), &[(900, "-5"), (950, "-4")], 1950),
    ];
    for (name, options, steps, end) in cases {
        let _context = FailureContext((*name).to_owned());
        Setup::automatic().connected(|harness| {
            harness.call("add", *options).unwrap();
            harness.discard();
            for (at, value) in *steps {
                harness.at(*at);
                progress(harness, "add", value);
                assert_eq!(harness.take_events().len(), 1);
            }
            assert_eq!(harness.deadline, Some(*end));
            harness.at(end - 1).events(&[]);
            harness.at(*end).events(&["add: lost TimedOut"]).sent(&[&cancelled("add", "timeout")]);
        });
    }
}

#[test]
fn progress_is_reported_only_for_requests_that_asked() {
    Setup::automatic().connected(|harness| {
        harness.call("add", DEFAULT.with_progress()).unwrap();
        harness.call("quiet", DEFAULT).unwrap();
        harness.discard();
        let cases: &[(&str, &str)] = &[
            (r#""progressToken":@add,"progress":1"#, "add: 1"),
            (r#""progressToken":@add,"progress":0.5,"total":1.25"#, "add: 0.5/1.25"),
            (
                r#""progressToken":@add,"progress":1e2,"total":null,"message":"half \"way\"""#,
                "add: 100 half \"way\"",
            ),
            (r#""progressToken":"@add","progress":3"#, "add: 3"),
            (r#""progressToken":@add,"progress":"3""#, "fault InvalidParams"),
            (r#""progressToken":@add"#, "fault InvalidParams"),
            (r#""progress":1"#, "fault InvalidParams"),
            (r#""progressToken":@quiet,"progress":1"#, "fault UnknownProgress"),
            (r#""progressToken":@quiet0,"progress":1"#, "fault UnknownProgress"),
            (r#""progressToken":null,"progress":1"#, "fault UnknownProgress"),
            (r#""progressToken":"x","progress":1"#, "fault UnknownProgress"),
        ];
        for (params, events) in cases {
            let message = format!(r#"{{"method":"notifications/progress","params":{{{params}}}}}"#);
            harness.server_sends(&message).events(&[events]);
        }
        harness.server_sends(r#"{"method":"notifications/progress"}"#).events(&["fault InvalidParams"]);
        harness
            .server_sends(r#"{"method":"notifications/progress","params":[1]}"#)
            .events(&["fault InvalidParams"]);
        harness.server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
        progress(harness, "add", "9");
        harness.events(&[]).sent(&[]);
    });
}

#[test]
fn progress_and_responses_in_one_read_keep_order() {
    Setup::automatic().connected(|harness| {
        harness.call("add", DEFAULT.with_progress()).unwrap();
        harness.discard().server_sends_all(&[
            r#"{"method":"notifications/progress","params":{"progressToken":@add,"progress":1}}"#,
            r#"{"method":"notifications/progress","params":{"progressToken":@add,"progress":2}}"#,
            r#"{"id":@add,"result":{}}"#,
            r#"{"method":"notifications/progress","params":{"progressToken":@add,"progress":3}}"#,
        ]);
        harness.events(&["add: 1", "add: 2", "add: result {}"]);
        assert_eq!(harness.client.late_messages(), 1, "the last message is only counted");
    });
}

#[test]
fn cancelled_request_emits_no_more_events() {
    Setup::automatic().connected(|harness| {
        let ticket = harness.call("add", DEFAULT.with_progress()).unwrap();
        harness.discard().cancel(ticket, "not \"needed\"");
        harness.events(&[]).sent(&[&cancelled("add", r#"not \"needed\""#)]);
        assert_eq!((harness.client.is_pending(ticket), harness.client.pending()), (false, 0));
        assert_eq!(harness.client.cancel(ticket, "again"), Err(SendError::Gone));
        harness.at(2000).sent(&[]);
        progress(harness, "add", "1");
        harness.events(&[]);
        harness.server_sends(r#"{"id":@add,"result":{}}"#).events(&[]);
        // This cancellation has no reason.
        let ticket = harness.call("b", DEFAULT).unwrap();
        harness.discard().cancel(ticket, "");
        harness.sent(&[r#"{"method":"notifications/cancelled","params":{"requestId":@b}}"#]);
    });
}

#[test]
fn received_response_wins_over_later_cancellation() {
    Setup::automatic().connected(|harness| {
        let ticket = harness.call("add", DEFAULT).unwrap();
        harness.discard().server_sends(r#"{"id":@add,"result":{}}"#).events(&["add: result {}"]);
        assert_eq!(harness.client.cancel(ticket, "too late"), Err(SendError::Gone));
        harness.at(1).sent(&[]);
    });
    // The response to `b` is in the buffer but not polled, so the cancellation wins.
    Setup::automatic().connected(|harness| {
        let first = harness.call("a", DEFAULT).unwrap();
        let second = harness.call("b", DEFAULT).unwrap();
        harness.discard();
        harness.stop_after(1).server_sends_all(&[r#"{"id":@a,"result":{}}"#, r#"{"id":@b,"result":{}}"#]);
        harness.events(&["a: result {}"]);
        assert_eq!(harness.client.cancel(first, ""), Err(SendError::Gone));
        harness.cancel(second, "r");
        harness.events(&[]).sent(&[&cancelled("b", "r")]);
        assert_eq!(harness.client.pending(), 0);
    });
}

/// Fills the transmit buffer with calls and cancellations. The server does not read, so the last cancellation has to
/// wait.
fn full(harness: &mut ClientHarness) {
    harness.peer_reads(false);
    let patient = DEFAULT.timeout(Millis(100_000)).maximum(Millis(100_000));
    let mut fillers = Vec::new();
    while let Ok(ticket) = harness.client.call_json("filler", "{}", patient) {
        fillers.push(ticket);
    }
    harness.pump();
    loop {
        let before = harness.client.pending();
        harness.cancel(fillers.pop().unwrap(), "");
        if harness.client.pending() == before {
            break;
        }
    }
    harness.discard();
}

fn cancellations(harness: &mut ClientHarness) -> Vec<String> {
    harness.take_sent().into_iter().filter(|line| line.contains("cancelled")).collect()
}

const FULL: fn() -> Setup = || Setup { tx: 1000, slots: 20, text: 20 * 64, ..Setup::handshake() };

#[test]
fn cancellation_waits_for_output_space() {
    FULL().run(|harness| {
        harness.connect();
        let ticket = harness.call("add", DEFAULT).unwrap();
        full(harness);
        harness.cancel(ticket, "because");
        assert_eq!(harness.client.cancel(ticket, ""), Err(SendError::Gone));
        assert!(!harness.client.is_pending(ticket));
        harness.at(5).events(&[]);
        harness.peer_reads(true);
        harness.pump();
        assert_eq!(cancellations(harness).last(), Some(&cancelled("add", "because")));
        harness.server_sends(r#"{"id":@add,"result":{}}"#).discard();
    });
}

#[test]
fn timeout_without_space_is_reported_before_it_is_sent() {
    FULL().run(|harness| {
        harness.connect();
        harness.call("add", DEFAULT).unwrap();
        full(harness);
        harness.at(1000).events(&["add: lost TimedOut"]);
        harness.at(2000).events(&[]);
        harness.peer_reads(true);
        harness.pump();
        assert_eq!(cancellations(harness).last(), Some(&cancelled("add", "timeout")));
        harness.events(&["room"]);
    });
}

#[test]
fn cancel_reason_that_does_not_fit_is_omitted() {
    let without: String = r#"{"method":"notifications/cancelled","params":{"requestId":@add}}"#.into();
    // The reason has seven bytes. Each case is the length of the text of a slot, and the expected cancellation.
    for (text, expected) in [(0, &without), (6, &without), (7, &cancelled("add", "because"))] {
        Setup { text: 20 * text, ..FULL() }.run(|harness| {
            harness.connect();
            let ticket = harness.call("add", DEFAULT).unwrap();
            full(harness);
            harness.cancel(ticket, "because");
            harness.peer_reads(true);
            harness.pump();
            assert_eq!(cancellations(harness).last(), Some(expected), "{text}");
            harness.events(&["room"]);
        });
    }
}

/// A reason that fits into the slot, but not into the transmit buffer, must not block the queue.
#[test]
fn cancel_reason_larger_than_the_transmit_buffer_is_omitted() {
    for reason in ["r".repeat(1000), "\u{1}".repeat(200)] {
        Setup { tx: 1000, slots: 2, text: 2 * 1000, ..Setup::handshake() }.run(|harness| {
            harness.connect();
            let ticket = harness.call("add", DEFAULT).unwrap();
            harness.discard().cancel(ticket, &reason);
            harness.sent(&[r#"{"method":"notifications/cancelled","params":{"requestId":@add}}"#]);
            assert_eq!(harness.client.pending(), 0);
        });
    }
}

#[test]
fn response_makes_a_waiting_cancellation_unnecessary() {
    for answer in [r#"{"id":@add,"result":{}}"#, r#"{"id":@add,"error":{"code":1,"message":"x"}}"#] {
        FULL().run(|harness| {
            harness.connect();
            let ticket = harness.call("add", DEFAULT).unwrap();
            full(harness);
            let pending = harness.client.pending();
            harness.cancel(ticket, "because");
            harness.server_sends(answer).events(&[]).server_sends(answer).events(&[]);
            harness.peer_reads(true);
            harness.pump();
            assert!(!cancellations(harness).iter().any(|line| line.contains("add")));
            // Two slots are free now: the slot of `add`, and the slot of the cancellation that waited for space.
            assert_eq!(harness.client.pending(), pending - 2);
            harness.events(&["room"]);
        });
    }
}

#[test]
fn slot_held_by_a_cancellation_is_announced_when_free() {
    Setup { slots: 1, ..FULL() }.run(|harness| {
        harness.connect();
        harness.peer_reads(false);
        let ticket = harness.call("a", DEFAULT).unwrap();
        for _ in 0..20 {
            harness.server_sends(
                r#"{"id":"012345678901234567890123456789012345678901234567890123456789","method":"ping"}"#,
            );
        }
        harness.cancel(ticket, &"because ".repeat(25));
        assert_eq!(harness.client.pending(), 1, "it waits");
        assert_eq!(harness.call("b", DEFAULT), Err(SendError::Full));
        harness.at(1).events(&[]);
        harness.peer_reads(true);
        harness.pump();
        harness.events(&["room"]);
        assert_eq!(cancellations(harness).len(), 1);
        harness.call("b", DEFAULT).unwrap();
        harness.discard();
    });
}
