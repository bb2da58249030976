//! Timeouts, progress and cancellation.
use crate::support::ShownOnFailure;
use crate::support::client::{Setup, Wire};
use mcp_proto::client::Options;
use mcp_proto::{Millis, SendError};

/// The timeout is one second, and at most five with progress.
const DEFAULT: Options = Options::DEFAULT;

fn cancelled(name: &str, reason: &str) -> String {
    format!(r#"{{"method":"notifications/cancelled","params":{{"requestId":@{name},"reason":"{reason}"}}}}"#)
}

fn progress(wire: &mut Wire, name: &str, value: &str) {
    wire.server(&format!(
        r#"{{"method":"notifications/progress","params":{{"progressToken":@{name},"progress":{value}}}}}"#
    ));
}

#[test]
fn timed_out_request_is_cancelled_and_ends_once() {
    Setup::automatic().connected(|wire| {
        // The timeout starts at the first poll after the call.
        wire.at(100);
        let ticket = wire.client.call_json("add", "{}", DEFAULT).unwrap();
        wire.now = 400;
        wire.name(ticket, "add");
        assert_eq!(wire.deadline, Some(1400));
        wire.forget().at(1399).heard(&[]).sent(&[]);
        wire.at(1400).heard(&["add: lost TimedOut"]).sent(&[&cancelled("add", "timeout")]);
        assert_eq!((wire.deadline, wire.client.pending()), (None, 0));
        assert_eq!(wire.client.cancel(ticket, ""), Err(SendError::Gone));
        wire.at(9000).heard(&[]);
        // The connection continues.
        wire.call("next", DEFAULT).unwrap();
        wire.server(r#"{"id":@next,"result":{}}"#).heard(&["next: result {}"]).forget();
    });
}

#[test]
fn deadline_is_the_earliest_timeout() {
    Setup::automatic().connected(|wire| {
        for (tool, timeout) in [("a", 500), ("b", 200), ("c", 900)] {
            wire.call(tool, DEFAULT.timeout(Millis(timeout))).unwrap();
        }
        assert_eq!(wire.deadline, Some(200));
        wire.server(r#"{"id":@b,"result":{}}"#).heard(&["b: result {}"]);
        assert_eq!(wire.deadline, Some(500));
        wire.at(901).heard(&["a: lost TimedOut", "c: lost TimedOut"]).forget();
        assert_eq!(wire.deadline, None);
    });
}

#[test]
fn overflowing_timeout_never_expires() {
    Setup::automatic().connected(|wire| {
        let forever = Millis(u64::MAX);
        wire.at(10).call("a", DEFAULT.timeout(forever).maximum(forever)).unwrap();
        wire.at(u64::MAX - 1).heard(&[]).forget();
    });
}

#[test]
fn progress_extends_the_timeout_up_to_the_maximum() {
    // Name, options, times of progress, and the time of the timeout.
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
        let _shown = ShownOnFailure((*name).to_owned());
        Setup::automatic().connected(|wire| {
            wire.call("add", *options).unwrap();
            wire.forget();
            for (at, value) in *steps {
                wire.at(*at);
                progress(wire, "add", value);
                assert_eq!(wire.heard_now().len(), 1);
            }
            assert_eq!(wire.deadline, Some(*end));
            wire.at(end - 1).heard(&[]);
            wire.at(*end).heard(&["add: lost TimedOut"]).sent(&[&cancelled("add", "timeout")]);
        });
    }
}

#[test]
fn progress_is_reported_only_for_requests_that_asked() {
    Setup::automatic().connected(|wire| {
        wire.call("add", DEFAULT.with_progress()).unwrap();
        wire.call("quiet", DEFAULT).unwrap();
        wire.forget();
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
        for (params, heard) in cases {
            let message = format!(r#"{{"method":"notifications/progress","params":{{{params}}}}}"#);
            wire.server(&message).heard(&[heard]);
        }
        wire.server(r#"{"method":"notifications/progress"}"#).heard(&["fault InvalidParams"]);
        wire.server(r#"{"method":"notifications/progress","params":[1]}"#).heard(&["fault InvalidParams"]);
        wire.server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
        progress(wire, "add", "9");
        wire.heard(&["fault UnknownProgress"]).sent(&[]);
    });
}

#[test]
fn progress_and_responses_in_one_read_keep_order() {
    Setup::automatic().connected(|wire| {
        wire.call("add", DEFAULT.with_progress()).unwrap();
        wire.forget().servers(&[
            r#"{"method":"notifications/progress","params":{"progressToken":@add,"progress":1}}"#,
            r#"{"method":"notifications/progress","params":{"progressToken":@add,"progress":2}}"#,
            r#"{"id":@add,"result":{}}"#,
            r#"{"method":"notifications/progress","params":{"progressToken":@add,"progress":3}}"#,
        ]);
        wire.heard(&["add: 1", "add: 2", "add: result {}", "fault UnknownProgress"]);
    });
}

#[test]
fn cancelled_request_emits_no_more_events() {
    Setup::automatic().connected(|wire| {
        let ticket = wire.call("add", DEFAULT.with_progress()).unwrap();
        wire.forget().cancel(ticket, "not \"needed\"");
        wire.heard(&[]).sent(&[&cancelled("add", r#"not \"needed\""#)]);
        assert_eq!((wire.client.is_pending(ticket), wire.client.pending()), (false, 0));
        assert_eq!(wire.client.cancel(ticket, "again"), Err(SendError::Gone));
        wire.at(2000).sent(&[]);
        progress(wire, "add", "1");
        wire.heard(&["fault UnknownProgress"]);
        wire.server(r#"{"id":@add,"result":{}}"#).heard(&[]);
        // Without a reason.
        let ticket = wire.call("b", DEFAULT).unwrap();
        wire.forget().cancel(ticket, "");
        wire.sent(&[r#"{"method":"notifications/cancelled","params":{"requestId":@b}}"#]);
    });
}

#[test]
fn received_response_wins_over_later_cancellation() {
    Setup::automatic().connected(|wire| {
        let ticket = wire.call("add", DEFAULT).unwrap();
        wire.forget().server(r#"{"id":@add,"result":{}}"#).heard(&["add: result {}"]);
        assert_eq!(wire.client.cancel(ticket, "too late"), Err(SendError::Gone));
        wire.at(1).sent(&[]);
    });
    // The response is in the buffer but was not polled: the cancellation counts.
    Setup::automatic().connected(|wire| {
        let first = wire.call("a", DEFAULT).unwrap();
        let second = wire.call("b", DEFAULT).unwrap();
        wire.forget();
        wire.stop_after(1).servers(&[r#"{"id":@a,"result":{}}"#, r#"{"id":@b,"result":{}}"#]);
        wire.heard(&["a: result {}"]);
        assert_eq!(wire.client.cancel(first, ""), Err(SendError::Gone));
        wire.cancel(second, "r");
        wire.heard(&[]).sent(&[&cancelled("b", "r")]);
        assert_eq!(wire.client.pending(), 0);
    });
}

/// Fills the transmit buffer with calls and their cancellations while the server does not read.
/// The last cancellation has to wait.
fn full(wire: &mut Wire) {
    wire.peer_reads(false);
    let patient = DEFAULT.timeout(Millis(100_000)).maximum(Millis(100_000));
    let mut fillers = Vec::new();
    while let Ok(ticket) = wire.client.call_json("filler", "{}", patient) {
        fillers.push(ticket);
    }
    wire.pump();
    loop {
        let before = wire.client.pending();
        wire.cancel(fillers.pop().unwrap(), "");
        if wire.client.pending() == before {
            break;
        }
    }
    wire.forget();
}

fn cancellations(wire: &mut Wire) -> Vec<String> {
    wire.sent_short().into_iter().filter(|line| line.contains("cancelled")).collect()
}

const FULL: fn() -> Setup = || Setup { tx: 1000, slots: 20, text: 20 * 64, ..Setup::handshake() };

#[test]
fn cancellation_waits_for_output_space() {
    FULL().run(|wire| {
        wire.connect();
        let ticket = wire.call("add", DEFAULT).unwrap();
        full(wire);
        wire.cancel(ticket, "because");
        assert_eq!(wire.client.cancel(ticket, ""), Err(SendError::Gone));
        assert!(!wire.client.is_pending(ticket));
        wire.at(5).heard(&[]);
        wire.peer_reads(true);
        wire.pump();
        assert_eq!(cancellations(wire).last(), Some(&cancelled("add", "because")));
        wire.server(r#"{"id":@add,"result":{}}"#).forget();
    });
}

#[test]
fn timeout_without_space_is_reported_before_it_is_sent() {
    FULL().run(|wire| {
        wire.connect();
        wire.call("add", DEFAULT).unwrap();
        full(wire);
        wire.at(1000).heard(&["add: lost TimedOut"]);
        wire.at(2000).heard(&[]);
        wire.peer_reads(true);
        wire.pump();
        assert_eq!(cancellations(wire).last(), Some(&cancelled("add", "timeout")));
        wire.heard(&["room"]);
    });
}

#[test]
fn cancel_reason_that_does_not_fit_is_omitted() {
    let without: String = r#"{"method":"notifications/cancelled","params":{"requestId":@add}}"#.into();
    // The text of each slot holds a reason of seven bytes.
    for (text, expected) in [(0, &without), (6, &without), (7, &cancelled("add", "because"))] {
        Setup { text: 20 * text, ..FULL() }.run(|wire| {
            wire.connect();
            let ticket = wire.call("add", DEFAULT).unwrap();
            full(wire);
            wire.cancel(ticket, "because");
            wire.peer_reads(true);
            wire.pump();
            assert_eq!(cancellations(wire).last(), Some(expected), "{text}");
            wire.heard(&["room"]);
        });
    }
}

#[test]
fn response_makes_a_waiting_cancellation_unnecessary() {
    for answer in [r#"{"id":@add,"result":{}}"#, r#"{"id":@add,"error":{"code":1,"message":"x"}}"#] {
        FULL().run(|wire| {
            wire.connect();
            let ticket = wire.call("add", DEFAULT).unwrap();
            full(wire);
            let pending = wire.client.pending();
            wire.cancel(ticket, "because");
            wire.server(answer).heard(&[]).server(answer).heard(&[]);
            wire.peer_reads(true);
            wire.pump();
            assert!(!cancellations(wire).iter().any(|line| line.contains("add")));
            // The call that filled the buffer is sent, too.
            assert_eq!(wire.client.pending(), pending - 2);
            wire.heard(&["room"]);
        });
    }
}

#[test]
fn slot_held_by_a_cancellation_is_announced_when_free() {
    Setup { slots: 1, ..FULL() }.run(|wire| {
        wire.connect();
        wire.peer_reads(false);
        let ticket = wire.call("a", DEFAULT).unwrap();
        for _ in 0..20 {
            wire.server(
                r#"{"id":"012345678901234567890123456789012345678901234567890123456789","method":"ping"}"#,
            );
        }
        wire.cancel(ticket, &"because ".repeat(25));
        assert_eq!(wire.client.pending(), 1, "it waits");
        assert_eq!(wire.call("b", DEFAULT), Err(SendError::Full));
        wire.at(1).heard(&[]);
        wire.peer_reads(true);
        wire.pump();
        wire.heard(&["room"]);
        assert_eq!(cancellations(wire).len(), 1);
        wire.call("b", DEFAULT).unwrap();
        wire.forget();
    });
}
